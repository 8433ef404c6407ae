package sim_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"sigs.k8s.io/lws/e2e/cluster/controlplane"
)

var (
	client  kubernetes.Interface
	kubelet kubernetes.Interface
)

func TestMain(m *testing.M) {
	// Tests wait rather than compute.
	flag.Parse()
	_ = flag.Set("test.parallel", "16")
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "sim-")
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	options := controlplane.Defaults(dir)
	options.Log = os.Stderr
	options.Nodes = 4
	options.NodeGrace = 5 * time.Second
	cluster, err := controlplane.Up(context.Background(), options)
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := cluster.Down(); err != nil {
			_, _ = fmt.Fprintln(os.Stderr, err)
		}
	}()
	if client, err = cluster.Client(); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 1
	}
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(cluster.Dir(), "keys", "sim-kubelet.kubeconfig"))
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if kubelet, err = kubernetes.NewForConfig(config); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if code != 0 {
		log, _ := os.ReadFile(cluster.LogFile("kwok"))
		for line := range strings.Lines(string(log)) {
			var entry struct{ Msg, Err, Pod, Stage string }
			if json.Unmarshal([]byte(line), &entry) == nil {
				_, _ = fmt.Fprintln(os.Stderr, "kwok:", entry.Msg, entry.Pod, entry.Stage, entry.Err)
			}
		}
	}
	return code
}

// podOption changes the pod that newPod makes.
type podOption func(*corev1.Pod)

func asking(annotation, value string) podOption {
	return func(pod *corev1.Pod) { metav1.SetMetaDataAnnotation(&pod.ObjectMeta, annotation, value) }
}

func onNode(name string) podOption {
	return func(pod *corev1.Pod) { pod.Spec.NodeName = name }
}

func withGrace(seconds int64) podOption {
	return func(pod *corev1.Pod) { pod.Spec.TerminationGracePeriodSeconds = &seconds }
}

// createPod makes a pod of two containers in a namespace of its own.
func createPod(t *testing.T, options ...podOption) *corev1.Pod {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "sim-"}}
	namespace, err := client.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "pod", Namespace: namespace.Name},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: new(int64(1)),
			AutomountServiceAccountToken:  new(false),
			Containers: []corev1.Container{
				{Name: "main", Image: "main:1"},
				{Name: "second", Image: "second:1"},
			},
		},
	}
	for _, option := range options {
		option(pod)
	}
	var created *corev1.Pod
	eventually(t, 20*time.Second, "the pod can be created", func() (string, bool) {
		created, err = client.CoreV1().Pods(pod.Namespace).Create(t.Context(), pod, metav1.CreateOptions{})
		return fmt.Sprint(err), err == nil
	})
	return created
}

// eventually waits until check holds and otherwise says what it saw last.
func eventually(t *testing.T, bound time.Duration, what string, check func() (seen string, ok bool)) {
	t.Helper()
	deadline := time.Now().Add(bound)
	for {
		seen, ok := check()
		if ok {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %s not true that %s; seen: %s", bound, what, seen)
		}
		<-time.After(30 * time.Millisecond)
	}
}

// awaitPod waits until a pod looks as wanted and returns it.
func awaitPod(t *testing.T, pod *corev1.Pod, bound time.Duration, what string, wanted func(*corev1.Pod) bool) *corev1.Pod {
	t.Helper()
	var last *corev1.Pod
	eventually(t, bound, what, func() (string, bool) {
		var err error
		last, err = client.CoreV1().Pods(pod.Namespace).Get(t.Context(), pod.Name, metav1.GetOptions{})
		if err != nil {
			return err.Error(), false
		}
		status, _ := json.Marshal(last.Status)
		return string(status), wanted(last)
	})
	return last
}

func awaitGone(t *testing.T, pod *corev1.Pod, bound time.Duration) {
	t.Helper()
	eventually(t, bound, pod.Name+" is gone", func() (string, bool) {
		last, err := client.CoreV1().Pods(pod.Namespace).Get(t.Context(), pod.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return "", true
		}
		return fmt.Sprintf("%v %s, deleted %v", err, last.Status.Phase, last.DeletionTimestamp), last.UID != pod.UID && err == nil
	})
}

func deletePod(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	if err := client.CoreV1().Pods(pod.Namespace).Delete(t.Context(), pod.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

func patchPod(t *testing.T, by kubernetes.Interface, pod *corev1.Pod, patch string, subresources ...string) error {
	t.Helper()
	_, err := by.CoreV1().Pods(pod.Namespace).Patch(t.Context(), pod.Name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}, subresources...)
	return err
}

func condition(pod *corev1.Pod, kind corev1.PodConditionType) corev1.ConditionStatus {
	for _, c := range pod.Status.Conditions {
		if c.Type == kind {
			return c.Status
		}
	}
	return ""
}

func ready(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodRunning && condition(pod, corev1.PodReady) == corev1.ConditionTrue
}

func restarts(pod *corev1.Pod) map[string]int32 {
	counts := map[string]int32{}
	for _, status := range append(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses...) {
		counts[status.Name] = status.RestartCount
	}
	return counts
}
