package main

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/group"
)

// stopped is a set of which two groups are stopped.
func stopped(t *testing.T) *cluster {
	t.Helper()
	c := newCluster(t, 4)
	c.exhaust("x-1")
	c.exhaust("x-3")
	return c
}

// held are the pods that carry the finalizer.
func (p *plugin) held() []string {
	p.t.Helper()
	var pods corev1.PodList
	if err := p.cluster.List(p.t.Context(), &pods); err != nil {
		p.t.Fatal(err)
	}
	var held []string
	for i := range pods.Items {
		if group.IsRetained(&pods.Items[i]) {
			held = append(held, pods.Items[i].Name)
		}
	}
	return held
}

// manage adds a manager, which recovers a group as soon as it is asked to.
func (p *plugin) manage() {
	p.t.Helper()
	under := p.cluster
	p.cluster = interceptor.NewClient(under, interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, options ...client.PatchOption) error {
			if err := c.Patch(ctx, obj, patch, options...); err != nil {
				return err
			}
			leader := &corev1.Pod{}
			if err := under.Get(ctx, client.ObjectKeyFromObject(obj), leader); err != nil {
				return err
			}
			if leader.Annotations[lwsv1.RecoverAnnotationKey] != "true" {
				p.t.Errorf("%s was not asked for", leader.Name)
			}
			for _, name := range []string{leader.Name + "-1", leader.Name} {
				pod := &corev1.Pod{}
				if err := under.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, pod); err != nil {
					return err
				}
				pod.Finalizers = nil
				if err := under.Update(ctx, pod); err != nil {
					return err
				}
			}
			return nil
		},
	})
}

func TestDrainAsksForEveryStoppedGroup(t *testing.T) {
	p := stopped(t).plugin(t)
	p.manage()
	got, err := p.run("drain")
	if err != nil {
		t.Fatal(err)
	}
	want := "Group 1 of LeaderWorkerSet default/x is asked for, by its leader x-1\n" +
		"Group 3 of LeaderWorkerSet default/x is asked for, by its leader x-3\n" +
		"No pod is held by lws-manager\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if held := p.held(); len(held) > 0 {
		t.Errorf("held are %v", held)
	}
}

func TestDrainOfAnotherSetLeavesThisAlone(t *testing.T) {
	p := stopped(t).plugin(t)
	got, err := p.run("drain", "y")
	if err != nil || got != "No pod is held by lws-manager\n" {
		t.Errorf("it says %q, %v", got, err)
	}
	if held := p.held(); len(held) != 4 {
		t.Errorf("held are %v, want four", held)
	}
}

func TestDrainWithoutAManager(t *testing.T) {
	p := stopped(t).plugin(t)
	_, err := p.run("drain", "--all-namespaces", "--timeout=10ms")
	for _, want := range []string{"after 10ms", "default/x-1, default/x-1-1, default/x-3, default/x-3-1", "does lws-manager run?", "--remove-finalizers"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one that says %q", err, want)
		}
	}
	got, err := p.run("drain", "--all-namespaces", "--remove-finalizers")
	if err != nil || !strings.HasSuffix(got, "No pod is held by lws-manager\n") || strings.Count(got, "is let go") != 4 {
		t.Errorf("it says %q, %v", got, err)
	}
	if held := p.held(); len(held) > 0 {
		t.Errorf("held are %v", held)
	}
}

func TestDrainKeepsAPodThatMayRun(t *testing.T) {
	c := stopped(t)
	c.pods["x-3-1"].Status.Phase = corev1.PodRunning
	p := c.plugin(t)
	_, err := p.run("drain", "--remove-finalizers", "--timeout=10ms")
	if err == nil || !strings.Contains(err.Error(), "containers may run: default/x-3-1; ") {
		t.Errorf("error %v, want one that names default/x-3-1", err)
	}
	if diff := cmp.Diff([]string{"x-3-1"}, p.held()); diff != "" {
		t.Errorf("held (-want +got)\n%s", diff)
	}
}

func TestDrainGivesEveryRequestItsTime(t *testing.T) {
	p := stopped(t).plugin(t)
	p.cluster = interceptor.NewClient(p.cluster, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if at, ok := ctx.Deadline(); ok {
				t.Errorf("a request has until %s", at)
			}
			return c.List(ctx, list, options...)
		},
	})
	if _, err := p.run("drain", "--timeout=10ms"); err == nil || !strings.Contains(err.Error(), "does lws-manager run?") {
		t.Errorf("error %v", err)
	}
}

func TestDrainOfOneSetOrAll(t *testing.T) {
	_, err := newCluster(t, 1).plugin(t).run("drain", "x", "-A")
	if err == nil || !strings.Contains(err.Error(), "say only one of them") {
		t.Errorf("error %v", err)
	}
}
