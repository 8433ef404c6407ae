package sim

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// Restart restarts a container of a running pod once.
func Restart(ctx context.Context, client kubernetes.Interface, namespace, pod, container string) error {
	return Request(ctx, client, namespace, pod, RestartAnnotation, container+"/"+rand.Text())
}

// CrashLoop makes a container end again and again, every period seconds.
func CrashLoop(ctx context.Context, client kubernetes.Interface, namespace, pod, container string, period int) error {
	return Request(ctx, client, namespace, pod, CrashLoopAnnotation, fmt.Sprintf("%s/%d", container, period))
}

// Fail ends a pod in the phase Failed.
func Fail(ctx context.Context, client kubernetes.Interface, namespace, pod, reason string) error {
	return Request(ctx, client, namespace, pod, FailAnnotation, reason)
}

// Succeed ends a pod in the phase Succeeded.
func Succeed(ctx context.Context, client kubernetes.Interface, namespace, pod string) error {
	return Request(ctx, client, namespace, pod, SucceedAnnotation, "true")
}

// Hang makes a running pod not ready.
func Hang(ctx context.Context, client kubernetes.Interface, namespace, pod string) error {
	return Request(ctx, client, namespace, pod, HangAnnotation, HangUnready)
}

// Recover withdraws Hang and CrashLoop.
func Recover(ctx context.Context, client kubernetes.Interface, namespace, pod string) error {
	return annotate(ctx, client, namespace, pod, map[string]*string{HangAnnotation: nil, CrashLoopAnnotation: nil})
}

// Request puts one of the annotations of this package on a pod.
func Request(ctx context.Context, client kubernetes.Interface, namespace, pod, annotation, value string) error {
	return annotate(ctx, client, namespace, pod, map[string]*string{annotation: &value})
}

func annotate(ctx context.Context, client kubernetes.Interface, namespace, pod string, annotations map[string]*string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}})
	if err != nil {
		return err
	}
	if _, err := client.CoreV1().Pods(namespace).Patch(ctx, pod, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("request to pod %s/%s: %w", namespace, pod, err)
	}
	return nil
}
