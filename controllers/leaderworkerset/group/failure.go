package group

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// failure is what makes a group be recreated: what happened to which member.
type failure struct {
	Kind failureKind
	// Pod is empty if the memory only shows that some member is another one now.
	Pod     string
	Message string
}

// failureKind is what a failure was, as logs and metrics have it.
type failureKind string

const (
	podDeleted         failureKind = "PodDeleted"
	podLost            failureKind = "PodLost"
	podFailed          failureKind = "PodFailed"
	podSucceeded       failureKind = "PodSucceeded"
	containerRestarted failureKind = "ContainerRestarted"
)

// loss is a worker pod whose deletion was watched.
type loss struct {
	Name       string
	UID        types.UID
	Controller types.UID
	Index      int32
}

// failureOf is the failure of the living generation, nil if there is none. m is the
// memory to judge it by, nil for a group that was not whole. What happens to the
// leader itself ends the group without the manager: only its containers count.
func failureOf(g *generation, m *memory, losses []loss) *failure {
	for i := range g.Workers {
		if f := endOf(&g.Workers[i]); f != nil {
			return f
		}
	}
	if f := lossOf(g, m, losses); f != nil {
		return f
	}
	members := g.members()
	for i := range members {
		if f := restartOf(&members[i], m); f != nil {
			return f
		}
	}
	return nil
}

// endOf is the failure of a worker that is ending.
func endOf(p *pod) *failure {
	switch {
	case p.Deleting:
		return &failure{Kind: podDeleted, Pod: p.Name, Message: fmt.Sprintf("pod %s was deleted", p.Name) + because(p.Why)}
	case p.Phase == corev1.PodFailed:
		return &failure{Kind: podFailed, Pod: p.Name, Message: fmt.Sprintf("pod %s failed", p.Name) + because(p.Why)}
	case p.Phase == corev1.PodSucceeded:
		return &failure{Kind: podSucceeded, Pod: p.Name, Message: fmt.Sprintf("pod %s ended", p.Name) + because(p.Why)}
	}
	return nil
}

// lossOf is the failure of a group that misses a member it had. A group that was
// whole knows by its memory, also after a restart of the manager; before that only
// a deletion that was watched tells.
func lossOf(g *generation, m *memory, losses []loss) *failure {
	switch {
	case m.wasWhole() && m.holds(g), !m.wasWhole() && len(losses) == 0:
		return nil
	case len(losses) > 0:
		name := losses[0].Name
		return &failure{Kind: podLost, Pod: name, Message: fmt.Sprintf("pod %s was deleted", name)}
	}
	if i := slices.IndexFunc(g.Workers, func(p pod) bool { return !m.had(&p) }); i >= 0 {
		name := g.Workers[i].Name
		return &failure{Kind: podLost, Pod: name, Message: fmt.Sprintf("pod %s was deleted and made again", name)}
	}
	return &failure{Kind: podLost, Message: fmt.Sprintf("%d of %d pods are left or were replaced", len(g.Workers)+1, g.Leader.Size)}
}

// restartOf is the failure of a member with a container that restarted, beyond what
// the memory holds and what is excused. In a terminal phase the count says nothing
// any more.
func restartOf(p *pod, m *memory) *failure {
	if p.isTerminal() || p.Deleting {
		return nil
	}
	for _, r := range p.Restarts {
		if r.ByRule || r.ByResize || r.Count <= m.restarts(p, r.Container) {
			continue
		}
		return &failure{
			Kind:    containerRestarted,
			Pod:     p.Name,
			Message: fmt.Sprintf("container %s of pod %s restarted", r.Container, p.Name) + because(r.Why),
		}
	}
	return nil
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return " (" + why + ")"
}
