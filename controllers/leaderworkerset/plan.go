package leaderworkerset

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/rollout"
)

// plan is what a reconcile writes, in the order in which it does, and what the
// set's status is computed from.
type plan struct {
	Counts   countsPlan
	Revision revisionPlan
	Current  string // key of the current revision

	Scheduling  schedulingPlan
	Service     servicePlan
	Leaders     wanted       // the object that owns the leaders
	Awaited     bool         // it is not made before what its pods refer to
	Rollout     rollout.Plan // with Ordinal identity
	Delete      []objectRef  // leaders that the rollout replaces
	Unadmitted  unadmittedPlan
	RolledOut   bool
	Superfluous []*appsv1.ControllerRevision

	Tally     tally
	Obstacles []obstacle
}

type servicePlan struct {
	Desired *coreapply.ServiceApplyConfiguration // nil: none is wanted
	Claim   claim
	Differs bool
}

// makePlan decides what to do about an observed set. An error is one of data
// that cannot be encoded.
func makePlan(seen *observation) (*plan, error) {
	p := &plan{}
	var err error
	p.Revision, err = planRevision(seen.Realised, seen.Revisions, seen.Leaving, seen.running().Key)
	if err != nil {
		return nil, err
	}
	leaders := leadershipOf(seen.Set)
	p.Current = leaders.current(seen, p.Revision.Key)
	p.Counts = planCounts(seen, leaders.counts(seen, p.Revision.Key, p.Current))
	p.Tally = leaders.tally(seen, p.Revision.Key, p.Current)
	p.Unadmitted = planUnadmitted(seen.Unadmitted, seen.Now)
	p.Obstacles = obstaclesOf(seen, p)
	if p.Service, err = planService(seen, p.Revision.Key, p.Current); err != nil {
		return nil, err
	}
	if err := leaders.plan(seen, p); err != nil {
		return nil, err
	}
	p.Awaited = p.Leaders.Claim == claimAbsent && seen.Scheduling.awaited() != ""
	if p.RolledOut {
		p.Superfluous = superfluous(seen, p.Revision.Key, p.Current)
	}
	return p, nil
}

// chosen are the leaders of the groups that the rollout deletes.
func chosen(groups []groupState, deletions []rollout.Deletion) []objectRef {
	leaders := make(map[int]objectRef, len(groups))
	for _, g := range groups {
		leaders[int(g.Index)] = g.Leader
	}
	refs := make([]objectRef, 0, len(deletions))
	for _, deletion := range deletions {
		refs = append(refs, leaders[deletion.Index])
	}
	return refs
}

func planService(seen *observation, update, current string) (servicePlan, error) {
	p := servicePlan{Claim: claimOfService(seen.Set, seen.Service)}
	if !isServiceUsed(seen, update, current) {
		return p, nil
	}
	p.Desired = desiredService(seen.Realised)
	if p.Claim != claimOurs && p.Claim != claimLeftover {
		return p, nil
	}
	p.Desired.WithUID(seen.Service.UID)
	var err error
	p.Differs, err = serviceDiffers(p.Desired, seen.Service)
	return p, err
}

func planStatefulSet(seen *observation, key string, spec rollout.Spec) (wanted, error) {
	template, err := leaderTemplate(seen.Realised, key)
	if err != nil {
		return wanted{}, err
	}
	desired, err := desiredStatefulSet(seen.Realised, key, template, spec)
	if err != nil {
		return wanted{}, err
	}
	p := wanted{
		Kind:    appsv1.SchemeGroupVersion.WithKind("StatefulSet"),
		Name:    *desired.Name,
		Desired: desired,
		Applied: func() *string { return desired.ResourceVersion },
		Live:    seen.StatefulSet,
		Fresh:   &appsv1.StatefulSet{},
		Claim:   seen.Claim,
	}
	leaders := seen.leaders()
	if leaders == nil {
		return p, nil
	}
	desired.WithUID(leaders.UID)
	if p.Claim == claimOurs {
		// Claim templates never change. An earlier release may have stored less of them.
		if desired.Spec.VolumeClaimTemplates, err = claimTemplates(leaders.Spec.VolumeClaimTemplates); err != nil {
			return wanted{}, err
		}
	}
	p.Differs, err = statefulSetDiffers(desired, leaders)
	return p, err
}

// obstaclesOf are the reasons, seen without a write, why groups are not there.
func obstaclesOf(seen *observation, p *plan) []obstacle {
	var found []obstacle
	for _, reporter := range reporters(seen.Reports) {
		if problem := seen.Reports[reporter].Problem; problem != nil {
			found = append(found, obstacle{problem.Reason, problem.Message})
		}
	}
	if p.Unadmitted.Message != "" {
		found = append(found, obstacle{lwsv1.ReasonFailedCreate, p.Unadmitted.Message})
	}
	if seen.CreateFailure != "" {
		found = append(found, obstacle{lwsv1.ReasonFailedCreate, seen.CreateFailure})
	}
	if t := p.Tally; seen.Unplaced != nil && t.Unschedulable > 0 {
		found = append(found, obstacle{lwsv1.ReasonGroupUnschedulable, fmt.Sprintf(
			"%s be scheduled; pod %s: %s", replicasCannot(t.Unschedulable), seen.Unplaced.Pod, seen.Unplaced.Text)})
	}
	return found
}

func replicasCannot(n int32) string {
	if n == 1 {
		return "1 replica cannot"
	}
	return fmt.Sprintf("%d replicas cannot", n)
}
