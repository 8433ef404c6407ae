package sim_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/lws/e2e/cluster/sim"
)

// addNode makes a node for one test, to which only pods go that ask for it.
func addNode(t *testing.T, name string) {
	t.Helper()
	node := sim.Node{Name: name, Taints: []corev1.Taint{{Key: "test", Value: name, Effect: corev1.TaintEffectNoSchedule}}}
	if err := sim.AddNode(t.Context(), client, node); err != nil {
		t.Fatal(err)
	}
	awaitNode(t, name, corev1.ConditionTrue)
}

func awaitNode(t *testing.T, name string, want corev1.ConditionStatus) {
	t.Helper()
	eventually(t, 30*time.Second, fmt.Sprintf("node %s is Ready=%s", name, want), func() (string, bool) {
		node, err := client.CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err.Error(), false
		}
		for _, c := range node.Status.Conditions {
			if c.Type == corev1.NodeReady {
				return fmt.Sprintf("%s=%s (%s)", c.Type, c.Status, c.Reason), c.Status == want
			}
		}
		return "no condition", false
	})
}

func evictedAfter(seconds int64) podOption {
	return func(pod *corev1.Pod) {
		for _, key := range []string{corev1.TaintNodeUnreachable, corev1.TaintNodeNotReady} {
			pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{
				Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds,
			})
		}
	}
}

func TestNodeDiesAndComesBack(t *testing.T) {
	t.Parallel()
	addNode(t, "victim")
	evicted := awaitPod(t, createPod(t, onNode("victim"), evictedAfter(1)), soon, "the pod is ready", ready)
	patient := awaitPod(t, createPod(t, onNode("victim")), soon, "the pod is ready", ready)
	// What the node had queued when it died does not happen: neither this end nor this start.
	ending := awaitPod(t, createPod(t, onNode("victim"), withGrace(3)), soon, "the pod is ready", ready)
	starting := createPod(t, onNode("victim"), asking(sim.StartDelayAnnotation, "3s"))
	starting = awaitPod(t, starting, soon, "the pod waits for its start", func(pod *corev1.Pod) bool { return pod.Status.StartTime != nil })
	deletePod(t, ending)

	if err := sim.Kill(t.Context(), client, "victim"); err != nil {
		t.Fatal(err)
	}
	awaitNode(t, "victim", corev1.ConditionUnknown)
	evicted = awaitPod(t, evicted, soon, "the pod is evicted", func(pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil })
	eventually(t, soon, "more than the grace period of all pods is over", func() (string, bool) {
		return fmt.Sprint(evicted.DeletionTimestamp), time.Since(evicted.DeletionTimestamp.Time) > 2*time.Second
	})
	for _, pod := range []*corev1.Pod{evicted, ending} {
		awaitPod(t, pod, 0, "the pod on the dead node is still terminating", func(pod *corev1.Pod) bool {
			return pod.DeletionTimestamp != nil && pod.Status.Phase == corev1.PodRunning
		})
	}
	awaitPod(t, starting, 0, "the pod on the dead node has not started", func(pod *corev1.Pod) bool { return pod.Status.Phase == corev1.PodPending })
	awaitPod(t, patient, soon, "the control plane sees the pod that stays as not ready", func(pod *corev1.Pod) bool {
		return pod.DeletionTimestamp == nil && condition(pod, corev1.PodReady) == corev1.ConditionFalse
	})

	if err := sim.Revive(t.Context(), client, "victim"); err != nil {
		t.Fatal(err)
	}
	awaitNode(t, "victim", corev1.ConditionTrue)
	awaitGone(t, evicted, soon)
	awaitGone(t, ending, soon)
	awaitPod(t, patient, soon, "the pod that stayed is ready again", ready)
	awaitPod(t, starting, soon, "the pod that had not started is ready", ready)
}

func TestOrphanOfARemovedNodeIsCollected(t *testing.T) {
	t.Parallel()
	addNode(t, "removed")
	pod := awaitPod(t, createPod(t, onNode("removed")), soon, "the pod is ready", ready)
	if err := sim.RemoveNode(t.Context(), client, "removed"); err != nil {
		t.Fatal(err)
	}
	// Pod garbage collection has fixed periods of 20 and 40 seconds.
	awaitGone(t, pod, 100*time.Second)
}

func TestOrdinaryDeletesAreAllowed(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		options []podOption
		state   func(*corev1.Pod) bool
	}{
		"gated": {
			options: []podOption{func(pod *corev1.Pod) {
				pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/gate"}}
			}},
			state: func(pod *corev1.Pod) bool { return condition(pod, corev1.PodScheduled) == corev1.ConditionFalse },
		},
		"unschedulable": {
			options: []podOption{func(pod *corev1.Pod) { pod.Spec.NodeSelector = map[string]string{"no": "node"} }},
			state:   func(pod *corev1.Pod) bool { return condition(pod, corev1.PodScheduled) == corev1.ConditionFalse },
		},
		"failed": {
			options: []podOption{asking(sim.FailAnnotation, "Broken")},
			state:   func(pod *corev1.Pod) bool { return pod.Status.Phase == corev1.PodFailed },
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := awaitPod(t, createPod(t, tc.options...), soon, "the pod is "+name, tc.state)
			deletePod(t, pod)
			awaitGone(t, pod, soon)
		})
	}
}

func TestKubeletCannotHarmASuccessor(t *testing.T) {
	t.Parallel()
	pod := awaitPod(t, createPod(t), soon, "the pod is ready", ready)
	err := kubelet.CoreV1().Pods(pod.Namespace).Delete(t.Context(), pod.Name, *metav1.NewDeleteOptions(0))
	if !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "is not being deleted") {
		t.Errorf("delete by name of a pod that nobody deleted: %v", err)
	}
	err = patchPod(t, kubelet, pod, `{"metadata":{"uid":"of-the-predecessor"},"status":{"phase":"Failed"}}`, "status")
	if err == nil || !strings.Contains(err.Error(), "uid") {
		t.Errorf("status patch with the UID of a predecessor: %v", err)
	}
	awaitPod(t, pod, 0, "the pod is untouched", func(now *corev1.Pod) bool { return now.UID == pod.UID && ready(now) })

	// The same delete is allowed once somebody has deleted the pod.
	slow := awaitPod(t, createPod(t, withGrace(600)), soon, "the pod is ready", ready)
	deletePod(t, slow)
	if err := kubelet.CoreV1().Pods(slow.Namespace).Delete(t.Context(), slow.Name, *metav1.NewDeleteOptions(0)); err != nil {
		t.Errorf("delete of a terminating pod: %v", err)
	}
	awaitGone(t, slow, soon)
}
