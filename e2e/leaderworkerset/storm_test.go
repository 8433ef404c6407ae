package leaderworkerset

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

const (
	stormGroups = 50
	stormSize   = 4
)

// generations are the leaders and the owners of workers that each group of a set has
// had, and the pods of the last generation that have ended.
type generations struct {
	leaders, owners map[string][]types.UID
	ended           []string
}

func (s *scenario) generations(set string) generations {
	g := generations{leaders: map[string][]types.UID{}, owners: map[string][]types.UID{}}
	add := func(to map[string][]types.UID, group string, uid types.UID) {
		for _, known := range to[group] {
			if known == uid {
				return
			}
		}
		to[group] = append(to[group], uid)
	}
	last := func(of []types.UID) types.UID { return of[len(of)-1] }
	pods := s.History().Pods
	for _, pod := range pods {
		switch {
		case pod.Set != set:
		case pod.Worker == 0:
			add(g.leaders, pod.Group, pod.UID)
		case pod.Owner != "": // it was not orphaned
			add(g.owners, pod.Group, pod.Owner)
		}
	}
	for _, pod := range pods {
		isLast := pod.Worker == 0 && pod.UID == last(g.leaders[pod.Group]) ||
			pod.Worker > 0 && len(g.owners[pod.Group]) > 0 && pod.Owner == last(g.owners[pod.Group])
		if pod.Set == set && isLast && (pod.Ending || pod.Gone) {
			g.ended = append(g.ended, pod.Name)
		}
	}
	return g
}

// awaitGeneration waits until every group of a set is whole in its n-th generation.
func (s *scenario) awaitGeneration(set string, groups, size, n int) {
	GinkgoHelper()
	s.awaitFor(longPatience, fmt.Sprintf("generation %d of all groups", n), func() (string, bool) {
		seen, pods := s.generations(set), s.Pods(set)
		behind := 0
		for i := range groups {
			if len(seen.leaders[strconv.Itoa(i)]) < n {
				behind++
			}
		}
		ready := 0
		for _, pod := range pods {
			if pod.DeletionTimestamp == nil && isReady(pod) {
				ready++
			}
		}
		return fmt.Sprintf("%d groups are behind, %d pods, %d of them ready", behind, len(pods), ready),
			behind == 0 && len(pods) == groups*size && ready == groups*size
	})
	s.awaitAvailable(set)
	s.awaitMemory(set, groups)
}

// expectGeneration checks that every group has had n generations and that the last
// one is as it was made.
func (s *scenario) expectGeneration(set string, groups, n int) {
	GinkgoHelper()
	seen := s.generations(set)
	for i := range groups {
		group := strconv.Itoa(i)
		Expect(seen.leaders[group]).To(HaveLen(n), "leaders of group %s", group)
		Expect(seen.owners[group]).To(HaveLen(n), "StatefulSets of workers of group %s", group)
	}
	Expect(seen.ended).To(BeEmpty(), "pods of the last generation that ended")
}

// together does something to many groups at the same time.
func together(groups int, do func(group int)) {
	var all sync.WaitGroup
	for group := range groups {
		all.Go(func() {
			defer GinkgoRecover()
			do(group)
		})
	}
	all.Wait()
}

// batches is how many batches of groups the deletion orders are tried on.
func batches() int {
	GinkgoHelper()
	text := os.Getenv("DELETION_BATCHES")
	if text == "" {
		return 2
	}
	n, err := strconv.Atoi(text)
	Expect(err).NotTo(HaveOccurred(), "DELETION_BATCHES")
	return n
}

var _ = Describe("A storm", func() {
	It("of failures recreates every group once, with few writes", func() {
		s := begin()
		name := s.up(newSet("storm").Replicas(stormGroups).Size(stormSize).MaxGroupRestarts(5))
		groupsBefore, setBefore := s.writes(name)
		together(stormGroups, func(group int) {
			pod := fmt.Sprintf("%s-%d", name, group)
			if group%stormSize > 0 {
				pod += fmt.Sprintf("-%d", group%stormSize)
			}
			s.restart(pod)
		})
		s.awaitGeneration(name, stormGroups, stormSize, 2)
		s.touchAndAwaitReaction(name)
		s.expectGeneration(name, stormGroups, 2)
		s.awaitSet(name, "has counted each", func(set *lwsv1.LeaderWorkerSet) bool { return set.Status.GroupRestarts == stormGroups })
		groupsAfter, setAfter := s.writes(name)
		ofGroups, ofSet := len(groupsAfter)-len(groupsBefore), len(setAfter)-len(setBefore)
		counts := 0
		for _, request := range setAfter[len(setBefore):] {
			if strings.HasPrefix(request, "patch leaderworkersets "+name) {
				counts++
			}
		}
		AddReportEntry("writes", fmt.Sprintf("%.2f for each group, %d to the set, %d of them counts", float64(ofGroups)/stormGroups, ofSet, counts), ReportEntryVisibilityAlways)
		Expect(ofGroups).To(BeNumerically("<=", 4*stormGroups))
		Expect(counts).To(BeNumerically("<", stormGroups/2), "counts are written together")
	})

	It("of deletions in any order and by any propagation makes each group anew once", func() {
		s := begin()
		name := s.up(newSet("orders").Replicas(stormGroups).Size(stormSize))
		policies := []metav1.DeletionPropagation{
			metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan,
		}
		for batch := range batches() {
			together(stormGroups, func(group int) {
				random := rand.New(rand.NewPCG(uint64(batch), uint64(group)))
				chosen := 1 + random.IntN(1<<stormSize-1) // a non-empty subset
				for _, index := range random.Perm(stormSize) {
					if chosen&(1<<index) == 0 {
						continue
					}
					pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: fmt.Sprintf("%s-%d", name, group)}}
					if index > 0 {
						pod.Name += fmt.Sprintf("-%d", index)
					}
					uid := s.Pods(name)[pod.Name].UID
					err := s.env.Client.Delete(s.ctx, pod, client.PropagationPolicy(policies[random.IntN(len(policies))]), client.Preconditions{UID: &uid})
					// The rest of the group may already be ending, or gone.
					if !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
						Expect(err).NotTo(HaveOccurred(), pod.Name)
					}
				}
			})
			s.awaitGeneration(name, stormGroups, stormSize, batch+2)
			s.touchAndAwaitReaction(name)
			s.expectGeneration(name, stormGroups, batch+2)
		}
	})
})
