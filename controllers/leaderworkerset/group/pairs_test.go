package group

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// Leaders as the cache has them.

func keyedPod(letter string, change ...func(*corev1.Pod)) *corev1.Pod {
	yes := true
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: "set-rs-" + letter, UID: types.UID(letter), CreationTimestamp: metav1.NewTime(testStart),
		Labels: map[string]string{
			lwsv1.SetNameLabelKey: "set", lwsv1.WorkerIndexLabelKey: "0", lwsv1.GroupIndexLabelKey: keyOf(letter),
		},
		Annotations:     map[string]string{},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "set-rs", UID: "rs", Controller: &yes}},
	}}
	for _, c := range change {
		c(p)
	}
	return p
}

func atGate(p *corev1.Pod) {
	p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: lwsv1.GroupReplacementSchedulingGate}}
}

// leaving is a pod whose deletion was requested so long after the start, with 30 s of
// grace.
func leaving(after time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		grace, until := int64(30), metav1.NewTime(testStart.Add(after+30*time.Second))
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &until, &grace
	}
}

func bornAfter(d time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(testStart.Add(d)) }
}

func nothingLeft(string) bool { return false }

func decided(p *pairs, replicas int32, hasLeft func(string) bool, leaders ...*corev1.Pod) map[string]string {
	return p.decide(pairingInput{Set: testGroup.SetKey(), Leaders: leaders, Replicas: replicas, HasLeft: hasLeft})
}

func TestPairsWithWhatIsGoing(t *testing.T) {
	p := newPairs()
	going, fresh := keyedPod("x", leaving(time.Second)), keyedPod("a", atGate, bornAfter(time.Second))
	if diff := cmp.Diff(map[string]string{keyOf("a"): keyOf("x")}, decided(p, 1, nothingLeft, going, fresh)); diff != "" {
		t.Errorf("pairs (-want +got):\n%s", diff)
	}
	// What is decided stays, whatever goes later.
	later := keyedPod("y", leaving(0))
	if diff := cmp.Diff(map[string]string{keyOf("a"): keyOf("x")}, decided(p, 1, nothingLeft, later, fresh)); diff != "" {
		t.Errorf("pairs (-want +got):\n%s", diff)
	}
}

func TestPairsWithWhatIsGone(t *testing.T) {
	tests := map[string]struct {
		hasLeft func(string) bool
		want    string
	}{
		"pods are left":   {func(key string) bool { return key == keyOf("x") }, keyOf("x")},
		"nothing is left": {nothingLeft, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := newPairs()
			// s is scaled away and still there; x went later, at once.
			scaled := keyedPod("s", leaving(time.Second))
			p.deleted(keyedPod("x", leaving(5*time.Second)))
			got := decided(p, 1, tc.hasLeft, scaled, keyedPod("a", atGate, bornAfter(5*time.Second)))
			if diff := cmp.Diff(map[string]string{keyOf("a"): tc.want}, got); diff != "" {
				t.Errorf("pairs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPairPassesToTheNextLeader(t *testing.T) {
	p := newPairs()
	going := keyedPod("x", leaving(time.Second))
	first := keyedPod("a", atGate, bornAfter(time.Second))
	decided(p, 1, nothingLeft, going, first)
	p.deleted(first)
	scaled := keyedPod("s", leaving(3*time.Second))
	got := decided(p, 1, nothingLeft, going, scaled, keyedPod("b", atGate, bornAfter(9*time.Second)))
	if got[keyOf("b")] != keyOf("x") {
		t.Errorf("pairs %v, want what the leader had that went at its gate", got)
	}
}

func TestOrderOfTheSameSecond(t *testing.T) {
	p := newPairs()
	before, after := keyedPod("s"), keyedPod("s", leaving(time.Second))
	p.changed(before, after)
	crashed := keyedPod("x", leaving(time.Second))
	p.changed(keyedPod("x"), crashed)
	got := decided(p, 1, nothingLeft, crashed, after, keyedPod("a", atGate, bornAfter(time.Second)))
	if got[keyOf("a")] != keyOf("x") {
		t.Errorf("pairs %v, want the one that was seen to go last", got)
	}
}

func TestPairsForget(t *testing.T) {
	p := newPairs()
	for _, letter := range []string{"x", "y", "z"} {
		p.deleted(keyedPod(letter, leaving(time.Second)))
	}
	decided(p, 1, nothingLeft, keyedPod("a"))
	if s := p.sets[testGroup.SetKey()]; len(s.gone)+len(s.decided)+len(s.order) != 0 {
		t.Errorf("remembered: %+v", s)
	}
	p.deleted(keyedPod("x", leaving(time.Second)))
	decided(p, 2, nothingLeft, keyedPod("a"))
	if s := p.sets[testGroup.SetKey()]; len(s.gone) != 1 {
		t.Errorf("a replacement is to come: %+v", s)
	}
	p.forget(testGroup.SetKey())
	if len(p.sets) != 0 {
		t.Errorf("sets %v", p.sets)
	}
}

func TestWentAt(t *testing.T) {
	endedAt := func(after time.Duration) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Status.Phase = corev1.PodFailed
			p.Status.Conditions = []corev1.PodCondition{{
				Type: corev1.ContainersReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.NewTime(testStart.Add(after)),
			}}
		}
	}
	// with is what its template and its deletion say.
	with := func(period, left int64) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.TerminationGracePeriodSeconds, p.DeletionGracePeriodSeconds = &period, &left
		}
	}
	tests := map[string]struct {
		pod  *corev1.Pod
		want time.Time
	}{
		"its node agent is done": {keyedPod("a", leaving(0), with(20, 0)), testStart.Add(10 * time.Second)},
		"with a longer period":   {keyedPod("a", leaving(30*time.Second), with(20, 60)), testStart},
		"with a shorter period":  {keyedPod("a", leaving(0), with(20, 10)), testStart.Add(10 * time.Second)},
		"stands":                 {keyedPod("a"), time.Time{}},
		"is deleted":             {keyedPod("a", leaving(2*time.Second)), testStart.Add(2 * time.Second)},
		"has ended":              {keyedPod("a", endedAt(time.Second)), testStart.Add(time.Second)},
		"ended, then is deleted": {keyedPod("a", endedAt(time.Second), leaving(7*time.Second)), testStart.Add(time.Second)},
		"is deleted, then ended": {keyedPod("a", endedAt(9*time.Second), leaving(7*time.Second)), testStart.Add(7 * time.Second)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := wentAt(tc.pod); !got.Equal(tc.want) {
				t.Errorf("went at %s, want %s", got, tc.want)
			}
		})
	}
}
