package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/revision"
)

var update = flag.Bool("update", false, "write the golden outputs anew")

// plugin runs the program on a cluster, which knows no selector of fields that is not
// asked for by the plugin, and counts lists by kind.
type plugin struct {
	t       *testing.T
	cluster client.WithWatch
	lists   map[string]int
	input   string
}

func (c *cluster) plugin(t *testing.T) *plugin {
	t.Helper()
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}
	p := &plugin{t: t, lists: map[string]int{}}
	p.cluster = fake.NewClientBuilder().WithScheme(scheme).WithObjects(c.objects()...).WithInterceptorFuncs(interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if _, ok := list.(*corev1.EventList); ok {
				return nil // the fake client cannot select by fields
			}
			p.lists[fmt.Sprintf("%T", list)]++
			return c.List(ctx, list, options...)
		},
	}).Build()
	return p
}

func (p *plugin) run(args ...string) (string, error) {
	p.t.Helper()
	var out bytes.Buffer
	o := newOptions(streams{in: strings.NewReader(p.input), out: &out, err: &out}, clocktesting.NewFakePassiveClock(testNow))
	o.cluster = p.cluster
	err := run(p.t.Context(), o, append(args, "-n", namespace))
	return out.String(), err
}

func (p *plugin) golden(name string, args ...string) {
	p.t.Helper()
	got, err := p.run(args...)
	if err != nil {
		p.t.Fatal(err)
	}
	file := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			p.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		p.t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		p.t.Errorf("kubectl lws %v (-want +got)\n%s", args, diff)
	}
}

// troubled is a set with a group in every kind of trouble.
func troubled(t *testing.T) *cluster {
	c := newCluster(t, 5)
	c.gate("x-1")
	c.exhaust("x-2")
	c.unplace("x-3")
	delete(c.pods, "x-4")
	delete(c.pods, "x-4-1")
	delete(c.workers, "x-4")
	c.set.Status.Conditions[0].Status = metav1.ConditionFalse
	c.set.Status.Conditions[0].Reason = lwsv1.ReasonGroupsNotReady
	c.set.Status.Conditions[0].Message = "1 of 5 groups are ready and of the revision they are to have"
	return c
}

// manifest is the set as a file has it.
func (c *cluster) manifest(t *testing.T, change func(*lwsv1.LeaderWorkerSet)) string {
	t.Helper()
	set := &lwsv1.LeaderWorkerSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: lwsv1.GroupVersion.String(), Kind: lwsv1.Kind},
		ObjectMeta: metav1.ObjectMeta{Name: c.set.Name, Namespace: c.set.Namespace},
		Spec:       *c.set.Spec.DeepCopy(),
	}
	change(set)
	data, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string]any{}
	if err := json.Unmarshal(data, &fields); err != nil {
		t.Fatal(err)
	}
	delete(fields, "status")
	text, err := yaml.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func toJSON(t *testing.T, text string) string {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func image(name string) func(*lwsv1.LeaderWorkerSet) {
	return func(set *lwsv1.LeaderWorkerSet) {
		set.Spec.LeaderWorkerTemplate.WorkerTemplate.Spec.Containers[0].Image = name
	}
}

func TestOutputs(t *testing.T) {
	t.Run("at rest", func(t *testing.T) {
		p := newCluster(t, 2).plugin(t)
		p.golden("status-at-rest", "status", "x")
		p.golden("why-at-rest", "why", "x")
		p.golden("why-ready-group", "why", "x", "1")
		p.golden("history", "history", "x")
	})
	t.Run("in trouble", func(t *testing.T) {
		p := troubled(t).plugin(t)
		p.golden("status", "status", "x")
		p.golden("status-yaml", "status", "x", "-o", "yaml")
		p.golden("why", "why", "x")
		p.golden("why-group", "why", "x", "x-2")
	})
	t.Run("being deleted", func(t *testing.T) {
		c := newCluster(t, 1)
		c.set.DeletionTimestamp, c.set.Finalizers = &hourAgo, []string{metav1.FinalizerDeleteDependents}
		c.plugin(t).golden("why-deleted", "why", "x")
	})
	t.Run("not seen by the manager", func(t *testing.T) {
		c := newCluster(t, 1)
		c.set.Generation = 2
		c.plugin(t).golden("why-not-seen", "why", "x")
	})
	t.Run("without a status", func(t *testing.T) {
		c := newCluster(t, 1)
		c.set.Status = lwsv1.LeaderWorkerSetStatus{}
		c.plugin(t).golden("why-no-status", "why", "x")
	})
	t.Run("with a name that is taken", func(t *testing.T) {
		c := newCluster(t, 1)
		c.set.Status.Conditions[0].Status, c.set.Status.Conditions[1].Status = metav1.ConditionFalse, metav1.ConditionTrue
		c.set.Status.Conditions[1].Reason, c.set.Status.Conditions[1].Message = lwsv1.ReasonNameConflict, "Service x is not the set's"
		c.plugin(t).golden("why-conflict", "why", "x")
	})
	t.Run("rolling, with a partition", func(t *testing.T) {
		c := newCluster(t, 3)
		image("server:2")(c.set)
		one := int32(1)
		c.set.Spec.RolloutStrategy.RollingUpdateConfiguration = &lwsv1.RollingUpdateConfiguration{Partition: &one}
		c.pods["x-2-1"].Status.Conditions[1] = corev1.PodCondition{
			Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.Time{Time: testNow.Add(-time.Minute)},
		}
		c.workers["x-2"].Status.AvailableReplicas = 0
		c.plugin(t).golden("why-rolling", "why", "x")
	})
}

func TestPreviews(t *testing.T) {
	tests := map[string]struct {
		change func(*lwsv1.LeaderWorkerSet)
		world  func(*cluster)
	}{
		"preview-image":      {change: image("server:2")},
		"preview-nothing":    {change: func(*lwsv1.LeaderWorkerSet) {}},
		"preview-live-field": {change: func(set *lwsv1.LeaderWorkerSet) { set.Spec.StartupPolicy = lwsv1.LeaderReadyStartupPolicy }},
		"preview-default": {change: func(set *lwsv1.LeaderWorkerSet) {
			set.Spec.LeaderWorkerTemplate.WorkerTemplate.Spec.RestartPolicy = corev1.RestartPolicyAlways
		}},
		"preview-scale": {change: func(set *lwsv1.LeaderWorkerSet) { set.Spec.Replicas = new(int32(5)) }},
		"preview-surge": {change: func(set *lwsv1.LeaderWorkerSet) {
			image("server:2")(set)
			set.Spec.RolloutStrategy.RollingUpdateConfiguration = &lwsv1.RollingUpdateConfiguration{
				MaxSurge: new(intstr.FromInt32(2)), MaxUnavailable: new(intstr.FromInt32(0)),
			}
		}},
		"preview-trouble": {change: image("server:2"), world: func(c *cluster) {
			c.gate("x-0")
			c.exhaust("x-1")
			c.unplace("x-2")
		}},
		"preview-exhausted": {change: func(*lwsv1.LeaderWorkerSet) {}, world: func(c *cluster) { c.exhaust("x-1") }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, 3)
			if test.world != nil {
				test.world(c)
			}
			p := c.plugin(t)
			p.input = "apiVersion: v1\nkind: Service\nmetadata: {name: other}\n---\n" + c.manifest(t, test.change)
			p.golden(name, "preview", "-f", "-")
		})
	}
}

// TestPreviewMergesAsApplyDoes: what others own stays, what the manifest said before and
// does not say now goes.
func TestPreviewMergesAsApplyDoes(t *testing.T) {
	c := newCluster(t, 3)
	scaledByOthers := c.manifest(t, func(set *lwsv1.LeaderWorkerSet) { set.Spec.Replicas = nil })
	c.set.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: toJSON(t, scaledByOthers)}
	p := c.plugin(t)
	p.input = scaledByOthers
	got, err := p.run("preview", "-f", "-")
	if err != nil || !strings.Contains(got, "no rollout") || strings.Contains(got, "remove") {
		t.Errorf("%s%v", got, err)
	}

	c = newCluster(t, 3)
	c.set.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: toJSON(t, c.manifest(t, func(*lwsv1.LeaderWorkerSet) {}))}
	p = c.plugin(t)
	p.input = c.manifest(t, func(set *lwsv1.LeaderWorkerSet) { set.Namespace = "" })
	got, err = p.run("preview", "-f", "-")
	if err != nil || !strings.HasPrefix(got, "LeaderWorkerSet default/x: no rollout") {
		t.Errorf("without the namespace, which was applied: %s%v", got, err)
	}
	p.input = scaledByOthers
	got, err = p.run("preview", "-f", "-")
	if err != nil || !strings.Contains(got, "remove 2 1") {
		t.Errorf("%s%v", got, err)
	}
}

func TestHistory(t *testing.T) {
	c := newCluster(t, 2)
	first := c.revision
	image("server:2")(c.set)
	c.set.Spec.LeaderWorkerTemplate.MaxGroupRestarts = new(int32(7))
	second, err := revision.New(c.set, []*appsv1.ControllerRevision{first})
	if err != nil {
		t.Fatal(err)
	}
	second.UID, second.CreationTimestamp.Time = "second", testNow.Add(-time.Minute)
	c.more = append(c.more, second)
	p := c.plugin(t)
	p.golden("history-two", "history", "x")

	text, err := p.run("history", "x", "--revision", "1")
	if err != nil {
		t.Fatal(err)
	}
	older := &lwsv1.LeaderWorkerSet{}
	if err := yaml.UnmarshalStrict([]byte(text), older); err != nil {
		t.Fatal(err)
	}
	if is, err := revision.Equal(older, first); err != nil || !is {
		t.Errorf("what is printed is not of the revision: %v\n%s", err, text)
	}
	if got := older.Spec.LeaderWorkerTemplate.MaxGroupRestarts; got == nil || *got != 7 {
		t.Errorf("live fields are those of the revision")
	}
	p.input = text
	if got, err := p.run("preview", "-f", "-"); err != nil || !strings.Contains(got, "back to "+revision.Key(first)+" (then number 3)") {
		t.Errorf("%s%v", got, err)
	}
}

func TestErrorsSayWhatWouldBeRight(t *testing.T) {
	tests := map[string]struct {
		args  []string
		input string
		want  string
	}{
		"no such set":          {args: []string{"status", "y"}, want: "there is no LeaderWorkerSet y in namespace"},
		"no such group":        {args: []string{"why", "x", "9"}, want: `has no group "9"; its groups are 0, 1`},
		"no such form":         {args: []string{"status", "x", "-o", "wide"}, want: `--output "wide": must be table, json or yaml`},
		"no such revision":     {args: []string{"history", "x", "--revision", "4"}, want: "has no revision 4; it has 1"},
		"no manifest":          {args: []string{"preview"}, want: `required flag(s) "filename" not set`},
		"a manifest of others": {args: []string{"preview", "-f", "-"}, input: "kind: Service\napiVersion: v1\n", want: "no LeaderWorkerSet of leaderworkerset.x-k8s.io/v1 in it"},
		"a field that there is not": {
			args: []string{"preview", "-f", "-"}, want: `unknown field "replica"`,
			input: "apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: {name: x}\nspec: {replica: 3}\n",
		},
		"another identity": {
			args: []string{"preview", "-f", "-"}, want: "spec.groupIdentity cannot change from Ordinal to Hash",
			input: "apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: {name: x}\nspec: {groupIdentity: Hash}\n",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := newCluster(t, 2).plugin(t)
			p.input = test.input
			if out, err := p.run(test.args...); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("it says %v\n%s", err, out)
			}
		})
	}
}

// TestSetThatDoesNotExist is no mistake in a preview.
func TestSetThatDoesNotExist(t *testing.T) {
	c := newCluster(t, 1)
	p := c.plugin(t)
	p.input = strings.ReplaceAll(c.manifest(t, func(*lwsv1.LeaderWorkerSet) {}), "name: x\n", "name: other\n")
	got, err := p.run("preview", "-f", "-")
	if want := "LeaderWorkerSet other does not exist: applying the manifest makes it, and replaces nothing\n"; err != nil || got != want {
		t.Errorf("%s%v", got, err)
	}
}

// TestReadsEachKindOnce: a set of many groups costs no more requests than one of few.
func TestReadsEachKindOnce(t *testing.T) {
	p := newCluster(t, 12).plugin(t)
	if _, err := p.run("status", "x"); err != nil {
		t.Fatal(err)
	}
	for kind, n := range p.lists {
		if n != 1 {
			t.Errorf("%s is listed %d times", kind, n)
		}
	}
	if len(p.lists) < 4 {
		t.Errorf("listed are %v", p.lists)
	}
}
