package leaderworkerset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/controllers/leaderworkerset/revision"
)

func TestKeptPlacement(t *testing.T) {
	const group, subGroup = lwsv1.ExclusiveTopologyAnnotationKey, lwsv1.SubGroupExclusiveTopologyAnnotationKey
	tests := map[string]struct {
		then, now *lwstest.Builder
		template  map[string]string // annotations of the leaders' pod template
		want      map[string]string // annotations that are realised
		kept      bool
	}{
		"unchanged": {
			then: testSet().Annotation(group, "rack"), now: testSet().Annotation(group, "rack"),
			template: map[string]string{group: "rack"}, want: map[string]string{group: "rack"},
		},
		"changed": {
			then: testSet().Annotation(group, "rack"), now: testSet().Annotation(group, "zone"),
			template: map[string]string{group: "rack"}, want: map[string]string{group: "rack"}, kept: true,
		},
		"removed, others stay": {
			then: testSet().Annotation(group, "rack"), now: testSet().Annotation("note", "b"),
			template: map[string]string{group: "rack"}, want: map[string]string{group: "rack", "note": "b"}, kept: true,
		},
		"added": {
			then: testSet(), now: testSet().Annotation(group, "zone").Annotation("note", "b"),
			want: map[string]string{"note": "b"}, kept: true,
		},
		"from annotation to the field": {
			then: testSet().Annotation(group, "rack"), now: testSet().GroupTopology("zone"),
			template: map[string]string{group: "rack"},
		},
		"from the field to nothing": {
			then: testSet().GroupTopology("rack"), now: testSet(),
			template: map[string]string{group: "rack"},
		},
		"an annotation of subgroups without subgroups": {
			then: testSet(), now: testSet().Annotation(subGroup, "zone"),
			want: map[string]string{subGroup: "zone"},
		},
		"of subgroups": {
			then:     testSet().Size(2).SubGroups(1, lwsv1.SubGroupPolicyTypeLeaderWorker).Annotation(subGroup, "host"),
			now:      testSet().Size(2).SubGroups(1, lwsv1.SubGroupPolicyTypeLeaderWorker).Annotation(subGroup, "zone"),
			template: map[string]string{subGroup: "host"}, want: map[string]string{subGroup: "host"}, kept: true,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			then, err := revision.New(tc.then.Obj(), nil)
			if err != nil {
				t.Fatal(err)
			}
			set := tc.now.Obj()
			before := set.DeepCopy()

			k := keptPlacement(set, running{revision.Key(then), tc.template}, []*appsv1.ControllerRevision{then})
			if diff := cmp.Diff(tc.want, k.applyTo(set).Annotations); diff != "" {
				t.Errorf("annotations (-want +got):\n%s", diff)
			}
			if (k.Text != "") != tc.kept {
				t.Errorf("text %q, want one: %t", k.Text, tc.kept)
			}
			if diff := cmp.Diff(before, set); diff != "" {
				t.Errorf("the set was changed (-before +after):\n%s", diff)
			}
		})
	}
	set := testSet().Annotation(group, "zone").Obj()
	if k := keptPlacement(set, running{}, nil); k.Text != "" || k.applyTo(set) != set {
		t.Errorf("kept %+v of no StatefulSet", k)
	}
	if k := keptPlacement(set, running{Key: "rev"}, nil); k.Text != "" {
		t.Errorf("kept %+v of an unknown revision", k)
	}
}
