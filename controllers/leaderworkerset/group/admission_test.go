package group

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

func TestDecideGate(t *testing.T) {
	free := gateInput{
		Controlled: true, Desired: true, Wanted: true,
		Workers: workersVerdict{Action: workersKeep}, Service: serviceKeep,
		Now: testStart.Add(time.Minute),
	}
	terminating := func(options ...podOption) pod { return worker(1, append(options, deleting)...) }
	heldBy := func(p *pod) { p.HeldBy, p.Phase = []string{"example.com/a", "example.com/b"}, corev1.PodFailed }

	tests := map[string]struct {
		change func(*gateInput)
		want   gateVerdict
	}{
		"nothing is in the way":        {func(*gateInput) {}, gateVerdict{Reason: gateOpen}},
		"its Service can be made":      {func(in *gateInput) { in.Service = serviceCreate }, gateVerdict{Reason: gateOpen}},
		"its Service can be corrected": {func(in *gateInput) { in.Service = serviceApply }, gateVerdict{Reason: gateOpen}},
		"made by another StatefulSet":  {func(in *gateInput) { in.Controlled = false }, gateVerdict{gateOwner, "it belongs to nothing that makes leaders of the set"}},
		"scaled away":                  {func(in *gateInput) { in.Desired = false }, gateVerdict{gateScaledAway, "the group is scaled away"}},
		"of a revision that is not wanted, whatever else": {
			func(in *gateInput) { in.Wanted, in.Left = false, []pod{worker(1)} },
			gateVerdict{gateRevision, "the set does not want its revision at this index"},
		},
		"worker StatefulSet of somebody else": {
			func(in *gateInput) {
				in.Workers = workersVerdict{workersConflict, "its controller is Operator.example.com x"}
			},
			gateVerdict{gateConflict, "the name of the worker StatefulSet is taken: its controller is Operator.example.com x"},
		},
		"Service of somebody else": {
			func(in *gateInput) { in.Service = serviceConflict },
			gateVerdict{gateConflict, "the name of the group's Service is taken"},
		},
		"worker StatefulSet of the predecessor": {
			func(in *gateInput) {
				in.Workers = workersVerdict{workersDelete, "the worker StatefulSet is a predecessor's"}
			},
			gateVerdict{gatePredecessor, "the worker StatefulSet is a predecessor's"},
		},
		"Service of the predecessor": {
			func(in *gateInput) { in.Service = serviceDelete },
			gateVerdict{gateService, "the Service of the predecessor is still there"},
		},
		"Service that is going": {
			func(in *gateInput) { in.Service = serviceWait },
			gateVerdict{gateService, "the Service of the predecessor is still there"},
		},
		"a pod that does not end yet": {
			func(in *gateInput) { in.Left = []pod{worker(1)} },
			gateVerdict{gatePredecessor, "waits for pod set-3-1 on node node"},
		},
		"a pod that terminates": {
			func(in *gateInput) { in.Left, in.Now = []pod{terminating()}, testStart },
			gateVerdict{gatePredecessor, "waits for pod set-3-1 on node node, which is terminating"},
		},
		"a pod on a node that does not answer": {
			func(in *gateInput) { in.Left = []pod{terminating()} },
			gateVerdict{gatePredecessor, "waits for pod set-3-1 on node node, which has not terminated in its grace period: " +
				"it goes when the node answers, when Node node is deleted, or when it gets the taint node.kubernetes.io/out-of-service"},
		},
		"a pod with the finalizers of others": {
			func(in *gateInput) { in.Left = []pod{terminating(heldBy)} },
			gateVerdict{gatePredecessor, "waits for pod set-3-1 on node node, which is held by the finalizer example.com/a and example.com/b"},
		},
		"an overdue pod without a node": {
			func(in *gateInput) { in.Left = []pod{terminating(unplaced)} },
			gateVerdict{gatePredecessor, "waits for pod set-3-1, which has not terminated in its grace period"},
		},
		"many pods": {
			func(in *gateInput) { in.Left = []pod{worker(1), worker(2), worker(3), worker(4), worker(5)} },
			gateVerdict{gatePredecessor, "waits for pod set-3-1 on node node, pod set-3-2 on node node, pod set-3-3 on node node, and 2 more"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := free
			test.change(&in)
			if got := decideGate(in); got != test.want {
				t.Errorf("%v, want %v", got, test.want)
			}
		})
	}
}

func TestOverdue(t *testing.T) {
	pods := []pod{worker(1), worker(2, deleting), worker(3, deleting)}
	pods[2].Deadline = testStart.Add(time.Hour)
	ended := worker(4, deleting) // its object stays until others are gone
	ended.Phase = corev1.PodFailed
	pods = append(pods, ended)
	tests := map[string]struct {
		now  time.Duration
		late int
		next time.Duration
	}{
		"in the grace period":         {29 * time.Second, 0, 30*time.Second + slack},
		"just after it":               {29*time.Second + slack, 0, 30*time.Second + slack},
		"one is late":                 {30*time.Second + slack, 1, time.Hour + slack},
		"both are late, none to wait": {2 * time.Hour, 2, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			late, next := overdue(pods, testStart.Add(test.now))
			if len(late) != test.late {
				t.Errorf("%d late, want %d", len(late), test.late)
			}
			want := time.Time{}
			if test.next != 0 {
				want = testStart.Add(test.next)
			}
			if !next.Equal(want) {
				t.Errorf("next at %v, want %v", next, want)
			}
		})
	}
}
