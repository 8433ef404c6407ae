package group

import (
	"encoding/json"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// patched applies operations as the API server does.
func patched[T any](t *testing.T, obj *T, operations []operation) (*T, error) {
	t.Helper()
	encoded, err := json.Marshal(operations)
	if err != nil {
		t.Fatal(err)
	}
	patch, err := jsonpatch.DecodePatch(encoded)
	if err != nil {
		t.Fatal(err)
	}
	before, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	after, err := patch.Apply(before)
	if err != nil {
		return nil, err
	}
	result := new(T)
	if err := json.Unmarshal(after, result); err != nil {
		t.Fatal(err)
	}
	return result, nil
}

// Whatever a patch was made from, it changes nothing of an object that is another one
// now or that has what it removes elsewhere.
func TestPatchesTestWhatTheyChange(t *testing.T) {
	versioned := func(p *corev1.Pod) { p.ResourceVersion = "7" }
	retainedObject := func(p *corev1.Pod) {
		p.Finalizers = []string{"example.com/x", lwsv1.GroupRestartBudgetCleanupFinalizer}
	}
	bare := func(p *corev1.Pod) { p.Annotations = nil }
	tests := map[string]struct {
		from       func(*corev1.Pod)
		operations func(*corev1.Pod) []operation
		want       func(*corev1.Pod)
		stale      func(*corev1.Pod)
	}{
		"gate": {
			from:       func(*corev1.Pod) {},
			operations: gatePatch,
			want:       func(p *corev1.Pod) { p.Spec.SchedulingGates = p.Spec.SchedulingGates[:1] },
			stale:      func(p *corev1.Pod) { p.Spec.SchedulingGates = p.Spec.SchedulingGates[1:] },
		},
		"annotation": {
			from:       func(*corev1.Pod) {},
			operations: func(p *corev1.Pod) []operation { return annotationPatch(p, lwsv1.GroupMembersAnnotationKey, "x") },
			want:       func(p *corev1.Pod) { p.Annotations[lwsv1.GroupMembersAnnotationKey] = "x" },
			stale:      bare,
		},
		"annotation of a pod without any": {
			from:       bare,
			operations: func(p *corev1.Pod) []operation { return annotationPatch(p, lwsv1.GroupMembersAnnotationKey, "x") },
			want:       func(p *corev1.Pod) { p.Annotations = map[string]string{lwsv1.GroupMembersAnnotationKey: "x"} },
			stale:      func(p *corev1.Pod) { p.ResourceVersion = "8" },
		},
		"annotation removed": {
			from:       func(p *corev1.Pod) { p.Annotations[lwsv1.RecoverAnnotationKey] = "true" },
			operations: func(p *corev1.Pod) []operation { return annotationRemoval(p, lwsv1.RecoverAnnotationKey) },
			want:       func(p *corev1.Pod) { delete(p.Annotations, lwsv1.RecoverAnnotationKey) },
			stale:      func(p *corev1.Pod) { delete(p.Annotations, lwsv1.RecoverAnnotationKey) },
		},
		"first finalizer": {
			from:       func(*corev1.Pod) {},
			operations: func(p *corev1.Pod) []operation { return finalizerPatch(p) },
			want:       func(p *corev1.Pod) { p.Finalizers = []string{lwsv1.GroupRestartBudgetCleanupFinalizer} },
			stale:      func(p *corev1.Pod) { p.ResourceVersion = "8" },
		},
		"further finalizer": {
			from:       func(p *corev1.Pod) { p.Finalizers = []string{"example.com/x"} },
			operations: func(p *corev1.Pod) []operation { return finalizerPatch(p) },
			want:       retainedObject,
			stale:      func(p *corev1.Pod) { p.ResourceVersion = "8" },
		},
		"finalizer removed": {
			from:       retainedObject,
			operations: func(p *corev1.Pod) []operation { return finalizerRemoval(p) },
			want:       func(p *corev1.Pod) { p.Finalizers = []string{"example.com/x"} },
			stale:      func(p *corev1.Pod) { p.Finalizers = []string{lwsv1.GroupRestartBudgetCleanupFinalizer} },
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			operations := test.operations(leaderObject(versioned, test.from))
			got, err := patched(t, leaderObject(versioned, test.from), operations)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(leaderObject(versioned, test.from, test.want), got); diff != "" {
				t.Errorf("patched (-want +got):\n%s", diff)
			}
			if _, err := patched(t, leaderObject(versioned, test.from, func(p *corev1.Pod) { p.UID = "another" }), operations); err == nil {
				t.Error("patches a pod that has the name now")
			}
			if got, err := patched(t, leaderObject(versioned, test.from, test.stale), operations); err == nil {
				t.Errorf("patches a pod that has changed to %v", got)
			}
		})
	}
}

func TestPatchesWithoutAnythingToDo(t *testing.T) {
	if got := gatePatch(workerObject()); got != nil {
		t.Errorf("lifts no gate by %v", got)
	}
	if got := finalizerRemoval(workerObject()); got != nil {
		t.Errorf("removes no finalizer by %v", got)
	}
	p := workerObject(func(p *corev1.Pod) { p.Finalizers = []string{lwsv1.GroupRestartBudgetCleanupFinalizer} })
	if got := finalizerPatch(p); got != nil {
		t.Errorf("adds the finalizer twice by %v", got)
	}
}

func TestOwnerPatch(t *testing.T) {
	is, isNot := true, false
	friend := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "friend", UID: "friend", Controller: &isNot}
	old := metav1.OwnerReference{APIVersion: "v1", Kind: kindPod, Name: testName, UID: "leader", Controller: &is, BlockOwnerDeletion: &is}
	next := referenceTo(bySet)
	tests := map[string]struct{ before, want []metav1.OwnerReference }{
		"of nobody":                   {nil, []metav1.OwnerReference{next}},
		"of a leader":                 {[]metav1.OwnerReference{old}, []metav1.OwnerReference{next}},
		"of somebody without a say":   {[]metav1.OwnerReference{friend}, []metav1.OwnerReference{friend, next}},
		"of a leader among others":    {[]metav1.OwnerReference{friend, old}, []metav1.OwnerReference{friend, next}},
		"of a leader and then others": {[]metav1.OwnerReference{old, friend}, []metav1.OwnerReference{next, friend}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: testName, UID: "workers", ResourceVersion: "1", OwnerReferences: test.before}}
			got, err := patched(t, s, ownerPatch(s, next))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got.OwnerReferences); diff != "" {
				t.Errorf("owners (-want +got):\n%s", diff)
			}
		})
	}
	if next.APIVersion != "leaderworkerset.x-k8s.io/v1" || next.Kind != "LeaderWorkerSet" {
		t.Errorf("the set's reference is %v", next)
	}
	if of := referenceTo(byLeader); of.APIVersion != "v1" || of.Kind != "Pod" {
		t.Errorf("the leader's reference is %v", of)
	}
}
