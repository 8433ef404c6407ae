package revision

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
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
