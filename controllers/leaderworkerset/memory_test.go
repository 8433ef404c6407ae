package leaderworkerset

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

func TestGroupsOfAForgottenSet(t *testing.T) {
	key := types.NamespacedName{Namespace: "ns", Name: "set"}
	m := newMemory()
	m.sawGroups(key, 3)
	if got := m.groupsOf(key); got != 3 {
		t.Errorf("the set has %d groups, want 3", got)
	}
	m.forget(key)
	if got := m.groupsOf(key); got != 0 {
		t.Errorf("a set that is gone has %d groups", got)
	}
}

func TestALeaderIsEndedOnceWhileTheCacheShowsIt(t *testing.T) {
	remembered := newMemory().of(types.NamespacedName{Namespace: "ns", Name: "set"}, "uid")
	shown := []groupState{{Index: 0, Leader: objectRef{"set-0", "a"}}, {Index: 1, Leader: objectRef{"set-1", "b"}}}

	if !remembered.end("a") || !remembered.end("b") {
		t.Fatal("a leader that was never deleted is not to be deleted")
	}
	remembered.keepEnded(shown)
	if remembered.end("a") || remembered.end("b") {
		t.Error("a leader that the cache still shows is deleted again")
	}

	remembered.keepEnded(shown[1:])
	if len(remembered.Ended) != 1 || !remembered.Ended["b"] {
		t.Errorf("remembered %v after leader a is gone, want b alone", remembered.Ended)
	}
}
