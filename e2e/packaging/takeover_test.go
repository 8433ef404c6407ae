package packaging

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/e2e/earlier"
	"sigs.k8s.io/lws/e2e/harness"
	"sigs.k8s.io/lws/e2e/managers"
)

// nextImage is that of the template that a set gets after it was taken over.
const nextImage = "registry.k8s.io/pause:3.10"

// takenOver is a set of an earlier release, with what it had before our manager was
// there.
type takenOver struct {
	earlier.Release

	pods        map[string]corev1.Pod
	generations map[string]int64
	writes      map[string]string
	revisions   []string
}

func (s *takenOver) key() client.ObjectKey {
	return client.ObjectKey{Namespace: s.Namespace, Name: s.Set}
}

// make leaves the set in the cluster, with all its pods ready.
func (s *takenOver) make(ctx context.Context) {
	GinkgoHelper()
	Expect(s.Release.Make(ctx, env.Client)).To(Succeed())
	Eventually(func() map[string]corev1.Pod {
		s.pods = s.podsNow(ctx)
		return s.pods
	}).Should(And(HaveLen(s.Pods), HaveEach(Satisfy(isPodReady))))
	s.generations, s.writes, s.revisions = s.generationsNow(ctx), s.writesNow(ctx), s.revisionsNow(ctx)
}

func isPodReady(pod corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// list lists what has the name of the set in its label.
func (s *takenOver) list(ctx context.Context, list client.ObjectList) {
	GinkgoHelper()
	Expect(env.Client.List(ctx, list, client.InNamespace(s.Namespace), client.MatchingLabels{lwsv1.SetNameLabelKey: s.Set})).To(Succeed())
}

func (s *takenOver) podsNow(ctx context.Context) map[string]corev1.Pod {
	GinkgoHelper()
	var list corev1.PodList
	s.list(ctx, &list)
	pods := map[string]corev1.Pod{}
	for _, pod := range list.Items {
		pods[pod.Name] = pod
	}
	return pods
}

func uidsOf(pods map[string]corev1.Pod) map[string]types.UID {
	uids := map[string]types.UID{}
	for name, pod := range pods {
		uids[name] = pod.UID
	}
	return uids
}

// generationsNow are those of its StatefulSets, by name.
func (s *takenOver) generationsNow(ctx context.Context) map[string]int64 {
	GinkgoHelper()
	var list appsv1.StatefulSetList
	s.list(ctx, &list)
	generations := map[string]int64{}
	for i := range list.Items {
		generations[list.Items[i].Name] = list.Items[i].Generation
	}
	return generations
}

// writesNow are who wrote its StatefulSets, what and when. Those of workers change owner
// with restart policy None.
func (s *takenOver) writesNow(ctx context.Context) map[string]string {
	GinkgoHelper()
	var list appsv1.StatefulSetList
	s.list(ctx, &list)
	set, writes := s.set(ctx), map[string]string{}
	for i := range list.Items {
		object := &list.Items[i]
		if object.Name != s.Set && lwsv1.RestartPolicy(set) == lwsv1.NoneRestartPolicy {
			continue
		}
		entries := slices.DeleteFunc(object.ManagedFields, func(e metav1.ManagedFieldsEntry) bool { return e.Subresource != "" })
		encoded, err := json.Marshal(entries)
		Expect(err).NotTo(HaveOccurred())
		writes[object.Name] = string(encoded)
	}
	return writes
}

// revisionsNow are the keys of its revisions.
func (s *takenOver) revisionsNow(ctx context.Context) []string {
	GinkgoHelper()
	var list appsv1.ControllerRevisionList
	s.list(ctx, &list)
	var keys []string
	for i := range list.Items {
		// The StatefulSet controller's own have a label of its own.
		if key, ours := list.Items[i].Labels[lwsv1.RevisionLabelKey]; ours && metav1.GetControllerOf(&list.Items[i]).Kind == lwsv1.Kind {
			keys = append(keys, key)
		}
	}
	return keys
}

func (s *takenOver) set(ctx context.Context) *lwsv1.LeaderWorkerSet {
	GinkgoHelper()
	set := &lwsv1.LeaderWorkerSet{}
	Expect(env.Client.Get(ctx, s.key(), set)).To(Succeed())
	return set
}

func (s *takenOver) awaitAvailable(ctx context.Context) {
	GinkgoHelper()
	Eventually(availableAt).WithArguments(ctx, s.key()).Should(Equal("True"))
}

// change changes the spec of the set and waits until that has happened.
func (s *takenOver) change(ctx context.Context, change func(*lwsv1.LeaderWorkerSetSpec)) {
	GinkgoHelper()
	set := s.set(ctx)
	patch := client.MergeFrom(set.DeepCopy())
	change(&set.Spec)
	Expect(env.Client.Patch(ctx, set, patch)).To(Succeed())
	s.awaitAvailable(ctx)
}

// updaters are who wrote its leader StatefulSet by an update.
func (s *takenOver) updaters(ctx context.Context) []string {
	GinkgoHelper()
	object := &appsv1.StatefulSet{}
	Expect(env.Client.Get(ctx, s.key(), object)).To(Succeed())
	var names []string
	for _, entry := range object.ManagedFields {
		if entry.Operation == metav1.ManagedFieldsOperationUpdate && entry.Subresource == "" {
			names = append(names, entry.Manager)
		}
	}
	return names
}

func newTakenOver(releases ...earlier.Release) []*takenOver {
	var sets []*takenOver
	for _, release := range releases {
		sets = append(sets, &takenOver{Release: release})
	}
	return sets
}

// startWithDefinitions starts an environment that has our definitions, and no manager.
func startWithDefinitions(ctx context.Context) {
	GinkgoHelper()
	startEnvironment(ctx)
	checkout, err := managers.Checkout()
	Expect(err).NotTo(HaveOccurred())
	_, err = managers.Kubectl(ctx, env.Cluster, nil, "apply", "--server-side", "-k", filepath.Join(checkout, "config", "crd"))
	Expect(err).NotTo(HaveOccurred())
	Eventually(func() error {
		// kubectl cannot wait for a definition that has no status at all yet.
		_, err := managers.Kubectl(ctx, env.Cluster, nil, "wait", "--for=condition=Established", "crd", "--all")
		return err
	}).Should(Succeed())
}

// startManager installs a manager and waits until it is ready.
func startManager(ctx context.Context, shipped managers.Shipped) {
	GinkgoHelper()
	installed, err := managers.Install(ctx, env.Cluster, shipped)
	Expect(err).NotTo(HaveOccurred())
	process, err := installed.Start(ctx, managers.Options{})
	Expect(err).NotTo(HaveOccurred())
	Expect(process.AwaitReady(ctx)).To(Succeed())
}

var _ = Describe("Sets of earlier releases", Ordered, func() {
	sets := newTakenOver(append(earlier.Releases(), earlier.Placed()...)...)
	rolling := newTakenOver(earlier.Rolling()...)
	rollouts, marks := map[string]*harness.Observer{}, map[string]harness.Mark{}

	BeforeAll(func(ctx SpecContext) {
		startWithDefinitions(ctx)
		for _, set := range append(sets, rolling...) {
			set.make(ctx)
		}
		watching, stop := context.WithCancel(context.Background())
		DeferCleanup(stop)
		for _, set := range rolling {
			rollout, err := env.Observe(watching, set.Namespace)
			Expect(err).NotTo(HaveOccurred())
			rollouts[set.Set], marks[set.Set] = rollout, rollout.History().Mark()
		}
		startManager(ctx, managers.LWS())
	})

	for _, set := range sets {
		name := set.Set + " of " + set.Version
		It(name+" is taken over: no pod ends, no rollout starts", func(ctx SpecContext) {
			set.awaitAvailable(ctx)
			Expect(uidsOf(set.podsNow(ctx))).To(Equal(uidsOf(set.pods)))
			Expect(set.generationsNow(ctx)).To(Equal(set.generations))
			Expect(set.writesNow(ctx)).To(Equal(set.writes))
			Expect(set.revisionsNow(ctx)).To(Equal(set.revisions))
			Expect(set.revisions).To(HaveLen(1))
			now := set.set(ctx)
			Expect(now.Generation).To(Equal(int64(1)))
			Expect(now.Status.CurrentRevision).To(Equal(set.revisions[0]))
			Expect(now.Status.UpdateRevision).To(Equal(set.revisions[0]))
		})

		It(name+" is scaled without a restart, and rolls with the next template", func(ctx SpecContext) {
			set.change(ctx, func(spec *lwsv1.LeaderWorkerSetSpec) { *spec.Replicas++ })
			now := uidsOf(set.podsNow(ctx))
			for pod, uid := range uidsOf(set.pods) {
				Expect(now).To(HaveKeyWithValue(pod, uid))
			}
			Expect(set.updaters(ctx)).NotTo(ContainElement(earlier.Applier), "the leader StatefulSet's fields have one owner")

			set.change(ctx, func(spec *lwsv1.LeaderWorkerSetSpec) {
				spec.LeaderWorkerTemplate.WorkerTemplate.Spec.Containers[0].Image = nextImage
			})
			after := set.podsNow(ctx)
			Expect(after).To(HaveLen(len(now)))
			for pod, uid := range now {
				Expect(after[pod].UID).NotTo(Equal(uid), "pod %s is of the old template", pod)
			}
			set.expectSamePlaces(ctx)
		})

		It(name+" can go back: its objects are as that release stores them", func(ctx SpecContext) {
			set.expectStored(ctx)
		})
	}

	// What is kept, in which order leaders end, and how many groups there are at least
	// and at most.
	rest := map[string]struct {
		kept, replaced, pods  []string
		minReady, maxExisting int
	}{
		"rolling": {
			kept: []string{"rolling-2", "rolling-3", "rolling-3-1"}, replaced: []string{"rolling-1", "rolling-0"},
			pods: []string{"rolling-2-1"}, minReady: 3, maxExisting: 4,
		},
		"surging": {replaced: []string{"surging-1", "surging-0", "surging-2"}, minReady: 2, maxExisting: 3},
	}
	for _, set := range rolling {
		It(set.Set+" of "+set.Version+", which is in the middle of a rollout, goes on with it", func(ctx SpecContext) {
			set.awaitAvailable(ctx)
			want := rest[set.Set]
			Expect(set.revisionsNow(ctx)).To(ConsistOf(set.revisions), "no revision is new")
			Expect(set.set(ctx).Status.CurrentRevision).To(Equal(set.set(ctx).Status.UpdateRevision))
			after, before := uidsOf(set.podsNow(ctx)), uidsOf(set.pods)
			for _, kept := range want.kept {
				Expect(after).To(HaveKeyWithValue(kept, before[kept]))
			}
			for _, pod := range want.pods {
				Expect(after).To(HaveKey(pod))
			}

			rollout := rollouts[set.Set]
			Eventually(func() []string { return rollout.History().Replaced(set.Set, marks[set.Set]) }).Should(Equal(want.replaced))
			Expect(rollout.Failure()).NotTo(HaveOccurred())
			history := rollout.History()
			Expect(history.MixedGroups(set.Set)).To(BeEmpty())
			extremes := history.Extremes(set.Set, marks[set.Set])
			Expect(extremes.MinReady).To(Equal(want.minReady), "ready groups: %v", extremes.Readies)
			Expect(extremes.MaxExisting).To(Equal(want.maxExisting))
		})
	}
})
