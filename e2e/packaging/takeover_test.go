package packaging

import (
	"context"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/e2e/earlier"
	"sigs.k8s.io/lws/e2e/managers"
)

// statefulSets are the generations of those of a set, by name.
func statefulSets(ctx context.Context, set string) map[string]int64 {
	GinkgoHelper()
	var list appsv1.StatefulSetList
	Expect(env.Client.List(ctx, &list, client.InNamespace("default"), client.MatchingLabels{lwsv1.SetNameLabelKey: set})).To(Succeed())
	generations := map[string]int64{}
	for i := range list.Items {
		generations[list.Items[i].Name] = list.Items[i].Generation
	}
	return generations
}

func revisions(ctx context.Context, set string) []string {
	GinkgoHelper()
	var list appsv1.ControllerRevisionList
	Expect(env.Client.List(ctx, &list, client.InNamespace("default"), client.MatchingLabels{lwsv1.SetNameLabelKey: set})).To(Succeed())
	var keys []string
	for i := range list.Items {
		// The StatefulSet controller's own have a label of its own.
		if key, ours := list.Items[i].Labels[lwsv1.RevisionLabelKey]; ours && metav1.GetControllerOf(&list.Items[i]).Kind == lwsv1.Kind {
			keys = append(keys, key)
		}
	}
	return keys
}

// fieldManagers are who wrote a StatefulSet by an update.
func updaters(ctx context.Context, name string) []string {
	GinkgoHelper()
	object := &appsv1.StatefulSet{}
	Expect(env.Client.Get(ctx, client.ObjectKey{Namespace: "default", Name: name}, object)).To(Succeed())
	var names []string
	for _, entry := range object.ManagedFields {
		if entry.Operation == metav1.ManagedFieldsOperationUpdate && entry.Subresource == "" {
			names = append(names, entry.Manager)
		}
	}
	return names
}

var _ = Describe("Sets of earlier releases", Ordered, func() {
	pods, generations, keys := map[string]map[string]string{}, map[string]map[string]int64{}, map[string][]string{}

	BeforeAll(func(ctx SpecContext) {
		startEnvironment(ctx)
		checkout, err := managers.Checkout()
		Expect(err).NotTo(HaveOccurred())
		_, err = managers.Kubectl(ctx, env.Cluster, nil, "apply", "--server-side", "-k", filepath.Join(checkout, "config", "crd"))
		Expect(err).NotTo(HaveOccurred())
		_, err = managers.Kubectl(ctx, env.Cluster, nil, "wait", "--for=condition=Established", "crd", "--all")
		Expect(err).NotTo(HaveOccurred())
		for _, release := range earlier.Releases() {
			name := release.Version
			Expect(release.Make(ctx, env.Client)).To(Succeed())
			pods[name], generations[name], keys[name] = podsOf(ctx, release.Set), statefulSets(ctx, release.Set), revisions(ctx, release.Set)
			Expect(pods[name]).To(HaveLen(release.Pods))
			Expect(keys[name]).To(HaveLen(1))
		}
		installed, err := managers.Install(ctx, env.Cluster, managers.LWS())
		Expect(err).NotTo(HaveOccurred())
		process, err := installed.Start(ctx, managers.Options{})
		Expect(err).NotTo(HaveOccurred())
		Expect(process.AwaitReady(ctx)).To(Succeed())
	})

	for _, release := range earlier.Releases() {
		name := release.Version
		It("of "+name+" are taken over: no pod ends, no rollout starts", func(ctx SpecContext) {
			Eventually(available).WithArguments(ctx, release.Set).Should(Equal("True"))
			Expect(podsOf(ctx, release.Set)).To(Equal(pods[name]))
			Expect(statefulSets(ctx, release.Set)).To(Equal(generations[name]))
			Expect(revisions(ctx, release.Set)).To(Equal(keys[name]))
			set := &lwsv1.LeaderWorkerSet{}
			Expect(env.Client.Get(ctx, client.ObjectKey{Namespace: "default", Name: release.Set}, set)).To(Succeed())
			Expect(set.Generation).To(Equal(int64(1)))
			Expect(set.Status.CurrentRevision).To(Equal(keys[name][0]))
			Expect(set.Status.UpdateRevision).To(Equal(keys[name][0]))
		})

		It("of "+name+" are scaled without a restart, and roll with the next template", func(ctx SpecContext) {
			set := &lwsv1.LeaderWorkerSet{}
			Expect(env.Client.Get(ctx, client.ObjectKey{Namespace: "default", Name: release.Set}, set)).To(Succeed())
			patch := client.MergeFrom(set.DeepCopy())
			*set.Spec.Replicas++
			Expect(env.Client.Patch(ctx, set, patch)).To(Succeed())
			Eventually(available).WithArguments(ctx, release.Set).Should(Equal("True"))
			now := podsOf(ctx, release.Set)
			for pod, uid := range pods[name] {
				Expect(now).To(HaveKeyWithValue(pod, uid))
			}
			Expect(updaters(ctx, release.Set)).NotTo(ContainElement(earlier.Applier), "the leader StatefulSet's fields have one owner")

			patch = client.MergeFrom(set.DeepCopy())
			set.Spec.LeaderWorkerTemplate.WorkerTemplate.Spec.Containers[0].Image = "registry.k8s.io/pause:3.10"
			Expect(env.Client.Patch(ctx, set, patch)).To(Succeed())
			Eventually(available).WithArguments(ctx, release.Set).Should(Equal("True"))
			for pod, uid := range podsOf(ctx, release.Set) {
				Expect(now).NotTo(ContainElement(uid), "pod %s is of the old template", pod)
			}
		})
	}
})
