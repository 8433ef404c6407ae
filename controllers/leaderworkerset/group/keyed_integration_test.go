//go:build integration

package group

import (
	"strings"
	"time"

	"github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
	"sigs.k8s.io/lws/controllers/leaderworkerset/podspec"
)

// keyedLeader makes a leader of the set's ReplicaSet, with the given key.
func (w *world) keyedLeader(maker *appsv1.ReplicaSet, name, key string) *corev1.Pod {
	ginkgo.GinkgoHelper()
	p := &corev1.Pod{ObjectMeta: *maker.Spec.Template.ObjectMeta.DeepCopy(), Spec: *maker.Spec.Template.Spec.DeepCopy()}
	p.Namespace, p.Name = w.namespace, name
	p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(maker, appsv1.SchemeGroupVersion.WithKind(kindReplicaSet))}
	p.Labels[lwsv1.GroupKeyLabelKey] = key
	Expect(podspec.AdmitLeader(p, podspec.HashLeader(p, ""), lwsv1.SequentialPodTermination)).To(Succeed())
	Expect(live.Create(w.ctx, p)).To(Succeed())
	return p
}

// deploy makes the leader Deployment of the set and its ReplicaSet, in place of the
// leader StatefulSet.
func (w *world) deploy() *appsv1.ReplicaSet {
	ginkgo.GinkgoHelper()
	instead := &appsv1.StatefulSet{}
	Expect(w.fetch("x", instead)).To(BeTrue())
	Expect(live.Delete(w.ctx, instead)).To(Succeed())
	set, selector := w.set(), &metav1.LabelSelector{MatchLabels: identity.LeaderSelector("x")}
	key := instead.Labels[lwsv1.RevisionLabelKey]
	template := *podspec.LeaderPodTemplate(podspec.Revision{
		Set: "x", Key: key, Template: &set.Spec.LeaderWorkerTemplate, Network: set.Spec.NetworkConfig, Hash: true,
	})
	leaders := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.namespace, Name: "x", Labels: identity.LeaderStatefulSetLabels("x", key),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, setKind)},
		},
		Spec: appsv1.DeploymentSpec{Selector: selector, Template: template},
	}
	Expect(live.Create(w.ctx, leaders)).To(Succeed())
	maker := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.namespace, Name: "x-rs", Labels: template.Labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(leaders, appsv1.SchemeGroupVersion.WithKind("Deployment"))},
		},
		Spec: appsv1.ReplicaSetSpec{Selector: selector, Template: template},
	}
	Expect(live.Create(w.ctx, maker)).To(Succeed())
	return maker
}

var _ = ginkgo.Describe("groups whose keys begin alike", func() {
	ginkgo.It("are never called alike: the later leader goes", func(ctx ginkgo.SpecContext) {
		w := newWorld(ctx, func(b *lwstest.Builder) {
			b.Hash().Size(2).Replicas(2).SubdomainPolicy(lwsv1.SubdomainUniquePerReplica)
		})
		maker := w.deploy()
		key := func(last string) string { return "0123abcd" + strings.Repeat(last, 32) }
		wake := func(key string) {
			w.sync()
			w.reconcile(identity.KeyGroup(w.key(), key))
		}

		first := w.keyedLeader(maker, "x-rs-1", key("a"))
		Eventually(func() bool { wake(key("a")); return IsGated(w.pod(first.Name)) }).WithTimeout(20 * time.Second).Should(BeFalse())
		workers := w.workers("x-0123abcd")
		Expect(metav1.IsControlledBy(workers, first)).To(BeTrue())

		second := w.keyedLeader(maker, "x-rs-2", key("b"))
		wake(key("b"))
		Expect(w.isDeleting(second.Name)).To(BeTrue(), "it has not been admitted and goes")
		Expect(IsGated(w.pod(second.Name))).To(BeTrue())
		Expect(w.toldReasons()).To(ContainElement(ContainSubstring(lwsv1.ReasonNameConflict)))

		wake(key("a"))
		Expect(w.isDeleting(first.Name)).To(BeFalse())
		Expect(w.workers("x-0123abcd").UID).To(Equal(workers.UID))
		service := &corev1.Service{}
		Expect(w.fetch("x-0123abcd", service)).To(BeTrue())
		Expect(metav1.IsControlledBy(service, first)).To(BeTrue())
		w.expectNoErrors()
	})
})
