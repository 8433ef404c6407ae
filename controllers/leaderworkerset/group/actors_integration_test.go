//go:build integration

package group

import (
	"fmt"
	"slices"

	"github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
	"sigs.k8s.io/lws/controllers/leaderworkerset/podspec"
	"sigs.k8s.io/lws/controllers/leaderworkerset/revision"
)

// act lets everybody else do one step.
func (w *world) act() {
	ginkgo.GinkgoHelper()
	for _, actor := range []func(){w.makePods, w.runPods, w.collectGarbage, w.endPods} {
		actor()
	}
}

// rollOut is what the reconciler of sets does at first and after a change of the
// template: the revision and the leader StatefulSet with its label.
func (w *world) rollOut() {
	ginkgo.GinkgoHelper()
	set := w.set()
	var revisions []*appsv1.ControllerRevision
	for _, r := range list(w, &appsv1.ControllerRevisionList{}).Items {
		revisions = append(revisions, &r)
	}
	current, err := revision.Find(set, revisions, "")
	Expect(err).NotTo(HaveOccurred())
	if current == nil {
		current, err = revision.New(set, revisions)
		Expect(err).NotTo(HaveOccurred())
		Expect(live.Create(w.ctx, current)).To(Succeed())
	}
	template := &set.Spec.LeaderWorkerTemplate
	replicas := lwsv1.Replicas(set)
	key := revision.Key(current)
	desired := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.namespace, Name: "x", Labels: identity.LeaderStatefulSetLabels("x", key),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, setKind)},
		},
		Spec: appsv1.StatefulSetSpec{
			Replicas: &replicas, ServiceName: "x", PodManagementPolicy: appsv1.ParallelPodManagement,
			Selector: &metav1.LabelSelector{MatchLabels: identity.LeaderSelector("x")},
			Template: *podspec.LeaderPodTemplate(podspec.Revision{
				Set: "x", Key: key, Template: template, Network: set.Spec.NetworkConfig,
				Placement: podspec.PlacementOf(set.Annotations, template),
			}),
		},
	}
	existing := &appsv1.StatefulSet{}
	if w.fetch("x", existing) {
		existing.Labels, existing.Spec.Replicas, existing.Spec.Template = desired.Labels, desired.Spec.Replicas, desired.Spec.Template
		Expect(live.Update(w.ctx, existing)).To(Succeed())
		return
	}
	Expect(live.Create(w.ctx, desired)).To(Succeed())
	desired.Status.CurrentRevision = "x-" + key
	Expect(live.Status().Update(w.ctx, desired)).To(Succeed())
}

// makePods is the StatefulSet controller, and the pod webhook: it makes the pods of
// StatefulSets, adopts those without a controller, and deletes those that have ended
// or that are too many.
func (w *world) makePods() {
	ginkgo.GinkgoHelper()
	for _, s := range w.statefulSets() {
		if s.DeletionTimestamp != nil {
			continue
		}
		start := int32(0)
		if s.Spec.Ordinals != nil {
			start = s.Spec.Ordinals.Start
		}
		for ordinal := start; ordinal < start+*s.Spec.Replicas; ordinal++ {
			w.makePod(&s, ordinal)
		}
		for _, p := range w.pods() {
			_, ordinal, _ := identity.SplitOrdinal(p.Name)
			if metav1.IsControlledBy(&p, &s) && ordinal >= start+*s.Spec.Replicas {
				w.deletePod(p.Name, p.UID, metav1.DeletePropagationBackground)
			}
		}
	}
}

func (w *world) makePod(s *appsv1.StatefulSet, ordinal int32) {
	ginkgo.GinkgoHelper()
	p := &corev1.Pod{}
	name := identity.WorkerName(s.Name, ordinal)
	if w.fetch(name, p) {
		switch {
		case p.DeletionTimestamp != nil:
		case metav1.GetControllerOf(p) == nil:
			p.OwnerReferences = append(p.OwnerReferences, *metav1.NewControllerRef(s, appsv1.SchemeGroupVersion.WithKind("StatefulSet")))
			Expect(live.Update(w.ctx, p)).To(Succeed())
		case p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded:
			w.deletePod(p.Name, p.UID, metav1.DeletePropagationBackground)
		}
		return
	}
	p = &corev1.Pod{ObjectMeta: *s.Spec.Template.ObjectMeta.DeepCopy(), Spec: *s.Spec.Template.Spec.DeepCopy()}
	p.Namespace, p.Name = w.namespace, name
	p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(s, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))}
	p.Spec.Hostname, p.Spec.Subdomain = name, s.Spec.ServiceName
	p.Labels[appsv1.ControllerRevisionHashLabelKey] = s.Name + "-" + p.Labels[lwsv1.RevisionLabelKey]
	if identity.IsLeader(p) {
		leader, err := podspec.OrdinalLeader(p)
		Expect(err).NotTo(HaveOccurred())
		Expect(podspec.AdmitLeader(p, leader, lwsv1.PodTerminationPolicy(w.set()))).To(Succeed())
		podspec.MarkRestartPolicy(p, lwsv1.RestartPolicy(w.set()))
	} else {
		Expect(podspec.AdmitWorker(p)).To(Succeed())
	}
	Expect(live.Create(w.ctx, p)).To(Succeed())
	if identity.IsLeader(p) {
		w.leaders = append(w.leaders, p.UID)
	}
}

// runPods is the scheduler and the node agents: pods without a gate run.
func (w *world) runPods() {
	ginkgo.GinkgoHelper()
	for _, p := range w.pods() {
		if p.DeletionTimestamp != nil || len(p.Spec.SchedulingGates) > 0 || p.Status.Phase != corev1.PodPending {
			continue
		}
		if text, pending := w.pending[p.Name]; pending {
			if text != "" {
				w.setStatus(p.Name, func(s *corev1.PodStatus) {
					s.Conditions = []corev1.PodCondition{{
						Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: text,
					}}
				})
			}
			continue
		}
		w.place(&p, "node-a")
		w.setStatus(p.Name, func(s *corev1.PodStatus) {
			s.Phase = corev1.PodRunning
			s.Conditions = []corev1.PodCondition{
				{Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
				{Type: corev1.ContainersReady, Status: corev1.ConditionTrue},
				{Type: corev1.PodReady, Status: corev1.ConditionTrue},
			}
		})
	}
}

func (w *world) place(p *corev1.Pod, node string) {
	ginkgo.GinkgoHelper()
	if p.Spec.NodeName != "" {
		return
	}
	binding := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: node}}
	Expect(live.SubResource("binding").Create(w.ctx, p, binding)).To(Succeed())
}

// setStatus changes the status of a pod, if that changes anything.
func (w *world) setStatus(name string, change func(*corev1.PodStatus)) {
	ginkgo.GinkgoHelper()
	p := w.pod(name)
	before := p.DeepCopy()
	change(&p.Status)
	Expect(live.Status().Patch(w.ctx, p, client.MergeFrom(before))).To(Succeed())
}

// restartContainer lets a container of a pod have restarted so often.
func (w *world) restartContainer(name string, count int32) {
	ginkgo.GinkgoHelper()
	w.setStatus(name, func(s *corev1.PodStatus) {
		s.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "worker", RestartCount: count, LastTerminationState: ended(137, "OOMKilled"),
		}}
	})
}

// endPods is the node agents: containers of pods that are being deleted end, and then
// the pod goes unless something holds it.
func (w *world) endPods() {
	ginkgo.GinkgoHelper()
	for _, p := range w.pods() {
		if p.DeletionTimestamp == nil || w.hanging[p.Name] {
			continue
		}
		if p.Status.Phase == corev1.PodRunning {
			w.setStatus(p.Name, func(s *corev1.PodStatus) { s.Phase = corev1.PodSucceeded })
		}
		uid := p.UID
		err := live.Delete(w.ctx, &p, client.GracePeriodSeconds(0), client.Preconditions{UID: &uid})
		if !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			Expect(err).NotTo(HaveOccurred())
		}
	}
}

// collectGarbage is garbage collection, one step of it.
func (w *world) collectGarbage() {
	ginkgo.GinkgoHelper()
	objects := w.objects()
	alive := map[types.UID]bool{}
	for _, obj := range objects {
		alive[obj.GetUID()] = true
	}
	for _, obj := range objects {
		if controller := metav1.GetControllerOf(obj); controller != nil && !alive[controller.UID] && obj.GetDeletionTimestamp() == nil {
			w.remove(obj, metav1.DeletePropagationBackground)
		}
		if obj.GetDeletionTimestamp() == nil {
			continue
		}
		switch {
		case slices.Contains(obj.GetFinalizers(), metav1.FinalizerDeleteDependents):
			w.deleteDependents(obj, objects)
		case slices.Contains(obj.GetFinalizers(), metav1.FinalizerOrphanDependents):
			w.orphanDependents(obj, objects)
		}
	}
}

func (w *world) objects() []client.Object {
	var objects []client.Object
	for _, s := range list(w, &lwsv1.LeaderWorkerSetList{}).Items {
		objects = append(objects, &s)
	}
	for _, s := range w.statefulSets() {
		objects = append(objects, &s)
	}
	for _, p := range w.pods() {
		objects = append(objects, &p)
	}
	for _, s := range list(w, &corev1.ServiceList{}).Items {
		objects = append(objects, &s)
	}
	return objects
}

func (w *world) deleteDependents(obj client.Object, objects []client.Object) {
	ginkgo.GinkgoHelper()
	left := 0
	for _, dependent := range objects {
		if !metav1.IsControlledBy(dependent, obj) {
			continue
		}
		left++
		if dependent.GetDeletionTimestamp() == nil {
			w.remove(dependent, metav1.DeletePropagationForeground)
		}
	}
	if left == 0 {
		w.removeFinalizer(obj, metav1.FinalizerDeleteDependents)
	}
}

func (w *world) orphanDependents(obj client.Object, objects []client.Object) {
	ginkgo.GinkgoHelper()
	for _, dependent := range objects {
		if metav1.IsControlledBy(dependent, obj) {
			before := dependent.DeepCopyObject().(client.Object)
			dependent.SetOwnerReferences(nil)
			Expect(live.Patch(w.ctx, dependent, client.MergeFrom(before))).To(Succeed())
		}
	}
	w.removeFinalizer(obj, metav1.FinalizerOrphanDependents)
}

func (w *world) removeFinalizer(obj client.Object, finalizer string) {
	ginkgo.GinkgoHelper()
	before := obj.DeepCopyObject().(client.Object)
	obj.SetFinalizers(slices.DeleteFunc(slices.Clone(obj.GetFinalizers()), func(f string) bool { return f == finalizer }))
	Expect(live.Patch(w.ctx, obj, client.MergeFrom(before))).To(Succeed())
}

func (w *world) remove(obj client.Object, policy metav1.DeletionPropagation) {
	ginkgo.GinkgoHelper()
	uid := obj.GetUID()
	err := live.Delete(w.ctx, obj, client.Preconditions{UID: &uid}, client.PropagationPolicy(policy))
	if !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		Expect(err).NotTo(HaveOccurred(), fmt.Sprintf("deleting %T %s", obj, obj.GetName()))
	}
}

func (w *world) deletePod(name string, uid types.UID, policy metav1.DeletionPropagation) {
	ginkgo.GinkgoHelper()
	w.remove(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name, UID: uid}}, policy)
}

// deleteNow deletes a pod as a user does.
func (w *world) deleteNow(name string, policy metav1.DeletionPropagation) {
	ginkgo.GinkgoHelper()
	w.deletePod(name, w.pod(name).UID, policy)
}
