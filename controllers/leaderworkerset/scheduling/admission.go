package scheduling

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/rand"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

const tokenLength = 5

// NewToken draws the token of an incarnation of a group.
func NewToken() string { return rand.String(tokenLength) }

// admitLeader writes down what the names of the group's scheduling objects are made
// of. With Hash identity that is the key, which no other group ever has.
func admitLeader(pod *corev1.Pod, active levels, token string) {
	pod.Annotations[lwsv1.SchedulingLevelAnnotationKey] = active.String()
	isHash := pod.Annotations[lwsv1.GroupIdentityAnnotationKey] == string(lwsv1.HashGroupIdentity)
	if active.ofPods() == LevelSet || isHash || pod.Annotations[lwsv1.SchedulingTokenAnnotationKey] != "" {
		return
	}
	pod.Annotations[lwsv1.SchedulingTokenAnnotationKey] = token
}

// Inherited are the annotations that the template of workers takes from their
// leader, nil without scheduling objects.
func Inherited(leader *corev1.Pod) map[string]string {
	var inherited map[string]string
	for _, key := range []string{lwsv1.SchedulingLevelAnnotationKey, lwsv1.SchedulingTokenAnnotationKey} {
		if value, ok := leader.Annotations[key]; ok {
			if inherited == nil {
				inherited = map[string]string{}
			}
			inherited[key] = value
		}
	}
	return inherited
}
