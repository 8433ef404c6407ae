//go:build integration

package leaderworkerset_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/podspec"
)

func (w *world) deployment() *appsv1.Deployment {
	GinkgoHelper()
	return fetch(w, "x", &appsv1.Deployment{})
}

// runDeploymentController does what the Deployment controller would at once, whatever
// the budgets: one ReplicaSet for the template, all leaders of it, and none of others.
// It is also the pod webhook and, for gates, the reconciler of groups.
func (w *world) runDeploymentController() {
	GinkgoHelper()
	leaders := w.deployment()
	replicaSet := w.replicaSetOf(leaders)
	var standing []*corev1.Pod
	for _, pod := range w.keyedLeaders() {
		switch {
		case pod.DeletionTimestamp != nil:
		case !metav1.IsControlledBy(pod, replicaSet):
			w.deletePod(pod)
		default:
			standing = append(standing, pod)
		}
	}
	for len(standing) > int(*leaders.Spec.Replicas) {
		w.deletePod(standing[0])
		standing = standing[1:]
	}
	for i := len(standing); i < int(*leaders.Spec.Replicas); i++ {
		w.makeKeyedLeader(replicaSet)
	}
	w.updateStatus(leaders, func() { leaders.Status.ObservedGeneration = leaders.Generation })
}

func (w *world) replicaSetOf(leaders *appsv1.Deployment) *appsv1.ReplicaSet {
	GinkgoHelper()
	replicaSet := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.namespace, Name: "x-" + leaders.Labels[lwsv1.RevisionLabelKey], Labels: leaders.Spec.Template.Labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(leaders, appsv1.SchemeGroupVersion.WithKind("Deployment"))},
		},
		Spec: appsv1.ReplicaSetSpec{Replicas: leaders.Spec.Replicas, Selector: leaders.Spec.Selector, Template: leaders.Spec.Template},
	}
	if err := live.Get(w.ctx, client.ObjectKeyFromObject(replicaSet), &appsv1.ReplicaSet{}); err != nil {
		Expect(client.IgnoreNotFound(err)).To(Succeed())
		w.create(replicaSet)
		return replicaSet
	}
	return fetch(w, replicaSet.Name, &appsv1.ReplicaSet{})
}

var drawn int

func (w *world) makeKeyedLeader(replicaSet *appsv1.ReplicaSet) {
	GinkgoHelper()
	drawn++
	pod := &corev1.Pod{
		ObjectMeta: *replicaSet.Spec.Template.ObjectMeta.DeepCopy(),
		Spec:       *replicaSet.Spec.Template.Spec.DeepCopy(),
	}
	pod.Namespace, pod.Name = w.namespace, fmt.Sprintf("%s-%d", replicaSet.Name, drawn)
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(replicaSet, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))}
	Expect(podspec.AdmitLeader(pod, podspec.HashLeader(pod, fmt.Sprintf("%016d", drawn)), lwsv1.SequentialPodTermination)).To(Succeed())
	pod.Spec.SchedulingGates = nil
	w.create(pod)
}

// keyedLeaders are in the order in which they were made.
func (w *world) keyedLeaders() []*corev1.Pod {
	GinkgoHelper()
	var leaders []*corev1.Pod
	for _, pod := range w.leaderPods() {
		leaders = append(leaders, &pod)
	}
	slices.SortFunc(leaders, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), strings.Compare(a.Name, b.Name))
	})
	return leaders
}

// readyKeyed makes a leader ready, as its group is.
func (w *world) readyKeyed(leader *corev1.Pod) {
	GinkgoHelper()
	w.updateStatus(leader, func() {
		leader.Status.Phase = corev1.PodRunning
		leader.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	})
}

var _ = Describe("A set with Hash identity", func() {
	var w *world
	BeforeEach(func(ctx SpecContext) { w = newWorld(ctx) })

	bringUp := func(replicas int32) {
		GinkgoHelper()
		w.create(w.build().Hash().Replicas(replicas).MaxSurge("1").MaxUnavailable("0").Obj())
		w.settle()
		w.runDeploymentController()
		for _, leader := range w.keyedLeaders() {
			w.readyKeyed(leader)
		}
		w.settle()
		Expect(w.conditions()).To(Equal(available))
	}

	It("makes a Deployment and nothing more at rest", func() {
		w.create(w.build().Hash().Replicas(2).Label("team", "a").Obj())
		writes := w.reconcile()
		revision := w.revisions()[0]
		Expect(writes).To(Equal([]string{
			"create ControllerRevision " + revision.Name, "create Service x", "create Deployment x", "patch status LeaderWorkerSet x",
		}))
		Expect(w.conditions()).To(Equal(progressing))
		set, leaders := w.set(), w.deployment()
		Expect(metav1.GetControllerOf(leaders).UID).To(Equal(set.UID))
		Expect(leaders.Labels).To(HaveKeyWithValue("team", "a"))
		Expect(leaders.Spec.Template.Annotations).To(HaveKeyWithValue(lwsv1.GroupIdentityAnnotationKey, "Hash"))
		Expect(w.reconcile()).To(BeEmpty(), "nothing has changed")
		w.restart()
		Expect(w.reconcile()).To(BeEmpty(), "nor after a restart")
		w.runDeploymentController()
		for _, leader := range w.keyedLeaders() {
			w.readyKeyed(leader)
		}
		w.settle()
		Expect(w.conditions()).To(Equal(available))
		Expect(w.set().Status).To(And(HaveField("Replicas", int32(2)), HaveField("ReadyReplicas", int32(2)), HaveField("UpdatedReplicas", int32(2))))
	})

	It("keeps the Deployment as it is to be", func() {
		bringUp(1)
		leaders := w.deployment()
		leaders.Spec.Replicas = new(int32(7))
		leaders.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
		Expect(api.Update(w.ctx, leaders)).To(Succeed())
		w.settle()
		Expect(w.deployment().Spec.Replicas).To(HaveValue(BeEquivalentTo(1)))
		Expect(w.deployment().Spec.Strategy.RollingUpdate.MaxSurge.IntValue()).To(Equal(1))
		w.change(func(set *lwsv1.LeaderWorkerSet) { metav1.SetMetaDataLabel(&set.ObjectMeta, "team", "b") })
		w.settle()
		Expect(w.deployment().Labels).To(HaveKeyWithValue("team", "b"))
		w.change(func(set *lwsv1.LeaderWorkerSet) { delete(set.Labels, "team") })
		w.settle()
		Expect(w.deployment().Labels).NotTo(HaveKey("team"))
	})

	It("tells a rollout of one group until the new one is ready", func() {
		bringUp(1)
		before := w.set().Status.UpdateRevision
		w.change(func(set *lwsv1.LeaderWorkerSet) {
			set.Spec.LeaderWorkerTemplate.WorkerTemplate.Spec.Containers[0].Image = "other"
		})
		w.settle()
		updating := map[string]string{
			"Available": "False GroupsNotReady", "Progressing": "True GroupsUpdating",
			"UpdateInProgress": "True GroupsUpdating", "Degraded": asExpected,
		}
		Expect(w.conditions()).To(Equal(updating))
		w.runDeploymentController()
		w.settle()
		Expect(w.conditions()).To(Equal(updating), "the old group is gone, the new one is not ready")
		Expect(w.set().Status.CurrentRevision).To(Equal(before))
		for _, leader := range w.keyedLeaders() {
			if leader.DeletionTimestamp == nil {
				w.readyKeyed(leader)
			}
		}
		w.settle()
		Expect(w.conditions()).To(Equal(available))
		Expect(w.set().Status.CurrentRevision).To(Equal(w.set().Status.UpdateRevision))
	})

	It("moves a count to the group that replaces another, and prunes what belongs to none", func() {
		bringUp(1)
		leader := w.keyedLeaders()[0]
		old, revision := leader.Labels[lwsv1.GroupKeyLabelKey], w.set().Status.UpdateRevision
		count := func(key string, n int) string { return fmt.Sprintf(`{"%s/%s":%d}`, revision, key, n) }
		w.change(func(set *lwsv1.LeaderWorkerSet) {
			metav1.SetMetaDataAnnotation(&set.ObjectMeta, lwsv1.GroupRestartCountsAnnotationKey, count(old, 2))
		})
		w.settle()
		w.deletePod(leader)
		w.settle()
		Expect(w.set().Annotations).To(HaveKeyWithValue(lwsv1.GroupRestartCountsAnnotationKey, count(old, 2)), "a replacement is to come")
		w.runDeploymentController()
		next := w.keyedLeaders()[0]
		next.Annotations[lwsv1.ReplacesAnnotationKey] = old
		Expect(api.Update(w.ctx, next)).To(Succeed())
		w.settle()
		key := next.Labels[lwsv1.GroupKeyLabelKey]
		Expect(w.set().Annotations).To(HaveKeyWithValue(lwsv1.GroupRestartCountsAnnotationKey, count(key, 2)))
		Expect(w.set().Status.GroupRestarts).To(BeEquivalentTo(2))
		w.change(func(set *lwsv1.LeaderWorkerSet) { set.Spec.Replicas = new(int32(0)) })
		w.settle()
		w.runDeploymentController()
		w.settle()
		Expect(w.set().Annotations).NotTo(HaveKey(lwsv1.GroupRestartCountsAnnotationKey))
	})

	It("leaves somebody else's Deployment of its name alone", func() {
		foreign := &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Name: "x"},
			Spec: appsv1.DeploymentSpec{
				Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "y"}},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "y"}},
					Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
				},
			},
		}
		w.createForeign(foreign)
		w.create(w.build().Hash().Replicas(1).Obj())
		w.reconcile()
		Expect(w.conditions()["Progressing"]).To(Equal("True NameConflict"))
		Expect(w.deployment().UID).To(Equal(foreign.UID))
		Expect(w.deployment().Labels).To(BeEmpty())
	})
})
