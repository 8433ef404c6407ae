package v1_test

import (
	"strconv"
	"testing"

	"pgregory.net/rapid"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
)

func TestLongestName(t *testing.T) {
	for name, c := range map[string]struct {
		set  *lwstest.Builder
		want int
	}{
		"one pod":               {lwstest.New("s").Replicas(1_000_000), 52},
		"workers":               {lwstest.New("s").Size(2), 50},
		"no groups":             {lwstest.New("s").Size(2).Replicas(0), 50},
		"ten groups":            {lwstest.New("s").Size(2).Replicas(10), 50},
		"ten groups and surge":  {lwstest.New("s").Size(2).Replicas(10).MaxSurge("1"), 49},
		"surge in percent":      {lwstest.New("s").Size(2).Replicas(100).MaxSurge("1%"), 48},
		"a million and surge":   {lwstest.New("s").Size(2).Replicas(1_000_000).MaxSurge("100%"), 44},
		"hash, one pod":         {lwstest.New("s").Hash(), 54},
		"hash, workers":         {lwstest.New("s").Hash().Size(2).Replicas(1000), 43},
		"size below 1 is one":   {lwstest.New("s").Size(-1), 52},
		"replicas below 0 is 0": {lwstest.New("s").Size(2).Replicas(-5), 50},
	} {
		t.Run(name, func(t *testing.T) {
			if got := lwsv1.LongestName(c.set.Obj()); got != c.want {
				t.Errorf("longest name has %d characters, want %d", got, c.want)
			}
		})
	}
}

// Every name that is made from the longest name can exist.
func TestLongestNameLeavesRoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		builder := lwstest.New("s").
			Replicas(rapid.Int32Range(0, 1_000_000).Draw(t, "replicas")).
			Size(rapid.Int32Range(1, 1<<31-1).Draw(t, "size")).
			MaxSurge(strconv.Itoa(rapid.IntRange(0, 100).Draw(t, "surge")) + "%")
		hash := rapid.Bool().Draw(t, "hash")
		if hash {
			builder = builder.Hash()
		}
		set := builder.Obj()
		name, size := lwsv1.LongestName(set), int(lwsv1.Size(&set.Spec.LeaderWorkerTemplate))
		group := len("-12345678")
		if !hash {
			group = len("-") + len(strconv.Itoa(max(int(lwsv1.Replicas(set)+lwsv1.Budget(set).MaxSurge)-1, 0)))
		}
		revision := len("-1234567890")
		if !hash && name+revision > 63 {
			t.Fatalf("the revision label of leaders has %d characters", name+revision)
		}
		if name+group > 63 {
			t.Fatalf("the leader's host name has %d characters", name+group)
		}
		if size == 1 {
			return
		}
		if name+group+revision > 63 {
			t.Fatalf("the revision label of workers has %d characters", name+group+revision)
		}
		if last := name + group + len("-") + len(strconv.Itoa(size-1)); last > 63 {
			t.Fatalf("the last worker's host name has %d characters", last)
		}
	})
}
