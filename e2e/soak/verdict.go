package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

const namespaceName = "soak"

// settle waits until nothing is wrong any more, and otherwise says what is.
func (t *traffic) settle(ctx context.Context, patience time.Duration) error {
	var wrong []string
	err := wait.PollUntilContextTimeout(ctx, time.Second, patience, true, func(ctx context.Context) (bool, error) {
		var err error
		wrong, err = t.wrong(ctx)
		return len(wrong) == 0, err
	})
	if len(wrong) > 0 {
		return fmt.Errorf("%s after the traffic ended:\n%s", patience, strings.Join(wrong, "\n"))
	}
	return err
}

// wrong are the sets that are not Available and the leftovers.
func (t *traffic) wrong(ctx context.Context) ([]string, error) {
	var sets lwsv1.LeaderWorkerSetList
	if err := t.client.List(ctx, &sets, client.InNamespace(namespaceName)); err != nil {
		return nil, err
	}
	var found []string
	for i := range sets.Items {
		set := &sets.Items[i]
		c := meta.FindStatusCondition(set.Status.Conditions, lwsv1.ConditionAvailable)
		switch {
		case !t.exists[set.Name]:
			found = append(found, "set "+set.Name+" was deleted and is there")
		case c == nil || c.ObservedGeneration != set.Generation:
			found = append(found, "set "+set.Name+" was not looked at")
		case c.Status != "True":
			found = append(found, "set "+set.Name+" is not Available: "+c.Message)
		}
	}
	if len(sets.Items) != len(t.exists) {
		found = append(found, fmt.Sprintf("%d sets, %d were to be there", len(sets.Items), len(t.exists)))
	}
	leftovers, err := t.leftovers(ctx)
	return append(found, leftovers...), err
}

func (t *traffic) leftovers(ctx context.Context) ([]string, error) {
	var found []string
	for _, list := range []client.ObjectList{
		&corev1.PodList{}, &corev1.ServiceList{}, &appsv1.StatefulSetList{}, &appsv1.ControllerRevisionList{},
	} {
		if err := t.client.List(ctx, list, client.InNamespace(namespaceName), client.HasLabels{lwsv1.SetNameLabelKey}); err != nil {
			return nil, err
		}
		err := meta.EachListItem(list, func(item runtime.Object) error {
			object, err := meta.Accessor(item)
			if err != nil {
				return err
			}
			if !t.exists[object.GetLabels()[lwsv1.SetNameLabelKey]] {
				found = append(found, fmt.Sprintf("%T %s is left over", item, object.GetName()))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(found)
	return found, nil
}

// memory is the resident set of the manager, in MB.
type memory struct {
	pid int
	// warm is the most while caches filled, most that of the time after.
	warm, most float64
	now        float64
}

// look reads it. isWarm is whether caches are filled.
func (m *memory) look(isWarm bool) error {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", m.pid))
	if err != nil {
		return fmt.Errorf("memory of the manager: %w", err)
	}
	for line := range strings.Lines(string(status)) {
		value, ok := strings.CutPrefix(line, "VmRSS:")
		if !ok {
			continue
		}
		kilobytes, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 64)
		if err != nil {
			return fmt.Errorf("memory of the manager: %w", err)
		}
		m.now = kilobytes / 1000
		if isWarm {
			m.most = max(m.most, m.now)
		} else {
			m.warm = max(m.warm, m.now)
		}
		return nil
	}
	return errors.New("memory of the manager: it has ended")
}

// judge is an error if memory is not flat.
func (m *memory) judge() error {
	const growth = 1.5
	if m.now > growth*m.warm {
		return fmt.Errorf("memory grew: %s", m)
	}
	return nil
}

// String says how it went.
func (m *memory) String() string {
	return fmt.Sprintf("%.0f MB after a quarter of the time, %.0f MB at most afterwards, %.0f MB at the end", m.warm, m.most, m.now)
}
