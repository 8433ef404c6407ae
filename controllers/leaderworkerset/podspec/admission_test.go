package podspec

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
)

// The pods of the sample in the documentation, field by field.
func TestAdmittedPods(t *testing.T) {
	set := lwstest.New("leaderworkerset-multi-template").Size(4).
		LeaderTemplate(lwstest.PodTemplate("leader")).Obj()
	variables := func(worker string) []corev1.EnvVar {
		return []corev1.EnvVar{
			{Name: "LWS_LEADER_ADDRESS", Value: "leaderworkerset-multi-template-0.leaderworkerset-multi-template.default"},
			{Name: "LWS_GROUP_SIZE", Value: "4"},
			{Name: "LWS_WORKER_INDEX", Value: worker},
		}
	}
	const groupKey = "689ce1b52864f5b6433d403de39845ba1ab94b07"
	wantLeader := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "leaderworkerset-multi-template-0", Namespace: "default",
			Labels: map[string]string{
				prefix + "name": "leaderworkerset-multi-template", prefix + "group-index": "0", prefix + "worker-index": "0",
				prefix + "group-key": groupKey, prefix + "template-revision-hash": revisionKey,
			},
			Annotations: map[string]string{prefix + "size": "4"},
		},
		Spec: corev1.PodSpec{
			Hostname: "leaderworkerset-multi-template-0", Subdomain: "leaderworkerset-multi-template",
			SchedulingGates: []corev1.PodSchedulingGate{{Name: prefix + "group-replacement"}},
			Containers:      []corev1.Container{{Name: "leader", Image: lwstest.Image, Env: variables("0")}},
		},
	}
	if diff := cmp.Diff(wantLeader, admittedMember(t, set, 0, 0)); diff != "" {
		t.Errorf("leader (-want +got):\n%s", diff)
	}
	wantWorker := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "leaderworkerset-multi-template-0-2", Namespace: "default",
			Labels: map[string]string{
				prefix + "name": "leaderworkerset-multi-template", prefix + "group-index": "0", prefix + "worker-index": "2",
				prefix + "group-key": groupKey, prefix + "template-revision-hash": revisionKey,
			},
			Annotations: map[string]string{prefix + "size": "4", prefix + "leader-name": "leaderworkerset-multi-template-0"},
		},
		Spec: corev1.PodSpec{
			Hostname: "leaderworkerset-multi-template-0-2", Subdomain: "leaderworkerset-multi-template",
			Containers: []corev1.Container{{Name: "worker", Image: lwstest.Image, Env: variables("2")}},
		},
	}
	if diff := cmp.Diff(wantWorker, admittedMember(t, set, 0, 2)); diff != "" {
		t.Errorf("worker (-want +got):\n%s", diff)
	}
}

func TestSubdomain(t *testing.T) {
	tests := map[string]struct {
		policy        lwsv1.SubdomainPolicy
		wantSubdomain string
	}{
		"shared": {lwsv1.SubdomainShared, "a"},
		"own":    {lwsv1.SubdomainUniquePerReplica, "a-12"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			set := lwstest.New("a").Size(3).SubdomainPolicy(test.policy).Obj()
			for worker := range int32(3) {
				pod := admittedMember(t, set, 12, worker)
				if pod.Spec.Subdomain != test.wantSubdomain {
					t.Errorf("worker %d: subdomain %q, want %q", worker, pod.Spec.Subdomain, test.wantSubdomain)
				}
				want := "a-12." + test.wantSubdomain + ".default"
				if got := pod.Spec.Containers[0].Env[0]; got.Name != "LWS_LEADER_ADDRESS" || got.Value != want {
					t.Errorf("worker %d: %v, want LWS_LEADER_ADDRESS=%s", worker, got, want)
				}
			}
		})
	}
}

func TestSubGroupLabels(t *testing.T) {
	const none = "-"
	tests := map[string]struct {
		size, subGroupSize int32
		kind               lwsv1.SubGroupPolicyType
		want               string // the subgroup index of each member
	}{
		"divisible":          {4, 2, lwsv1.SubGroupPolicyTypeLeaderWorker, "0 0 1 1"},
		"leader is extra":    {5, 2, lwsv1.SubGroupPolicyTypeLeaderWorker, "0 0 0 1 1"},
		"subgroup of 1":      {3, 1, lwsv1.SubGroupPolicyTypeLeaderWorker, "0 1 2"},
		"size 1":             {1, 1, lwsv1.SubGroupPolicyTypeLeaderWorker, "0"},
		"excluded":           {5, 2, lwsv1.SubGroupPolicyTypeLeaderExcluded, "- 0 0 1 1"},
		"excluded, of 1":     {3, 1, lwsv1.SubGroupPolicyTypeLeaderExcluded, "- 0 1"},
		"excluded, size 1":   {1, 1, lwsv1.SubGroupPolicyTypeLeaderExcluded, "-"},
		"one whole subgroup": {3, 3, lwsv1.SubGroupPolicyTypeLeaderWorker, "0 0 0"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			set := lwstest.New("a").Size(test.size).SubGroups(test.subGroupSize, test.kind).Obj()
			var got []string
			for worker := range test.size {
				pod := admittedMember(t, set, 1, worker)
				index, has := pod.Labels[prefix+"subgroup-index"]
				key, hasKey := pod.Labels[prefix+"subgroup-key"]
				if !has {
					index = none
				}
				if has != hasKey || has && key != subGroupKey(t, "a-1", index) {
					t.Errorf("worker %d: index %q, key %q", worker, index, key)
				}
				got = append(got, index)
			}
			if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// subGroupKey has values of sha1sum.
func subGroupKey(t *testing.T, group, index string) string {
	t.Helper()
	keys := map[string]string{
		"a-1/0": "da96f0cededd4d945a6568646e8fc2ad6e0e39fc",
		"a-1/1": "505b5b1a9e6b3728fefe34e3ae7034fee1f6cc6b",
		"a-1/2": "3b10a63b26613ffdbb4bd21c05a4c9a6b6287ce6",
	}
	key, ok := keys[group+"/"+index]
	if !ok {
		t.Fatalf("unexpected subgroup %s of %s", index, group)
	}
	return key
}

func TestGate(t *testing.T) {
	gate := corev1.PodSchedulingGate{Name: prefix + "group-replacement"}
	other := corev1.PodSchedulingGate{Name: "example.com/other"}
	tests := map[string]struct {
		nodeName     string
		gates, want  []corev1.PodSchedulingGate
		wantIndex    int
		wantHasIndex bool
	}{
		"none":               {"", nil, []corev1.PodSchedulingGate{gate}, 0, true},
		"another":            {"", []corev1.PodSchedulingGate{other}, []corev1.PodSchedulingGate{other, gate}, 1, true},
		"already":            {"", []corev1.PodSchedulingGate{gate, other}, []corev1.PodSchedulingGate{gate, other}, 0, true},
		"placed by template": {"node", nil, nil, -1, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			pod := newLeaderPod(lwstest.New("a").Obj(), 0)
			pod.Spec.NodeName, pod.Spec.SchedulingGates = test.nodeName, test.gates
			admitLeader(t, pod, "")
			if diff := cmp.Diff(test.want, pod.Spec.SchedulingGates); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if index, has := GateIndex(pod); index != test.wantIndex || has != test.wantHasIndex {
				t.Errorf("GateIndex = %d, %v, want %d, %v", index, has, test.wantIndex, test.wantHasIndex)
			}
		})
	}
	worker := admittedMember(t, lwstest.New("a").Size(2).Obj(), 0, 1)
	if len(worker.Spec.SchedulingGates) != 0 {
		t.Errorf("a worker has gates %v", worker.Spec.SchedulingGates)
	}
}

func TestTerminationPolicy(t *testing.T) {
	const key = prefix + "pod-termination-policy"
	tests := map[string]struct {
		policy lwsv1.PodTerminationPolicyType
		before map[string]string
		want   map[string]string
	}{
		"sequential":       {lwsv1.SequentialPodTermination, nil, map[string]string{prefix + "size": "1"}},
		"unknown":          {"", nil, map[string]string{prefix + "size": "1"}},
		"parallel":         {lwsv1.ParallelPodTermination, nil, map[string]string{prefix + "size": "1", key: "Parallel"}},
		"in the template":  {lwsv1.SequentialPodTermination, map[string]string{key: "Parallel"}, map[string]string{prefix + "size": "1"}},
		"parallel already": {lwsv1.ParallelPodTermination, map[string]string{key: "Parallel"}, map[string]string{prefix + "size": "1", key: "Parallel"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			pod := newLeaderPod(lwstest.New("a").Obj(), 0)
			for key, value := range test.before {
				pod.Annotations[key] = value
			}
			admitLeader(t, pod, test.policy)
			if diff := cmp.Diff(test.want, pod.Annotations); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestOddPodsAreRefused(t *testing.T) {
	set := lwstest.New("a").Size(4).SubGroups(2, lwsv1.SubGroupPolicyTypeLeaderWorker).Obj()
	leader := func(pod *corev1.Pod) error {
		identity, err := OrdinalLeader(pod)
		if err != nil {
			return err
		}
		return AdmitLeader(pod, identity, "")
	}
	tests := map[string]struct {
		pod     *corev1.Pod
		admit   func(*corev1.Pod) error
		odd     func(*corev1.Pod)
		wantErr string
	}{
		"leader without a name":    {newLeaderPod(set, 0), leader, func(p *corev1.Pod) { p.Name = "" }, `pod "" is not called as a leader of set "a"`},
		"leader of another set":    {newLeaderPod(set, 0), leader, func(p *corev1.Pod) { p.Name = "b-0" }, `pod "b-0" is not called as a leader of set "a"`},
		"leader without labels":    {newLeaderPod(set, 0), leader, func(p *corev1.Pod) { p.Labels = nil }, `pod "a-0" is not called as a leader of set ""`},
		"leader without size":      {newLeaderPod(set, 0), leader, func(p *corev1.Pod) { p.Annotations = nil }, "annotation " + prefix + `size is "", want a number from 1`},
		"size 0":                   {newLeaderPod(set, 0), leader, func(p *corev1.Pod) { p.Annotations[prefix+"size"] = "0" }, "annotation " + prefix + `size is "0", want a number from 1`},
		"subgroup size 0":          {newLeaderPod(set, 0), leader, func(p *corev1.Pod) { p.Annotations[prefix+"subgroup-size"] = "0" }, "annotation " + prefix + `subgroup-size is "0", want a number from 1`},
		"subgroup size too large":  {newLeaderPod(set, 0), leader, func(p *corev1.Pod) { p.Annotations[prefix+"subgroup-size"] = "99999999999" }, "annotation " + prefix + `subgroup-size is "99999999999", want a number from 1`},
		"worker without a name":    {newWorkerPod(set, 0, 1), AdmitWorker, func(p *corev1.Pod) { p.Name = "" }, `pod "" is not called as a worker of group "a-0"`},
		"worker 0":                 {newWorkerPod(set, 0, 1), AdmitWorker, func(p *corev1.Pod) { p.Name = "a-0-0" }, `pod "a-0-0" is not called as a worker of group "a-0"`},
		"worker beyond the size":   {newWorkerPod(set, 0, 4), AdmitWorker, func(*corev1.Pod) {}, "worker index 4 is not below the group's size, 4"},
		"worker of another group":  {newWorkerPod(set, 0, 1), AdmitWorker, func(p *corev1.Pod) { p.Name = "a-1-1" }, `pod "a-1-1" is not called as a worker of group "a-0"`},
		"worker without labels":    {newWorkerPod(set, 0, 1), AdmitWorker, func(p *corev1.Pod) { p.Labels = nil }, `pod "a-0-1" is not called as a worker of group "-"`},
		"worker without size":      {newWorkerPod(set, 0, 1), AdmitWorker, func(p *corev1.Pod) { p.Annotations = nil }, "annotation " + prefix + `size is "", want a number from 1`},
		"worker, subgroup size -1": {newWorkerPod(set, 0, 1), AdmitWorker, func(p *corev1.Pod) { p.Annotations[prefix+"subgroup-size"] = "-1" }, "annotation " + prefix + `subgroup-size is "-1", want a number from 1`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.odd(test.pod)
			before := test.pod.DeepCopy()
			err := test.admit(test.pod)
			if err == nil || err.Error() != test.wantErr {
				t.Errorf("error %v, want %q", err, test.wantErr)
			}
			if diff := cmp.Diff(before, test.pod); diff != "" {
				t.Errorf("a pod that is refused was changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestVariables(t *testing.T) {
	ours := []string{"LWS_LEADER_ADDRESS=a-0.a.default", "LWS_GROUP_SIZE=2", "LWS_WORKER_INDEX=0"}
	tests := map[string]struct {
		labels map[string]string
		env    []corev1.EnvVar
		want   []string
	}{
		"none": {nil, nil, ours},
		"the user's come after": {
			nil,
			[]corev1.EnvVar{{Name: "A", Value: "$(LWS_LEADER_ADDRESS)"}, {Name: "B"}},
			append(ours[:3:3], "A=$(LWS_LEADER_ADDRESS)", "B="),
		},
		"the user's of our names are replaced": {
			nil,
			[]corev1.EnvVar{
				{Name: "LWS_WORKER_INDEX", Value: "x"},
				{Name: "A", Value: "1"},
				{Name: "LWS_LEADER_ADDRESS", Value: "y"},
				{Name: "LWS_LEADER_ADDRESS", Value: "z"},
			},
			append(ours[:3:3], "A=1"),
		},
		"of a DisaggregatedSet": {
			map[string]string{"disaggregatedset.x-k8s.io/name": "ds"},
			[]corev1.EnvVar{
				{Name: "A", Value: "$(DISAGGREGATEDSET_ROLE)"},
				{Name: "DISAGGREGATEDSET_NAME", Value: "ds"},
				{Name: "DISAGGREGATEDSET_ROLE", Value: "r"},
				{Name: "B"},
				{Name: "DISAGGREGATEDSET_SLICE", Value: "0"},
				{Name: "DISAGGREGATEDSET_REVISION", Value: "h"},
			},
			append(ours[:3:3], "DISAGGREGATEDSET_NAME=ds", "DISAGGREGATEDSET_ROLE=r", "DISAGGREGATEDSET_SLICE=0",
				"DISAGGREGATEDSET_REVISION=h", "A=$(DISAGGREGATEDSET_ROLE)", "B="),
		},
		"the user's own, without a DisaggregatedSet": {
			nil,
			[]corev1.EnvVar{{Name: "A", Value: "x"}, {Name: "DISAGGREGATEDSET_NAME", Value: "$(A)"}},
			append(ours[:3:3], "A=x", "DISAGGREGATEDSET_NAME=$(A)"),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			template := lwstest.PodTemplate("one")
			template.Labels = test.labels
			template.Spec.Containers = append(template.Spec.Containers, corev1.Container{Name: "two"})
			template.Spec.InitContainers = []corev1.Container{{Name: "init"}}
			for container := range containers(&template.Spec) {
				container.Env = test.env
			}
			pod := admittedMember(t, lwstest.New("a").Size(2).WorkerTemplate(template).Obj(), 0, 0)
			seen := 0
			for container := range containers(&pod.Spec) {
				seen++
				var got []string
				for _, variable := range container.Env {
					got = append(got, variable.Name+"="+variable.Value)
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", container.Name, diff)
				}
			}
			if seen != 3 {
				t.Errorf("%d containers, want 3", seen)
			}
		})
	}
}

func TestLeaderAddressFromTheTemplate(t *testing.T) {
	pod := newWorkerPod(lwstest.New("a").Size(2).Obj(), 0, 1)
	pod.Annotations[prefix+"leader-address"] = "a-01234567.a.default"
	if err := AdmitWorker(pod); err != nil {
		t.Fatal(err)
	}
	if got := env(&pod.Spec.Containers[0])["LWS_LEADER_ADDRESS"]; got != "a-01234567.a.default" {
		t.Errorf("got %q", got)
	}
}
