package leaderworkerset

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/e2e/cluster/sim"
)

var _ = Describe("Storage", func() {
	It("of a group is found again when the group is recreated", func() {
		s := begin()
		for i := range 4 {
			s.volume(i)
		}
		set := newSet("data").Replicas(2).Size(2).VolumeClaim("model")
		object := set.Namespace(s.namespace).Obj()
		object.Spec.LeaderWorkerTemplate.VolumeClaimTemplates[0].Spec.StorageClassName = &s.namespace
		object.Spec.LeaderWorkerTemplate.VolumeClaimTemplates[0].Labels = map[string]string{"kind": "weights"}
		Expect(s.env.Client.Create(s.ctx, object)).To(Succeed())
		s.awaitAvailable("data")
		s.awaitMemory("data", 2)
		before := map[string]corev1.PersistentVolumeClaim{}
		claims := &corev1.PersistentVolumeClaimList{}
		s.list(claims, "kind", "weights")
		for _, claim := range claims.Items {
			before[claim.Name] = claim
		}
		Expect(keysOf(before)).To(Equal([]string{"model-data-0", "model-data-0-1", "model-data-1", "model-data-1-1"}))

		Expect(sim.Restart(s.ctx, s.env.Kube, s.namespace, "data-1-1", "worker")).To(Succeed())
		s.awaitRecreated("data", "data-1", "data-1-1")
		s.list(claims, "kind", "weights")
		Expect(claims.Items).To(HaveLen(4))
		for _, claim := range claims.Items {
			Expect(claim.UID).To(Equal(before[claim.Name].UID), claim.Name)
			Expect(claim.Spec.VolumeName).To(Equal(before[claim.Name].Spec.VolumeName))
		}
		for name, pod := range s.Pods("data") {
			Expect(pod.Spec.Volumes).To(ContainElement(HaveField("VolumeSource.PersistentVolumeClaim.ClaimName", "model-"+name)))
		}

		By("going with the groups that are scaled away, if asked for")
		uids := s.History().UIDs("data")
		s.change("data", func(set *lwsv1.LeaderWorkerSet) {
			set.Spec.LeaderWorkerTemplate.PersistentVolumeClaimRetentionPolicy = lwstest.New("").ClaimRetention("Delete", "Delete").
				Spec().LeaderWorkerTemplate.PersistentVolumeClaimRetentionPolicy
		})
		s.awaitObserved("data")
		for _, name := range podNames("data", 2, 2) {
			Expect(s.History().UIDs("data")[name]).To(Equal(uids[name]), "%s: a live setting restarts nothing", name)
		}
		s.touchAndAwaitReaction("data")
		s.settle("data", replicas(1))
		Eventually(func() []string {
			s.list(claims, "kind", "weights")
			var names []string
			for _, claim := range claims.Items {
				names = append(names, claim.Name)
			}
			return names
		}).WithTimeout(patience).Should(ConsistOf("model-data-0", "model-data-0-1"))

		By("going with the set")
		s.remove(s.Set("data"))
		Eventually(func() []corev1.PersistentVolumeClaim {
			s.list(claims, "kind", "weights")
			return claims.Items
		}).WithTimeout(patience).Should(BeEmpty())
	})
})

// volume makes a volume of the class that is named as the namespace.
func (s *scenario) volume(i int) {
	GinkgoHelper()
	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", s.namespace, i)},
		Spec: corev1.PersistentVolumeSpec{
			StorageClassName: s.namespace, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			PersistentVolumeSource:        corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/nowhere"}},
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
		},
	}
	Expect(s.env.Client.Create(s.ctx, volume)).To(Succeed())
	DeferCleanup(func() { s.remove(volume) })
}
