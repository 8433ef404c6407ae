package packaging

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/e2e/earlier"
	"sigs.k8s.io/lws/e2e/managers"
)

// disaggregated is a DisaggregatedSet of an earlier release, with what was in its
// namespace before our managers were there.
type disaggregated struct {
	earlier.Release

	uids        map[string]types.UID
	generations map[string]int64
	revision    string
}

// each looks at all objects of a kind.
func (d *disaggregated) each(ctx context.Context, list client.ObjectList, look func(client.Object)) {
	GinkgoHelper()
	Expect(env.Client.List(ctx, list, client.InNamespace(d.Namespace))).To(Succeed())
	Expect(meta.EachListItem(list, func(object runtime.Object) error {
		look(object.(client.Object))
		return nil
	})).To(Succeed())
}

// uidsNow are those of all objects, by kind and name.
func (d *disaggregated) uidsNow(ctx context.Context) map[string]types.UID {
	GinkgoHelper()
	uids := map[string]types.UID{}
	for kind, list := range map[string]client.ObjectList{
		"Pod ": &corev1.PodList{}, "Service ": &corev1.ServiceList{}, "StatefulSet ": &appsv1.StatefulSetList{},
		"ControllerRevision ": &appsv1.ControllerRevisionList{}, "LeaderWorkerSet ": &lwsv1.LeaderWorkerSetList{},
	} {
		d.each(ctx, list, func(object client.Object) { uids[kind+object.GetName()] = object.GetUID() })
	}
	return uids
}

func (d *disaggregated) generationsNow(ctx context.Context) map[string]int64 {
	GinkgoHelper()
	generations := map[string]int64{}
	d.each(ctx, &appsv1.StatefulSetList{}, func(object client.Object) { generations[object.GetName()] = object.GetGeneration() })
	return generations
}

func (d *disaggregated) podsNow(ctx context.Context) []corev1.Pod {
	GinkgoHelper()
	var pods corev1.PodList
	Expect(env.Client.List(ctx, &pods, client.InNamespace(d.Namespace))).To(Succeed())
	return pods.Items
}

func (d *disaggregated) make(ctx context.Context) {
	GinkgoHelper()
	Expect(d.Release.Make(ctx, env.Client)).To(Succeed())
	Eventually(d.podsNow).WithArguments(ctx).Should(And(HaveLen(d.Pods), HaveEach(Satisfy(isPodReady))))
	d.uids, d.generations = d.uidsNow(ctx), d.generationsNow(ctx)
	d.each(ctx, &lwsv1.LeaderWorkerSetList{}, func(object client.Object) { d.revision = object.GetLabels()[dsv1.RevisionLabelKey] })
}

func (d *disaggregated) set(ctx context.Context) *dsv1.DisaggregatedSet {
	GinkgoHelper()
	set := &dsv1.DisaggregatedSet{}
	Expect(env.Client.Get(ctx, client.ObjectKey{Namespace: d.Namespace, Name: d.Set}, set)).To(Succeed())
	return set
}

func (d *disaggregated) awaitAvailable(ctx context.Context) {
	GinkgoHelper()
	Eventually(progressAt).WithArguments(ctx, client.ObjectKey{Namespace: d.Namespace, Name: d.Set}).Should(Equal("True"))
}

// change changes the set and waits until that has happened.
func (d *disaggregated) change(ctx context.Context, change func(*dsv1.DisaggregatedSetSpec)) {
	GinkgoHelper()
	set := d.set(ctx)
	patch := client.MergeFrom(set.DeepCopy())
	change(&set.Spec)
	Expect(env.Client.Patch(ctx, set, patch)).To(Succeed())
	d.awaitAvailable(ctx)
}

var _ = Describe("DisaggregatedSets of earlier releases", Ordered, func() {
	var sets []*disaggregated
	for _, release := range earlier.Disaggregated() {
		sets = append(sets, &disaggregated{Release: release})
	}

	BeforeAll(func(ctx SpecContext) {
		startWithDefinitions(ctx)
		for _, set := range sets {
			set.make(ctx)
		}
		startManager(ctx, managers.LWS())
		startManager(ctx, managers.DisaggregatedSet())
	})

	for _, set := range sets {
		name := set.Set + " of " + set.Version
		It(name+" is taken over: nothing ends, nothing is made", func(ctx SpecContext) {
			set.awaitAvailable(ctx)
			Expect(set.uidsNow(ctx)).To(Equal(set.uids))
			Expect(set.generationsNow(ctx)).To(Equal(set.generations))
			Expect(set.set(ctx).Generation).To(Equal(int64(1)))
			Expect(set.set(ctx).Status.CurrentRevision).To(Equal(set.revision))
		})

		It(name+" can go back: its objects are as that release stores them", func(ctx SpecContext) {
			stored, err := set.Stored(ctx, env.Client)
			Expect(err).NotTo(HaveOccurred())
			for i := range stored {
				expectAsStored(ctx, &stored[i])
			}
		})

		It(name+" is scaled without a restart, and rolls with the next template", func(ctx SpecContext) {
			set.change(ctx, func(spec *dsv1.DisaggregatedSetSpec) { spec.Roles[0].Spec.Replicas = new(int32(3)) })
			scaled := set.uidsNow(ctx)
			for object, uid := range set.uids {
				Expect(scaled).To(HaveKeyWithValue(object, uid))
			}
			set.change(ctx, func(spec *dsv1.DisaggregatedSetSpec) {
				for i := range spec.Roles {
					spec.Roles[i].Spec.LeaderWorkerTemplate.WorkerTemplate.Spec.Containers[0].Image = nextImage
				}
			})
			revision := set.set(ctx).Status.CurrentRevision
			Expect(revision).NotTo(Equal(set.revision))
			set.each(ctx, &lwsv1.LeaderWorkerSetList{}, func(object client.Object) {
				role := object.GetLabels()[dsv1.RoleLabelKey]
				Expect(object.GetName()).To(Equal(set.Set + "-0-" + revision + "-" + role))
			})
			images := func(pod corev1.Pod) string { return pod.Spec.Containers[0].Image }
			Eventually(set.podsNow).WithArguments(ctx).Should(HaveEach(WithTransform(images, Equal(nextImage))), "the old pods end")
			for _, pod := range set.podsNow(ctx) {
				Expect(pod.Labels).To(HaveKeyWithValue(dsv1.SliceLabelKey, "0"), pod.Name)
				Expect(variablesOf(pod)).To(And(
					HaveKeyWithValue("server "+dsv1.SetNameEnvVar, set.Set), HaveKeyWithValue("server "+dsv1.RoleEnvVar, pod.Labels[dsv1.RoleLabelKey]),
					HaveKeyWithValue("server "+dsv1.SliceEnvVar, "0"), HaveKeyWithValue("server "+dsv1.RevisionEnvVar, revision),
				), pod.Name)
			}
		})
	}

	It("that are scaled from outside keep their number", func(ctx SpecContext) {
		scaler := &dsv1.DisaggregatedSetRoleScaler{}
		Expect(env.Client.Get(ctx, client.ObjectKey{Namespace: "parted", Name: "parted-decode"}, scaler)).To(Succeed())
		Expect(dsv1.ScalerReplicas(scaler)).To(Equal(int32(2)))
		Expect(scaler.Status.Replicas).To(Equal(int32(2)))
		Expect(scaler.Status.Selector).To(Equal(
			"disaggregatedset.x-k8s.io/name=parted,disaggregatedset.x-k8s.io/role=decode,leaderworkerset.sigs.k8s.io/worker-index=0"))
	})
})
