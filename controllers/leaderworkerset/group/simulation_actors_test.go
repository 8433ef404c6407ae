package group

import (
	"errors"
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
	"sigs.k8s.io/lws/controllers/leaderworkerset/podspec"
)

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

// endSomething is a step of a node agent that ends a pod, which takes a second. What it
// asks for then is a deletion without grace, from which on the API server shows that
// moment as the time of the deletion.
func (s *simulation) endSomething() bool {
	p, ok := pick(s, slices.DeleteFunc(liveOnes[*corev1.Pod](s.model), func(p *corev1.Pod) bool {
		return p.DeletionTimestamp == nil || !s.isRunning(p)
	}))
	if ok {
		s.note("%s ends", p.UID)
		s.now = s.now.Add(time.Second)
		s.update(p, func(obj client.Object) {
			obj.(*corev1.Pod).Status.Phase = corev1.PodSucceeded
			obj.SetDeletionTimestamp(&metav1.Time{Time: s.now})
			obj.SetDeletionGracePeriodSeconds(new(int64(0)))
		})
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
