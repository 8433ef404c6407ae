package group

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestLedgerOfLosses(t *testing.T) {
	seen := newLedger()
	seen.deleted(leaderObject())
	seen.deleted(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "stranger"}})
	if got := seen.of(testGroup); got != nil {
		t.Errorf("losses of what is no worker: %v", got)
	}
	seen.deleted(workerObject())
	first := seen.of(testGroup)
	want := []loss{{Name: "set-3-1", UID: "worker", Controller: "workers", Index: 1}}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
	// One more comes in while the first is looked at.
	seen.deleted(workerObject(func(p *corev1.Pod) { p.UID = "second" }))
	seen.keep(testGroup, first, nil)
	if got := seen.of(testGroup); len(got) != 1 || got[0].UID != "second" {
		t.Errorf("after the first was seen: %v", got)
	}
	seen.keep(testGroup, seen.of(testGroup), seen.of(testGroup))
	if got := seen.of(testGroup); len(got) != 1 {
		t.Errorf("what still matters is dropped: %v", got)
	}
	seen.keep(testGroup, seen.of(testGroup), nil)
	if len(seen.losses) != 0 {
		t.Errorf("kept nothing as %v", seen.losses)
	}
}
