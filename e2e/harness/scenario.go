package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/e2e/managers"
)

// Begin makes a namespace and records what happens in it, until ctx ends.
func (e *Environment) Begin(ctx context.Context, further ...client.ObjectList) (*Observer, error) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: namePrefix}}
	if err := e.Client.Create(ctx, namespace); err != nil {
		return nil, err
	}
	return e.Observe(ctx, namespace.Name, further...)
}

// End deletes the namespace of an observer with all that is in it.
func (e *Environment) End(ctx context.Context, o *Observer) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: o.namespace}}
	return client.IgnoreNotFound(e.Client.Delete(ctx, namespace))
}

// Namespace is what is observed.
func (o *Observer) Namespace() string { return o.namespace }

// Key is that of an object of the namespace.
func (o *Observer) Key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: o.namespace, Name: name}
}

// patience is for objects whose managers write their status several times a second, while
// a machine that is busy takes as long for a read and a write.
var patience = wait.Backoff{Steps: 16, Duration: 10 * time.Millisecond, Factor: 1.5, Jitter: 0.5}

// Change updates an object to what is made of it, again if somebody else did in between.
func Change[T client.Object](ctx context.Context, c client.Client, key client.ObjectKey, object T, change func(T) client.Object) error {
	return retry.RetryOnConflict(patience, func() error {
		if err := c.Get(ctx, key, object); err != nil {
			return err
		}
		return c.Update(ctx, change(object))
	})
}

// AwaitSet waits for a state of a set.
func (o *Observer) AwaitSet(ctx context.Context, limit time.Duration, name string, holds func(*lwsv1.LeaderWorkerSet) bool) error {
	return o.Await(ctx, limit, func() (string, bool) {
		set := o.Set(name)
		if set == nil {
			return "there is no such set", false
		}
		return StatusLine(set), holds(set)
	})
}

// IsAvailable tells whether the status of the set's present spec says so.
func IsAvailable(set *lwsv1.LeaderWorkerSet) bool {
	return set.Status.ObservedGeneration == set.Generation &&
		meta.IsStatusConditionTrue(set.Status.Conditions, lwsv1.ConditionAvailable)
}

// StatusLine is what the status of a set says.
func StatusLine(set *lwsv1.LeaderWorkerSet) string {
	status := set.Status
	return fmt.Sprintf("generation %d of %d observed, %d groups, %d ready, %d updated, %d unschedulable; %s",
		status.ObservedGeneration, set.Generation, status.Replicas, status.ReadyReplicas, status.UpdatedReplicas,
		status.UnschedulableReplicas, ConditionsLine(status.Conditions))
}

// ConditionsLine is what conditions say.
func ConditionsLine(conditions []metav1.Condition) string {
	parts := make([]string, 0, len(conditions))
	for _, c := range conditions {
		parts = append(parts, fmt.Sprintf("%s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message))
	}
	return strings.Join(parts, "; ")
}

// CheckSamples lets the API server say what it thinks of the samples of a kind, and
// tells how many there are. A warning is an error.
func (e *Environment) CheckSamples(ctx context.Context, namespace, kind string) (int, error) {
	checkout, err := managers.Checkout()
	if err != nil {
		return 0, err
	}
	files, err := filepath.Glob(filepath.Join(checkout, "config", "samples", kind+"_*.yaml"))
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil {
			_, err = managers.Kubectl(ctx, e.Cluster, text, "apply", "--server-side", "--dry-run=server", "--warnings-as-errors", "-n", namespace, "-f", "-")
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", filepath.Base(file), err))
		}
	}
	return len(files), errors.Join(errs...)
}
