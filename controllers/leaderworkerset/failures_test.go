package leaderworkerset

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestCreateFailure(t *testing.T) {
	at := func(seconds int) metav1.Time {
		return metav1.NewTime(testTime.Add(time.Duration(seconds) * time.Second))
	}
	failure := func(uid types.UID, seconds int, text string) *corev1.Event {
		return &corev1.Event{InvolvedObject: corev1.ObjectReference{UID: uid}, LastTimestamp: at(seconds), Message: text}
	}
	bySeries := failure("leaders", 0, "by series")
	bySeries.LastTimestamp = metav1.Time{}
	bySeries.EventTime = metav1.NewMicroTime(testTime.Time)
	bySeries.Series = &corev1.EventSeries{LastObservedTime: metav1.NewMicroTime(at(30).Time)}

	tests := map[string]struct {
		replicas int32 // of the leader StatefulSet, which has one pod, made at 10
		workers  int32 // that the worker StatefulSet has, of two; it was made at 12
		failures []*corev1.Event
		want     string
	}{
		"no event":                                  {replicas: 2, workers: 1},
		"nothing is missing":                        {replicas: 1, workers: 2, failures: []*corev1.Event{failure("leaders", 20, "quota")}},
		"a leader is missing":                       {replicas: 2, workers: 2, failures: []*corev1.Event{failure("leaders", 20, "quota")}, want: "quota"},
		"a leader was made since":                   {replicas: 2, workers: 2, failures: []*corev1.Event{failure("leaders", 9, "quota")}},
		"in the second in which a leader was made":  {replicas: 2, workers: 2, failures: []*corev1.Event{failure("leaders", 10, "quota")}, want: "quota"},
		"a worker is missing":                       {replicas: 1, workers: 1, failures: []*corev1.Event{failure("workers-x-0", 15, "limit")}, want: "limit"},
		"of another StatefulSet":                    {replicas: 2, workers: 1, failures: []*corev1.Event{failure("other", 20, "quota")}},
		"the newest of several":                     {replicas: 2, workers: 1, failures: []*corev1.Event{failure("leaders", 20, "old"), failure("workers-x-0", 25, "new"), failure("leaders", 21, "middle")}, want: "new"},
		"by the newer interface of events, counted": {replicas: 2, workers: 1, failures: []*corev1.Event{failure("leaders", 20, "old"), bySeries}, want: "by series"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			leader, worker := leaderPod(0, 3), workerStatefulSet(0, 2)
			leader.CreationTimestamp, worker.CreationTimestamp = at(10), at(12)
			worker.Status.Replicas = tc.workers
			short := shortOfPods(members{
				set: testSet().Obj(), statefulSet: leaderStatefulSet(tc.replicas),
				leaders: []*corev1.Pod{leader}, workers: []*appsv1.StatefulSet{worker},
			})
			if got := latestFailure(tc.failures, short); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}
