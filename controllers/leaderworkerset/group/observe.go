package group

import (
	"context"
	"fmt"
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
	Leaders *leadersFacts // nil if there is no object that owns the leaders
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

	// Replaced is the group that a gated leader replaces, with Hash identity; Expected
	// says that the place of an exhausted group is to be filled.
	Replaced replaced
	Expected bool

	// Namesake is another group that is called like that of a gated leader, with Hash
	// identity; empty if there is none.
	Namesake string

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
	Immediate bool // replacements are admitted at once
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
	for _, more := range []func(context.Context, *observation) error{
		r.observeDomain, r.observeReplaced, r.observeExpected, r.observeNamesake,
	} {
		if err := more(ctx, o); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// observeSet reads set and the owner of its leaders. A set whose leaders are another
// set's is a successor of the same name: to this group its set is gone.
func (r *Reconciler) observeSet(ctx context.Context, o *observation) error {
	if err := r.observeLeaders(ctx, o); err != nil {
		return err
	}
	set, err := get(ctx, r.client, o.Group.SetKey(), &lwsv1.LeaderWorkerSet{})
	if err != nil {
		return err
	}
	if set == nil || o.Leaders != nil && o.Leaders.Owner.UID != "" && o.Leaders.Owner.UID != set.UID {
		return nil
	}
	o.set, o.Set = set, setFactsOf(set)
	return nil
}

func setFactsOf(set *lwsv1.LeaderWorkerSet) *setFacts {
	facts := &setFacts{
		UID:       set.UID,
		Deleting:  set.DeletionTimestamp != nil,
		Policy:    lwsv1.RestartPolicy(set),
		OnReady:   lwsv1.StartupPolicy(set) == lwsv1.LeaderReadyStartupPolicy,
		Parallel:  lwsv1.PodTerminationPolicy(set) == lwsv1.ParallelPodTermination,
		Partition: lwsv1.Partition(set),
		Immediate: lwsv1.GroupReplacementPolicy(set) == lwsv1.ImmediateGroupReplacement,
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
	pods, err := r.podsOf(ctx, o.Group)
	if err != nil {
		return nil, err
	}
	o.pods = make(map[types.UID]*corev1.Pod, len(pods))
	var workers []pod
	for i := range pods {
		p := &pods[i]
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
	sortPods(workers)
	return workers, nil
}

func (r *Reconciler) podsOf(ctx context.Context, group identity.Group) ([]corev1.Pod, error) {
	var list corev1.PodList
	err := r.client.List(ctx, &list, client.InNamespace(group.Namespace),
		client.MatchingFields{identity.PodsByGroupIndex: group.String()}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return nil, fmt.Errorf("pods of group %s: %w", group, err)
	}
	return list.Items, nil
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
	if err := r.observeMaker(ctx, o); err != nil {
		return err
	}
	o.Leader.Controlled = o.isControlled()
	if o.Set != nil && (o.Set.Budget.counts() || o.Leader.Exhausted) {
		counts, _ := ReadCounts(o.set) // the set tells what cannot be read
		o.Set.Budget.Count, o.Set.Counted = o.countOf(&counts)
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
	found := &workerSet{
		UID:      workers.UID,
		Owner:    controllerOf(workers),
		Revision: workers.Labels[lwsv1.RevisionLabelKey],
		Deleting: workers.DeletionTimestamp != nil,
	}
	if workers.Status.ObservedGeneration >= workers.Generation {
		found.Available = workers.Status.AvailableReplicas
	}
	return found
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
