package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset"
	"sigs.k8s.io/lws/controllers/leaderworkerset/group"
	"sigs.k8s.io/lws/controllers/leaderworkerset/rollout"
)

func newWhy(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "why NAME [GROUP]",
		Short: "Say what a set and its groups wait for",
		Long: "Say what a set, and each of its groups that is not ready, waits for.\n\n" +
			"A group is named by its index, by its key or the first characters of it, or by its leader.",
		Example: "  kubectl lws why vllm\n  kubectl lws why vllm 2",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(command *cobra.Command, args []string) error {
			x, err := o.explain(command.Context(), args[0])
			if err != nil {
				return err
			}
			if len(args) == 1 {
				_, err = fmt.Fprint(o.out, whyOfSet(x, o.now.Now()))
				return err
			}
			g, err := findGroup(x, args[1])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(o.out, whyOfGroup(g, o.now.Now()))
			return err
		},
	}
}

// findGroup is the group that a user names.
func findGroup(x *leaderworkerset.Explanation, name string) (*leaderworkerset.GroupExplanation, error) {
	var found *leaderworkerset.GroupExplanation
	var known []string
	for i := range x.Groups {
		g := &x.Groups[i]
		index := g.Group.Index
		known = append(known, shortIndex(index))
		switch {
		case index == name || g.Leader == name:
			return g, nil
		case !g.Group.HasKey() || !strings.HasPrefix(index, name):
		case found != nil:
			return nil, fmt.Errorf("group %q of LeaderWorkerSet %s/%s: the keys of several groups begin with that; say more of it",
				name, x.Set.Namespace, x.Set.Name)
		default:
			found = g
		}
	}
	if found == nil {
		return nil, fmt.Errorf("LeaderWorkerSet %s/%s has no group %q; its groups are %s",
			x.Set.Namespace, x.Set.Name, name, strings.Join(known, ", "))
	}
	return found, nil
}

// whyOfSet is what a set and its groups wait for, a line each.
func whyOfSet(x *leaderworkerset.Explanation, now time.Time) string {
	lines := setLines(x)
	for i := range x.Groups {
		if g := &x.Groups[i]; g.State != group.Ready {
			lines = append(lines, whyOfGroup(g, now))
		}
	}
	if missing := missingGroups(x); missing > 0 {
		lines = append(lines, fmt.Sprintf("%s yet to be made by Deployment %s", isAre(missing, "group"), x.Set.Name))
	}
	return strings.Join(lines, "\n") + "\n"
}

// setLines are about the set as a whole.
func setLines(x *leaderworkerset.Explanation) []string {
	set := x.Set
	name := fmt.Sprintf("LeaderWorkerSet %s/%s", set.Namespace, set.Name)
	if set.DeletionTimestamp != nil {
		return []string{name + " is being deleted, and makes nothing any more"}
	}
	var lines []string
	switch c := meta.FindStatusCondition(set.Status.Conditions, lwsv1.ConditionAvailable); {
	case c == nil:
		lines = append(lines, name+" has no status yet: lws-manager has not seen it, see whether it runs")
	case set.Status.ObservedGeneration < set.Generation:
		lines = append(lines, fmt.Sprintf("%s: lws-manager has seen generation %d and not yet %d; if that lasts, see whether it runs",
			name, set.Status.ObservedGeneration, set.Generation))
	case c.Status == metav1.ConditionTrue:
		lines = append(lines, name+" is Available: "+oneLine(c.Message))
	default:
		lines = append(lines, name+" is not Available: "+oneLine(c.Message))
	}
	if c := meta.FindStatusCondition(set.Status.Conditions, lwsv1.ConditionProgressing); c != nil && isOfSet(c) {
		lines = append(lines, fmt.Sprintf("In its way (%s): %s", c.Reason, oneLine(c.Message)))
	}
	return append(lines, rolloutLines(x)...)
}

// isOfSet: what keeps the set from getting on is not what its groups say of themselves.
func isOfSet(progressing *metav1.Condition) bool {
	return progressing.Status == metav1.ConditionTrue &&
		(progressing.Reason == lwsv1.ReasonNameConflict || progressing.Reason == lwsv1.ReasonFailedCreate)
}

// rolloutLines are about a rollout that goes on.
func rolloutLines(x *leaderworkerset.Explanation) []string {
	if !hasOld(x) {
		return nil
	}
	set := x.Set
	var lines []string
	if lwsv1.GroupIdentity(set) == lwsv1.HashGroupIdentity {
		lines = append(lines, fmt.Sprintf("The rollout to revision %s goes on: Deployment %s replaces groups of older ones", x.Update, set.Name))
	}
	if v := x.Rollout; v.Phase != "" && v.Phase != rollout.Done {
		lines = append(lines, fmt.Sprintf("The rollout to revision %s goes on (%s): %s", x.Update, v.Reason, v.Message))
	}
	if partition := lwsv1.Partition(set); partition > 0 {
		lines = append(lines, fmt.Sprintf("It stops at partition %d: groups below stay of revision %s", partition, x.Current))
	}
	return lines
}

func hasOld(x *leaderworkerset.Explanation) bool {
	for i := range x.Groups {
		if x.Groups[i].Old {
			return true
		}
	}
	return false
}

// missingGroups are those that have no leader and no number to name them by.
func missingGroups(x *leaderworkerset.Explanation) int {
	if lwsv1.GroupIdentity(x.Set) != lwsv1.HashGroupIdentity || x.Set.DeletionTimestamp != nil {
		return 0
	}
	missing := int(lwsv1.Replicas(x.Set))
	for i := range x.Groups {
		if state := x.Groups[i].State; state != group.Terminating && state != group.Exhausted {
			missing--
		}
	}
	return missing
}

// whyOfGroup is a group in one sentence.
func whyOfGroup(g *leaderworkerset.GroupExplanation, now time.Time) string {
	text := fmt.Sprintf("Group %s is %s", shortIndex(g.Group.Index), g.State)
	if !g.NotReadySince.IsZero() {
		text += ", for " + duration.HumanDuration(now.Sub(g.NotReadySince))
	}
	if g.Why != "" {
		text += ": " + oneLine(g.Why)
	}
	return text
}

func isAre(n int, noun string) string {
	if n == 1 {
		return plural(n, noun) + " is"
	}
	return plural(n, noun) + " are"
}
