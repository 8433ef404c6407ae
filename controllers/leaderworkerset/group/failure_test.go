package group

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

func corePodUID(uid string) types.UID { return types.UID(uid) }

func evicted(p *pod) { p.Phase, p.Why = corev1.PodFailed, "Evicted" }

func TestFailureOf(t *testing.T) {
	whole := remembered("set-3-1", "set-3-2")
	lost := []loss{{Name: "set-3-2", UID: "set-3-2", Controller: "workers", Index: 2}}
	missing := group(with(), with())
	missing.Leader.Size = 3
	younger := group(with(), with(), with(withUID("new"), createdAfter(time.Minute)))
	sameSecond := group(with(), with(), with(withUID("new")))

	tests := map[string]struct {
		g      *generation
		m      *memory
		losses []loss
		want   *failure
	}{
		"at rest":                        {g: group(with(), with(), with()), m: whole},
		"starting":                       {g: group(with(), with(phase(corev1.PodPending)), with())},
		"workers not made yet":           {g: missing},
		"worker deleted":                 {g: group(with(), with(deleting), with()), m: whole, want: &failure{podDeleted, "set-3-1", "pod set-3-1 was deleted"}},
		"worker deleted while starting":  {g: group(with(), with(deleting), with()), want: &failure{podDeleted, "set-3-1", "pod set-3-1 was deleted"}},
		"worker evicted":                 {g: group(with(), with(), with(evicted)), m: whole, want: &failure{podFailed, "set-3-2", "pod set-3-2 failed (Evicted)"}},
		"worker ended":                   {g: group(with(), with(phase(corev1.PodSucceeded)), with()), m: whole, want: &failure{podSucceeded, "set-3-1", "pod set-3-1 ended"}},
		"leader deleted ends the group":  {g: group(with(deleting), with(), with()), m: whole},
		"leader failed ends the group":   {g: group(with(phase(corev1.PodFailed)), with(), with()), m: whole},
		"worker gone":                    {g: missing, m: whole, want: &failure{podLost, "", "2 of 3 pods are left or were replaced"}},
		"worker gone, seen":              {g: missing, m: whole, losses: lost, want: &failure{podLost, "set-3-2", "pod set-3-2 was deleted"}},
		"worker gone before whole":       {g: missing, losses: lost, want: &failure{podLost, "set-3-2", "pod set-3-2 was deleted"}},
		"worker made again before whole": {g: younger, losses: lost, want: &failure{podLost, "set-3-2", "pod set-3-2 was deleted"}},
		"worker made again, unseen":      {g: younger, m: whole, want: &failure{podLost, "set-3-2", "pod set-3-2 was deleted and made again"}},
		"made again in the same second":  {g: sameSecond, m: whole, want: &failure{podLost, "", "3 of 3 pods are left or were replaced"}},
		"a loss that the memory survived is that of a pod the memory does not know": {
			g: group(with(), with(), with()), m: whole, losses: lost,
		},
		"container restarted": {
			g: group(with(), with(), with(restartedBy(restarts{Container: "main", Count: 1, Why: "OOMKilled, exit code 137"}))), m: whole,
			want: &failure{containerRestarted, "set-3-2", "container main of pod set-3-2 restarted (OOMKilled, exit code 137)"},
		},
		"leader's container restarted": {
			g: group(with(restarted("main", 1)), with()), want: &failure{containerRestarted, "set-3", "container main of pod set-3 restarted"},
		},
		"init container restarted while pending": {
			g:    group(with(), with(phase(corev1.PodPending), restarted("init", 1))),
			want: &failure{containerRestarted, "set-3-1", "container init of pod set-3-1 restarted"},
		},
		"restart that the memory holds": {g: group(with(restarted("main", 2)), with()), m: remember(group(with(restarted("main", 2)), with()))},
		"restart beyond the memory": {
			g: group(with(restarted("main", 3)), with()), m: remember(group(with(restarted("main", 2)), with())),
			want: &failure{containerRestarted, "set-3", "container main of pod set-3 restarted"},
		},
		"restart by rule":            {g: group(with(), with(restartedBy(restarts{Container: "main", Count: 4, ByRule: true})))},
		"restart by resize":          {g: group(with(), with(restartedBy(restarts{Container: "main", Count: 1, ByResize: true})))},
		"restarts of a pod that ran": {g: group(with(phase(corev1.PodFailed), restarted("main", 1)), with())},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, failureOf(test.g, test.m, test.losses)); diff != "" {
				t.Errorf("failure (-want +got):\n%s", diff)
			}
		})
	}
}
