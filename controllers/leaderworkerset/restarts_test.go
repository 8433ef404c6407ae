package leaderworkerset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/types"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/controllers/leaderworkerset/group"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

func TestPlanCounts(t *testing.T) {
	restart := func(revision, index, leader string) group.Report {
		return group.Report{Restart: &group.Restart{Entry: group.Entry{Revision: revision, Index: index}, Leader: types.UID(leader)}}
	}
	recovery := func(revision, index string) group.Report {
		return group.Report{Recovery: &group.Entry{Revision: revision, Index: index}}
	}
	existing := []groupState{{Index: 0, Revision: "new"}, {Index: 1, Revision: "old"}, {Index: 5, Revision: "older"}}
	tests := map[string]struct {
		set     *lwstest.Builder
		reports map[string]group.Report
		want    countsPlan
		broken  bool
	}{
		"nothing to count": {set: testSet()},
		"the first restart": {
			set:     testSet(),
			reports: map[string]group.Report{"0": restart("new", "0", "a")},
			want:    countsPlan{Restarts: `{"new/0":1}`, Leaders: `{"new/0":"a"}`, Changed: true, Sum: 1},
		},
		"several in one write": {
			set: testSet().Annotation(lwsv1.GroupRestartCountsAnnotationKey, `{"new/0":2}`).
				Annotation(lwsv1.GroupRestartLeadersAnnotationKey, `{"new/0":"a"}`),
			reports: map[string]group.Report{"0": restart("new", "0", "b"), "1": restart("old", "1", "c")},
			want:    countsPlan{Restarts: `{"new/0":3,"old/1":1}`, Leaders: `{"new/0":"b","old/1":"c"}`, Changed: true, Sum: 4},
		},
		"counted for this leader already": {
			set: testSet().Annotation(lwsv1.GroupRestartCountsAnnotationKey, `{"new/0":2}`).
				Annotation(lwsv1.GroupRestartLeadersAnnotationKey, `{"new/0":"a"}`),
			reports: map[string]group.Report{"0": restart("new", "0", "a")},
			want:    countsPlan{Restarts: `{"new/0":2}`, Leaders: `{"new/0":"a"}`, Sum: 2},
		},
		"recovered": {
			set:     testSet().Annotation(lwsv1.GroupRestartCountsAnnotationKey, `{"new/0":2}`),
			reports: map[string]group.Report{"0": recovery("new", "0")},
			want:    countsPlan{Changed: true},
		},
		"what no group has is dropped": {
			// 3 is desired and missing: it may come back with the update or the current
			// revision. 9 is scaled away, 5 is still there.
			set: testSet().Annotation(lwsv1.GroupRestartCountsAnnotationKey,
				`{"current/0":1,"gone/0":1,"new/3":1,"current/3":1,"old/3":1,"new/9":1,"older/5":1,"new/5":1}`),
			want: countsPlan{Restarts: `{"current/0":1,"current/3":1,"new/3":1,"older/5":1}`, Changed: true, Sum: 4},
		},
		"what cannot be read is dropped": {
			set:  testSet().Annotation(lwsv1.GroupRestartCountsAnnotationKey, `{"new/0":2,"new/1":"many"}`),
			want: countsPlan{Restarts: `{"new/0":2}`, Changed: true, Sum: 2}, broken: true,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			set := tc.set.Replicas(4).Obj()
			reports := map[identity.Group]group.Report{}
			for index, report := range tc.reports {
				reports[identity.Group{Namespace: set.Namespace, Set: set.Name, Index: index}] = report
			}
			got := planCounts(&observation{Set: set, Groups: existing, Reports: reports}, ordinal{}.counts(&observation{Set: set, Groups: existing, Reports: reports}, "new", "current"))
			if diff := cmp.Diff(tc.want, got, cmpopts.IgnoreFields(countsPlan{}, "Unreadable")); diff != "" {
				t.Errorf("counts (-want +got):\n%s", diff)
			}
			if (got.Unreadable != nil) != tc.broken {
				t.Errorf("unreadable: %v", got.Unreadable)
			}
		})
	}
}
