package leaderworkerset

import (
	"crypto/sha1"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/e2e/cluster/sim"
	"sigs.k8s.io/lws/e2e/harness"
	"sigs.k8s.io/lws/e2e/managers"
)

// sha1Of is how keys of groups and subgroups are made.
func sha1Of(text string) string {
	sum := sha1.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

// with is a map with further entries.
func with(entries map[string]string, further ...string) map[string]string {
	all := maps.Clone(entries)
	for i := 0; i < len(further); i += 2 {
		all[further[i]] = further[i+1]
	}
	return all
}

// list lists objects of the namespace by a label.
func (s *scenario) list(list client.ObjectList, key, value string) {
	GinkgoHelper()
	Expect(s.env.Client.List(s.ctx, list, client.InNamespace(s.namespace), client.MatchingLabels{key: value})).To(Succeed())
}

// remove deletes an object.
func (s *scenario) remove(object client.Object, options ...client.DeleteOption) {
	GinkgoHelper()
	Expect(s.env.Client.Delete(s.ctx, object, options...)).To(Succeed())
}

// expectOwner checks that an object has one owner, which controls it.
func expectOwner(object, owner client.Object) {
	GinkgoHelper()
	Expect(object.GetOwnerReferences()).To(HaveLen(1))
	reference := object.GetOwnerReferences()[0]
	Expect(reference.UID).To(Equal(owner.GetUID()))
	Expect(reference.Name).To(Equal(owner.GetName()))
	Expect(reference.Controller).To(HaveValue(BeTrue()))
	Expect(reference.BlockOwnerDeletion).To(HaveValue(BeTrue()))
}

// request asks the node of a pod for a behaviour.
func (s *scenario) request(pod, annotation, value string) {
	GinkgoHelper()
	Expect(sim.Request(s.ctx, s.env.Kube, s.namespace, pod, annotation, value)).To(Succeed())
}

// awaitMemory waits until the memory of every group is on its leader: the last
// write of a group that comes up.
func (s *scenario) awaitMemory(set string, groups int) {
	GinkgoHelper()
	s.await("the memory of the groups", func() (string, bool) {
		count := 0
		for _, pod := range s.Pods(set) {
			if pod.Annotations[lwsv1.GroupMembersAnnotationKey] != "" {
				count++
			}
		}
		return strconv.Itoa(count) + " leaders have it", count == groups
	})
}

// requests are those that the manager sent about the namespace, without events.
func (s *scenario) requests() []harness.Request {
	GinkgoHelper()
	all, err := s.env.Audit(managers.LWS()).Next()
	Expect(err).NotTo(HaveOccurred())
	return slices.DeleteFunc(all, func(r harness.Request) bool {
		return r.Namespace != s.namespace || r.Resource == "events"
	})
}

// writes are those of the manager about the namespace so far: to the objects of the
// groups of a set, and to its own.
func (s *scenario) writes(set string) (ofGroups, ofSet []string) {
	GinkgoHelper()
	for _, r := range s.requests() {
		if !r.IsWrite() {
			continue
		}
		text := r.String() + " " + r.Name
		if r.Name == set || r.Name == "" && r.Verb == "create" || strings.HasPrefix(r.Resource, "controllerrevision") {
			ofSet = append(ofSet, text)
		} else {
			ofGroups = append(ofGroups, text)
		}
	}
	return ofGroups, ofSet
}

// touchedLabel has another value each time.
const touchedLabel = "touched"

// touchAndAwaitReaction labels a set and waits until the manager has repeated the
// label on the leader StatefulSet: what it did about earlier events it did by then.
func (s *scenario) touchAndAwaitReaction(name string) {
	GinkgoHelper()
	value := strconv.FormatInt(time.Now().UnixNano(), 36)
	s.change(name, func(set *lwsv1.LeaderWorkerSet) {
		metav1.SetMetaDataLabel(&set.ObjectMeta, touchedLabel, value)
	})
	Eventually(func(g Gomega) {
		leaders := &appsv1.StatefulSet{}
		g.Expect(s.env.Client.Get(s.ctx, s.Key(name), leaders)).To(Succeed())
		g.Expect(leaders.Labels).To(HaveKeyWithValue(touchedLabel, value))
	}).WithTimeout(patience).Should(Succeed())
}

// environment is the variables of a container, by name.
func environment(container *corev1.Container) map[string]string {
	values := map[string]string{}
	for _, variable := range container.Env {
		values[variable.Name] = variable.Value
	}
	return values
}

func keysOf[V any](entries map[string]V) []string {
	return slices.Sorted(maps.Keys(entries))
}

func isReady(pod *corev1.Pod) bool { return harness.IsReady(pod) }

// revisions are those of a set: StatefulSets have some with its labels, too.
func (s *scenario) revisions(name string) []appsv1.ControllerRevision {
	GinkgoHelper()
	found := &appsv1.ControllerRevisionList{}
	s.list(found, lwsv1.SetNameLabelKey, name)
	return slices.DeleteFunc(found.Items, func(revision appsv1.ControllerRevision) bool {
		owner := metav1.GetControllerOfNoCopy(&revision)
		return owner == nil || owner.Kind != lwsv1.Kind
	})
}

// awaitRevisions waits until a set has a number of revisions.
func (s *scenario) awaitRevisions(name string, count int) {
	GinkgoHelper()
	Eventually(func() int { return len(s.revisions(name)) }).WithTimeout(patience).Should(Equal(count))
}
