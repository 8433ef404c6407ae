package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	bystanderName  = "bystander"
	bystanderLabel = "bystander"
)

// createBystanders makes StatefulSets and pods that are none of the manager's
// business: they stay as they are made.
func (s *stage) createBystanders(ctx context.Context) error {
	labels := map[string]string{bystanderLabel: ""}
	spec := podSpec()
	spec.SchedulerName = "nobody"
	creating, ctx := errgroup.WithContext(ctx)
	creating.SetLimit(20)
	for i := range s.bystanders {
		meta := metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", bystanderName, i), Namespace: namespace, Labels: labels}
		creating.Go(func() error {
			set := statefulSet(meta.Name, 0, 0)
			set.Labels = labels
			return s.client.Create(ctx, set)
		})
		creating.Go(func() error { return s.client.Create(ctx, &corev1.Pod{ObjectMeta: meta, Spec: spec}) })
	}
	return creating.Wait()
}

// bystandersExist is over when each StatefulSet was seen by its controller.
func (s *stage) bystandersExist(ctx context.Context) (seen string, over bool, err error) {
	var sets appsv1.StatefulSetList
	if err := s.client.List(ctx, &sets, client.InNamespace(namespace), client.HasLabels{bystanderLabel}); err != nil {
		return "", false, err
	}
	observed := 0
	for i := range sets.Items {
		if sets.Items[i].Status.ObservedGeneration > 0 {
			observed++
		}
	}
	return fmt.Sprintf("%d of %d StatefulSets observed", observed, s.bystanders), observed == s.bystanders, nil
}

// profiles is where a process serves its profiles.
type profiles struct{ address string }

// LiveHeap returns what is left of the heap after a collection, in MB.
func (p profiles) LiveHeap(ctx context.Context) (float64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.address+"/debug/pprof/heap?gc=1&debug=1", nil)
	if err != nil {
		return 0, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, fmt.Errorf("heap of the manager: %w", err)
	}
	defer answer.Body.Close()
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), "# HeapAlloc = "); ok {
			bytes, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return 0, fmt.Errorf("heap of the manager: %w", err)
			}
			return bytes / 1e6, nil
		}
	}
	return 0, fmt.Errorf("heap of the manager: %s does not tell it", request.URL)
}
