package group

import (
	"context"
	"fmt"
	"math"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
	"sigs.k8s.io/lws/controllers/leaderworkerset/podspec"
)

// observation is all that a reconcile knows of a group.
type observation struct {
	Group identity.Group
	Now   time.Time

	Set     *setFacts     // nil if the set is gone, or another one has its name now
	Leaders *leadersFacts // nil if there is no leader StatefulSet
	Leader  *leader       // nil if there is none
	Workers *workerSet    // nil if there is none
	Service *ownService   // nil if there is none, or none is to be
	Gang    gang
	Living  generation // without a leader, only what is left of others
	Watched []loss     // all losses that are in the ledger
	Losses  []loss     // those of members

	// Topology is the node label whose value workers share with their leader, empty
	// if there is none, and Domain is the leader's value, empty if its node has none.
	Topology string
	Domain   string

	// Noted is what earlier reconciles noted down.
	Noted noted

	// The objects behind all that, of the cache: they are only read.
	set     *lwsv1.LeaderWorkerSet
	pods    map[types.UID]*corev1.Pod
	workers *appsv1.StatefulSet
}

// setFacts is what decisions have to know of the set.
type setFacts struct {
	UID       types.UID
	Deleting  bool
	Policy    lwsv1.RestartPolicyType
	Budget    restartBudget // with the count of the leader's entry
	Counted   bool          // the leader's entry has a count
	OnReady   bool
	Parallel  bool
	Partition int32
}

// leadersFacts is what decisions have to know of the leader StatefulSet.
type leadersFacts struct {
	UID             types.UID
	Owner           owner
	Replicas        int32
	UpdateRevision  string
	CurrentRevision string // of its pods, as the StatefulSet controller calls it
	// Spares is the index below which its controller, which has observed its
	// generation, leaves leaders alone that are not of its template.
	Spares int32
}

// observe reads what there is of a group.
func (r *Reconciler) observe(ctx context.Context, group identity.Group) (*observation, error) {
	o := &observation{Group: group, Now: r.clock.Now()}
	if err := r.observeSet(ctx, o); err != nil {
		return nil, err
	}
	workers, err := r.observePods(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := r.observeObjects(ctx, o); err != nil {
		return nil, err
	}
	if err := r.observeGang(ctx, o); err != nil {
		return nil, err
	}
	r.notes.complete(o)
	o.sort(workers, r.ledger.of(group))
	return o, r.observeDomain(ctx, o)
}

// observeSet reads set and leader StatefulSet. A set whose leader StatefulSet is
// another set's is a successor of the same name: to this group its set is gone.
func (r *Reconciler) observeSet(ctx context.Context, o *observation) error {
	name := types.NamespacedName{Namespace: o.Group.Namespace, Name: identity.LeaderStatefulSetName(o.Group.Set)}
	leaders, err := get(ctx, r.client, name, &appsv1.StatefulSet{})
	if err != nil {
		return err
	}
	set, err := get(ctx, r.client, o.Group.SetKey(), &lwsv1.LeaderWorkerSet{})
	if err != nil {
		return err
	}
	if leaders != nil {
		o.Leaders = leadersFactsOf(leaders)
	}
	if set == nil || o.Leaders != nil && o.Leaders.Owner.UID != "" && o.Leaders.Owner.UID != set.UID {
		return nil
	}
	o.set, o.Set = set, setFactsOf(set)
	return nil
}

func leadersFactsOf(leaders *appsv1.StatefulSet) *leadersFacts {
	facts := &leadersFacts{
		UID:             leaders.UID,
		Owner:           controllerOf(leaders),
		Replicas:        1,
		UpdateRevision:  leaders.Labels[lwsv1.RevisionLabelKey],
		CurrentRevision: leaders.Status.CurrentRevision,
	}
	if leaders.Spec.Replicas != nil {
		facts.Replicas = *leaders.Spec.Replicas
	}
	facts.Spares = sparedBy(leaders)
	return facts
}

func sparedBy(leaders *appsv1.StatefulSet) int32 {
	strategy := leaders.Spec.UpdateStrategy
	switch {
	case leaders.Status.ObservedGeneration != leaders.Generation:
		return 0
	case strategy.Type == appsv1.OnDeleteStatefulSetStrategyType:
		return math.MaxInt32
	case strategy.RollingUpdate == nil || strategy.RollingUpdate.Partition == nil:
		return 0
	default:
		return *strategy.RollingUpdate.Partition
	}
}

func setFactsOf(set *lwsv1.LeaderWorkerSet) *setFacts {
	facts := &setFacts{
		UID:       set.UID,
		Deleting:  set.DeletionTimestamp != nil,
		Policy:    lwsv1.RestartPolicy(set),
		OnReady:   lwsv1.StartupPolicy(set) == lwsv1.LeaderReadyStartupPolicy,
		Parallel:  lwsv1.PodTerminationPolicy(set) == lwsv1.ParallelPodTermination,
		Partition: lwsv1.Partition(set),
	}
	facts.Budget.Limit, facts.Budget.Limited = lwsv1.MaxGroupRestarts(set)
	base, limit, ok := lwsv1.BackoffSeconds(set)
	facts.Budget.BacksOff = ok
	facts.Budget.Base, facts.Budget.Cap = time.Duration(base)*time.Second, time.Duration(limit)*time.Second
	return facts
}

// observePods reads the pods of the group: it sets the leader and returns the
// workers.
func (r *Reconciler) observePods(ctx context.Context, o *observation) ([]pod, error) {
	var list corev1.PodList
	err := r.client.List(ctx, &list, client.InNamespace(o.Group.Namespace),
		client.MatchingFields{identity.PodsByGroupIndex: o.Group.String()}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return nil, fmt.Errorf("pods of group %s: %w", o.Group, err)
	}
	o.pods = make(map[types.UID]*corev1.Pod, len(list.Items))
	var workers []pod
	for i := range list.Items {
		p := &list.Items[i]
		switch {
		case !identity.IsLeader(p):
			if seen, ok := workerOf(o.Group, p, r.ledger); ok {
				o.pods[p.UID] = p
				workers = append(workers, seen)
			}
		case isLeaderOf(o.Group, p):
			o.pods[p.UID] = p
			o.Leader = leaderOf(p, r.ledger)
		}
	}
	return workers, nil
}

// observeObjects reads the worker StatefulSet, the Service of the group if it is to
// have one, and the count of the leader's entry.
func (r *Reconciler) observeObjects(ctx context.Context, o *observation) error {
	name := types.NamespacedName{Namespace: o.Group.Namespace, Name: o.Group.Name()}
	workers, err := get(ctx, r.client, name, &appsv1.StatefulSet{})
	if err != nil {
		return err
	}
	if of, ok := groupOfWorkers(workers); ok && of == o.Group {
		o.workers, o.Workers = workers, workerSetOf(workers)
	}
	if o.Leader == nil {
		return nil
	}
	o.Leader.Controlled = o.isControlled()
	if o.Set != nil && (o.Set.Budget.counts() || o.Leader.Exhausted) {
		counts, _ := ReadCounts(o.set) // the set tells what cannot be read
		o.Set.Budget.Count, o.Set.Counted = counts.counts[o.entry()]
	}
	if !o.Leader.OwnService {
		return nil
	}
	service, err := get(ctx, r.client, name, &corev1.Service{})
	if err != nil || service == nil {
		return err
	}
	o.Service = &ownService{
		UID:       service.UID,
		Owner:     controllerOf(service),
		Deleting:  service.DeletionTimestamp != nil,
		AsDesired: isServiceAsDesired(o.Group, service),
	}
	return nil
}

func groupOfWorkers(workers *appsv1.StatefulSet) (identity.Group, bool) {
	if workers == nil {
		return identity.Group{}, false
	}
	return identity.GroupOfWorkerStatefulSet(workers)
}

func workerSetOf(workers *appsv1.StatefulSet) *workerSet {
	return &workerSet{
		UID:      workers.UID,
		Owner:    controllerOf(workers),
		Revision: workers.Labels[lwsv1.RevisionLabelKey],
		Deleting: workers.DeletionTimestamp != nil,
	}
}

// sort sorts the pods into generations, and the losses into those of members.
func (o *observation) sort(workers []pod, losses []loss) {
	in := o.workersInput()
	living := in.living()
	o.Watched = losses
	o.Living = generationOf(o.Leader, living, o.Group.Name(), workers)
	if living == nil || o.Leader == nil {
		return
	}
	for _, l := range losses {
		if l.Controller == living.UID && l.Index < o.Leader.Size {
			o.Losses = append(o.Losses, l)
		}
	}
}

// observeDomain finds the topology domain that workers follow their leader into.
func (r *Reconciler) observeDomain(ctx context.Context, o *observation) error {
	if o.Leader == nil || o.Leader.Size < 2 {
		return nil
	}
	o.Topology = podspec.PlacementOfPods(o.pods[o.Leader.UID].Annotations).Topology
	if o.Topology == "" || o.Leader.Node == "" || o.Workers != nil {
		return nil
	}
	node := &metav1.PartialObjectMetadata{}
	node.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Node"))
	node, err := get(ctx, r.client, types.NamespacedName{Name: o.Leader.Node}, node)
	if node != nil {
		o.Domain = node.Labels[o.Topology]
	}
	return err
}

// get reads an object from the cache, as it is there. It is nil if there is none.
func get[T client.Object](ctx context.Context, reader client.Reader, key types.NamespacedName, into T) (T, error) {
	var none T
	err := reader.Get(ctx, key, into, client.UnsafeDisableDeepCopy)
	switch {
	case apierrors.IsNotFound(err):
		return none, nil
	case err != nil:
		return none, fmt.Errorf("%T %s: %w", into, key, err)
	}
	return into, nil
}
