package group

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func ended(code int32, reason string) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, Message: "long"}}
}

func rule(action corev1.ContainerRestartRuleAction, operator corev1.ContainerRestartRuleOnExitCodesOperator, codes ...int32) corev1.ContainerRestartRule {
	return corev1.ContainerRestartRule{
		Action: action, ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: operator, Values: codes},
	}
}

func TestRestartsOf(t *testing.T) {
	const (
		in    = corev1.ContainerRestartRuleOnExitCodesOpIn
		notIn = corev1.ContainerRestartRuleOnExitCodesOpNotIn
		one   = corev1.ContainerRestartRuleActionRestart
		every = corev1.ContainerRestartRuleActionRestartAllContainers
	)
	status := func(name string, count int32, last corev1.ContainerState) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: name, RestartCount: count, LastTerminationState: last}
	}
	tests := map[string]struct {
		containers, init []corev1.Container
		statuses, inits  []corev1.ContainerStatus
		want             []restarts
	}{
		"none": {statuses: []corev1.ContainerStatus{status("main", 0, corev1.ContainerState{})}},
		"containers and init containers": {
			statuses: []corev1.ContainerStatus{status("main", 2, ended(137, "OOMKilled"))},
			inits:    []corev1.ContainerStatus{status("init", 1, ended(1, ""))},
			want: []restarts{
				{Container: "init", Count: 1, Why: "exit code 1"},
				{Container: "main", Count: 2, Why: "OOMKilled, exit code 137"},
			},
		},
		"how it ended is not known": {
			statuses: []corev1.ContainerStatus{status("main", 1, corev1.ContainerState{})},
			want:     []restarts{{Container: "main", Count: 1}},
		},
		"waiting to start again": {
			statuses: []corev1.ContainerStatus{{Name: "main", RestartCount: 1, State: ended(2, "Error")}},
			want:     []restarts{{Container: "main", Count: 1, Why: "Error, exit code 2"}},
		},
		"by its rule": {
			containers: []corev1.Container{{Name: "main", RestartPolicyRules: []corev1.ContainerRestartRule{rule(one, in, 42, 43)}}},
			statuses:   []corev1.ContainerStatus{status("main", 1, ended(43, ""))},
			want:       []restarts{{Container: "main", Count: 1, ByRule: true, Why: "exit code 43"}},
		},
		"not as its rule says": {
			containers: []corev1.Container{{Name: "main", RestartPolicyRules: []corev1.ContainerRestartRule{rule(one, in, 42), rule(one, notIn, 1, 2)}}},
			statuses:   []corev1.ContainerStatus{status("main", 1, ended(2, ""))},
			want:       []restarts{{Container: "main", Count: 1, Why: "exit code 2"}},
		},
		"the rule of another container": {
			containers: []corev1.Container{{Name: "other", RestartPolicyRules: []corev1.ContainerRestartRule{rule(one, in, 42)}}, {Name: "main"}},
			statuses:   []corev1.ContainerStatus{status("main", 1, ended(42, ""))},
			want:       []restarts{{Container: "main", Count: 1, Why: "exit code 42"}},
		},
		"the rule of an init container": {
			init:  []corev1.Container{{Name: "init", RestartPolicyRules: []corev1.ContainerRestartRule{rule(one, notIn, 0)}}},
			inits: []corev1.ContainerStatus{status("init", 3, ended(7, ""))},
			want:  []restarts{{Container: "init", Count: 3, ByRule: true, Why: "exit code 7"}},
		},
		"all containers by the rule of one": {
			containers: []corev1.Container{{Name: "main", RestartPolicyRules: []corev1.ContainerRestartRule{rule(every, in, 88)}}, {Name: "helper"}},
			statuses:   []corev1.ContainerStatus{status("main", 1, ended(88, "")), status("helper", 1, ended(137, ""))},
			want: []restarts{
				{Container: "main", Count: 1, ByRule: true, Why: "exit code 88"},
				{Container: "helper", Count: 1, ByRule: true, Why: "exit code 137"},
			},
		},
		"the first rule that matches acts": {
			containers: []corev1.Container{
				{Name: "main", RestartPolicyRules: []corev1.ContainerRestartRule{rule(one, in, 88), rule(every, in, 88)}}, {Name: "helper"},
			},
			statuses: []corev1.ContainerStatus{status("main", 1, ended(88, "")), status("helper", 1, ended(137, ""))},
			want: []restarts{
				{Container: "main", Count: 1, ByRule: true, Why: "exit code 88"},
				{Container: "helper", Count: 1, Why: "exit code 137"},
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := workerObject(func(p *corev1.Pod) {
				p.Spec.Containers, p.Spec.InitContainers = test.containers, test.init
				p.Status.ContainerStatuses, p.Status.InitContainerStatuses = test.statuses, test.inits
				// They never count.
				p.Status.EphemeralContainerStatuses = []corev1.ContainerStatus{status("debug", 9, ended(1, ""))}
			})
			if diff := cmp.Diff(test.want, podOf(p, 1, newLedger()).Restarts); diff != "" {
				t.Errorf("restarts (-want +got):\n%s", diff)
			}
			if _, err := StripPod(p); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, podOf(p, 1, newLedger()).Restarts); diff != "" {
				t.Errorf("restarts of what the cache keeps (-want +got):\n%s", diff)
			}
		})
	}
}

// A container restarts in place when its resources change and it asks for that.
func TestRestartsByResize(t *testing.T) {
	resizable := func(p *corev1.Pod) {
		p.Spec.Containers = []corev1.Container{
			{Name: "main", ResizePolicy: []corev1.ContainerResizePolicy{{ResourceName: "cpu", RestartPolicy: corev1.RestartContainer}}},
			{Name: "helper", ResizePolicy: []corev1.ContainerResizePolicy{{ResourceName: "cpu", RestartPolicy: corev1.NotRequired}}},
		}
	}
	resizing := func(p *corev1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodResizeInProgress, Status: corev1.ConditionTrue})
	}
	counts := func(main, helper int32) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", RestartCount: main}, {Name: "helper", RestartCount: helper}}
		}
	}
	tests := map[string]struct {
		before, after []func(*corev1.Pod)
		want          map[string]bool
	}{
		"while it is being resized": {
			[]func(*corev1.Pod){resizing, counts(0, 0)}, []func(*corev1.Pod){resizing, counts(1, 0)}, map[string]bool{"main": true},
		},
		"when the resize is done": {
			[]func(*corev1.Pod){resizing, counts(0, 0)}, []func(*corev1.Pod){counts(1, 0)}, map[string]bool{"main": true},
		},
		"without a resize": {
			[]func(*corev1.Pod){counts(0, 0)}, []func(*corev1.Pod){counts(1, 0)}, map[string]bool{"main": false},
		},
		"more than once": {
			[]func(*corev1.Pod){resizing, counts(0, 0)}, []func(*corev1.Pod){resizing, counts(2, 0)}, map[string]bool{"main": false},
		},
		"a container that does not have to": {
			[]func(*corev1.Pod){resizing, counts(0, 0)}, []func(*corev1.Pod){resizing, counts(0, 1)}, map[string]bool{"helper": false},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			before := workerObject(append(test.before, resizable)...)
			after := workerObject(append(test.after, resizable)...)
			for _, p := range []*corev1.Pod{before, after} {
				if _, err := StripPod(p); err != nil {
					t.Fatal(err)
				}
			}
			seen := newLedger()
			seen.changed(before, after)
			got := map[string]bool{}
			for _, r := range podOf(after, 1, seen).Restarts {
				got[r.Container] = r.ByResize
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("excused (-want +got):\n%s", diff)
			}
			seen.deleted(after)
			if len(seen.resizes) != 0 {
				t.Errorf("kept of a pod that is gone: %v", seen.resizes)
			}
		})
	}
}
