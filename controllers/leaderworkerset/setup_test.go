package leaderworkerset

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
)

func TestPodsThatWakeTheirSet(t *testing.T) {
	placed := unplacedWorker(0, 1)
	placed.Status.Conditions[0].Status = corev1.ConditionTrue
	tests := map[string]struct {
		before, after *corev1.Pod
		want          bool
	}{
		"a leader":                          {before: leaderPod(0, 2), after: leaderPod(0, 2), want: true},
		"a worker":                          {before: placed, after: placed},
		"a worker that cannot be placed":    {before: placed, after: unplacedWorker(0, 1), want: true},
		"a worker that is placed after all": {before: unplacedWorker(0, 1), after: placed, want: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := leaderOrUnplaced().Update(event.UpdateEvent{ObjectOld: tc.before, ObjectNew: tc.after}); got != tc.want {
				t.Errorf("passes: %t, want %t", got, tc.want)
			}
		})
	}
}

func TestServicesThatWakeTheirSet(t *testing.T) {
	shared := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{lwsv1.SetNameLabelKey: "x"}}}
	shared.Spec.Selector = map[string]string{lwsv1.SetNameLabelKey: "x"}
	own := shared.DeepCopy()
	own.Spec.Selector[lwsv1.GroupIndexLabelKey] = "0"
	for service, want := range map[*corev1.Service]bool{shared: true, own: false} {
		if got := sharedServices().Create(event.CreateEvent{Object: service}); got != want {
			t.Errorf("selector %v passes: %t, want %t", service.Spec.Selector, got, want)
		}
	}
}

func TestSetChanges(t *testing.T) {
	tests := map[string]struct {
		after *lwstest.Builder
		want  bool
	}{
		"the status":    {after: testSet().Status(lwsv1.LeaderWorkerSetStatus{Replicas: 1})},
		"the spec":      {after: testSet().Generation(2), want: true},
		"a label":       {after: testSet().Label("a", "b"), want: true},
		"an annotation": {after: testSet().Annotation("a", "b"), want: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := setChanged().Update(event.UpdateEvent{ObjectOld: testSet().Obj(), ObjectNew: tc.after.Obj()})
			if got != tc.want {
				t.Errorf("passes: %t, want %t", got, tc.want)
			}
		})
	}
}

// delays is a queue that only notes what is added with a delay.
type delays struct {
	workqueue.TypedRateLimitingInterface[ctrl.Request]
	added map[ctrl.Request]time.Duration
}

func (d *delays) AddAfter(request ctrl.Request, after time.Duration) { d.added[request] = after }

func TestChildrenWakeTheirSetTogether(t *testing.T) {
	r := &Reconciler{memory: newMemory()}
	r.memory.sawGroups(testKey, 100)
	h := r.children(setOfLabels)
	leader, stranger := leaderPod(0, 2), &corev1.Pod{}
	want := map[ctrl.Request]time.Duration{{NamespacedName: testKey}: time.Second}
	for name, send := range map[string]func(handler.EventHandler, client.Object, *delays){
		"created": func(h handler.EventHandler, obj client.Object, q *delays) {
			h.Create(t.Context(), event.CreateEvent{Object: obj}, q)
		},
		"updated": func(h handler.EventHandler, obj client.Object, q *delays) {
			h.Update(t.Context(), event.UpdateEvent{ObjectOld: obj, ObjectNew: obj}, q)
		},
		"deleted": func(h handler.EventHandler, obj client.Object, q *delays) {
			h.Delete(t.Context(), event.DeleteEvent{Object: obj}, q)
		},
	} {
		t.Run(name, func(t *testing.T) {
			queue := &delays{added: map[ctrl.Request]time.Duration{}}
			send(h, stranger, queue)
			if len(queue.added) != 0 {
				t.Errorf("a stranger wakes %v", queue.added)
			}
			send(h, leader, queue)
			if diff := cmp.Diff(want, queue.added); diff != "" {
				t.Errorf("woken (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEventsOfLargerSetsWaitLonger(t *testing.T) {
	for groups, want := range map[int]time.Duration{
		0:    200 * time.Millisecond,
		20:   200 * time.Millisecond,
		50:   500 * time.Millisecond,
		1000: time.Second,
	} {
		if got := coalescing(groups); got != want {
			t.Errorf("of %d groups: %v, want %v", groups, got, want)
		}
	}
}

// What is in the way of a set x-0 may be a worker StatefulSet of a set x: it has that
// set's label, or none, and the name.
func TestNamesakesWakeTheSetOfTheirName(t *testing.T) {
	theirs := workerStatefulSet(0, 2)
	freed := theirs.DeepCopy()
	freed.OwnerReferences = nil
	want := map[ctrl.Request]time.Duration{
		{NamespacedName: client.ObjectKey{Namespace: lwstest.Namespace, Name: "x-0"}}: 200 * time.Millisecond,
	}
	tests := map[string]struct {
		send func(handler.EventHandler, *delays)
		want map[ctrl.Request]time.Duration
	}{
		"created": {send: func(h handler.EventHandler, q *delays) { h.Create(t.Context(), event.CreateEvent{Object: theirs}, q) }},
		"updated": {send: func(h handler.EventHandler, q *delays) {
			h.Update(t.Context(), event.UpdateEvent{ObjectOld: theirs, ObjectNew: theirs}, q)
		}},
		"freed": {want: want, send: func(h handler.EventHandler, q *delays) {
			h.Update(t.Context(), event.UpdateEvent{ObjectOld: theirs, ObjectNew: freed}, q)
		}},
		"deleted": {want: want, send: func(h handler.EventHandler, q *delays) {
			h.Delete(t.Context(), event.DeleteEvent{Object: theirs}, q)
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			queue := &delays{added: map[ctrl.Request]time.Duration{}}
			r := &Reconciler{memory: newMemory()}
			tc.send(r.namesakes(), queue)
			if diff := cmp.Diff(tc.want, queue.added, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("woken (-want +got):\n%s", diff)
			}
		})
	}
}

// oneStatefulSet is a cache with one object.
type oneStatefulSet struct {
	client.Reader
	statefulSet *appsv1.StatefulSet
}

func (r oneStatefulSet) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	found, ok := into.(*appsv1.StatefulSet)
	if !ok || key != client.ObjectKeyFromObject(r.statefulSet) {
		return notFound(key.Name)
	}
	r.statefulSet.DeepCopyInto(found)
	return nil
}

func TestSetOfFailure(t *testing.T) {
	setOf := setOfFailure(oneStatefulSet{statefulSet: workerStatefulSet(0, 1)})
	about := func(name string) *corev1.Event {
		return &corev1.Event{InvolvedObject: corev1.ObjectReference{Kind: "StatefulSet", Namespace: testKey.Namespace, Name: name}}
	}
	if set, ok := setOf(t.Context(), about("x-0")); !ok || set != testKey {
		t.Errorf("set %v, %t", set, ok)
	}
	for _, obj := range []client.Object{about("foreign"), &corev1.Pod{}} {
		if set, ok := setOf(t.Context(), obj); ok {
			t.Errorf("set %v of %T", set, obj)
		}
	}
}

func TestCaches(t *testing.T) {
	byKind := map[string]labels.Selector{}
	var events fields.Selector
	for obj, options := range CacheOptions().ByObject {
		switch obj.(type) {
		case *corev1.Pod:
			byKind["Pod"] = options.Label
		case *appsv1.ControllerRevision:
			byKind["ControllerRevision"] = options.Label
		case *corev1.Event:
			events = options.Field
		}
	}
	ours, theirs := labels.Set{lwsv1.SetNameLabelKey: "x"}, labels.Set{"app": "y"}
	statefulSets := labels.Set{lwsv1.SetNameLabelKey: "x", statefulSetHashLabelKey: "abc"}
	failure := fields.Set{"involvedObject.apiVersion": "apps/v1", "reason": lwsv1.ReasonFailedCreate}
	success := fields.Set{"involvedObject.apiVersion": "apps/v1", "reason": "SuccessfulCreate"}
	if !events.Matches(failure) || events.Matches(success) {
		t.Errorf("events: %s", events)
	}
	if pods := byKind["Pod"]; !pods.Matches(ours) || pods.Matches(theirs) {
		t.Errorf("pods: %s", pods)
	}
	if r := byKind["ControllerRevision"]; !r.Matches(ours) || r.Matches(theirs) || r.Matches(statefulSets) {
		t.Errorf("revisions: %s", r)
	}
}

func TestTransforms(t *testing.T) {
	entries := []metav1.ManagedFieldsEntry{{Manager: "lws"}}
	leaders, workers := leaderStatefulSet(1), workerStatefulSet(0, 1)
	leaders.ManagedFields, workers.ManagedFields = entries, entries
	for statefulSet, want := range map[*appsv1.StatefulSet]int{leaders: 1, workers: 0} {
		if _, err := keepManagersOfLeaders(statefulSet); err != nil || len(statefulSet.ManagedFields) != want {
			t.Errorf("%s: %v, error %v", statefulSet.Name, statefulSet.ManagedFields, err)
		}
	}

	failure := &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: "e", ManagedFields: entries},
		InvolvedObject: corev1.ObjectReference{UID: "u"},
		Message:        "text", LastTimestamp: testTime, Source: corev1.EventSource{Component: "c"},
	}
	got, err := stripEvent(failure)
	if err != nil {
		t.Fatal(err)
	}
	want := &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: "e"},
		InvolvedObject: corev1.ObjectReference{UID: "u"},
		Message:        "text", LastTimestamp: testTime,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
	for name, transform := range map[string]func(any) (any, error){"events": stripEvent, "StatefulSets": keepManagersOfLeaders} {
		if got, err := transform("tombstone"); got != "tombstone" || err != nil {
			t.Errorf("%s: %v, error %v", name, got, err)
		}
	}
}
