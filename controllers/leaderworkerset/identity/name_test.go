package identity

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

func TestNames(t *testing.T) {
	ordinal, hash := Group{"default", "multi", "1"}, Group{"default", "multi", hashIndex}
	tests := map[string]struct{ got, want string }{
		"leader StatefulSet":      {LeaderStatefulSetName("multi"), "multi"},
		"leader":                  {LeaderName("multi", 10), "multi-10"},
		"worker":                  {WorkerName("multi-1", 3), "multi-1-3"},
		"member 0":                {MemberName("multi-1", 0), "multi-1"},
		"member 3":                {MemberName("multi-1", 3), "multi-1-3"},
		"shared Service":          {SharedServiceName("multi"), "multi"},
		"Service, shared":         {ordinal.ServiceName(lwsv1.SubdomainShared), "multi"},
		"Service, own":            {ordinal.ServiceName(lwsv1.SubdomainUniquePerReplica), "multi-1"},
		"Service, own, hash":      {hash.ServiceName(lwsv1.SubdomainUniquePerReplica), "multi-689ce1b5"},
		"leader address":          {LeaderAddress("leaderworkerset-multi-template-0", "leaderworkerset-multi-template", "default"), "leaderworkerset-multi-template-0.leaderworkerset-multi-template.default"},
		"host address":            {HostAddress("test-sample-1-5", "default"), "test-sample-1-5.default"},
		"group key of the seed":   {GroupKey("default", "leaderworkerset-multi-template-0"), "689ce1b52864f5b6433d403de39845ba1ab94b07"},
		"subgroup key":            {SubGroupKey("leaderworkerset-multi-template-0", 0), "92904c8ae74f4140fe10d06d9e9d888fd13c5801"},
		"subgroup key, next":      {SubGroupKey("leaderworkerset-multi-template-0", 1), "b34f56b4c572f1184919e257dc34499147e6a2be"},
		"leader selector, string": {LeaderSelectorString("multi"), "leaderworkerset.sigs.k8s.io/name=multi,leaderworkerset.sigs.k8s.io/worker-index=0"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.got != test.want {
				t.Errorf("got %q, want %q", test.got, test.want)
			}
		})
	}
}

func TestSplitOrdinal(t *testing.T) {
	tests := map[string]struct {
		pod, wantSet string
		wantOrdinal  int32
		wantOK       bool
	}{
		"leader":       {"sample-3", "sample", 3, true},
		"worker":       {"sample-3-12", "sample-3", 12, true},
		"no dash":      {"sample", "", 0, false},
		"no ordinal":   {"sample-x", "", 0, false},
		"empty":        {"", "", 0, false},
		"ordinal only": {"-1", "", 0, false},
		"trailing":     {"sample-", "", 0, false},
		"leading zero": {"sample-01", "", 0, false},
		"hash pod":     {"sample-5d8f7b9c4-x2x9z", "", 0, false},
		"too large":    {"sample-99999999999", "", 0, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			set, ordinal, ok := SplitOrdinal(test.pod)
			if set != test.wantSet || ordinal != test.wantOrdinal || ok != test.wantOK {
				t.Errorf("got %q, %d, %v, want %q, %d, %v", set, ordinal, ok, test.wantSet, test.wantOrdinal, test.wantOK)
			}
		})
	}
}

func TestSplitOrdinalReversesNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := rapid.StringMatching(`[a-z]([-a-z0-9]{0,20}[a-z0-9])?`).Draw(t, "set")
		index := rapid.Int32Range(0, 1<<31-1).Draw(t, "index")
		worker := rapid.Int32Range(1, 1<<31-1).Draw(t, "worker")
		leader := LeaderName(set, index)
		if got, ordinal, ok := SplitOrdinal(leader); !ok || got != set || ordinal != index {
			t.Fatalf("leader %q: got %q, %d, %v", leader, got, ordinal, ok)
		}
		pod := WorkerName(leader, worker)
		if got, ordinal, ok := SplitOrdinal(pod); !ok || got != leader || ordinal != worker {
			t.Fatalf("worker %q: got %q, %d, %v", pod, got, ordinal, ok)
		}
	})
}

func TestLabelSets(t *testing.T) {
	const prefix = "leaderworkerset.sigs.k8s.io/"
	tests := map[string]struct{ got, want map[string]string }{
		"leader selector": {
			LeaderSelector("a"), map[string]string{prefix + "name": "a", prefix + "worker-index": "0"},
		},
		"leader StatefulSet": {
			LeaderStatefulSetLabels("a", "r"), map[string]string{prefix + "name": "a", prefix + "template-revision-hash": "r"},
		},
		"leader template": {
			LeaderTemplateLabels("a", "r"),
			map[string]string{prefix + "name": "a", prefix + "worker-index": "0", prefix + "template-revision-hash": "r"},
		},
		"worker selector": {
			WorkerSelector("a", "1", "k"), map[string]string{prefix + "name": "a", prefix + "group-index": "1", prefix + "group-key": "k"},
		},
		"worker": {
			WorkerLabels("a", "1", "k", "r"),
			map[string]string{prefix + "name": "a", prefix + "group-index": "1", prefix + "group-key": "k", prefix + "template-revision-hash": "r"},
		},
		"set":           {SetLabels("a"), map[string]string{prefix + "name": "a"}},
		"group Service": {Group{"ns", "a", "1"}.ServiceSelector(), map[string]string{prefix + "name": "a", prefix + "group-index": "1"}},
		"revision":      {RevisionLabels("a", "r"), map[string]string{prefix + "name": "a", prefix + "template-revision-hash": "r"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
