package sim_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/lws/e2e/cluster/sim"
)

const soon = 20 * time.Second

func TestPlacedPodIsReadyAtOnce(t *testing.T) {
	t.Parallel()
	pod := awaitPod(t, createPod(t), soon, "the pod is ready", ready)
	if pod.Status.PodIP == "" || pod.Status.HostIP == "" && pod.Status.StartTime == nil {
		t.Errorf("status lacks an address or a start time: %+v", pod.Status)
	}
	for _, status := range pod.Status.ContainerStatuses {
		if status.State.Running == nil || !status.Ready || status.RestartCount != 0 {
			t.Errorf("container %s: %+v", status.Name, status)
		}
	}
	if diff := cmp.Diff(map[string]int32{"main": 0, "second": 0}, restarts(pod)); diff != "" {
		t.Error(diff)
	}
}

func TestInitContainersEndAndSidecarsRun(t *testing.T) {
	t.Parallel()
	pod := createPod(t, asking(sim.StartDelayAnnotation, "2s"), func(pod *corev1.Pod) {
		pod.Spec.InitContainers = []corev1.Container{
			{Name: "init", Image: "init:1"},
			{Name: "sidecar", Image: "sidecar:1", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)},
		}
	})
	awaitPod(t, pod, soon, "the first init container runs while the pod is Pending", func(pod *corev1.Pod) bool {
		return pod.Status.Phase == corev1.PodPending && len(pod.Status.InitContainerStatuses) == 2 &&
			pod.Status.InitContainerStatuses[0].State.Running != nil && pod.Status.InitContainerStatuses[1].State.Waiting != nil &&
			condition(pod, corev1.PodInitialized) == corev1.ConditionFalse
	})
	pod = awaitPod(t, pod, soon, "the pod is ready", ready)
	if state := pod.Status.InitContainerStatuses[0].State; state.Terminated == nil || state.Terminated.ExitCode != 0 {
		t.Errorf("init container has not ended: %+v", state)
	}
	if sidecar := pod.Status.InitContainerStatuses[1]; sidecar.State.Running == nil || !sidecar.Ready {
		t.Errorf("sidecar does not run: %+v", sidecar)
	}
}

func TestStartDelayIsWithinItsRange(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		delay    string
		from, to time.Duration
	}{
		"fixed": {delay: "2s", from: 2 * time.Second, to: 2 * time.Second},
		"range": {delay: "1s-4s", from: time.Second, to: 4 * time.Second},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := createPod(t, asking(sim.StartDelayAnnotation, tc.delay))
			pod = awaitPod(t, pod, soon, "the pod waits for its start", func(pod *corev1.Pod) bool { return pod.Status.StartTime != nil })
			// Events in between neither restart the delay nor draw another one.
			for i := range 5 {
				if err := sim.Request(t.Context(), client, pod.Namespace, pod.Name, "poke", strconv.Itoa(i)); err != nil {
					t.Fatal(err)
				}
			}
			placed := pod.Status.StartTime.Time
			pod = awaitPod(t, pod, soon, "the pod is ready", ready)
			// Times are in whole seconds.
			took := pod.Status.ContainerStatuses[0].State.Running.StartedAt.Sub(placed)
			if took < tc.from-time.Second || took > tc.to+5*time.Second {
				t.Errorf("started %s after it was placed, want %s to %s", took, tc.from, tc.to)
			}
		})
	}
}

func TestReadyFollowsReadinessGates(t *testing.T) {
	t.Parallel()
	pod := createPod(t, func(pod *corev1.Pod) {
		pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/gate"}}
	})
	pod = awaitPod(t, pod, soon, "the containers are ready", func(pod *corev1.Pod) bool {
		return condition(pod, corev1.ContainersReady) == corev1.ConditionTrue
	})
	if got := condition(pod, corev1.PodReady); got != corev1.ConditionFalse {
		t.Fatalf("Ready is %q before its gate is", got)
	}
	for _, gate := range []corev1.ConditionStatus{"True", "False", "True"} {
		patch := fmt.Sprintf(`{"status":{"conditions":[{"type":"example.com/gate","status":%q}]}}`, gate)
		if err := patchPod(t, client, pod, patch, "status"); err != nil {
			t.Fatal(err)
		}
		flipped := awaitPod(t, pod, soon, "Ready follows the gate to "+string(gate), func(pod *corev1.Pod) bool {
			return condition(pod, corev1.PodReady) == gate
		})
		if got := condition(flipped, corev1.ContainersReady); got != corev1.ConditionTrue {
			t.Errorf("ContainersReady is %q at gate %s", got, gate)
		}
	}
}

func TestRestartHappensOncePerRequest(t *testing.T) {
	t.Parallel()
	pod := awaitPod(t, createPod(t, asking(sim.ExitCodeAnnotation, "42")), soon, "the pod is ready", ready)
	for i := range int32(3) {
		if err := sim.Restart(t.Context(), client, pod.Namespace, pod.Name, "main"); err != nil {
			t.Fatal(err)
		}
		pod = awaitPod(t, pod, soon, fmt.Sprintf("restart %d happened", i+1), func(pod *corev1.Pod) bool { return restarts(pod)["main"] > i })
		// Other events, and those of the node itself, do not repeat it.
		if err := patchPod(t, client, pod, `{"status":{"conditions":[{"type":"poke","status":"True"}]}}`, "status"); err != nil {
			t.Fatal(err)
		}
	}
	// What is asked last is answered last.
	if err := sim.Restart(t.Context(), client, pod.Namespace, pod.Name, "second"); err != nil {
		t.Fatal(err)
	}
	pod = awaitPod(t, pod, soon, "the second container restarted", func(pod *corev1.Pod) bool { return restarts(pod)["second"] > 0 })
	if diff := cmp.Diff(map[string]int32{"main": 3, "second": 1}, restarts(pod)); diff != "" {
		t.Error(diff)
	}
	if last := pod.Status.ContainerStatuses[0].LastTerminationState.Terminated; last == nil || last.ExitCode != 42 {
		t.Errorf("last termination: %+v", last)
	}
	if !ready(pod) {
		t.Errorf("the pod is not ready after restarts: %+v", pod.Status.Conditions)
	}
}

func TestCrashLoop(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		container string
		phase     corev1.PodPhase
	}{
		"main container": {container: "second", phase: corev1.PodRunning},
		"init container": {container: "init", phase: corev1.PodPending},
		"sidecar":        {container: "sidecar", phase: corev1.PodRunning},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := createPod(t, asking(sim.CrashLoopAnnotation, tc.container), func(pod *corev1.Pod) {
				pod.Spec.InitContainers = []corev1.Container{
					{Name: "init", Image: "init:1"},
					{Name: "sidecar", Image: "sidecar:1", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)},
				}
			})
			pod = awaitPod(t, pod, soon, "the container crashed three times", func(pod *corev1.Pod) bool { return restarts(pod)[tc.container] >= 3 })
			if pod.Status.Phase != tc.phase || condition(pod, corev1.PodReady) != corev1.ConditionFalse {
				t.Errorf("phase %s, conditions %+v", pod.Status.Phase, pod.Status.Conditions)
			}
			for container, count := range restarts(pod) {
				if container != tc.container && count != 0 {
					t.Errorf("%s restarted %d times", container, count)
				}
			}
			if err := sim.Recover(t.Context(), client, pod.Namespace, pod.Name); err != nil {
				t.Fatal(err)
			}
			awaitPod(t, pod, soon, "the pod recovers", ready)
		})
	}
}

func TestHang(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		value string
		hangs func(*corev1.Pod) bool
	}{
		"unready": {value: sim.HangUnready, hangs: func(pod *corev1.Pod) bool {
			return pod.Status.Phase == corev1.PodRunning && condition(pod, corev1.ContainersReady) == corev1.ConditionFalse
		}},
		"image": {value: sim.HangImage, hangs: func(pod *corev1.Pod) bool {
			return pod.Status.Phase == corev1.PodPending && len(pod.Status.ContainerStatuses) == 2 &&
				pod.Status.ContainerStatuses[0].State.Waiting != nil &&
				pod.Status.ContainerStatuses[0].State.Waiting.Reason == "ErrImagePull"
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := awaitPod(t, createPod(t, asking(sim.HangAnnotation, tc.value)), soon, "the pod hangs", tc.hangs)
			// A later pod overtakes it.
			awaitPod(t, createPod(t, onNode(pod.Spec.NodeName)), soon, "another pod is ready", ready)
			awaitPod(t, pod, 0, "the pod still hangs", tc.hangs)
			if err := sim.Recover(t.Context(), client, pod.Namespace, pod.Name); err != nil {
				t.Fatal(err)
			}
			awaitPod(t, pod, soon, "the pod recovers", ready)
			if tc.value != sim.HangUnready {
				return
			}
			if err := sim.Hang(t.Context(), client, pod.Namespace, pod.Name); err != nil {
				t.Fatal(err)
			}
			awaitPod(t, pod, soon, "the ready pod hangs again", tc.hangs)
		})
	}
}

func TestPodsEndOnRequest(t *testing.T) {
	t.Parallel()
	failed := awaitPod(t, createPod(t), soon, "the pod is ready", ready)
	if err := sim.Fail(t.Context(), client, failed.Namespace, failed.Name, "Evicted"); err != nil {
		t.Fatal(err)
	}
	failed = awaitPod(t, failed, soon, "the pod failed", func(pod *corev1.Pod) bool { return pod.Status.Phase == corev1.PodFailed })
	if failed.Status.Reason != "Evicted" || failed.Status.ContainerStatuses[0].State.Terminated.ExitCode != 1 {
		t.Errorf("status %+v", failed.Status)
	}
	succeeded := awaitPod(t, createPod(t), soon, "the pod is ready", ready)
	if err := sim.Succeed(t.Context(), client, succeeded.Namespace, succeeded.Name); err != nil {
		t.Fatal(err)
	}
	succeeded = awaitPod(t, succeeded, soon, "the pod succeeded", func(pod *corev1.Pod) bool { return pod.Status.Phase == corev1.PodSucceeded })
	if exit := succeeded.Status.ContainerStatuses[1].State.Terminated; exit == nil || exit.ExitCode != 0 {
		t.Errorf("status %+v", succeeded.Status)
	}
}

// ending is what a watcher saw of a pod's deletion.
type ending struct {
	phases []corev1.PodPhase
	took   time.Duration
}

// deleteAndWatch deletes a pod and records its phases until it is gone.
func deleteAndWatch(t *testing.T, pod *corev1.Pod) ending {
	t.Helper()
	watcher, err := client.CoreV1().Pods(pod.Namespace).Watch(t.Context(), metav1.SingleObject(pod.ObjectMeta))
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Stop()
	deleted := time.Now()
	deletePod(t, pod)
	var seen ending
	timeout := time.After(soon)
	for {
		select {
		case event := <-watcher.ResultChan():
			if now, ok := event.Object.(*corev1.Pod); ok {
				if n := len(seen.phases); n == 0 || seen.phases[n-1] != now.Status.Phase {
					seen.phases = append(seen.phases, now.Status.Phase)
				}
			}
			if event.Type == "DELETED" {
				seen.took = time.Since(deleted)
				return seen
			}
		case <-timeout:
			t.Fatalf("the pod is not gone after %s; phases %v", soon, seen.phases)
		}
	}
}

func TestGracePeriodIsUsedUpAndTheEndIsSeen(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		options  []podOption
		phases   []corev1.PodPhase
		from, to time.Duration
	}{
		"the whole grace period": {
			options: []podOption{withGrace(4)},
			phases:  []corev1.PodPhase{corev1.PodRunning, corev1.PodFailed},
			// Deletion timestamps are in whole seconds.
			from: 3 * time.Second, to: 8 * time.Second,
		},
		"containers that end early": {
			options: []podOption{withGrace(60), asking(sim.StopAfterAnnotation, "1s")},
			phases:  []corev1.PodPhase{corev1.PodRunning, corev1.PodSucceeded},
			to:      6 * time.Second,
		},
		"nothing to wait for": {
			options: []podOption{withGrace(60), asking(sim.HangAnnotation, sim.HangImage)},
			phases:  []corev1.PodPhase{corev1.PodPending, corev1.PodFailed},
			to:      6 * time.Second,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := awaitPod(t, createPod(t, tc.options...), soon, "the pod has started", func(pod *corev1.Pod) bool { return pod.Status.StartTime != nil })
			got := deleteAndWatch(t, pod)
			if diff := cmp.Diff(tc.phases, got.phases); diff != "" {
				t.Errorf("phases: %s", diff)
			}
			if got.took < tc.from || got.took > tc.to {
				t.Errorf("gone after %s, want %s to %s", got.took, tc.from, tc.to)
			}
		})
	}
}

func TestFinalizerOfSomebodyElseIsLeftAlone(t *testing.T) {
	t.Parallel()
	pod := createPod(t, func(pod *corev1.Pod) { pod.Finalizers = []string{"example.com/keep"} })
	pod = awaitPod(t, pod, soon, "the pod is ready", ready)
	deletePod(t, pod)
	pod = awaitPod(t, pod, soon, "the pod has ended and the node is done with it", func(pod *corev1.Pod) bool {
		return pod.Status.Phase == corev1.PodFailed && *pod.DeletionGracePeriodSeconds == 0
	})
	if diff := cmp.Diff([]string{"example.com/keep"}, pod.Finalizers); diff != "" {
		t.Error(diff)
	}
	if err := patchPod(t, client, pod, `{"metadata":{"$deleteFromPrimitiveList/finalizers":["example.com/keep"]}}`); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, pod, soon)
}
