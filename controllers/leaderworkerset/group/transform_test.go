package group

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestStripPodKeepsWhatIsRead(t *testing.T) {
	p := leaderObject(func(p *corev1.Pod) {
		p.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "x"}}
		p.Finalizers = []string{"example.com/x"}
		p.Spec.NodeName = "node"
		p.Spec.Containers = []corev1.Container{{Name: "main", Image: "i", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{"cpu": resource.MustParse("1")},
		}}}
		p.Spec.TerminationGracePeriodSeconds = new(int64(30))
		p.Spec.Volumes = []corev1.Volume{{Name: "v"}}
		p.Status.Conditions = []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/3 nodes"},
			{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "ContainersNotReady", Message: "dropped"},
			{Type: corev1.PodInitialized, Status: corev1.ConditionTrue},
		}
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", Image: "i", ImageID: "long"}}
		p.Status.PodIPs = []corev1.PodIP{{IP: "10.0.0.1"}}
	})
	before := leaderOf(p.DeepCopy(), newLedger())
	got, err := StripPod(p)
	if err != nil {
		t.Fatal(err)
	}
	stripped := got.(*corev1.Pod)
	if diff := cmp.Diff(before, leaderOf(stripped, newLedger()), cmp.AllowUnexported(leader{})); diff != "" {
		t.Errorf("leader read from what the cache keeps (-want +got):\n%s", diff)
	}
	for what, kept := range map[string]bool{
		"managed fields":        stripped.ManagedFields != nil,
		"a label of the user's": stripped.Labels["app"] != "",
		"an annotation":         stripped.Annotations["note"] != "",
		"containers":            len(stripped.Spec.Containers) > 0,
		"the grace period":      stripped.Spec.TerminationGracePeriodSeconds != nil,
		"volumes":               len(stripped.Spec.Volumes) > 0,
		"statuses":              len(stripped.Status.ContainerStatuses) > 0,
		"addresses":             len(stripped.Status.PodIPs) > 0,
		"a message":             stripped.Status.Conditions[1].Message != "",
		"a condition":           len(stripped.Status.Conditions) > 2,
	} {
		if kept {
			t.Errorf("%s kept", what)
		}
	}
	going := keyedPod("a", leaving(time.Second), func(p *corev1.Pod) {
		p.DeletionGracePeriodSeconds, p.Spec.TerminationGracePeriodSeconds = new(int64(0)), new(int64(30))
	})
	when := wentAt(going)
	if _, err := StripPod(going); err != nil || !wentAt(going).Equal(when) {
		t.Errorf("a leader that goes began to at %s, to the cache at %s, %v", when, wentAt(going), err)
	}
	other := &corev1.Node{}
	if got, err := StripPod(other); err != nil || got != any(other) {
		t.Errorf("what is no pod is returned as %v, %v", got, err)
	}
}
