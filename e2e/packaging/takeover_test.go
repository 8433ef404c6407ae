package packaging

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	texttemplate "text/template"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/e2e/managers"
)

// earlier is what an earlier release left of one set.
type earlier struct {
	file, set string
	// pods is how many the set has.
	pods int
	// updated: its StatefulSets were written by an update, not by an apply.
	updated bool
}

var earlierReleases = map[string]earlier{
	"v0.8":  {file: "v0.8.yaml", set: "old8", pods: 4, updated: true},
	"v0.9":  {file: "v0.9.yaml", set: "old9", pods: 4},
	"v0.10": {file: "v0.10.yaml", set: "old10", pods: 3},
}

// Names of the field managers of earlier releases: of what they applied, and of what
// they created or updated, and of a user.
const (
	applier, creator, user = "lws", "manager", "kubectl"
)

// make makes the objects of the set, and acts as the webhooks of that release did to
// its pods: what was in pods and is immutable is of no interest to who takes them over.
func (e *earlier) make(ctx context.Context) {
	GinkgoHelper()
	text, err := os.ReadFile(filepath.Join("testdata", "takeover", e.file))
	Expect(err).NotTo(HaveOccurred())
	for _, document := range strings.Split(string(text), "---\n") {
		object := e.fill(ctx, document)
		switch object.GetKind() {
		case "LeaderWorkerSet":
			// A definition that is new takes a moment to be served.
			Eventually(func() error { return env.Client.Create(ctx, object, client.FieldOwner(user)) }).Should(Succeed())
		case "StatefulSet":
			e.makeStatefulSet(ctx, object)
		default:
			Expect(env.Client.Create(ctx, object, client.FieldOwner(creator))).To(Succeed())
		}
	}
}

// fill reads an object and fills in what only the cluster knows.
func (e *earlier) fill(ctx context.Context, document string) *unstructured.Unstructured {
	GinkgoHelper()
	filled, err := texttemplate.New(e.file).Funcs(texttemplate.FuncMap{
		"uid": func(kind, name string) (string, error) {
			owner := &metav1.PartialObjectMetadata{}
			owner.SetGroupVersionKind(map[string]schema.GroupVersionKind{
				"LeaderWorkerSet": lwsv1.GroupVersion.WithKind("LeaderWorkerSet"),
				"Pod":             corev1.SchemeGroupVersion.WithKind("Pod"),
			}[kind])
			err := env.Client.Get(ctx, client.ObjectKey{Namespace: "default", Name: name}, owner)
			return string(owner.UID), err
		},
		"groupKey": groupKey,
	}).Parse(document)
	Expect(err).NotTo(HaveOccurred())
	var out bytes.Buffer
	Expect(filled.Execute(&out, nil)).To(Succeed())
	object := &unstructured.Unstructured{}
	Expect(yaml.Unmarshal(out.Bytes(), &object.Object)).To(Succeed())
	object.SetNamespace("default")
	return object
}

func groupKey(leader string) string {
	sum := sha1.Sum([]byte("default/" + leader))
	return hex.EncodeToString(sum[:])
}

func (e *earlier) makeStatefulSet(ctx context.Context, object *unstructured.Unstructured) {
	GinkgoHelper()
	if e.updated {
		Expect(env.Client.Create(ctx, object, client.FieldOwner(applier))).To(Succeed())
	} else {
		Expect(env.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(applier))).To(Succeed())
	}
	wanted, _, err := unstructured.NestedInt64(object.Object, "spec", "replicas")
	Expect(err).NotTo(HaveOccurred())
	isLeaders := object.GetName() == e.set
	made := func() ([]corev1.Pod, error) {
		var pods corev1.PodList
		err := env.Client.List(ctx, &pods, client.InNamespace("default"), client.MatchingLabels{lwsv1.SetNameLabelKey: e.set})
		var own []corev1.Pod
		for _, pod := range pods.Items {
			if owner := metav1.GetControllerOf(&pod); owner != nil && owner.Name == object.GetName() {
				own = append(own, pod)
			}
		}
		return own, err
	}
	Eventually(made).Should(HaveLen(int(wanted)))
	pods, err := made()
	Expect(err).NotTo(HaveOccurred())
	for i := range pods {
		pod := &pods[i]
		ordinal := pod.Labels[appsv1.PodIndexLabel]
		added := map[string]string{lwsv1.WorkerIndexLabelKey: ordinal}
		if isLeaders {
			added = map[string]string{lwsv1.GroupIndexLabelKey: ordinal, lwsv1.GroupKeyLabelKey: groupKey(pod.Name)}
		}
		patch := fmt.Sprintf(`{"metadata":{"labels":{%s}}}`, strings.Join(quoted(added), ","))
		Expect(env.Client.Patch(ctx, pod, client.RawPatch("application/merge-patch+json", []byte(patch)))).To(Succeed())
	}
}

func quoted(labels map[string]string) []string {
	var pairs []string
	for key, value := range labels {
		pairs = append(pairs, fmt.Sprintf("%q:%q", key, value))
	}
	return pairs
}

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
		for name, e := range earlierReleases {
			e.make(ctx)
			pods[name], generations[name], keys[name] = podsOf(ctx, e.set), statefulSets(ctx, e.set), revisions(ctx, e.set)
			Expect(pods[name]).To(HaveLen(e.pods))
			Expect(keys[name]).To(HaveLen(1))
		}
		installed, err := managers.Install(ctx, env.Cluster, managers.LWS())
		Expect(err).NotTo(HaveOccurred())
		process, err := installed.Start(ctx, managers.Options{})
		Expect(err).NotTo(HaveOccurred())
		Expect(process.AwaitReady(ctx)).To(Succeed())
	})

	for name, e := range earlierReleases {
		It("of "+name+" are taken over: no pod ends, no rollout starts", func(ctx SpecContext) {
			Eventually(available).WithArguments(ctx, e.set).Should(Equal("True"))
			Expect(podsOf(ctx, e.set)).To(Equal(pods[name]))
			Expect(statefulSets(ctx, e.set)).To(Equal(generations[name]))
			Expect(revisions(ctx, e.set)).To(Equal(keys[name]))
			set := &lwsv1.LeaderWorkerSet{}
			Expect(env.Client.Get(ctx, client.ObjectKey{Namespace: "default", Name: e.set}, set)).To(Succeed())
			Expect(set.Generation).To(Equal(int64(1)))
			Expect(set.Status.CurrentRevision).To(Equal(keys[name][0]))
			Expect(set.Status.UpdateRevision).To(Equal(keys[name][0]))
		})

		It("of "+name+" are scaled without a restart, and roll with the next template", func(ctx SpecContext) {
			set := &lwsv1.LeaderWorkerSet{}
			Expect(env.Client.Get(ctx, client.ObjectKey{Namespace: "default", Name: e.set}, set)).To(Succeed())
			patch := client.MergeFrom(set.DeepCopy())
			*set.Spec.Replicas++
			Expect(env.Client.Patch(ctx, set, patch)).To(Succeed())
			Eventually(available).WithArguments(ctx, e.set).Should(Equal("True"))
			now := podsOf(ctx, e.set)
			for pod, uid := range pods[name] {
				Expect(now).To(HaveKeyWithValue(pod, uid))
			}
			Expect(updaters(ctx, e.set)).NotTo(ContainElement(applier), "the leader StatefulSet's fields have one owner")

			patch = client.MergeFrom(set.DeepCopy())
			set.Spec.LeaderWorkerTemplate.WorkerTemplate.Spec.Containers[0].Image = "registry.k8s.io/pause:3.10"
			Expect(env.Client.Patch(ctx, set, patch)).To(Succeed())
			Eventually(available).WithArguments(ctx, e.set).Should(Equal("True"))
			for pod, uid := range podsOf(ctx, e.set) {
				Expect(now).NotTo(ContainElement(uid), "pod %s is of the old template", pod)
			}
		})
	}
})
