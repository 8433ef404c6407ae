package scheduling

import (
	"fmt"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// availability is whether a provider can work: it is switched on, and the API server
// serves its kinds.
type availability struct {
	off bool // spec.scheduling is switched off

	mu      sync.RWMutex
	problem *Problem
}

// Unavailable says why the scheduling objects of a set can be neither read nor
// written, nil if they can.
func (a *availability) Unavailable(set *lwsv1.LeaderWorkerSet) *Problem {
	if a.off && set.Spec.Scheduling != nil {
		return gateOff()
	}
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.problem
}

// SetProblem says why the kinds cannot be read; nil: they are served and read.
func (a *availability) SetProblem(problem *Problem) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.problem = problem
}

// Discovery reads what an API server serves.
type Discovery interface {
	ServerResourcesForGroupVersion(groupVersion string) (*metav1.APIResourceList, error)
}

// CheckServed says whether the API server serves all kinds. That it does not is a
// problem; that it does not answer is an error.
func CheckServed(discovery Discovery, kinds []Kind) (*Problem, error) {
	var missing []string
	for _, kind := range kinds {
		version := kind.GroupVersion().String()
		list, err := discovery.ServerResourcesForGroupVersion(version)
		if err != nil && !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("resources of %s: %w", version, err)
		}
		if err != nil || !serves(list, kind.Kind) {
			missing = append(missing, version+" "+kind.Kind)
		}
	}
	if len(missing) == 0 {
		return nil, nil
	}
	return &Problem{
		Reason:  lwsv1.ReasonAPINotAvailable,
		Message: "the API server does not serve " + strings.Join(missing, ", "),
	}, nil
}

func serves(list *metav1.APIResourceList, kind string) bool {
	for _, resource := range list.APIResources {
		if resource.Kind == kind {
			return true
		}
	}
	return false
}
