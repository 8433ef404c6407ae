package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/group"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

const (
	drainTimeout = 2 * time.Minute
	drainPause   = time.Second
)

// drain frees the groups that are stopped: what holds their pods is a finalizer that
// only lws-manager removes.
type drain struct {
	*options
	set              string // empty for all sets
	everywhere       bool
	removeFinalizers bool
	timeout          time.Duration

	asked map[types.UID]bool // leaders of groups that were asked for
}

func newDrain(o *options) *cobra.Command {
	d := &drain{options: o, asked: map[types.UID]bool{}}
	command := &cobra.Command{
		Use:   "drain [NAME]",
		Short: "Free stopped groups, so that lws-manager can be removed",
		Long: "Free the stopped groups of a set, or of all sets of the namespace, so that lws-manager can be removed.\n\n" +
			"A group that has spent its restart budget is stopped, and a finalizer keeps its pods. Each such group is started\n" +
			"again with a fresh budget, by the annotation " + lwsv1.RecoverAnnotationKey + "=true on its leader, and the\n" +
			"command waits until no pod carries the finalizer. It needs the right to patch pods, which the role edit has.",
		Example: "  kubectl lws drain -A\n  kubectl lws drain vllm\n  kubectl lws drain -A --remove-finalizers   # lws-manager is gone already",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if len(args) == 1 {
				d.set = args[0]
			}
			if d.set != "" && d.everywhere {
				return errors.New("--all-namespaces is for all sets, and NAME is one: say only one of them")
			}
			return d.run(command.Context())
		},
	}
	flags := command.Flags()
	flags.BoolVarP(&d.everywhere, "all-namespaces", "A", false, "free the stopped groups of all namespaces")
	flags.BoolVar(&d.removeFinalizers, "remove-finalizers", false,
		"where lws-manager is gone already: take its finalizer from pods that have ended, instead of asking it")
	flags.DurationVar(&d.timeout, "timeout", drainTimeout, "how long to wait until no pod carries the finalizer")
	return command
}

func (d *drain) run(ctx context.Context) error {
	c, namespace, err := d.connect()
	if err != nil {
		return err
	}
	if d.everywhere {
		namespace = ""
	}
	// The timeout ends the waiting, not a request.
	err = wait.PollUntilContextTimeout(ctx, drainPause, d.timeout, true, func(context.Context) (bool, error) {
		held, err := d.held(ctx, c, namespace)
		switch {
		case err != nil || len(held) == 0:
			return err == nil, err
		case d.removeFinalizers:
			return false, d.release(ctx, c, held)
		}
		return false, d.recover(ctx, c, held)
	})
	if err != nil && (!wait.Interrupted(err) || ctx.Err() != nil) {
		return err
	}
	return d.conclude(ctx, c, namespace)
}

// conclude tells what is left when the time is over, or nothing was left before.
func (d *drain) conclude(ctx context.Context, c client.Client, namespace string) error {
	held, err := d.held(ctx, c, namespace)
	switch {
	case err != nil:
		return err
	case len(held) == 0:
		_, err = fmt.Fprintln(d.out, "No pod is held by lws-manager")
		return err
	case d.removeFinalizers:
		return fmt.Errorf("after %s pods are still held that have not ended, so that their containers may run: %s; "+
			"they end when their nodes answer or are deleted", d.timeout, names(held))
	}
	return fmt.Errorf("after %s pods are still held: %s; does lws-manager run? If it is gone, --remove-finalizers takes its finalizer away",
		d.timeout, names(held))
}

// held are the pods that carry the finalizer of stopped groups.
func (d *drain) held(ctx context.Context, c client.Client, namespace string) ([]corev1.Pod, error) {
	which := []client.ListOption{client.InNamespace(namespace), client.HasLabels{lwsv1.SetNameLabelKey}}
	if d.set != "" {
		which = append(which, client.MatchingLabels{lwsv1.SetNameLabelKey: d.set})
	}
	var pods corev1.PodList
	if err := c.List(ctx, &pods, which...); err != nil {
		return nil, fmt.Errorf("pods: %w", err)
	}
	return slices.DeleteFunc(pods.Items, func(p corev1.Pod) bool { return !group.IsRetained(&p) }), nil
}

// recover asks lws-manager to start stopped groups again.
func (d *drain) recover(ctx context.Context, c client.Client, held []corev1.Pod) error {
	for i := range held {
		leader := &held[i]
		if !identity.IsLeader(leader) || !group.IsExhausted(leader) || d.asked[leader.UID] {
			continue
		}
		isAsked, err := change(ctx, c, leader, func(p *corev1.Pod) { p.Annotations[lwsv1.RecoverAnnotationKey] = "true" })
		if err != nil {
			return err
		}
		if !isAsked {
			continue
		}
		d.asked[leader.UID] = true
		_, _ = fmt.Fprintf(d.out, "Group %s of LeaderWorkerSet %s/%s is asked for, by its leader %s\n",
			shortIndex(leader.Labels[lwsv1.GroupIndexLabelKey]), leader.Namespace, leader.Labels[lwsv1.SetNameLabelKey], leader.Name)
	}
	return nil
}

// release takes the finalizer from pods in which nothing runs.
func (d *drain) release(ctx context.Context, c client.Client, held []corev1.Pod) error {
	for i := range held {
		p := &held[i]
		hasEnded := p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded || p.Spec.NodeName == ""
		if !hasEnded || p.DeletionTimestamp == nil {
			continue
		}
		isFree, err := change(ctx, c, p, func(p *corev1.Pod) {
			p.Finalizers = slices.DeleteFunc(p.Finalizers, func(name string) bool { return name == lwsv1.GroupRestartBudgetCleanupFinalizer })
		})
		if err != nil {
			return err
		}
		if isFree {
			_, _ = fmt.Fprintf(d.out, "Pod %s/%s is let go\n", p.Namespace, p.Name)
		}
	}
	return nil
}

// change changes a pod as it was read, and says whether it did: one that is gone needs
// no change, and one that is another by now is looked at again.
func change(ctx context.Context, c client.Client, p *corev1.Pod, how func(*corev1.Pod)) (bool, error) {
	changed := p.DeepCopy()
	how(changed)
	err := c.Patch(ctx, changed, client.MergeFromWithOptions(p, client.MergeFromWithOptimisticLock{}))
	switch {
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("pod %s/%s: %w", p.Namespace, p.Name, err)
	}
	return true, nil
}

// names are those of pods, not all of many.
func names(pods []corev1.Pod) string {
	const most = 5
	var all []string
	for i := range pods {
		if i == most {
			all = append(all, fmt.Sprintf("and %d more", len(pods)-most))
			break
		}
		all = append(all, pods[i].Namespace+"/"+pods[i].Name)
	}
	return strings.Join(all, ", ")
}
