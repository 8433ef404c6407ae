package group

import (
	"errors"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// modelWriter writes to a model, without a manager around it.
func modelWriter(m *model) *writer {
	m.onWrite = func(string, client.Object) error { return nil }
	r := New(modelClient{model: m}, modelClient{model: m, past: true}, events.NewFakeRecorder(10), Options{Reports: NewReports()})
	return &writer{Reconciler: r, o: observed(), note: r.notes.of(testGroup, "leader")}
}

// The caches of pods and StatefulSets are not of the same instant: a worker StatefulSet
// whose owner the cache of pods does not show yet must not be taken for a leftover.
func TestLeftoversAreMadeSureOf(t *testing.T) {
	m := newModel(t)
	w := modelWriter(m)
	leaderPod := leaderObject()
	workers := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: testName}}
	for _, obj := range []client.Object{leaderPod, workers} {
		if err := m.create(obj); err != nil {
			t.Fatal(err)
		}
	}
	s := deleteWorkers{UID: workers.UID, Owner: owner{Kind: kindPod, Name: testName, UID: leaderPod.UID}}
	if err := s.run(t.Context(), w); !errors.Is(err, errStale) {
		t.Errorf("the owner is there: %v, want %v", err, errStale)
	}
	if live := m.live[modelKey("StatefulSet", testName)]; live.GetDeletionTimestamp() != nil {
		t.Error("deleted although its owner is there")
	}
	s.Owner.UID = "gone"
	if err := s.run(t.Context(), w); err != nil {
		t.Errorf("the owner is gone: %v", err)
	}
	if live := m.live[modelKey("StatefulSet", testName)]; live.GetDeletionTimestamp() == nil {
		t.Error("not deleted although its owner is gone")
	}
}

// What is in the way may never come into the cache: it is not asked for ten times a
// second for ever.
func TestStaleReconcilesBackOff(t *testing.T) {
	n := &note{}
	var waits []time.Duration
	for range 12 {
		waits = append(waits, n.behind())
	}
	for i := 1; i < len(waits); i++ {
		if waits[i] < waits[i-1] || waits[i] > staleWaitMax {
			t.Errorf("waits %v", waits)
		}
	}
	if waits[0] != staleWait || waits[11] != staleWaitMax {
		t.Errorf("waits from %s to %s, want %s to %s", waits[0], waits[11], staleWait, staleWaitMax)
	}
}
