package group

import (
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

// ledger keeps what only the watch of pods shows and no state of the cache does: that
// a worker pod was deleted, and that a container restarted for a resize. It lives in
// memory only: groups that were whole have their own memory.
type ledger struct {
	mu      sync.Mutex
	losses  map[identity.Group][]loss
	resizes map[types.UID]map[string]int32 // pod, container: restarts up to that count
}

func newLedger() *ledger {
	return &ledger{losses: map[identity.Group][]loss{}, resizes: map[types.UID]map[string]int32{}}
}

// deleted notes down that a pod is gone.
func (l *ledger) deleted(p *corev1.Pod) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.resizes, p.UID)
	group, ok := identity.GroupOfPod(p)
	index, isMember := identity.WorkerIndex(p)
	if !ok || !isMember || index == 0 {
		return
	}
	l.losses[group] = append(l.losses[group], loss{
		Name: p.Name, UID: p.UID, Controller: controllerOf(p).UID, Index: index,
	})
}

// of returns the losses of a group.
func (l *ledger) of(group identity.Group) []loss {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.losses[group])
}

// keep drops losses that a reconcile has seen, but for those that still matter.
func (l *ledger) keep(group identity.Group, seen, matter []loss) {
	l.mu.Lock()
	defer l.mu.Unlock()
	left := slices.DeleteFunc(l.losses[group], func(one loss) bool {
		return slices.Contains(seen, one) && !slices.Contains(matter, one)
	})
	if len(left) == 0 {
		delete(l.losses, group)
		return
	}
	l.losses[group] = left
}

// changed notes down restarts that are part of a resize in place: a container that
// restarts once while its pod is being resized, and that has to for a resize.
func (l *ledger) changed(before, after *corev1.Pod) {
	if !isResizing(before) && !isResizing(after) {
		return
	}
	counts := make(map[string]int32, len(before.Status.ContainerStatuses))
	for _, status := range slices.Concat(before.Status.InitContainerStatuses, before.Status.ContainerStatuses) {
		counts[status.Name] = status.RestartCount
	}
	for _, status := range slices.Concat(after.Status.InitContainerStatuses, after.Status.ContainerStatuses) {
		if status.RestartCount == counts[status.Name]+1 && restartsOnResize(after, status.Name) {
			l.excuse(after.UID, status.Name, status.RestartCount)
		}
	}
}

func (l *ledger) excuse(uid types.UID, container string, count int32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.resizes[uid] == nil {
		l.resizes[uid] = map[string]int32{}
	}
	l.resizes[uid][container] = count
}

// resized is up to which count the restarts of a container are excused.
func (l *ledger) resized(uid types.UID, container string) int32 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.resizes[uid][container]
}

func isResizing(p *corev1.Pod) bool {
	return isConditionTrue(p, corev1.PodResizeInProgress)
}

func restartsOnResize(p *corev1.Pod, name string) bool {
	for _, container := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
		if container.Name == name {
			return slices.ContainsFunc(container.ResizePolicy, func(policy corev1.ContainerResizePolicy) bool {
				return policy.RestartPolicy == corev1.RestartContainer
			})
		}
	}
	return false
}
