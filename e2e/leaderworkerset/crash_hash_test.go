package leaderworkerset

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	"k8s.io/apimachinery/pkg/types"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// firstKey is that of a group of a set, the same one until groups are replaced.
func (s *scenario) firstKey(set string) string {
	return slices.Min(slices.Collect(maps.Keys(s.standing(set))))
}

// endOfKeyed is endOf for groups whose names are drawn: what is told of groups that are
// alike stands together, and pods are counted by their place in the group.
func (s *scenario) endOfKeyed(set string, replicas, size int) map[string]string {
	GinkgoHelper()
	s.awaitHashReaction(set)
	s.awaitGroups(set, replicas, size)
	s.awaitNoMore(set, replicas)
	s.expectNothingOfDeadGroups(set, replicas)

	state := s.state(set)
	state["restart counts"] = s.Set(set).Annotations[lwsv1.GroupRestartCountsAnnotationKey]
	undrawn := s.undrawn(set)
	alike := map[string][]string{}
	for name, told := range state {
		name = undrawn.Replace(name)
		alike[name] = append(alike[name], undrawn.Replace(told))
	}
	found := map[string]string{}
	for name, told := range alike {
		slices.Sort(told)
		found[name] = strings.Join(told, "\n")
	}
	lives := map[string]map[types.UID]bool{}
	for _, pod := range s.History().Pods {
		if pod.Set == set {
			place := fmt.Sprintf("lives in place %d", pod.Worker)
			if lives[place] == nil {
				lives[place] = map[types.UID]bool{}
			}
			lives[place][pod.UID] = true
		}
	}
	for place, uids := range lives {
		found[place] = fmt.Sprint(len(uids))
	}
	return found
}

// undrawn replaces the names and keys that were drawn for the groups of a set.
func (s *scenario) undrawn(set string) *strings.Replacer {
	var drawn []string
	for _, pod := range s.History().Pods {
		if pod.Set == set && pod.Worker == 0 {
			key := pod.Labels[lwsv1.GroupKeyLabelKey]
			drawn = append(drawn, pod.Name, "LEADER", key, "KEY", key[:8], "KEY")
		}
	}
	return strings.NewReplacer(drawn...)
}
