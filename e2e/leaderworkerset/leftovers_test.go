package leaderworkerset

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/e2e/cluster/sim"
	"sigs.k8s.io/lws/e2e/harness"
)

// leftovers are the objects of a namespace, and the entries of annotations, that
// belong to no living group.
func (s *scenario) leftovers() []string {
	GinkgoHelper()
	sets := &lwsv1.LeaderWorkerSetList{}
	pods, services, owners := &corev1.PodList{}, &corev1.ServiceList{}, &appsv1.StatefulSetList{}
	for _, list := range []client.ObjectList{sets, pods, services, owners} {
		Expect(s.env.Client.List(s.ctx, list, client.InNamespace(s.namespace))).To(Succeed())
	}
	living := map[types.UID]bool{}
	var found []string
	for _, set := range sets.Items {
		living[set.UID] = true
		found = append(found, deadEntries(&set)...)
	}
	objects := []client.Object{}
	for i := range pods.Items {
		objects = append(objects, &pods.Items[i])
	}
	for i := range services.Items {
		objects = append(objects, &services.Items[i])
	}
	for i := range owners.Items {
		objects = append(objects, &owners.Items[i])
	}
	for _, object := range objects {
		living[object.GetUID()] = true
	}
	for _, object := range objects {
		about := fmt.Sprintf("%T %s", object, object.GetName())
		controller := metav1.GetControllerOf(object)
		switch {
		case controller == nil || !living[controller.UID]:
			found = append(found, about+" belongs to nobody")
		case object.GetDeletionTimestamp() != nil:
			found = append(found, about+" does not end")
		case len(object.GetFinalizers()) > 0:
			found = append(found, fmt.Sprint(about, " has the finalizers ", object.GetFinalizers()))
		}
	}
	return found
}

// deadEntries are the restart counts of groups or revisions that a set does not have.
func deadEntries(set *lwsv1.LeaderWorkerSet) []string {
	GinkgoHelper()
	var found []string
	for _, annotation := range []string{lwsv1.GroupRestartCountsAnnotationKey, lwsv1.GroupRestartLeadersAnnotationKey} {
		text := set.Annotations[annotation]
		if text == "" {
			continue
		}
		entries := map[string]any{}
		Expect(json.Unmarshal([]byte(text), &entries)).To(Succeed())
		for _, key := range slices.Sorted(maps.Keys(entries)) {
			revision, group, _ := strings.Cut(key, "/")
			index := int32(-1)
			_, err := fmt.Sscan(group, &index)
			if err != nil || index < 0 || index >= lwsv1.Replicas(set) || revision != set.Status.UpdateRevision {
				found = append(found, fmt.Sprintf("entry %s of %s on set %s", key, annotation, set.Name))
			}
		}
	}
	return found
}

var _ = Describe("A hundred random failures, budgets, recoveries and scale changes", func() {
	It("leave nothing behind", func() {
		s := begin()
		random := rand.New(rand.NewPCG(4, 2))
		shapes := []*lwstest.Builder{
			newSet("plain").Replicas(3).Size(2),
			newSet("budget").Replicas(4).Size(2).MaxGroupRestarts(1),
			newSet("after-start").Replicas(2).Size(3).RestartPolicy(lwsv1.RecreateGroupAfterStart).MaxGroupRestarts(2),
			newSet("none").Replicas(2).Size(3).RestartPolicy(lwsv1.NoneRestartPolicy),
			newSet("unique").Replicas(3).Size(2).SubdomainPolicy(lwsv1.SubdomainUniquePerReplica).PodTerminationPolicy(lwsv1.ParallelPodTermination),
		}
		var sets []string
		for _, shape := range shapes {
			sets = append(sets, s.create(shape).Name)
		}
		for _, name := range sets {
			s.awaitAvailable(name)
		}
		policies := []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan}
		for range 100 {
			name := sets[random.IntN(len(sets))]
			// What is done does not depend on how far the manager has come.
			pod := fmt.Sprintf("%s-%d", name, random.IntN(4))
			if worker := random.IntN(3); worker > 0 {
				pod += fmt.Sprintf("-%d", worker)
			}
			var err error
			switch random.IntN(5) {
			case 0, 1:
				err = sim.Restart(s.ctx, s.env.Kube, s.namespace, pod, "worker")
			case 2:
				err = s.env.Client.Delete(s.ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: pod}},
					client.PropagationPolicy(policies[random.IntN(len(policies))]))
			case 3:
				err = sim.Fail(s.ctx, s.env.Kube, s.namespace, pod, "Evicted")
			case 4:
				s.change(name, replicas(int32(1+random.IntN(4))))
			}
			if !apierrors.IsNotFound(err) {
				Expect(err).NotTo(HaveOccurred(), pod)
			}
			s.touchAndAwaitReaction(name)
		}
		for _, name := range sets {
			s.change(name, replicas(2))
			s.awaitObserved(name)
			s.await(name+" is available once it is recovered", func() (string, bool) {
				for _, pod := range s.Pods(name) {
					if pod.Annotations[lwsv1.GroupRestartBudgetExhaustedAnnotationKey] == "true" && pod.Annotations[lwsv1.RecoverAnnotationKey] == "" {
						Expect(client.IgnoreNotFound(sim.Request(s.ctx, s.env.Kube, s.namespace, pod.Name, lwsv1.RecoverAnnotationKey, "true"))).To(Succeed())
					}
				}
				set := s.Set(name)
				return harness.StatusLine(set), harness.IsAvailable(set)
			})
		}
		Eventually(s.leftovers).WithTimeout(patience).Should(BeEmpty())
		for i, name := range sets {
			s.awaitPods(name, podNames(name, 2, int(*shapes[i].Obj().Spec.LeaderWorkerTemplate.Size))...)
		}
	})
})
