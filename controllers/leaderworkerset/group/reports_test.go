package group

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

type setQueue = workqueue.TypedRateLimitingInterface[reconcile.Request]

func newSetQueue(t *testing.T) setQueue {
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	t.Cleanup(queue.ShutDown)
	return queue
}

// drain takes everything out of a queue.
func drain(queue setQueue) []string {
	var names []string
	for queue.Len() > 0 {
		request, _ := queue.Get()
		names = append(names, request.String())
		queue.Done(request)
	}
	return names
}

func TestReportsWakeTheSet(t *testing.T) {
	reports, queue := NewReports(), newSetQueue(t)
	a := identity.Group{Namespace: "ns", Set: "a", Index: "0"}
	problem := Report{Problem: &Problem{Reason: lwsv1.ReasonNameConflict, Message: "taken"}}

	reports.Put(a, problem)
	if err := reports.Source().Start(t.Context(), queue); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"ns/a"}, drain(queue)); diff != "" {
		t.Errorf("woken by what was put before the start (-want +got):\n%s", diff)
	}

	reports.Put(a, Report{Problem: &Problem{Reason: lwsv1.ReasonNameConflict, Message: "taken"}})
	if got := drain(queue); got != nil {
		t.Errorf("an equal report woke %v", got)
	}

	b := identity.Group{Namespace: "ns", Set: "b", Index: "4"}
	reports.Put(b, Report{})
	if got := drain(queue); got != nil {
		t.Errorf("an empty report of a group that had none woke %v", got)
	}

	reports.Put(a, Report{})
	if diff := cmp.Diff([]string{"ns/a"}, drain(queue)); diff != "" {
		t.Errorf("woken by a report that went (-want +got):\n%s", diff)
	}
	if len(reports.sets) != 0 {
		t.Errorf("kept %v of a set without reports", reports.sets)
	}
}

func TestReportsForSet(t *testing.T) {
	reports := NewReports()
	set := types.NamespacedName{Namespace: "ns", Name: "a"}
	restart := Report{Restart: &Restart{Entry: Entry{"r", "0"}, Leader: "u"}}
	recovery := Report{Recovery: &Entry{"r", "1"}}
	reports.Put(identity.OrdinalGroup(set, 0), restart)
	reports.Put(identity.OrdinalGroup(set, 1), recovery)
	reports.Put(identity.OrdinalGroup(types.NamespacedName{Namespace: "ns", Name: "other"}, 0), restart)

	want := map[identity.Group]Report{
		identity.OrdinalGroup(set, 0): restart,
		identity.OrdinalGroup(set, 1): recovery,
	}
	if diff := cmp.Diff(want, reports.ForSet(set)); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
	reports.Forget(set)
	if got := reports.ForSet(set); len(got) != 0 {
		t.Errorf("forgotten but still there: %v", got)
	}
}
