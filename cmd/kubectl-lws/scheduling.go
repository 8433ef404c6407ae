package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset"
	"sigs.k8s.io/lws/controllers/leaderworkerset/scheduling"
)

// provider has the pods of a set scheduled together.
type provider interface {
	leaderworkerset.SchedulingProvider

	// SetProblem says why scheduling objects cannot be read; nil: they can.
	SetProblem(problem *scheduling.Problem)
}

// visible is a provider that knows which of its objects the user may not read.
func visible(ctx context.Context, source *snapshot, gangs provider) (provider, error) {
	for _, kind := range gangs.Kinds() {
		_, err := source.load(ctx, kind.GroupVersionKind)
		switch {
		case apierrors.IsForbidden(err):
			gangs.SetProblem(&scheduling.Problem{
				Reason:  lwsv1.ReasonAPINotAvailable,
				Message: "whether its scheduling objects are there is not for you to see: " + err.Error(),
			})
		case err != nil:
			return nil, err
		}
	}
	return gangs, nil
}

// providerOf finds out which scheduler provider the manager is configured with, as far
// as it matters to a set: its pods refer to scheduling objects of that provider, and its
// status says why there are none.
func providerOf(set *lwsv1.LeaderWorkerSet, pods []corev1.Pod) provider {
	kubernetes, volcano := scheduling.NewKubernetes(true, true), scheduling.NewVolcano(true)
	kubernetes.SetProblem(nil)
	volcano.SetProblem(nil)
	for i := range pods {
		switch {
		case len(kubernetes.GroupRefs(&pods[i])) == 0:
		case pods[i].Spec.SchedulingGroup != nil:
			return kubernetes
		default:
			return volcano
		}
	}
	if set.Spec.Scheduling == nil {
		return scheduling.NewNone(false)
	}
	created := meta.FindStatusCondition(set.Status.Conditions, lwsv1.ConditionWorkloadSchedulingCreated)
	switch {
	case created == nil || created.Status == metav1.ConditionTrue:
	case created.Reason == lwsv1.ReasonUnsupportedProviderCapability:
		return scheduling.NewNone(true)
	case created.Reason == lwsv1.ReasonAPINotAvailable:
		kubernetes.SetProblem(&scheduling.Problem{Reason: created.Reason, Message: created.Message})
	}
	return kubernetes
}

// schedulingKinds are those of all providers.
func schedulingKinds() []scheduling.Kind {
	return append(scheduling.NewKubernetes(true, true).Kinds(), scheduling.NewVolcano(true).Kinds()...)
}
