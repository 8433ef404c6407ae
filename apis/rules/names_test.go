//go:build integration

package rules

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// root is the field of a refusal that is about the name: rules cannot point at
// metadata.
const root = "<nil>"

func named(object *unstructured.Unstructured, length int) *unstructured.Unstructured {
	object = object.DeepCopy()
	object.SetName(strings.Repeat("n", length))
	return object
}

func TestNameIsLabel(t *testing.T) {
	for name, base := range map[string]string{"LeaderWorkerSet": baseLeaderWorkerSet, "DisaggregatedSet": baseDisaggregatedSet} {
		t.Run(name, func(t *testing.T) {
			for _, bad := range []string{"1st", "with.dots", "9"} {
				object := merged(t, base, "metadata: {name: '"+bad+"'}")
				for _, options := range [][]client.CreateOption{nil, {client.DryRunAll}} {
					_, err := create(t, object, options...)
					mustRefuse(t, err, refusal{root, "must be a DNS label that begins with a letter"})
				}
			}
			mustCreate(t, merged(t, base, "metadata: {name: a-1}"))
		})
	}
}

// The longest name is 52 characters less what is appended: the StatefulSet of the
// workers of the highest group, or with Hash identity a dash and 8 characters.
func TestLongestName(t *testing.T) {
	for name, c := range map[string]struct {
		spec    string
		longest int
	}{
		"one pod":                            {"replicas: 1000000", 52},
		"workers":                            {template("size: 2"), 50},
		"no groups":                          {"replicas: 0\n" + template("size: 2"), 50},
		"ten groups":                         {"replicas: 10\n" + template("size: 2147"), 50},
		"eleven groups":                      {"replicas: 11\n" + template("size: 2"), 49},
		"ten groups with surge":              {"replicas: 10\n" + template("size: 2") + "\n" + rolling("maxSurge: 1"), 49},
		"fifty groups, doubled by percent":   {"replicas: 50\n" + template("size: 2") + "\n" + rolling("maxSurge: 100%"), 49},
		"fifty-one groups, doubled":          {"replicas: 51\n" + template("size: 2") + "\n" + rolling("maxSurge: 100%"), 48},
		"surge is at most replicas":          {"replicas: 50\n" + template("size: 2") + "\n" + rolling("maxSurge: 1000"), 49},
		"percent rounds up":                  {"replicas: 100\n" + template("size: 2") + "\n" + rolling("maxSurge: 1%"), 48},
		"a thousand groups":                  {"replicas: 1000\n" + template("size: 2"), 48},
		"ten thousand groups":                {"replicas: 10000\n" + template("size: 2"), 47},
		"a hundred thousand groups":          {"replicas: 100000\n" + template("size: 2"), 46},
		"a million groups":                   {"replicas: 1000000\n" + template("size: 2"), 45},
		"a million groups with surge":        {"replicas: 1000000\n" + template("size: 2") + "\n" + rolling("maxSurge: 1"), 44},
		"hash, one pod":                      {"groupIdentity: Hash", 54},
		"hash, workers":                      {"groupIdentity: Hash\n" + template("size: 2"), 43},
		"hash, workers, a million and surge": {"{groupIdentity: Hash, replicas: 1000000, leaderWorkerTemplate: {size: 2}}", 43},
	} {
		t.Run(name, func(t *testing.T) {
			set := leaderWorkerSet(t, spec(c.spec))
			want := refusal{root, "metadata.name is too long for the names that are made from it"}
			for _, options := range [][]client.CreateOption{nil, {client.DryRunAll}} {
				_, err := create(t, named(set, c.longest+1), options...)
				mustRefuse(t, err, want)
			}
			mustCreate(t, named(set, c.longest))

			var typed lwsv1.LeaderWorkerSet
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(set.Object, &typed); err != nil {
				t.Fatal(err)
			}
			if got := lwsv1.LongestName(&typed); got != c.longest {
				t.Errorf("LongestName says %d, the API server %d", got, c.longest)
			}
		})
	}
}

// In a DisaggregatedSet <set>-<slice>-<revision>-<role> is the name.
func TestLongestNameOfDisaggregatedSet(t *testing.T) {
	for name, c := range map[string]struct {
		spec    string
		longest int
	}{
		// 52 - len("-0-12345678-prefill")
		"one pod":        {"slices: 10", 33},
		"eleven slices":  {"slices: 11", 32},
		"longer role":    {roles(role("prefill", "", ""), role("prefill-2", "", "")), 31},
		"workers":        {roles(placed("prefill", "", "size: 2"), role("decode", "", "")), 31},
		"ten and surge":  {roles("{name: prefill, spec: {replicas: 10, leaderWorkerTemplate: {size: 2, workerTemplate: {spec: {containers: [{name: worker, image: worker}]}}}}}", role("decode", "", "")), 30},
		"nine and surge": {roles("{name: prefill, spec: {replicas: 9, leaderWorkerTemplate: {size: 2, workerTemplate: {spec: {containers: [{name: worker, image: worker}]}}}}}", role("decode", "", "")), 31},
		"hash":           {roles(role("prefill", "", "groupIdentity: Hash, "), role("decode", "", "groupIdentity: Hash, ")), 35},
		"40 and 20 fail": {roles(role(strings.Repeat("r", 20), "", ""), role("decode", "", "")), 20},
	} {
		t.Run(name, func(t *testing.T) {
			set := disaggregatedSet(t, spec(c.spec))
			want := refusal{root, "metadata.name and the name of a role are too long for the names that are made from them"}
			for _, options := range [][]client.CreateOption{nil, {client.DryRunAll}} {
				_, err := create(t, named(set, c.longest+1), options...)
				mustRefuse(t, err, want)
				_, err = create(t, named(set, 40), options...)
				mustRefuse(t, err, want)
			}
			mustCreate(t, named(set, c.longest))

			var typed dsv1.DisaggregatedSet
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(named(set, c.longest).Object, &typed); err != nil {
				t.Fatal(err)
			}
			room := 63
			for i := range typed.Spec.Roles {
				room = min(room, dsv1.NameRoom(&typed, &typed.Spec.Roles[i]))
			}
			if room != 0 {
				t.Errorf("NameRoom says %d of the longest name that the API server accepts, want 0", room)
			}
		})
	}
}

// A name that fits can cease to fit when groups are added.
func TestNameLimitsGrowth(t *testing.T) {
	stored := mustCreate(t, named(leaderWorkerSet(t, spec(template("size: 2"))), 50))
	want := refusal{root, "metadata.name is too long"}
	for name, bad := range map[string]string{
		"replicas": "replicas: 11\n" + template("size: 2"),
		"surge":    "replicas: 6\n" + template("size: 2") + "\n" + rolling("maxSurge: 100%"),
	} {
		t.Run(name, func(t *testing.T) {
			mustRefuse(t, update(t, stored, leaderWorkerSet(t, spec(bad)), client.DryRunAll), want)
			mustRefuse(t, update(t, stored, leaderWorkerSet(t, spec(bad))), want)
		})
	}
	t.Run("scale", func(t *testing.T) {
		scale := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "autoscaling/v1", "kind": "Scale", "spec": map[string]any{"replicas": int64(11)}}}
		err := api.SubResource("scale").Update(t.Context(), stored.DeepCopy(), client.WithSubResourceBody(scale))
		if err == nil || !strings.Contains(err.Error(), want.message) {
			t.Errorf("scaled to 11 groups: %v, want %q", err, want.message)
		}
	})
	if err := update(t, stored, leaderWorkerSet(t, spec("replicas: 10\n"+template("size: 2")))); err != nil {
		t.Errorf("ten groups: %v", err)
	}
	one := mustCreate(t, named(leaderWorkerSet(t, "{}"), 52))
	mustRefuse(t, update(t, one, leaderWorkerSet(t, spec(template("size: 2")))), want)

	set := mustCreate(t, named(disaggregatedSet(t, "{}"), 33))
	want.message = "metadata.name and the name of a role are too long"
	mustRefuse(t, update(t, set, disaggregatedSet(t, spec("slices: 11"))), want)
	mustRefuse(t, update(t, set, disaggregatedSet(t, spec(roles(role("prefill", "", ""), role("decode-1", "", ""))))), want)
	if err := update(t, set, disaggregatedSet(t, spec("slices: 10"))); err != nil {
		t.Errorf("ten slices: %v", err)
	}
}
