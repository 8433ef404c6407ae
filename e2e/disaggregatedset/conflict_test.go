package disaggregatedset

import (
	"errors"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	"sigs.k8s.io/lws/apis/disaggregatedset/v1/dstest"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/e2e/harness"
)

var _ = Describe("Names", func() {
	It("that are somebody else's are told and left alone, and taken when they are free", func() {
		s := begin()
		s.create(dstest.New(set).Roles(newRole("prefill", 1), newRole("decode", 1)).Slices(2), slow("3s"))
		s.awaitSet("the revision is known", func(now *dsv1.DisaggregatedSet) bool { return now.Status.CurrentRevision != "" })
		theirs := &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: set + "-0-" + s.now().Status.CurrentRevision + "-prefill-prv"},
			Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}, Selector: map[string]string{"app": "theirs"}},
		}
		Expect(shared.Client.Create(s.ctx, theirs)).To(Succeed())
		s.awaitSet("the conflict is told", func(now *dsv1.DisaggregatedSet) bool {
			c := condition(now, dsv1.ConditionProgressing)
			return c.Reason == dsv1.ReasonNameConflict && strings.Contains(c.Message, theirs.Name) && now.Status.ReadySlices == 2
		})
		s.awaitTold(dsv1.ReasonNameConflict, 1)
		s.await("the other Services", func() (string, bool) {
			found := s.services()
			return strings.Join(found, " "), len(found) == 3
		})
		kept := &corev1.Service{}
		s.get(theirs.Name, kept)
		Expect(kept.ResourceVersion).To(Equal(theirs.ResourceVersion))
		Expect(shared.Client.Delete(s.ctx, theirs)).To(Succeed())
		s.await("all Services", func() (string, bool) {
			found := s.services()
			return strings.Join(found, " "), len(found) == 4
		})
		s.awaitAvailable()
		Expect(s.History().Told(set, dsv1.ReasonNameConflict)).To(Equal(1))
	})

	It("of LeaderWorkerSets that are somebody else's keep their revision from having a part of its roles", func() {
		first := begin()
		build := func() *dstest.Builder {
			return dstest.New(set).Roles(newRole("prefill", 1), newRole("decode", 1)).Slices(2)
		}
		first.up(build())
		s := begin()
		theirs := lwstest.New(set + "-0-" + first.now().Status.CurrentRevision + "-decode").Namespace(s.namespace).
			WorkerTemplate(podTemplate("theirs")).Obj()
		Expect(shared.Client.Create(s.ctx, theirs)).To(Succeed())
		s.create(build())
		s.awaitSet("the conflict is told, and the other slice is ready", func(now *dsv1.DisaggregatedSet) bool {
			c := condition(now, dsv1.ConditionProgressing)
			return c.Reason == dsv1.ReasonNameConflict && strings.Contains(c.Message, theirs.Name) && now.Status.ReadySlices == 1
		})
		for name, child := range s.children() {
			if child.Labels[dsv1.SliceLabelKey] == "0" {
				Expect(child.Spec.Replicas).To(HaveValue(BeEquivalentTo(0)), name)
			}
		}
		kept := &lwsv1.LeaderWorkerSet{}
		s.get(theirs.Name, kept)
		Expect(kept.OwnerReferences).To(BeEmpty())
		Expect(kept.Generation).To(Equal(theirs.Generation))
		Expect(shared.Client.Delete(s.ctx, kept)).To(Succeed())
		s.awaitAvailable()
		expectWhole(s.report(harness.Mark{}))
	})

	It("of objects that somebody edits or deletes are put right", func() {
		s := begin()
		s.up(dstest.New(set).Roles(newRole("prefill", 2).External(), newRole("decode", 1)))
		s.autoscale(2)
		s.awaitRole("prefill", 2)
		pods, before := s.podsAsText(), s.now()
		services := s.services()
		edited, deleted := &corev1.Service{}, &corev1.Service{}
		s.get(services[0], edited)
		edited.Spec.Selector["theirs"] = "x"
		Expect(shared.Client.Update(s.ctx, edited, client.FieldOwner("somebody"))).To(Succeed())
		s.get(services[1], deleted)
		Expect(shared.Client.Delete(s.ctx, deleted)).To(Succeed())
		scaler := &dsv1.DisaggregatedSetRoleScaler{}
		s.get(prefillScaler, scaler)
		delete(scaler.Labels, dsv1.RoleLabelKey)
		Expect(shared.Client.Update(s.ctx, scaler, client.FieldOwner("somebody"))).To(Succeed())
		for _, child := range s.children() {
			labelled := child.DeepCopy()
			delete(labelled.Labels, dsv1.AppLabelKey)
			labelled.Spec.PodTerminationPolicy = lwsv1.ParallelPodTermination
			Expect(shared.Client.Update(s.ctx, labelled, client.FieldOwner("somebody"))).To(Succeed())
		}
		s.await("all is as it was", func() (string, bool) {
			service, found := &corev1.Service{}, &dsv1.DisaggregatedSetRoleScaler{}
			err := errors.Join(
				shared.Client.Get(s.ctx, s.Key(services[0]), service), shared.Client.Get(s.ctx, s.Key(services[1]), &corev1.Service{}),
				shared.Client.Get(s.ctx, s.Key(prefillScaler), found),
			)
			edits := 0
			for _, child := range s.children() {
				if child.Spec.PodTerminationPolicy != lwsv1.SequentialPodTermination {
					edits++
				}
			}
			return fmt.Sprint(err, service.Spec.Selector, found.Labels, edits),
				err == nil && service.Spec.Selector["theirs"] == "" && found.Labels[dsv1.RoleLabelKey] == "prefill" && edits == 0
		})
		s.awaitAvailable()
		s.expectUntouched(before, pods)
	})

	It("that are too long are refused, with the characters that are left", func() {
		s := begin()
		tooLong := dstest.New(strings.Repeat("s", 40)).Namespace(s.namespace).
			Roles(newRole(strings.Repeat("r", 20), 1), newRole("decode", 1)).Obj()
		err := shared.Client.Create(s.ctx, tooLong)
		Expect(err).To(MatchError(And(
			ContainSubstring("the names of set and role may have 40 characters together, and have 60"),
			ContainSubstring("20 too many"),
		)))
		AddReportEntry("refusal", fmt.Sprint(err), ReportEntryVisibilityAlways)
	})
})
