package revision

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// sampleKey is FNV-1 over testdata/current.json, computed by another program.
const sampleKey = "8995988c7"

func sampleSet(t *testing.T) *lwsv1.LeaderWorkerSet {
	t.Helper()
	set := &lwsv1.LeaderWorkerSet{}
	if err := yaml.UnmarshalStrict(readFile(t, "set.yaml"), set); err != nil {
		t.Fatal(err)
	}
	return set
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func stored(name, key string, number int64, data string) *appsv1.ControllerRevision {
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, UID: types.UID("uid-of-" + name),
			Labels: map[string]string{lwsv1.SetNameLabelKey: "sample", lwsv1.RevisionLabelKey: key},
		},
		Data:     runtime.RawExtension{Raw: []byte(data)},
		Revision: number,
	}
}

func TestSnapshotIsWhatEarlierReleasesStored(t *testing.T) {
	data, err := Snapshot(sampleSet(t))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(readFile(t, "current.json")), string(data)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	set := sampleSet(t)
	set.Spec.NetworkConfig = nil
	withoutNetwork, err := Snapshot(set)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(data), string(withoutNetwork)); diff != "" {
		t.Errorf("without networkConfig (-want +got):\n%s", diff)
	}
}

func TestSnapshotKeepsLargeNumbers(t *testing.T) {
	set := sampleSet(t)
	set.Spec.LeaderWorkerTemplate.WorkerTemplate.Spec.SecurityContext = &corev1.PodSecurityContext{FSGroup: ptr.To[int64](9007199254740993)}
	data, err := Snapshot(set)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), `"fsGroup":9007199254740993`) {
		t.Errorf("got %s", data)
	}
}

// What any release stored for the sample means the same as the sample.
func TestStoredBytesOfOtherReleasesAreEqual(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) < 10 {
		t.Fatalf("found %v, %v", files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			revision := stored("r", "k", 1, string(readFile(t, filepath.Base(file))))
			equal, err := Equal(sampleSet(t), revision)
			if err != nil || !equal {
				t.Errorf("Equal = %v, %v, want true", equal, err)
			}
			restored, err := Restore(revision)
			if err != nil {
				t.Fatal(err)
			}
			if restored.NetworkConfig.SubdomainPolicy == nil || *restored.NetworkConfig.SubdomainPolicy != lwsv1.SubdomainShared {
				t.Errorf("restored network %v, want Shared", restored.NetworkConfig)
			}
			template := restored.LeaderWorkerTemplate
			if template.RestartPolicy != "" || template.MaxGroupRestarts != nil || template.RestartBackoff != nil ||
				template.PersistentVolumeClaimRetentionPolicy != nil {
				t.Errorf("restored has live fields: %+v", template)
			}
			if *template.Size != 4 || *template.SubGroupPolicy.SubGroupSize != 2 ||
				*template.SubGroupPolicy.Type != lwsv1.SubGroupPolicyTypeLeaderWorker {
				t.Errorf("restored size %d, subgroups %+v", *template.Size, template.SubGroupPolicy)
			}
		})
	}
}

func TestRestoreIsOf(t *testing.T) {
	set := sampleSet(t)
	set.Spec.LeaderWorkerTemplate.MaxGroupRestarts = ptr.To[int32](2)
	revision, err := New(set, nil)
	if err != nil {
		t.Fatal(err)
	}
	restored, err := Restore(revision)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Of(set), restored); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if set.Spec.LeaderWorkerTemplate.RestartPolicy != lwsv1.RecreateGroupOnPodRestart || *set.Spec.LeaderWorkerTemplate.MaxGroupRestarts != 2 {
		t.Error("Of changed the set")
	}
}

func TestRestoreOfOddData(t *testing.T) {
	tests := map[string]struct {
		data    string
		wantErr string
	}{
		"empty":          {"", "revision default/r: unexpected end of JSON input"},
		"null":           {"null", "revision default/r: no leaderWorkerTemplate in its data"},
		"no template":    {`{"spec":{}}`, "revision default/r: no leaderWorkerTemplate in its data"},
		"template null":  {`{"spec":{"leaderWorkerTemplate":null}}`, "revision default/r: no leaderWorkerTemplate in its data"},
		"a StatefulSet":  {`{"spec":{"template":{"$patch":"replace"}}}`, "revision default/r: no leaderWorkerTemplate in its data"},
		"wrong type":     {`{"spec":{"leaderWorkerTemplate":{"size":"x"}}}`, "revision default/r: json: cannot unmarshal string"},
		"empty template": {`{"spec":{"leaderWorkerTemplate":{}}}`, ""},
		"empty subgroup": {`{"spec":{"leaderWorkerTemplate":{"subGroupPolicy":{}}}}`, ""},
		"size 0":         {`{"spec":{"leaderWorkerTemplate":{"size":0,"subGroupPolicy":{"subGroupSize":0}}}}`, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			restored, err := Restore(stored("r", "k", 1, test.data))
			if test.wantErr != "" {
				if err == nil || !strings.HasPrefix(err.Error(), test.wantErr) {
					t.Fatalf("error %v, want %q", err, test.wantErr)
				}
				if equal, err := Equal(sampleSet(t), stored("r", "k", 1, test.data)); equal || err == nil {
					t.Errorf("Equal = %v, %v", equal, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if *restored.LeaderWorkerTemplate.Size != 1 || restored.LeaderWorkerTemplate.SubGroupPolicy != nil {
				t.Errorf("got %+v", restored)
			}
		})
	}
}

func TestEqual(t *testing.T) {
	tests := map[string]struct {
		annotations map[string]string
		change      func(*lwsv1.LeaderWorkerSet)
		want        bool
	}{
		"unchanged": {nil, func(*lwsv1.LeaderWorkerSet) {}, true},
		"live fields": {nil, func(set *lwsv1.LeaderWorkerSet) {
			template := &set.Spec.LeaderWorkerTemplate
			template.RestartPolicy = lwsv1.NoneRestartPolicy
			template.MaxGroupRestarts = ptr.To[int32](1)
			template.RestartBackoff = &lwsv1.RestartBackoff{}
			template.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{WhenScaled: appsv1.DeletePersistentVolumeClaimRetentionPolicyType}
		}, true},
		"not in a revision": {nil, func(set *lwsv1.LeaderWorkerSet) {
			set.Spec.Replicas = ptr.To[int32](9)
			set.Spec.StartupPolicy = lwsv1.LeaderReadyStartupPolicy
			set.Spec.PodTerminationPolicy = lwsv1.ParallelPodTermination
			set.Spec.RolloutStrategy.RollingUpdateConfiguration = &lwsv1.RollingUpdateConfiguration{Partition: ptr.To[int32](1)}
			set.Labels = map[string]string{"a": "b"}
		}, true},
		"network absent": {nil, func(set *lwsv1.LeaderWorkerSet) { set.Spec.NetworkConfig = nil }, true},
		"network empty":  {nil, func(set *lwsv1.LeaderWorkerSet) { set.Spec.NetworkConfig = &lwsv1.NetworkConfig{} }, true},
		"network changed": {nil, func(set *lwsv1.LeaderWorkerSet) {
			set.Spec.NetworkConfig.SubdomainPolicy = ptr.To(lwsv1.SubdomainUniquePerReplica)
		}, false},
		"size":         {nil, func(set *lwsv1.LeaderWorkerSet) { set.Spec.LeaderWorkerTemplate.Size = ptr.To[int32](5) }, false},
		"no size":      {nil, func(set *lwsv1.LeaderWorkerSet) { set.Spec.LeaderWorkerTemplate.Size = nil }, false},
		"no subgroups": {nil, func(set *lwsv1.LeaderWorkerSet) { set.Spec.LeaderWorkerTemplate.SubGroupPolicy = nil }, false},
		"subgroup size": {nil, func(set *lwsv1.LeaderWorkerSet) {
			set.Spec.LeaderWorkerTemplate.SubGroupPolicy.SubGroupSize = ptr.To[int32](4)
		}, false},
		"subgroup type nil": {nil, func(set *lwsv1.LeaderWorkerSet) { set.Spec.LeaderWorkerTemplate.SubGroupPolicy.Type = nil }, true},
		"subgroup type": {nil, func(set *lwsv1.LeaderWorkerSet) {
			set.Spec.LeaderWorkerTemplate.SubGroupPolicy.Type = ptr.To(lwsv1.SubGroupPolicyTypeLeaderExcluded)
		}, false},
		"leader by worker": {nil, func(set *lwsv1.LeaderWorkerSet) { set.Spec.LeaderWorkerTemplate.LeaderTemplate = nil }, false},
		"leader label":     {nil, func(set *lwsv1.LeaderWorkerSet) { set.Spec.LeaderWorkerTemplate.LeaderTemplate.Labels["role"] = "x" }, false},
		"worker image": {nil, func(set *lwsv1.LeaderWorkerSet) {
			set.Spec.LeaderWorkerTemplate.WorkerTemplate.Spec.Containers[0].Image = "x"
		}, false},
		"claims": {nil, func(set *lwsv1.LeaderWorkerSet) {
			set.Spec.LeaderWorkerTemplate.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{}}
		}, false},
		"no claims, written": {nil, func(set *lwsv1.LeaderWorkerSet) {
			set.Spec.LeaderWorkerTemplate.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{}
		}, true},
		"other units": {nil, func(set *lwsv1.LeaderWorkerSet) {
			set.Spec.LeaderWorkerTemplate.LeaderTemplate.Spec.Containers[0].Resources.Limits["cpu"] = resource.MustParse("1000m")
		}, true},
		"placement None": {nil, func(set *lwsv1.LeaderWorkerSet) {
			set.Spec.LeaderWorkerTemplate.PlacementPolicy = &lwsv1.PlacementPolicy{Type: lwsv1.NonePlacement}
		}, true},
		"placement": {nil, func(set *lwsv1.LeaderWorkerSet) {
			set.Spec.LeaderWorkerTemplate.PlacementPolicy = &lwsv1.PlacementPolicy{Type: lwsv1.ExclusiveTopologyPlacement, Topology: "zone"}
		}, false},
		"placement of subgroups": {nil, func(set *lwsv1.LeaderWorkerSet) {
			set.Spec.LeaderWorkerTemplate.SubGroupPolicy.PlacementPolicy = &lwsv1.PlacementPolicy{Type: lwsv1.ExclusiveTopologyPlacement, Topology: "zone"}
		}, false},
		"placement as the annotation has it": {
			map[string]string{lwsv1.ExclusiveTopologyAnnotationKey: "zone", lwsv1.SubGroupExclusiveTopologyAnnotationKey: "rack"},
			func(set *lwsv1.LeaderWorkerSet) {
				set.Spec.LeaderWorkerTemplate.PlacementPolicy = &lwsv1.PlacementPolicy{Type: lwsv1.ExclusiveTopologyPlacement, Topology: "zone"}
				set.Spec.LeaderWorkerTemplate.SubGroupPolicy.PlacementPolicy = &lwsv1.PlacementPolicy{Type: lwsv1.ExclusiveTopologyPlacement, Topology: "rack"}
			}, true,
		},
		"placement unlike the annotation": {
			map[string]string{lwsv1.ExclusiveTopologyAnnotationKey: "zone"},
			func(set *lwsv1.LeaderWorkerSet) {
				set.Spec.LeaderWorkerTemplate.PlacementPolicy = &lwsv1.PlacementPolicy{Type: lwsv1.ExclusiveTopologyPlacement, Topology: "rack"}
			}, false,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			set := sampleSet(t)
			set.Annotations = test.annotations
			revision, err := New(set, nil)
			if err != nil {
				t.Fatal(err)
			}
			changed := set.DeepCopy()
			test.change(changed)
			got, err := Equal(changed, revision)
			if err != nil || got != test.want {
				t.Errorf("Equal = %v, %v, want %v", got, err, test.want)
			}
			reverse, err := New(changed, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err = Equal(set, reverse)
			if err != nil || got != test.want {
				t.Errorf("the other way: Equal = %v, %v, want %v", got, err, test.want)
			}
		})
	}
}

func TestLeaderTemplateWrittenOutIsTheWorkerTemplate(t *testing.T) {
	set := sampleSet(t)
	set.Spec.LeaderWorkerTemplate.LeaderTemplate = nil
	revision, err := New(set, nil)
	if err != nil {
		t.Fatal(err)
	}
	set.Spec.LeaderWorkerTemplate.LeaderTemplate = set.Spec.LeaderWorkerTemplate.WorkerTemplate.DeepCopy()
	if equal, err := Equal(set, revision); err != nil || !equal {
		t.Errorf("Equal = %v, %v, want true", equal, err)
	}
}

func TestNew(t *testing.T) {
	set := sampleSet(t)
	data := string(readFile(t, "current.json"))
	want := func(name, key string, number int64) *appsv1.ControllerRevision {
		return &appsv1.ControllerRevision{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "default", Name: name,
				Labels: map[string]string{
					"leaderworkerset.sigs.k8s.io/name":                   "sample",
					"leaderworkerset.sigs.k8s.io/template-revision-hash": key,
				},
				OwnerReferences: []metav1.OwnerReference{{
					APIVersion: "leaderworkerset.x-k8s.io/v1", Kind: "LeaderWorkerSet", Name: "sample",
					UID: set.UID, Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
				}},
			},
			Data: runtime.RawExtension{Raw: []byte(data)}, Revision: number,
		}
	}
	t.Run("first", func(t *testing.T) {
		got, err := New(set, nil)
		if diff := cmp.Diff(want("sample-"+sampleKey+"-1", sampleKey, 1), got); diff != "" || err != nil {
			t.Errorf("error %v (-want +got):\n%s", err, diff)
		}
	})
	t.Run("next", func(t *testing.T) {
		got, err := New(set, []*appsv1.ControllerRevision{stored("a", "a", 7, "{}"), stored("b", "b", 3, "{}")})
		if diff := cmp.Diff(want("sample-"+sampleKey+"-8", sampleKey, 8), got); diff != "" || err != nil {
			t.Errorf("error %v (-want +got):\n%s", err, diff)
		}
	})
	t.Run("key taken by other data", func(t *testing.T) {
		taken := []*appsv1.ControllerRevision{stored("a", sampleKey, 1, "{}")}
		got, err := New(set, taken)
		if err != nil {
			t.Fatal(err)
		}
		key := Key(got)
		if key == sampleKey || key == "" {
			t.Fatalf("key %q", key)
		}
		if diff := cmp.Diff(want("sample-"+key+"-2", key, 2), got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		again, err := New(set, append(taken, got))
		if err != nil || Key(again) == key || Key(again) == sampleKey {
			t.Errorf("third key %q, %v", Key(again), err)
		}
	})
	t.Run("replacement", func(t *testing.T) {
		got, err := Replacement(set, []*appsv1.ControllerRevision{stored("a", "a", 7, "{}")}, "lost")
		if diff := cmp.Diff(want("sample-lost-8", "lost", 8), got); diff != "" || err != nil {
			t.Errorf("error %v (-want +got):\n%s", err, diff)
		}
	})
	t.Run("long name", func(t *testing.T) {
		long := set.DeepCopy()
		long.Name = strings.Repeat("x", 253)
		got, err := New(long, nil)
		if err != nil || got.Name != strings.Repeat("x", 220)+"-"+Key(got)+"-1" {
			t.Errorf("name %q, %v", got.Name, err)
		}
	})
}

func TestFind(t *testing.T) {
	same, other := string(readFile(t, "creation-timestamp-null.json")), `{"spec":{"leaderWorkerTemplate":{"size":9}}}`
	tests := map[string]struct {
		revisions  []*appsv1.ControllerRevision
		runningKey string
		want       string
		wantErr    string
	}{
		"none":                 {nil, "", "", ""},
		"none that is equal":   {[]*appsv1.ControllerRevision{stored("a", "ka", 1, other)}, "ka", "", ""},
		"the only one":         {[]*appsv1.ControllerRevision{stored("a", "ka", 1, other), stored("b", "kb", 2, same)}, "ka", "b", ""},
		"going back":           {[]*appsv1.ControllerRevision{stored("a", "ka", 1, same), stored("b", "kb", 2, other)}, "kb", "a", ""},
		"newest of two":        {[]*appsv1.ControllerRevision{stored("a", "ka", 1, same), stored("b", "kb", 2, same)}, "", "b", ""},
		"running of two":       {[]*appsv1.ControllerRevision{stored("a", "ka", 1, same), stored("b", "kb", 2, same)}, "ka", "a", ""},
		"unreadable":           {[]*appsv1.ControllerRevision{stored("a", "ka", 2, "x"), stored("b", "kb", 1, same)}, "ka", "b", "revision default/a: "},
		"unreadable, no other": {[]*appsv1.ControllerRevision{stored("a", "ka", 2, "x")}, "ka", "", "revision default/a: "},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			found, err := Find(sampleSet(t), test.revisions, test.runningKey)
			got := ""
			if found != nil {
				got = found.Name
			}
			if got != test.want {
				t.Errorf("found %q, want %q", got, test.want)
			}
			if (err == nil) != (test.wantErr == "") || err != nil && !strings.HasPrefix(err.Error(), test.wantErr) {
				t.Errorf("error %v, want %q", err, test.wantErr)
			}
		})
	}
}

func TestNumberInUse(t *testing.T) {
	a, b, c := stored("a", "ka", 1, ""), stored("b", "kb", 4, ""), stored("c", "kc", 4, "")
	tests := map[string]struct {
		revision *appsv1.ControllerRevision
		all      []*appsv1.ControllerRevision
		want     int64
	}{
		"only one":      {a, []*appsv1.ControllerRevision{a}, 1},
		"newest":        {b, []*appsv1.ControllerRevision{a, b}, 4},
		"went back":     {a, []*appsv1.ControllerRevision{a, b}, 5},
		"number shared": {b, []*appsv1.ControllerRevision{a, b, c}, 5},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := NumberInUse(test.revision, test.all); got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
}

func TestPrune(t *testing.T) {
	var revisions []*appsv1.ControllerRevision
	for _, letter := range "cadbefghijklm" { // 13, unordered in part
		revisions = append(revisions, stored(string(letter), "k"+string(letter), int64(letter-'a'+1), ""))
	}
	tests := map[string]struct {
		revisions []*appsv1.ControllerRevision
		inUse     map[string]bool
		want      []string
	}{
		"none":          {nil, nil, nil},
		"ten":           {revisions[3:], nil, nil},
		"three too old": {revisions, nil, []string{"c", "b", "a"}},
		"one in use":    {revisions, map[string]bool{"kb": true, "km": true}, []string{"c", "a"}},
		"all in use":    {revisions, map[string]bool{"ka": true, "kb": true, "kc": true}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, revision := range Prune(test.revisions, test.inUse) {
				got = append(got, revision.Name)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestByKey(t *testing.T) {
	old, copied := stored("a", "k", 1, ""), stored("b", "k", 1, "")
	copied.CreationTimestamp = metav1.NewTime(time.Unix(100, 0))
	if got, ok := ByKey([]*appsv1.ControllerRevision{old, copied}, "k"); !ok || got != copied {
		t.Errorf("got %v, %v, want the newer", got, ok)
	}
	if got, ok := ByKey([]*appsv1.ControllerRevision{old}, "x"); ok || got != nil {
		t.Errorf("got %v, %v, want none", got, ok)
	}
}
