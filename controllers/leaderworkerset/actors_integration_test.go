//go:build integration

package leaderworkerset_test

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

type watchInterface = watch.Interface

// runStatefulSetController does one sync of the leader StatefulSet as the
// StatefulSet controller does it: pods that are missing are made, those beyond
// replicas deleted, and under RollingUpdate one that is outdated. It is also the
// pod webhook: leaders get their labels.
func (w *world) runStatefulSetController() {
	GinkgoHelper()
	leaders := w.leaders()
	if leaders.DeletionTimestamp != nil {
		return
	}
	update := "x-" + leaders.Spec.Template.Labels[lwsv1.RevisionLabelKey]
	current := cmp.Or(leaders.Status.CurrentRevision, update)
	replicas := int(*leaders.Spec.Replicas)
	pods := w.leaderPods()

	ready, updated := 0, 0
	for i := range pods {
		pod := &pods[i]
		index, ok := identity.GroupOrdinal(pod)
		Expect(ok).To(BeTrue(), "pod %s has no index", pod.Name)
		switch {
		case int(index) >= replicas:
			w.deletePod(pod)
		case pod.Labels[appsv1.ControllerRevisionHashLabelKey] == update:
			updated++
			if isReady(pod) {
				ready++
			}
		}
	}
	strategy := leaders.Spec.UpdateStrategy
	partition := 0
	if strategy.Type == appsv1.RollingUpdateStatefulSetStrategyType {
		Expect(strategy.RollingUpdate).NotTo(BeNil(), "RollingUpdate without a partition")
		partition = int(*strategy.RollingUpdate.Partition)
	}
	for index := range replicas {
		exists := slices.ContainsFunc(pods, func(pod corev1.Pod) bool { return pod.Name == identity.LeaderName("x", int32(index)) })
		if exists {
			continue
		}
		revision := update
		if strategy.Type == appsv1.RollingUpdateStatefulSetStrategyType && index < partition {
			revision = current
		}
		w.makeLeader(leaders, index, revision)
	}
	if strategy.Type == appsv1.RollingUpdateStatefulSetStrategyType {
		for i := range pods {
			index, _ := identity.GroupOrdinal(&pods[i])
			outdated := pods[i].Labels[appsv1.ControllerRevisionHashLabelKey] != update
			if int(index) >= partition && int(index) < replicas && outdated && len(pods[i].Spec.SchedulingGates) == 0 {
				Fail(fmt.Sprintf("the StatefulSet controller would delete %s, which no plan chose", pods[i].Name))
			}
		}
		if partition == 0 && updated == replicas && ready == replicas {
			current = update
		}
	}
	w.updateStatus(leaders, func() {
		leaders.Status.ObservedGeneration = leaders.Generation
		leaders.Status.Replicas = int32(replicas)
		leaders.Status.CurrentRevision, leaders.Status.UpdateRevision = current, update
	})
}

func (w *world) updateStatus(obj client.Object, change func()) {
	GinkgoHelper()
	change()
	Expect(api.Status().Update(w.ctx, obj)).To(Succeed())
}

func (w *world) leaderPods() []corev1.Pod {
	GinkgoHelper()
	var list corev1.PodList
	Expect(live.List(w.ctx, &list, client.InNamespace(w.namespace),
		client.MatchingLabels(identity.LeaderSelector("x")))).To(Succeed())
	return list.Items
}

func isReady(pod *corev1.Pod) bool  { return readiness(pod) == corev1.ConditionTrue }
func isBroken(pod *corev1.Pod) bool { return readiness(pod) == corev1.ConditionFalse }

// readiness is empty for a pod that has not run yet.
func readiness(pod *corev1.Pod) corev1.ConditionStatus {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status
		}
	}
	return ""
}

// admitLeaders lifts the gates of leaders as the reconciler of groups does: of those
// whose revision the set wants at their index.
func (w *world) admitLeaders() {
	GinkgoHelper()
	leaders, partition := w.leaders(), lwsv1.Partition(w.set())
	pods := w.leaderPods()
	for i := range pods {
		pod := &pods[i]
		index, _ := identity.GroupOrdinal(pod)
		wanted := pod.Labels[lwsv1.RevisionLabelKey] == leaders.Labels[lwsv1.RevisionLabelKey]
		if index < partition {
			wanted = pod.Labels[appsv1.ControllerRevisionHashLabelKey] == leaders.Status.CurrentRevision
		}
		if wanted && len(pod.Spec.SchedulingGates) > 0 {
			pod.Spec.SchedulingGates = nil
			Expect(api.Update(w.ctx, pod)).To(Succeed())
		}
	}
}

// makeLeader makes the leader pod of a group. Of the current revision the template
// is gone from the StatefulSet, so the revision is all that such a pod shows.
func (w *world) makeLeader(leaders *appsv1.StatefulSet, index int, revision string) *corev1.Pod {
	GinkgoHelper()
	name := identity.LeaderName("x", int32(index))
	pod := &corev1.Pod{
		ObjectMeta: *leaders.Spec.Template.ObjectMeta.DeepCopy(),
		Spec:       *leaders.Spec.Template.Spec.DeepCopy(),
	}
	pod.Name = name
	pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: lwsv1.GroupReplacementSchedulingGate}}
	pod.Labels[lwsv1.GroupIndexLabelKey] = strconv.Itoa(index)
	pod.Labels[lwsv1.GroupKeyLabelKey] = identity.GroupKey(w.namespace, name)
	pod.Labels[lwsv1.RevisionLabelKey] = revision[len("x-"):]
	pod.Labels[appsv1.ControllerRevisionHashLabelKey] = revision
	pod.OwnerReferences = []metav1.OwnerReference{
		*metav1.NewControllerRef(leaders, appsv1.SchemeGroupVersion.WithKind("StatefulSet")),
	}
	w.create(pod)
	return pod
}

// makeReady lets the leaders of groups run, and makes and readies their workers.
func (w *world) makeReady(indexes ...int) {
	GinkgoHelper()
	w.admitLeaders()
	for _, index := range indexes {
		pod := w.pod(index)
		Expect(pod.Spec.SchedulingGates).To(BeEmpty(), "leader %d is not admitted", index)
		w.updateStatus(pod, func() {
			pod.Status.Phase = corev1.PodRunning
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		})
		size, err := strconv.Atoi(pod.Annotations[lwsv1.SizeAnnotationKey])
		Expect(err).NotTo(HaveOccurred())
		if size > 1 {
			w.makeWorkers(pod, size-1)
		}
	}
}

func (w *world) makeUnready(index int) {
	GinkgoHelper()
	pod := w.pod(index)
	w.updateStatus(pod, func() { pod.Status.Conditions[0].Status = corev1.ConditionFalse })
}

func (w *world) pod(index int) *corev1.Pod {
	GinkgoHelper()
	return fetch(w, identity.LeaderName("x", int32(index)), &corev1.Pod{})
}

// makeWorkers makes the worker StatefulSet of a leader with all workers available.
func (w *world) makeWorkers(leader *corev1.Pod, workers int) *appsv1.StatefulSet {
	GinkgoHelper()
	labels := identity.WorkerLabels("x", leader.Labels[lwsv1.GroupIndexLabelKey],
		leader.Labels[lwsv1.GroupKeyLabelKey], leader.Labels[lwsv1.RevisionLabelKey])
	replicas := int32(workers)
	statefulSet := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{
			Name: leader.Name, Labels: labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(leader, corev1.SchemeGroupVersion.WithKind("Pod"))},
		},
		Spec: appsv1.StatefulSetSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: leader.Spec.Containers},
			},
		},
	}
	w.create(statefulSet)
	w.updateStatus(statefulSet, func() {
		statefulSet.Status.ObservedGeneration = statefulSet.Generation
		statefulSet.Status.Replicas, statefulSet.Status.AvailableReplicas, statefulSet.Status.ReadyReplicas = replicas, replicas, replicas
	})
	return statefulSet
}

// collectGarbage does what nodes and garbage collection do about leaders that are
// gone: their worker StatefulSets go too.
func (w *world) collectGarbage() {
	GinkgoHelper()
	alive := map[string]bool{}
	for _, pod := range w.leaderPods() {
		alive[string(pod.UID)] = true
	}
	var list appsv1.StatefulSetList
	Expect(live.List(w.ctx, &list, client.InNamespace(w.namespace))).To(Succeed())
	for i := range list.Items {
		owner := metav1.GetControllerOf(&list.Items[i])
		if owner != nil && owner.Kind == "Pod" && !alive[string(owner.UID)] {
			Expect(api.Delete(w.ctx, &list.Items[i])).To(Succeed())
		}
	}
}

func (w *world) deletePod(pod *corev1.Pod) {
	GinkgoHelper()
	Expect(client.IgnoreNotFound(api.Delete(w.ctx, pod))).To(Succeed())
}
