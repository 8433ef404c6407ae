package disaggregatedset

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	"sigs.k8s.io/lws/controllers/disaggregatedset/identity"
	"sigs.k8s.io/lws/controllers/disaggregatedset/scaler"
)

// report stores the status of the set and of its scalers, each once and only when
// it says something new, and tells what changed with it.
func (r *Reconciler) report(ctx context.Context, seen *observation, out *outcome) {
	record(r.recorder, seen.Set, out.Told)
	r.traceSteps(seen, out)
	r.reportScalers(ctx, seen, out)
	r.store(ctx, seen, computeStatus(seen, out), out)
}

func (r *Reconciler) store(ctx context.Context, seen *observation, status *dsv1.DisaggregatedSetStatus, out *outcome) {
	before := &seen.Set.Status
	if equality.Semantic.DeepEqual(before, status) {
		return
	}
	set := seen.Set.DeepCopy()
	set.Status = *status
	patch := client.MergeFromWithOptions(seen.Set, client.MergeFromWithOptimisticLock{})
	if err := r.client.Status().Patch(ctx, set, patch, client.FieldOwner(dsv1.FieldManager)); err != nil {
		out.failed("storing the status", err)
		return
	}
	told := transitionEvents(before, status)
	for i := range told {
		told[i].Related = leaderWorkerSetKind + " " + firstOf(set)
	}
	record(r.recorder, set, told)
	r.traceRollout(seen, status, told)
}

// firstOf is the name of the first LeaderWorkerSet of the current revision, which
// tells rollouts apart.
func firstOf(set *dsv1.DisaggregatedSet) string {
	return identity.LeaderWorkerSetName(set.Name, identity.Key{
		Revision: set.Status.CurrentRevision, Role: set.Spec.Roles[0].Name,
	})
}

func (r *Reconciler) reportScalers(ctx context.Context, seen *observation, out *outcome) {
	for _, role := range seen.Roles {
		if !role.isExternal() || role.Scaler == nil || scaler.NeedsSeed(role.Scaling, len(seen.Slices)) {
			continue
		}
		status := scalerStatus(seen, role)
		before := &role.Scaler.Status
		if equality.Semantic.DeepEqual(before, status) {
			continue
		}
		changed := role.Scaler.DeepCopy()
		changed.Status = *status
		patch := client.MergeFrom(role.Scaler)
		if err := r.client.Status().Patch(ctx, changed, patch, client.FieldOwner(dsv1.FieldManager)); err != nil {
			out.failed("storing the status of "+scalerKind+" "+role.Scaler.Name, err)
			continue
		}
		if text := thinly(seen, role); text != "" && readyMessage(before) != text {
			record(r.recorder, seen.Set, []notice{scalerSpreadsThin(role.Scaler.Name, text)})
		}
	}
}

func scalerStatus(seen *observation, r *role) *dsv1.DisaggregatedSetRoleScalerStatus {
	status := r.Scaler.Status.DeepCopy()
	status.ObservedGeneration = r.Scaler.Generation
	status.Replicas = seen.countRole(r.Name).Replicas
	status.Selector = identity.ScalerSelector(seen.Set.Name, r.Name)
	message := thinly(seen, r)
	if message == "" {
		message = "the role has the replicas of this scaler for its target"
	}
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type: dsv1.ConditionReady, Status: metav1.ConditionTrue, Reason: dsv1.ReasonScalerFollowed, Message: message,
		ObservedGeneration: r.Scaler.Generation, LastTransitionTime: metav1.NewTime(seen.Now),
	})
	return status
}

// thinly tells that the slices have more than the scaler asks for.
func thinly(seen *observation, r *role) string {
	total, n := r.Scaling.Scaler.Replicas, len(seen.Slices)
	if !scaler.SpreadsThin(total, n) {
		return ""
	}
	return fmt.Sprintf("role %s: %d replicas were asked for, each of the %d slices has one", r.Name, total, n)
}

func readyMessage(status *dsv1.DisaggregatedSetRoleScalerStatus) string {
	if c := meta.FindStatusCondition(status.Conditions, dsv1.ConditionReady); c != nil {
		return c.Message
	}
	return ""
}
