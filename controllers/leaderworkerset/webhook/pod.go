package webhook

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
	"sigs.k8s.io/lws/controllers/leaderworkerset/metrics"
	"sigs.k8s.io/lws/controllers/leaderworkerset/podspec"
)

// podAdmission makes the pods of sets members of their groups.
type podAdmission struct {
	decoder admission.Decoder
	reader  reader
	metrics *metrics.Metrics
	clock   clock.PassiveClock
	gangs   Scheduling
}

// Handle changes a pod of a set and lets every other pass as it is.
func (p *podAdmission) Handle(ctx context.Context, request admission.Request) admission.Response {
	if request.Operation != admissionv1.Create || request.SubResource != "" {
		return admission.Allowed("")
	}
	pod := &corev1.Pod{}
	if err := p.decoder.Decode(request, pod); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	if pod.Namespace == "" {
		pod.Namespace = request.Namespace
	}
	before, began := pod.DeepCopy(), p.clock.Now()
	found, err := p.find(ctx, pod)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	if found == nil {
		return admission.Allowed("")
	}
	defer func() { p.metrics.Admitted(found.key, p.clock.Since(began)) }()
	if err := p.admit(pod, found); err != nil {
		return admission.Denied(err.Error())
	}
	return patched(before, pod)
}

// membership is what has to be known about a pod of a set.
type membership struct {
	key    types.NamespacedName
	leader bool
	// hash: the leader gets a key, and no number.
	hash bool
	// set and token are used for leaders only.
	set   *lwsv1.LeaderWorkerSet
	token string
}

// find is nil for a pod that belongs to no set.
func (p *podAdmission) find(ctx context.Context, pod *corev1.Pod) (*membership, error) {
	key, ok := identity.SetOf(pod)
	if !ok {
		return nil, nil
	}
	ours, err := p.reader.belongs(ctx, pod, key.Name)
	if err != nil || !ours {
		return nil, err
	}
	// A user's template may have the label that tells a leader, so the owner decides.
	owner := metav1.GetControllerOf(pod)
	hash := isKind(owner, replicaSetKind)
	if !hash && owner.Name != identity.LeaderStatefulSetName(key.Name) {
		return &membership{key: key}, nil
	}
	// A set that is gone has the default.
	set := &lwsv1.LeaderWorkerSet{}
	if _, err := p.reader.get(ctx, key, set); err != nil {
		return nil, fmt.Errorf("set %s: %w", key, err)
	}
	found := &membership{key: key, leader: true, hash: hash, set: set}
	if p.gangs.Uses(set) {
		found.token, err = p.tokenFor(ctx, pod, set)
	}
	return found, err
}

// keyCharacters is how many random characters the key of a group is made of.
const keyCharacters = 16

func (p *podAdmission) admit(pod *corev1.Pod, found *membership) error {
	if !found.leader {
		if err := podspec.AdmitWorker(pod); err != nil {
			return err
		}
		p.gangs.AdmitWorker(pod)
		return nil
	}
	leader, err := found.identify(pod)
	if err != nil {
		return err
	}
	if err := podspec.AdmitLeader(pod, leader, lwsv1.PodTerminationPolicy(found.set)); err != nil {
		return err
	}
	podspec.MarkRestartPolicy(pod, lwsv1.RestartPolicy(found.set))
	if p.gangs.Uses(found.set) {
		p.gangs.AdmitLeader(pod, found.set, found.token)
	}
	return nil
}

// identify says which group a leader is to lead.
func (m *membership) identify(pod *corev1.Pod) (podspec.NewLeader, error) {
	if m.hash {
		return podspec.HashLeader(pod, rand.Text()[:keyCharacters]), nil
	}
	return podspec.OrdinalLeader(pod)
}
