//go:build integration

package leaderworkerset_test

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

// running brings a set up with all groups ready.
func running(w *world, builder *lwstest.Builder) {
	GinkgoHelper()
	w.create(builder.Obj())
	w.settle()
	w.runStatefulSetController()
	for _, pod := range w.leaderPods() {
		index, _ := identity.GroupOrdinal(&pod)
		w.makeReady(int(index))
	}
	w.runStatefulSetController()
	w.settle()
	Expect(w.conditions()).To(Equal(available))
	w.told()
}

// rolled is what a rollout did until it came to its end.
type rolled struct {
	minReady, maxExisting int
	deleted               []string // leaders, in order
	conditions            []string // of UpdateInProgress and Available, each change
}

// roll runs the rollout of a set to its end: after each reconcile the StatefulSet
// controller acts, and one group that is not ready becomes so.
func roll(w *world) rolled {
	GinkgoHelper()
	r := rolled{minReady: 1 << 30}
	seen := ""
	w.runStatefulSetController()
	for range 60 {
		w.clock.SetTime(w.clock.Now().Add(10 * time.Second))
		writes := w.reconcile()
		for _, write := range writes {
			var name string
			if n, _ := fmt.Sscanf(write, "delete Pod %s", &name); n == 1 {
				r.deleted = append(r.deleted, name)
			}
		}
		if now := w.conditions(); seen != now["UpdateInProgress"]+", "+now["Available"] {
			seen = now["UpdateInProgress"] + ", " + now["Available"]
			r.conditions = append(r.conditions, seen)
		}
		ready, waiting := 0, -1
		w.collectGarbage()
		w.runStatefulSetController()
		w.admitLeaders()
		pods := w.leaderPods()
		for i := range pods {
			index, _ := identity.GroupOrdinal(&pods[i])
			switch {
			case isReady(&pods[i]):
				ready++
			case isBroken(&pods[i]) || len(pods[i].Spec.SchedulingGates) > 0:
				// Broken, or of a revision that is not wanted: it will not become ready.
			case waiting < 0 || int(index) < waiting:
				waiting = int(index)
			}
		}
		r.minReady, r.maxExisting = min(r.minReady, ready), max(r.maxExisting, len(pods))
		if waiting >= 0 {
			w.makeReady(waiting)
			continue
		}
		if len(writes) == 0 && ready == len(pods) {
			return r
		}
	}
	Fail(fmt.Sprintf("no end after 60 steps: %+v, conditions %v", r, w.conditions()))
	return r
}

func (w *world) update(image string) {
	GinkgoHelper()
	w.change(func(s *lwsv1.LeaderWorkerSet) {
		s.Spec.LeaderWorkerTemplate.WorkerTemplate.Spec.Containers[0].Image = image
	})
}

var _ = Describe("A rollout", func() {
	images := func(w *world) map[string]string {
		byName := map[string]string{}
		for _, pod := range w.leaderPods() {
			byName[pod.Name] = pod.Labels[lwsv1.RevisionLabelKey]
		}
		return byName
	}

	DescribeTable("keeps its budget and ends at rest",
		func(ctx SpecContext, replicas int32, unavailable, surge string, minReady, maxExisting int) {
			w := newWorld(ctx)
			running(w, w.build().Replicas(replicas).Size(2).MaxUnavailable(unavailable).MaxSurge(surge))
			w.update("two")
			r := roll(w)
			GinkgoWriter.Printf("%+v\n", r)
			Expect(r.minReady).To(BeNumerically(">=", minReady))
			Expect(r.maxExisting).To(BeNumerically("<=", maxExisting))
			Expect(r.conditions[0]).To(Equal("True GroupsUpdating, False GroupsNotReady"))
			Expect(w.conditions()).To(Equal(available))

			update := w.set().Status.UpdateRevision
			Expect(w.set().Status.CurrentRevision).To(Equal(update))
			for name, revision := range images(w) {
				Expect(revision).To(Equal(update), name)
			}
			leaders := w.leaders()
			Expect(leaders.Spec.Replicas).To(HaveValue(Equal(replicas)))
			Expect(leaders.Spec.UpdateStrategy.Type).To(Equal(appsv1.RollingUpdateStatefulSetStrategyType))
			Expect(leaders.Spec.UpdateStrategy.RollingUpdate.Partition).To(HaveValue(BeZero()))
			for key := range leaders.Annotations {
				Expect(key).To(Equal(lwsv1.ReplicasAnnotationKey), "nothing of the rollout is left")
			}
			Expect(w.reconcile()).To(BeEmpty())
			told := w.toldReasons()
			Expect(told[0]).To(Equal("Normal CreatingRevision"))
			Expect(told[1]).To(Equal("Normal GroupsUpdating"))
			Expect(told[len(told)-1]).To(Equal("Normal AllGroupsReady"))
			Expect(len(told)).To(BeNumerically("<=", 4), "%v", told)
		},
		Entry("one at a time", int32(3), "1", "0", 2, 3),
		Entry("several at a time", int32(4), "2", "0", 2, 4),
		Entry("with surge only", int32(2), "0", "1", 2, 3),
		Entry("a single group with surge", int32(1), "0", "1", 1, 2),
		Entry("a single group without", int32(1), "1", "0", 0, 1),
		Entry("percentages that round to zero", int32(3), "10%", "0", 2, 3),
	)

	It("keeps the groups below the partition and remembers their revision", func(ctx SpecContext) {
		w := newWorld(ctx)
		running(w, w.build().Replicas(3).Partition(2))
		first := w.set().Status.UpdateRevision
		w.update("two")
		roll(w)
		second := w.set().Status.UpdateRevision
		Expect(second).NotTo(Equal(first))
		Expect(images(w)).To(Equal(map[string]string{"x-0": first, "x-1": first, "x-2": second}))
		Expect(w.set().Status.CurrentRevision).To(Equal(first))
		Expect(w.set().Status.UpdatedReplicas).To(BeEquivalentTo(1))
		Expect(w.conditions()).To(Equal(available))

		By("a group below it coming back as it was")
		w.deletePod(w.pod(0))
		roll(w)
		Expect(images(w)).To(HaveKeyWithValue("x-0", first))

		By("lowering the partition")
		w.change(func(s *lwsv1.LeaderWorkerSet) {
			s.Spec.RolloutStrategy.RollingUpdateConfiguration.Partition = nil
		})
		roll(w)
		Expect(images(w)).To(Equal(map[string]string{"x-0": second, "x-1": second, "x-2": second}))
		Expect(w.set().Status.CurrentRevision).To(Equal(second))
	})

	It("that is undone halfway leaves alone what it never reached, and uses the old revision again", func(ctx SpecContext) {
		w := newWorld(ctx)
		running(w, w.build().Replicas(3))
		before := uids(w.leaderPods())
		first := w.set().Status.UpdateRevision
		w.update("two")
		w.reconcile()
		w.runStatefulSetController()
		w.reconcile()
		w.runStatefulSetController()
		w.makeReady(2)
		Expect(uids(w.leaderPods())["x-2"]).NotTo(Equal(before["x-2"]))

		w.update(lwstest.Image)
		r := roll(w)
		Expect(r.deleted).To(Equal([]string{"x-2"}))
		after := uids(w.leaderPods())
		Expect(after["x-0"]).To(Equal(before["x-0"]))
		Expect(after["x-1"]).To(Equal(before["x-1"]))
		Expect(w.set().Status.UpdateRevision).To(Equal(first))
		Expect(w.revisions()).To(HaveLen(2))
		Expect(w.revisions()[1].Labels).To(HaveKeyWithValue(lwsv1.RevisionLabelKey, first), "it has the highest number now")
	})

	It("replaces broken groups first", func(ctx SpecContext) {
		w := newWorld(ctx)
		running(w, w.build().Replicas(2))
		w.makeUnready(0)
		w.settle()
		w.update("two")
		r := roll(w)
		Expect(r.deleted[0]).To(Equal("x-0"))
		Expect(w.conditions()).To(Equal(available))
	})

	It("keeps the ten newest revisions", func(ctx SpecContext) {
		w := newWorld(ctx)
		running(w, w.build().Replicas(1))
		for i := range 11 {
			w.update(fmt.Sprintf("image-%d", i))
			roll(w)
		}
		Expect(w.revisions()).To(HaveLen(10))
		Expect(w.revisions()[0].Revision).To(BeEquivalentTo(3))
	})

	It("from the shared Service to own ones keeps it for those that still use it", func(ctx SpecContext) {
		w := newWorld(ctx)
		running(w, w.build().Replicas(2))
		own := lwsv1.SubdomainUniquePerReplica
		w.change(func(s *lwsv1.LeaderWorkerSet) { s.Spec.NetworkConfig = &lwsv1.NetworkConfig{SubdomainPolicy: &own} })
		w.reconcile()
		Expect(fetch(w, "x", &corev1.Service{}).UID).NotTo(BeEmpty())
		roll(w)
		Expect(live.Get(ctx, w.key(), &corev1.Service{})).To(MatchError(ContainSubstring("not found")))
	})

	It("ignores a default that becomes explicit", func(ctx SpecContext) {
		w := newWorld(ctx)
		running(w, w.build().Replicas(1))
		grace := int64(30)
		w.change(func(s *lwsv1.LeaderWorkerSet) {
			s.Spec.LeaderWorkerTemplate.WorkerTemplate.Spec.TerminationGracePeriodSeconds = &grace
		})
		Expect(w.reconcile()).To(Equal([]string{"patch status LeaderWorkerSet x"}), "the generation")
		Expect(w.revisions()).To(HaveLen(1))
	})
})
