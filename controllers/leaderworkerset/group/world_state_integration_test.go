//go:build integration

package group

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

func list[T client.ObjectList](w *world, into T) T {
	ginkgo.GinkgoHelper()
	Expect(live.List(w.ctx, into, client.InNamespace(w.namespace))).To(Succeed())
	return into
}

func (w *world) pods() []corev1.Pod { return list(w, &corev1.PodList{}).Items }

func (w *world) statefulSets() []appsv1.StatefulSet { return list(w, &appsv1.StatefulSetList{}).Items }

func (w *world) describePods() string {
	var texts []string
	for _, p := range w.pods() {
		texts = append(texts, fmt.Sprintf("%s %s deleting=%v gates=%d finalizers=%v", p.Name, p.Status.Phase,
			p.DeletionTimestamp != nil, len(p.Spec.SchedulingGates), p.Finalizers))
	}
	return strings.Join(texts, "; ")
}

// told are the events since the last call, as "Type Reason note".
func (w *world) told() []string {
	var told []string
	for {
		select {
		case e := <-w.recorder.Events:
			told = append(told, e)
		default:
			return told
		}
	}
}

// toldReasons are the reasons of the events since the last call.
func (w *world) toldReasons() []string {
	var reasons []string
	for _, e := range w.told() {
		reasons = append(reasons, strings.SplitN(e, " ", 3)[1])
	}
	return reasons
}

// problem is what a group reports.
func (w *world) problem(index int32) *Problem {
	return w.reports.ForSet(w.key())[w.group(index)].Problem
}

func (w *world) fetch(name string, into client.Object) bool {
	ginkgo.GinkgoHelper()
	err := live.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: name}, into)
	if !apierrors.IsNotFound(err) {
		Expect(err).NotTo(HaveOccurred())
	}
	return err == nil
}

func (w *world) pod(name string) *corev1.Pod {
	ginkgo.GinkgoHelper()
	p := &corev1.Pod{}
	Expect(w.fetch(name, p)).To(BeTrue(), "no pod %s among %s", name, w.describePods())
	return p
}

func (w *world) workers(name string) *appsv1.StatefulSet {
	ginkgo.GinkgoHelper()
	s := &appsv1.StatefulSet{}
	Expect(w.fetch(name, s)).To(BeTrue(), "no StatefulSet %s", name)
	return s
}

func (w *world) set() *lwsv1.LeaderWorkerSet {
	ginkgo.GinkgoHelper()
	set := &lwsv1.LeaderWorkerSet{}
	Expect(w.fetch("x", set)).To(BeTrue(), "no set")
	return set
}

// change changes the set.
func (w *world) change(change func(*lwsv1.LeaderWorkerSet)) {
	ginkgo.GinkgoHelper()
	set := w.set()
	change(set)
	Expect(live.Update(w.ctx, set)).To(Succeed())
}

// uids are the pods that are not being deleted, by name.
func (w *world) uids() map[string]types.UID {
	uids := map[string]types.UID{}
	for _, p := range w.pods() {
		if p.DeletionTimestamp == nil {
			uids[p.Name] = p.UID
		}
	}
	return uids
}

// expectRunning checks that these pods exist, run, and are no others than before, or
// all others.
func (w *world) expectRunning(names ...string) map[string]types.UID {
	ginkgo.GinkgoHelper()
	uids := w.uids()
	Expect(slices.Sorted(maps.Keys(uids))).To(Equal(names), w.describePods())
	for _, p := range w.pods() {
		Expect(p.Status.Phase).To(Equal(corev1.PodRunning), w.describePods())
	}
	return uids
}

func (w *world) expectAllNew(before map[string]types.UID) {
	ginkgo.GinkgoHelper()
	for name, uid := range w.uids() {
		Expect(uid).NotTo(Equal(before[name]), "pod %s was not recreated", name)
	}
}

func (w *world) expectNoErrors() {
	ginkgo.GinkgoHelper()
	Expect(w.errs).To(BeEmpty())
}
