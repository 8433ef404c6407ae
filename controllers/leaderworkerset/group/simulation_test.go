package group

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
	"sigs.k8s.io/lws/controllers/leaderworkerset/podspec"
	"sigs.k8s.io/lws/controllers/leaderworkerset/revision"
)

// The simulation lets users, controllers, node agents, the watches of each kind of
// object and the manager each do one small step at a time, in any order: caches lag
// behind and behind each other, and the manager stops at any write. Whatever happens,
// a generation that nothing happened to is never ended, a generation that something
// happened to is followed by exactly one, and no two run at the same time.

const (
	simGroups = 2
	simSize   = 3
)

type simulation struct {
	*model
	rng      *rand.Rand
	clock    *clocktesting.FakePassiveClock
	groups   *Reconciler
	waker    *waker
	reports  *Reports
	queue    queue
	timers   map[identity.Group]time.Time
	crashing bool

	disturbed map[types.UID]string // leaders to whose generation something happened
	users     int                  // leaders that users deleted
	managers  map[types.UID]bool   // leaders that the manager deleted
	made      map[string]int       // leaders that were made, by name
	drawn     int                  // keys of leaders
	writes    []string             // of the manager
	history   []string
}

var errCrash = errors.New("the manager stops here")

func newSimulation(t *testing.T, seed uint64, build func(*lwstest.Builder)) *simulation {
	s := &simulation{
		model: newModel(t), rng: rand.New(rand.NewPCG(seed, 0)), clock: clocktesting.NewFakePassiveClock(testStart),
		disturbed: map[types.UID]string{}, managers: map[types.UID]bool{}, made: map[string]int{},
	}
	s.onWrite = s.beforeWrite
	builder := lwstest.New("x").Namespace("ns").Replicas(simGroups).Size(simSize)
	build(builder)
	set := builder.Obj()
	s.must(s.create(set))
	history, err := revision.New(set, nil)
	s.must(err)
	s.must(s.create(history))
	replicas := int32(simGroups)
	key := revision.Key(history)
	if lwsv1.GroupIdentity(set) == lwsv1.HashGroupIdentity {
		s.makeDeployment(set, key)
		s.restart()
		return s
	}
	s.must(s.create(&appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "x", Labels: identity.LeaderStatefulSetLabels("x", key),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, setKind)},
		},
		Spec: appsv1.StatefulSetSpec{
			Replicas: &replicas,
			Template: *podspec.LeaderPodTemplate(podspec.Revision{Set: "x", Key: key, Template: &set.Spec.LeaderWorkerTemplate}),
		},
	}))
	s.restart()
	return s
}

func (s *simulation) must(err error) {
	s.t.Helper()
	if err != nil {
		s.fail("%v", err)
	}
}

func (s *simulation) fail(format string, arguments ...any) {
	s.t.Helper()
	last := s.history[max(0, len(s.history)-60):]
	s.t.Fatalf("%s\n%s\nlast steps:\n  %s", fmt.Sprintf(format, arguments...), s.describe(), strings.Join(last, "\n  "))
}

func (s *simulation) note(format string, arguments ...any) {
	s.history = append(s.history, fmt.Sprintf(format, arguments...))
}

func (s *simulation) describe() string {
	var lines []string
	for _, p := range liveOnes[*corev1.Pod](s.model) {
		lines = append(lines, fmt.Sprintf("%s uid=%s %s deleting=%v gates=%d finalizers=%v owner=%v memory=%s", p.Name, p.UID, p.Status.Phase,
			p.DeletionTimestamp != nil, len(p.Spec.SchedulingGates), p.Finalizers, controllerOf(p).UID, p.Annotations[lwsv1.GroupMembersAnnotationKey]))
	}
	for _, set := range liveOnes[*appsv1.StatefulSet](s.model) {
		lines = append(lines, fmt.Sprintf("StatefulSet %s uid=%s deleting=%v owner=%v", set.Name, set.UID, set.DeletionTimestamp != nil, controllerOf(set).UID))
	}
	return strings.Join(lines, "\n")
}

// restart starts the manager anew: its caches show some later state, its memory is gone.
func (s *simulation) restart() {
	s.note("manager starts")
	s.crashing = false
	s.reports = NewReports()
	s.queue = newQueue()
	s.timers = map[identity.Group]time.Time{}
	s.groups = New(modelClient{model: s.model}, modelClient{model: s.model, past: true}, events.NewFakeRecorder(100000),
		Options{Reports: s.reports, Clock: s.clock})
	s.waker = &waker{reader: modelClient{model: s.model}, ledger: s.groups.ledger, paired: s.groups.paired}
	for _, kind := range modelKinds {
		for s.shown[kind] < len(s.log[kind]) && (len(s.history) == 1 || s.rng.IntN(8) != 0) {
			s.show(kind)
		}
	}
	// The first lists of the watches.
	for _, key := range slices.Sorted(maps.Keys(s.cached)) {
		obj := s.cached[key]
		if group, ok := groupOf(obj); ok {
			s.queue.Add(group)
		}
		if p, ok := obj.(*corev1.Pod); ok {
			s.waker.pod(s.t.Context(), p, s.queue)
		}
	}
}

func groupOf(obj client.Object) (identity.Group, bool) {
	if statefulSet, ok := obj.(*appsv1.StatefulSet); ok {
		return identity.GroupOfWorkerStatefulSet(statefulSet)
	}
	return identity.GroupOfPod(obj)
}

// beforeWrite sees every write of the manager before it is done: what must never be.
func (s *simulation) beforeWrite(verb string, obj client.Object) error {
	s.note("manager: %s %s %s", verb, kindOf(obj), obj.GetName())
	s.writes = append(s.writes, verb+" "+kindOf(obj)+" "+obj.GetName())
	if s.crashing {
		return errCrash
	}
	live, found := s.live[modelKey(kindOf(obj), obj.GetName())].(*corev1.Pod)
	if !found || !identity.IsLeader(live) || live.UID != obj.GetUID() {
		return nil
	}
	switch {
	case verb == "delete" && live.DeletionTimestamp == nil:
		if s.disturbed[live.UID] == "" {
			s.fail("the manager ends %s of UID %s, to whose generation nothing happened", live.Name, live.UID)
		}
		s.managers[live.UID] = true
	case verb == "admit" && IsGated(live):
		s.expectNoPredecessor(live)
	}
	return nil
}

// expectNoPredecessor: when a leader is admitted nothing of another generation is left.
func (s *simulation) expectNoPredecessor(leaderPod *corev1.Pod) {
	if lwsv1.RestartPolicy(s.live[modelKey("LeaderWorkerSet", "x")].(*lwsv1.LeaderWorkerSet)) == lwsv1.NoneRestartPolicy {
		return // its workers are its own
	}
	predecessor := groupNameOf(leaderPod)
	if group, ok := identity.GroupOfPod(leaderPod); ok && group.HasKey() {
		replaced, ok := identity.ReplacedBy(leaderPod)
		if !ok {
			return
		}
		predecessor = replaced.Name()
	}
	for _, p := range liveOnes[*corev1.Pod](s.model) {
		if p != leaderPod && groupNameOf(p) == predecessor {
			s.fail("%s is admitted while %s is there", leaderPod.UID, p.UID)
		}
	}
}

// groupNameOf is what the group of a pod is called.
func groupNameOf(p *corev1.Pod) string {
	group, _ := identity.GroupOfPod(p)
	return group.Name()
}

func pick[T any](s *simulation, from []T) (T, bool) {
	if len(from) == 0 {
		var none T
		return none, false
	}
	return from[s.rng.IntN(len(from))], true
}

// step lets somebody do something, and says whether anybody could.
func (s *simulation) step() bool {
	s.now = s.now.Add(100 * time.Millisecond)
	s.clock.SetTime(s.now)
	actors := []func() bool{
		s.showSomething, s.showSomething, s.reconcileSomething, s.reconcileSomething,
		s.makeSomething, s.runSomething, s.endSomething, s.collectSomething, s.storeCounts,
	}
	s.rng.Shuffle(len(actors), func(i, j int) { actors[i], actors[j] = actors[j], actors[i] })
	for _, actor := range actors {
		if actor() {
			return true
		}
	}
	return s.waitForTimer()
}

func (s *simulation) showSomething() bool {
	kinds := slices.Clone(modelKinds)
	s.rng.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
	for _, kind := range kinds {
		event, ok := s.show(kind)
		if !ok {
			continue
		}
		switch kind {
		case "Pod":
			pass[*corev1.Pod](s.t.Context(), s.waker.pods(), s.queue, event.before, event.after)
		case "StatefulSet":
			pass[*appsv1.StatefulSet](s.t.Context(), s.waker.statefulSets(), s.queue, event.before, event.after)
		case "Deployment":
			pass[*appsv1.Deployment](s.t.Context(), s.waker.deployments(), s.queue, event.before, event.after)
		case "ReplicaSet":
			pass[*appsv1.ReplicaSet](s.t.Context(), s.waker.replicaSets(), s.queue, event.before, event.after)
		case "LeaderWorkerSet":
			pass[*lwsv1.LeaderWorkerSet](s.t.Context(), s.waker.sets(), s.queue, event.before, event.after)
		}
		return true
	}
	return false
}

func (s *simulation) reconcileSomething() bool {
	if s.queue.Len() == 0 {
		return false
	}
	group, _ := s.queue.Get()
	defer s.queue.Done(group)
	s.note("manager: reconcile %s", group.Index)
	result, err := s.groups.Reconcile(s.t.Context(), group)
	delete(s.timers, group)
	switch {
	case errors.Is(err, errCrash):
		s.restart()
	case err != nil:
		s.fail("reconcile %s: %v", group, err)
	case result.RequeueAfter > 0:
		s.timers[group] = s.now.Add(result.RequeueAfter)
	}
	return true
}

// waitForTimer lets time pass to the next deadline, if the manager waits for one.
func (s *simulation) waitForTimer() bool {
	if len(s.timers) == 0 {
		return false
	}
	for group, at := range s.timers {
		if at.After(s.now) {
			s.now = at
		}
		s.queue.Add(group)
	}
	clear(s.timers)
	return true
}

// makeSomething is a step of the StatefulSet controller and the pod webhook.
func (s *simulation) makeSomething() bool {
	sets := liveOnes[*appsv1.StatefulSet](s.model)
	s.rng.Shuffle(len(sets), func(i, j int) { sets[i], sets[j] = sets[j], sets[i] })
	for _, set := range sets {
		if set.DeletionTimestamp == nil && s.makePodOf(set) {
			return true
		}
		if set.DeletionTimestamp == nil && s.countReady(set) {
			return true
		}
	}
	return s.makeKeyedLeader()
}

func (s *simulation) makePodOf(set *appsv1.StatefulSet) bool {
	start := int32(0)
	if set.Spec.Ordinals != nil {
		start = set.Spec.Ordinals.Start
	}
	for i := range *set.Spec.Replicas {
		name := identity.WorkerName(set.Name, start+i)
		live, found := s.live[modelKey("Pod", name)].(*corev1.Pod)
		switch {
		case !found:
			s.makePod(set, name)
			return true
		case live.DeletionTimestamp != nil:
		case controllerOf(live) == owner{}:
			s.note("%s adopts %s", set.UID, live.UID)
			s.update(live, func(obj client.Object) {
				obj.SetOwnerReferences([]metav1.OwnerReference{controllerReference("apps/v1", kindStatefulSet, set.Name, set.UID)})
			})
			return true
		case live.Status.Phase == corev1.PodFailed && controllerOf(live).UID == set.UID:
			s.must(s.remove(live, live.UID, metav1.DeletePropagationBackground))
			return true
		}
	}
	return false
}

func (s *simulation) makePod(set *appsv1.StatefulSet, name string) {
	p := &corev1.Pod{ObjectMeta: *set.Spec.Template.ObjectMeta.DeepCopy(), Spec: *set.Spec.Template.Spec.DeepCopy()}
	p.Namespace, p.Name = "ns", name
	p.OwnerReferences = []metav1.OwnerReference{controllerReference("apps/v1", kindStatefulSet, set.Name, set.UID)}
	p.Status.Phase = corev1.PodPending
	if identity.IsLeader(p) {
		leader, err := podspec.OrdinalLeader(p)
		s.must(err)
		s.must(podspec.AdmitLeader(p, leader, lwsv1.SequentialPodTermination))
		s.made[name]++
	} else {
		s.must(podspec.AdmitWorker(p))
	}
	s.must(s.create(p))
	s.note("%s makes %s", set.UID, p.UID)
}

// runSomething is a step of scheduler and node agent.
func (s *simulation) runSomething() bool {
	p, ok := pick(s, slices.DeleteFunc(liveOnes[*corev1.Pod](s.model), func(p *corev1.Pod) bool {
		return p.DeletionTimestamp != nil || len(p.Spec.SchedulingGates) > 0 || p.Status.Phase != corev1.PodPending
	}))
	if ok {
		s.update(p, func(obj client.Object) {
			p := obj.(*corev1.Pod)
			p.Spec.NodeName, p.Status.Phase = "node", corev1.PodRunning
		})
	}
	return ok
}

// endSomething is a step of a node agent that ends a pod.
func (s *simulation) endSomething() bool {
	p, ok := pick(s, slices.DeleteFunc(liveOnes[*corev1.Pod](s.model), func(p *corev1.Pod) bool {
		return p.DeletionTimestamp == nil || !s.isRunning(p)
	}))
	if ok {
		s.note("%s ends", p.UID)
		s.update(p, func(obj client.Object) { obj.(*corev1.Pod).Status.Phase = corev1.PodSucceeded })
	}
	return ok
}

// collectSomething is a step of garbage collection.
func (s *simulation) collectSomething() bool {
	var objects []client.Object
	for _, key := range slices.Sorted(maps.Keys(s.live)) {
		objects = append(objects, s.live[key])
	}
	s.rng.Shuffle(len(objects), func(i, j int) { objects[i], objects[j] = objects[j], objects[i] })
	for _, obj := range objects {
		if s.collect(obj) {
			return true
		}
	}
	return false
}

func (s *simulation) collect(obj client.Object) bool {
	controller := metav1.GetControllerOf(obj)
	if controller != nil && obj.GetDeletionTimestamp() == nil && !s.exists(controller.UID) {
		s.note("garbage: %s", obj.GetUID())
		s.must(s.remove(obj, obj.GetUID(), metav1.DeletePropagationBackground))
		return true
	}
	switch dependents := s.dependents(obj); {
	case slices.Contains(obj.GetFinalizers(), metav1.FinalizerDeleteDependents):
		for _, dependent := range dependents {
			if dependent.GetDeletionTimestamp() == nil {
				s.must(s.remove(dependent, dependent.GetUID(), metav1.DeletePropagationForeground))
				return true
			}
		}
		if len(dependents) == 0 {
			s.update(obj, func(obj client.Object) { dropFinalizer(obj, metav1.FinalizerDeleteDependents) })
			return true
		}
	case slices.Contains(obj.GetFinalizers(), metav1.FinalizerOrphanDependents):
		for _, dependent := range dependents {
			s.update(dependent, func(obj client.Object) { obj.SetOwnerReferences(nil) })
		}
		s.update(obj, func(obj client.Object) { dropFinalizer(obj, metav1.FinalizerOrphanDependents) })
		return true
	}
	return false
}

func (s *simulation) exists(uid types.UID) bool {
	for _, obj := range s.live {
		if obj.GetUID() == uid {
			return true
		}
	}
	return false
}

func (s *simulation) dependents(of client.Object) []client.Object {
	var found []client.Object
	for _, key := range slices.Sorted(maps.Keys(s.live)) {
		if metav1.IsControlledBy(s.live[key], of) {
			found = append(found, s.live[key])
		}
	}
	return found
}

// storeCounts is the reconciler of sets.
func (s *simulation) storeCounts() bool {
	set := s.live[modelKey("LeaderWorkerSet", "x")].(*lwsv1.LeaderWorkerSet)
	counts, _ := ReadCounts(set)
	changed := s.moveCounts(&counts)
	for _, report := range s.reports.ForSet(client.ObjectKeyFromObject(set)) {
		if report.Restart != nil {
			changed = counts.Raise(report.Restart.Entry, report.Restart.Leader) || changed
		}
		if report.Recovery != nil {
			changed = counts.Clear(*report.Recovery) || changed
		}
	}
	if changed {
		restarts, _ := counts.Annotations()
		s.note("the set counts %s", restarts)
		s.update(set, func(obj client.Object) {
			restarts, leaders := counts.Annotations()
			obj.SetAnnotations(map[string]string{
				lwsv1.GroupRestartCountsAnnotationKey: restarts, lwsv1.GroupRestartLeadersAnnotationKey: leaders,
			})
		})
	}
	return changed
}

// disturb lets something happen to a random generation that has been whole.
func (s *simulation) disturb() {
	leaderPod, ok := pick(s, slices.DeleteFunc(liveOnes[*corev1.Pod](s.model), func(p *corev1.Pod) bool {
		return !identity.IsLeader(p) || p.DeletionTimestamp != nil || p.Annotations[lwsv1.GroupMembersAnnotationKey] == ""
	}))
	if !ok {
		return
	}
	members := []*corev1.Pod{leaderPod}
	for _, p := range liveOnes[*corev1.Pod](s.model) {
		if !identity.IsLeader(p) && groupNameOf(p) == groupNameOf(leaderPod) && p.DeletionTimestamp == nil {
			members = append(members, p)
		}
	}
	policies := []metav1.DeletionPropagation{
		metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan,
	}
	member, policy := members[s.rng.IntN(len(members))], policies[s.rng.IntN(len(policies))]
	what := s.rng.IntN(5)
	workers, hasWorkers := s.live[modelKey("StatefulSet", groupNameOf(leaderPod))]
	switch {
	case what == 0 && hasWorkers && workers.GetDeletionTimestamp() == nil:
		s.note("user: deletes StatefulSet %s, %s", workers.GetUID(), policy)
		if policy != metav1.DeletePropagationOrphan {
			s.disturbed[leaderPod.UID] = "StatefulSet deleted"
		}
		s.must(s.remove(workers, workers.GetUID(), policy))
	case what == 1 && member.Status.Phase == corev1.PodRunning:
		s.note("a container of %s restarts", member.UID)
		s.disturbed[leaderPod.UID] = "container"
		s.update(member, func(obj client.Object) {
			obj.(*corev1.Pod).Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "worker", RestartCount: 1}}
		})
	case what == 2 && member.Status.Phase == corev1.PodRunning:
		s.note("%s fails", member.UID)
		s.disturbed[leaderPod.UID] = "failed"
		s.update(member, func(obj client.Object) { obj.(*corev1.Pod).Status.Phase = corev1.PodFailed })
	default:
		s.note("user: deletes %s, %s", member.UID, policy)
		s.disturbed[leaderPod.UID] = "deleted"
		if member == leaderPod {
			s.users++
		}
		s.must(s.remove(member, member.UID, policy))
	}
}

// recoverAll annotates the leaders of exhausted groups, as users do.
func (s *simulation) recoverAll() {
	for _, p := range liveOnes[*corev1.Pod](s.model) {
		if IsExhausted(p) && p.Annotations[lwsv1.RecoverAnnotationKey] == "" {
			s.note("user: recovers %s", p.UID)
			s.update(p, func(obj client.Object) {
				annotations := maps.Clone(obj.GetAnnotations())
				annotations[lwsv1.RecoverAnnotationKey] = "true"
				obj.SetAnnotations(annotations)
			})
		}
	}
}

// run disturbs and stops the manager so often, at random times, and then lets all come
// to rest.
func (s *simulation) run(disturbances, crashes int) {
	const most = 20000
	for range most {
		if disturbances > 0 && s.rng.IntN(25) == 0 {
			s.disturb()
			disturbances--
		}
		if crashes > 0 && s.rng.IntN(40) == 0 {
			s.crashing = true
			crashes--
		}
		if !s.step() && disturbances == 0 {
			return
		}
	}
	s.fail("does not come to rest in %d steps", most)
}

// expectRest checks that all groups are whole again and followed exactly once what
// something happened to.
func (s *simulation) expectRest() {
	s.t.Helper()
	pods := liveOnes[*corev1.Pod](s.model)
	if len(pods) != simGroups*simSize {
		s.fail("%d pods, want %d", len(pods), simGroups*simSize)
	}
	generations := 0
	for _, p := range pods {
		if p.Status.Phase != corev1.PodRunning || p.DeletionTimestamp != nil {
			s.fail("%s does not run", p.Name)
		}
		if identity.IsLeader(p) {
			generations += s.made[p.Name]
			s.expectGroupReady(p)
			if s.disturbed[p.UID] != "" {
				s.fail("%s is still there after what happened to its generation: %s", p.UID, s.disturbed[p.UID])
			}
		}
	}
	if s.drawn > 0 {
		generations = s.drawn
	}
	if want := simGroups + len(s.disturbed); generations != want {
		s.fail("%d generations, want %d: something happened to %v", generations, want, s.disturbed)
	}
}

func TestOneFailureOneRecreation(t *testing.T) {
	for name, build := range map[string]func(*lwstest.Builder){
		"plain":       func(*lwstest.Builder) {},
		"counted":     func(b *lwstest.Builder) { b.MaxGroupRestarts(1000) },
		"after start": func(b *lwstest.Builder) { b.RestartPolicy(lwsv1.RecreateGroupAfterStart) },
		"backoff":     func(b *lwstest.Builder) { b.RestartBackoff(20, 40) },
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(25) {
				t.Run(fmt.Sprint(seed), func(t *testing.T) {
					s := newSimulation(t, seed, build)
					s.run(4, int(seed%4))
					s.expectRest()
					s.expectCounts()
				})
			}
		})
	}
}

// expectCounts checks that what the manager deleted is counted, once, and nothing but
// what it was about to delete when somebody else was faster.
func (s *simulation) expectCounts() {
	s.t.Helper()
	set := s.live[modelKey("LeaderWorkerSet", "x")].(*lwsv1.LeaderWorkerSet)
	if !lwsv1.CountsRestarts(set) {
		return
	}
	counts, errs := ReadCounts(set)
	if len(errs) > 0 {
		s.fail("%v", errs)
	}
	if sum, least := int(counts.Sum()), len(s.managers); sum < least || sum > len(s.disturbed) {
		s.fail("%d recreations counted; the manager deleted %d leaders, something happened to %d generations", sum, least, len(s.disturbed))
	}
}

// With a budget of one recreation groups stop in the middle of whatever else happens.
// A stopped group keeps its leader, and starts again when it is recovered, with nothing
// left of the stop.
func TestExhaustionAndRecovery(t *testing.T) {
	stops := 0
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := newSimulation(t, seed, func(b *lwstest.Builder) { b.MaxGroupRestarts(int32(seed % 2)) })
			s.run(6, int(seed%4))
			for _, p := range liveOnes[*corev1.Pod](s.model) {
				switch {
				case IsExhausted(p):
					stops++
					if p.DeletionTimestamp == nil || s.isRunning(p) {
						s.fail("%s is not stopped", p.UID)
					}
				case IsRetained(p) && !IsExhausted(s.live[modelKey("Pod", p.Name[:3])].(*corev1.Pod)):
					s.fail("%s is retained by a group that is not stopped", p.UID)
				}
			}
			s.recoverAll()
			s.run(0, 2)
			s.expectRest()
			for _, p := range liveOnes[*corev1.Pod](s.model) {
				if IsRetained(p) || IsExhausted(p) {
					s.fail("something of the stop is left on %s", p.UID)
				}
			}
		})
	}
	if stops < 20 {
		t.Errorf("only %d groups stopped: the test shows little", stops)
	}
}

// With None the manager ends nothing, whatever happens, and a lost leader costs its
// workers nothing.
func TestNoneEndsNothing(t *testing.T) {
	for seed := range uint64(25) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := newSimulation(t, seed, func(b *lwstest.Builder) { b.RestartPolicy(lwsv1.NoneRestartPolicy) })
			s.run(0, 0)
			lost := map[types.UID]bool{}
			before := liveOnes[*corev1.Pod](s.model)
			for range 3 {
				p, _ := pick(s, before)
				lost[p.UID] = true
				if live, found := s.live[modelKey("Pod", p.Name)]; found && live.GetUID() == p.UID {
					s.must(s.remove(live, p.UID, metav1.DeletePropagationBackground))
				}
				for range s.rng.IntN(30) {
					s.step()
				}
			}
			s.run(0, int(seed%3))
			for _, p := range before {
				live, found := s.live[modelKey("Pod", p.Name)]
				if !found || live.GetUID() == p.UID == lost[p.UID] {
					s.fail("%s: was deleted %v, is there %v", p.UID, lost[p.UID], found && live.GetUID() == p.UID)
				}
			}
			for _, text := range s.writes {
				if strings.HasPrefix(text, "delete") {
					s.fail("the manager did: %s", text)
				}
			}
		})
	}
}

// A group comes up with three writes, and a recreation and what follows it take four,
// however far the caches are behind.
func TestWritesWithLaggingCaches(t *testing.T) {
	for seed := range uint64(25) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := newSimulation(t, seed, func(*lwstest.Builder) {})
			s.run(0, 0)
			for _, leader := range []string{"x-0", "x-1"} {
				want := []string{"admit Pod " + leader, "create StatefulSet " + leader, "patch Pod " + leader}
				if diff := cmp.Diff(want, ofGroup(s.writes, leader)); diff != "" {
					t.Errorf("bring-up (-want +got):\n%s", diff)
				}
			}
			s.writes = nil
			for _, p := range liveOnes[*corev1.Pod](s.model) {
				if !identity.IsLeader(p) {
					s.disturbed[metav1.GetControllerOf(s.live[modelKey("StatefulSet", p.Name[:3])]).UID] = "container"
					s.update(p, func(obj client.Object) {
						obj.(*corev1.Pod).Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "worker", RestartCount: 1}}
					})
				}
			}
			s.run(0, 0)
			for _, leader := range []string{"x-0", "x-1"} {
				want := []string{"delete Pod " + leader, "admit Pod " + leader, "create StatefulSet " + leader, "patch Pod " + leader}
				if diff := cmp.Diff(want, ofGroup(s.writes, leader)); diff != "" {
					t.Errorf("recreation (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// ofGroup are the writes to the objects of one group.
func ofGroup(writes []string, leader string) []string {
	return slices.DeleteFunc(slices.Clone(writes), func(text string) bool {
		name := text[strings.LastIndexByte(text, ' ')+1:]
		return name != leader && !strings.HasPrefix(name, leader+"-")
	})
}
