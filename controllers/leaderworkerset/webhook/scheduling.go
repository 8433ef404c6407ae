package webhook

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
	"sigs.k8s.io/lws/controllers/leaderworkerset/scheduling"
)

// Scheduling is what the webhooks need of the provider that has the pods of sets
// scheduled together.
type Scheduling interface {
	// Uses says whether a set has scheduling objects.
	Uses(set *lwsv1.LeaderWorkerSet) bool
	// Validate says what is wrong with the scheduling of a set; old is nil for a new
	// one.
	Validate(ctx context.Context, old, set *lwsv1.LeaderWorkerSet) field.ErrorList
	// AdmitLeader and AdmitWorker make a pod, which is a member of its group already,
	// a member of a PodGroup.
	AdmitLeader(pod *corev1.Pod, set *lwsv1.LeaderWorkerSet, token string)
	AdmitWorker(pod *corev1.Pod)
}

// tokenFor draws the token of a new incarnation of a group. Workers that outlive
// their leader stay in their PodGroups, so the next leader joins them there.
func (p *podAdmission) tokenFor(ctx context.Context, pod *corev1.Pod, set *lwsv1.LeaderWorkerSet) (string, error) {
	if lwsv1.RestartPolicy(set) != lwsv1.NoneRestartPolicy || lwsv1.GroupIdentity(set) != lwsv1.OrdinalGroupIdentity {
		return scheduling.NewToken(), nil
	}
	key := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
	workers := &appsv1.StatefulSet{}
	found, err := p.reader.get(ctx, key, workers)
	if err != nil {
		return "", fmt.Errorf("workers %s: %w", key, err)
	}
	if _, ofGroup := identity.GroupOfWorkerStatefulSet(workers); !found || !ofGroup {
		return scheduling.NewToken(), nil
	}
	if token := workers.Spec.Template.Annotations[lwsv1.SchedulingTokenAnnotationKey]; token != "" {
		return token, nil
	}
	return scheduling.NewToken(), nil
}
