package identity

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

const hashIndex = "689ce1b52864f5b6433d403de39845ba1ab94b07"

func TestGroupNames(t *testing.T) {
	tests := map[string]struct {
		group       Group
		wantName    string
		wantString  string
		wantOrdinal int32
		wantHasOne  bool
	}{
		"ordinal":       {Group{"default", "sample", "0"}, "sample-0", "default/sample/0", 0, true},
		"many digits":   {Group{"ns", "a-1", "1000000"}, "a-1-1000000", "ns/a-1/1000000", 1000000, true},
		"hash":          {Group{"ns", "a", hashIndex}, "a-689ce1b5", "ns/a/" + hashIndex, 0, false},
		"hash, decimal": {Group{"ns", "a", "0000000000000000000000000000000000000001"}, "a-00000000", "ns/a/0000000000000000000000000000000000000001", 0, false},
		"no number":     {Group{"ns", "a", "x"}, "a-x", "ns/a/x", 0, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := test.group.Name(); got != test.wantName {
				t.Errorf("Name() = %q, want %q", got, test.wantName)
			}
			if got := test.group.String(); got != test.wantString {
				t.Errorf("String() = %q, want %q", got, test.wantString)
			}
			ordinal, ok := test.group.Ordinal()
			if ordinal != test.wantOrdinal || ok != test.wantHasOne {
				t.Errorf("Ordinal() = %d, %v, want %d, %v", ordinal, ok, test.wantOrdinal, test.wantHasOne)
			}
		})
	}
}

func TestGroupFromObjects(t *testing.T) {
	tests := map[string]struct {
		labels    map[string]string
		want      Group
		wantFound bool
	}{
		"member":          {map[string]string{lwsv1.SetNameLabelKey: "a", lwsv1.GroupIndexLabelKey: "3"}, Group{"ns", "a", "3"}, true},
		"leader set":      {map[string]string{lwsv1.SetNameLabelKey: "a"}, Group{}, false},
		"no set":          {map[string]string{lwsv1.GroupIndexLabelKey: "3"}, Group{}, false},
		"empty index":     {map[string]string{lwsv1.SetNameLabelKey: "a", lwsv1.GroupIndexLabelKey: ""}, Group{}, false},
		"no labels":       {nil, Group{}, false},
		"somebody else's": {map[string]string{"app": "x"}, Group{}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			obj := &metav1.ObjectMeta{Namespace: "ns", Labels: test.labels}
			for what, read := range map[string]func(metav1.Object) (Group, bool){
				"GroupOfPod":               GroupOfPod,
				"GroupOfWorkerStatefulSet": GroupOfWorkerStatefulSet,
			} {
				got, found := read(obj)
				if got != test.want || found != test.wantFound {
					t.Errorf("%s = %v, %v, want %v, %v", what, got, found, test.want, test.wantFound)
				}
			}
		})
	}
}

func TestGroupOfService(t *testing.T) {
	setLabel := map[string]string{lwsv1.SetNameLabelKey: "a"}
	both := map[string]string{lwsv1.SetNameLabelKey: "a", lwsv1.GroupIndexLabelKey: "2"}
	tests := map[string]struct {
		labels, selector map[string]string
		want             Group
		wantFound        bool
	}{
		"labels":        {both, both, Group{"ns", "a", "2"}, true},
		"selector only": {setLabel, both, Group{"ns", "a", "2"}, true},
		"shared":        {setLabel, setLabel, Group{}, false},
		"foreign":       {nil, nil, Group{}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, found := GroupOfService(&metav1.ObjectMeta{Namespace: "ns", Labels: test.labels}, test.selector)
			if got != test.want || found != test.wantFound {
				t.Errorf("got %v, %v, want %v, %v", got, found, test.want, test.wantFound)
			}
		})
	}
}

func TestMembers(t *testing.T) {
	pod := func(labels map[string]string) *metav1.ObjectMeta {
		return &metav1.ObjectMeta{Namespace: "ns", Labels: labels}
	}
	type facts struct {
		Leader     bool
		Worker     int32
		HasWorker  bool
		Ordinal    int32
		HasOrdinal bool
	}
	tests := map[string]struct {
		labels map[string]string
		want   facts
	}{
		"leader":        {map[string]string{lwsv1.SetNameLabelKey: "a", lwsv1.GroupIndexLabelKey: "4", lwsv1.WorkerIndexLabelKey: "0"}, facts{true, 0, true, 4, true}},
		"worker":        {map[string]string{lwsv1.SetNameLabelKey: "a", lwsv1.GroupIndexLabelKey: "4", lwsv1.WorkerIndexLabelKey: "12"}, facts{false, 12, true, 4, true}},
		"hash":          {map[string]string{lwsv1.SetNameLabelKey: "a", lwsv1.GroupIndexLabelKey: hashIndex, lwsv1.WorkerIndexLabelKey: "0"}, facts{true, 0, true, 0, false}},
		"not admitted":  {map[string]string{lwsv1.SetNameLabelKey: "a"}, facts{}},
		"leading zero":  {map[string]string{lwsv1.WorkerIndexLabelKey: "01"}, facts{}},
		"negative":      {map[string]string{lwsv1.WorkerIndexLabelKey: "-1"}, facts{}},
		"signed":        {map[string]string{lwsv1.WorkerIndexLabelKey: "+1"}, facts{}},
		"too large":     {map[string]string{lwsv1.WorkerIndexLabelKey: "2147483648"}, facts{}},
		"without label": {nil, facts{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			obj := pod(test.labels)
			var got facts
			got.Leader = IsLeader(obj)
			got.Worker, got.HasWorker = WorkerIndex(obj)
			got.Ordinal, got.HasOrdinal = GroupOrdinal(obj)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestOrdinalGroup(t *testing.T) {
	set := types.NamespacedName{Namespace: "ns", Name: "a"}
	group := OrdinalGroup(set, 17)
	if want := (Group{"ns", "a", "17"}); group != want {
		t.Errorf("OrdinalGroup = %v, want %v", group, want)
	}
	if group.SetKey() != set {
		t.Errorf("SetKey = %v, want %v", group.SetKey(), set)
	}
	if group.Name() != LeaderName("a", 17) {
		t.Errorf("the group is called %q, its leader %q", group.Name(), LeaderName("a", 17))
	}
}
