package packaging

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// expectSamePlaces compares the pods that a set has now with those that the earlier
// release made: what a pod got from its place in the set is the same.
func (s *takenOver) expectSamePlaces(ctx context.Context) {
	GinkgoHelper()
	now := s.podsNow(ctx)
	for name, before := range s.pods {
		pod := now[name]
		for _, changed := range []string{
			lwsv1.RevisionLabelKey, appsv1.ControllerRevisionHashLabelKey, corev1.LabelTopologyZone, corev1.LabelTopologyRegion,
		} {
			delete(before.Labels, changed)
			delete(pod.Labels, changed)
		}
		Expect(pod.Labels).To(Equal(before.Labels), "labels of %s", name)
		Expect(pod.Spec.SchedulingGates).To(BeEmpty(), "gates of %s", name)
		if s.Namespace == metav1.NamespaceDefault {
			continue // nothing is known of what was in its pods
		}
		Expect(variablesOf(before)).NotTo(BeEmpty(), "variables of %s", name)
		Expect(pod.Spec.Affinity).To(Equal(before.Spec.Affinity), "affinity of %s", name)
		Expect(variablesOf(pod)).To(Equal(variablesOf(before)), "variables of %s", name)
	}
	s.expectDomains(ctx, now)
}

func variablesOf(pod corev1.Pod) map[string]string {
	variables := map[string]string{}
	for _, container := range pod.Spec.Containers {
		for _, variable := range container.Env {
			variables[container.Name+" "+variable.Name] = variable.Value
		}
	}
	return variables
}

// expectDomains: those who share a key of exclusive placement are in one domain, and
// nobody else is.
func (s *takenOver) expectDomains(ctx context.Context, pods map[string]corev1.Pod) {
	GinkgoHelper()
	set := s.set(ctx)
	for annotation, label := range map[string]string{
		lwsv1.ExclusiveTopologyAnnotationKey:         lwsv1.GroupKeyLabelKey,
		lwsv1.SubGroupExclusiveTopologyAnnotationKey: lwsv1.SubGroupKeyLabelKey,
	} {
		topology := set.Annotations[annotation]
		if topology == "" {
			continue
		}
		domains, owners := map[string]string{}, map[string]string{}
		for name, pod := range pods {
			node := &corev1.Node{}
			Expect(env.Client.Get(ctx, client.ObjectKey{Name: pod.Spec.NodeName}, node)).To(Succeed())
			domain, key := node.Labels[topology], pod.Labels[label]
			Expect(domain).NotTo(BeEmpty())
			Expect(key).NotTo(BeEmpty())
			Expect(domains).To(Or(Not(HaveKey(key)), HaveKeyWithValue(key, domain)), "%s is with its own", name)
			Expect(owners).To(Or(Not(HaveKey(domain)), HaveKeyWithValue(domain, key)), "%s is alone", name)
			domains[key], owners[domain] = domain, key
		}
	}
}

// expectStored compares what is in the cluster, one template and one group after the
// set was taken over, with what the release would have stored of that.
func (s *takenOver) expectStored(ctx context.Context) {
	GinkgoHelper()
	stored, err := s.Stored(ctx, env.Client)
	Expect(err).NotTo(HaveOccurred())
	set := s.set(ctx)
	later := strings.NewReplacer(s.revisions[0], set.Status.UpdateRevision)
	for i := range stored {
		object := &stored[i]
		switch object.GetKind() {
		case lwsv1.Kind:
			continue // the user's
		case "ControllerRevision":
			expectAsStored(ctx, object)
			object = s.laterRevision(object, later)
		case "StatefulSet":
			object = rewrite(object, later)
			s.makeLater(object, set)
		}
		expectAsStored(ctx, object)
	}
}

// laterRevision is the revision of the next template.
func (s *takenOver) laterRevision(first *unstructured.Unstructured, later *strings.Replacer) *unstructured.Unstructured {
	GinkgoHelper()
	next := rewrite(first, later)
	next.SetName(strings.TrimSuffix(next.GetName(), "1") + "2")
	Expect(unstructured.SetNestedField(next.Object, int64(2), "revision")).To(Succeed())
	containers, found, err := unstructured.NestedSlice(next.Object, "data", "spec", "leaderWorkerTemplate", "workerTemplate", "spec", "containers")
	Expect(err).NotTo(HaveOccurred())
	Expect(found).To(BeTrue())
	containers[0].(map[string]any)["image"] = nextImage
	Expect(unstructured.SetNestedSlice(next.Object, containers, "data", "spec", "leaderWorkerTemplate", "workerTemplate", "spec", "containers")).To(Succeed())
	return next
}

// makeLater puts into a StatefulSet as it was what has changed since.
func (s *takenOver) makeLater(object *unstructured.Unstructured, set *lwsv1.LeaderWorkerSet) {
	GinkgoHelper()
	isLeaders := object.GetName() == s.Set
	if isLeaders {
		Expect(unstructured.SetNestedField(object.Object, int64(*set.Spec.Replicas), "spec", "replicas")).To(Succeed())
		annotations := object.GetAnnotations()
		annotations[lwsv1.ReplicasAnnotationKey] = fmt.Sprint(*set.Spec.Replicas)
		object.SetAnnotations(annotations)
	} else if lwsv1.RestartPolicy(set) == lwsv1.NoneRestartPolicy {
		// So that losing the leader leaves them, its workers are the set's now.
		object.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(set, lwsv1.GroupVersion.WithKind(lwsv1.Kind))})
	}
	if isLeaders && set.Spec.LeaderWorkerTemplate.LeaderTemplate != nil {
		return
	}
	containers, _, err := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
	Expect(err).NotTo(HaveOccurred())
	containers[0].(map[string]any)["image"] = nextImage
	Expect(unstructured.SetNestedSlice(object.Object, containers, "spec", "template", "spec", "containers")).To(Succeed())
}

// rewrite replaces text anywhere in an object.
func rewrite(object *unstructured.Unstructured, replacer *strings.Replacer) *unstructured.Unstructured {
	GinkgoHelper()
	encoded, err := object.MarshalJSON()
	Expect(err).NotTo(HaveOccurred())
	rewritten := &unstructured.Unstructured{}
	Expect(rewritten.UnmarshalJSON([]byte(replacer.Replace(string(encoded))))).To(Succeed())
	return rewritten
}

// expectAsStored finds an object in the cluster that has all that it is to have. Labels
// and annotations of a StatefulSet and of its pods are those that are to be there and no
// others; what else has labels may have got more of the user's.
func expectAsStored(ctx context.Context, object *unstructured.Unstructured) {
	GinkgoHelper()
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(object.GroupVersionKind())
	name := object.GetKind() + " " + object.GetName()
	Expect(env.Client.Get(ctx, client.ObjectKeyFromObject(object), live)).To(Succeed(), name)
	Expect(missing(name, plain(live.Object), plain(object.Object))).To(BeEmpty())
	whole := [][]string{{"metadata", "ownerReferences"}, {"spec", "selector"}}
	if object.GetKind() == "StatefulSet" {
		whole = append(whole, []string{"metadata", "labels"}, []string{"metadata", "annotations"},
			[]string{"spec", "template", "metadata", "labels"}, []string{"spec", "template", "metadata", "annotations"})
	}
	for _, field := range whole {
		want, _, err := unstructured.NestedFieldNoCopy(object.Object, field...)
		Expect(err).NotTo(HaveOccurred())
		have, _, err := unstructured.NestedFieldNoCopy(live.Object, field...)
		Expect(err).NotTo(HaveOccurred())
		Expect(cmp.Diff(plain(want), plain(have))).To(BeEmpty(), "%s %v", name, field)
	}
}

// plain is a value with the numbers that JSON has.
func plain(value any) any {
	GinkgoHelper()
	encoded, err := json.Marshal(value)
	Expect(err).NotTo(HaveOccurred())
	var decoded any
	Expect(json.Unmarshal(encoded, &decoded)).To(Succeed())
	return decoded
}

// missing tells what of a wanted value is not there.
func missing(at string, have, want any) []string {
	switch want := want.(type) {
	case nil:
		return nil
	case map[string]any:
		fields, _ := have.(map[string]any)
		var found []string
		for key, value := range want {
			found = append(found, missing(at+"."+key, fields[key], value)...)
		}
		return found
	case []any:
		items, _ := have.([]any)
		if len(items) != len(want) {
			return []string{fmt.Sprintf("%s has %d items, want %d", at, len(items), len(want))}
		}
		var found []string
		for i := range want {
			found = append(found, missing(fmt.Sprintf("%s[%d]", at, i), items[i], want[i])...)
		}
		return found
	}
	if !reflect.DeepEqual(have, want) {
		return []string{fmt.Sprintf("%s is %v, want %v", at, have, want)}
	}
	return nil
}
