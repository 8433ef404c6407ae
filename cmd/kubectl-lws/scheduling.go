package main

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset"
	"sigs.k8s.io/lws/controllers/leaderworkerset/scheduling"
)

// providerOf finds out which scheduler provider the manager is configured with, as far
// as it matters to a set: its pods refer to scheduling objects of that provider, and its
// status says why there are none.
func providerOf(set *lwsv1.LeaderWorkerSet, pods []corev1.Pod) leaderworkerset.SchedulingProvider {
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
