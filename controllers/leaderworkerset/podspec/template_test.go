package podspec

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
)

func TestTemplates(t *testing.T) {
	const key = "689ce1b52864f5b6433d403de39845ba1ab94b07"
	type marks struct {
		Labels, Annotations, NodeSelector map[string]string
	}
	of := func(template *corev1.PodTemplateSpec) marks {
		return marks{template.Labels, template.Annotations, template.Spec.NodeSelector}
	}
	leaderLabels := map[string]string{
		prefix + "name": "leaderworkerset-multi-template", prefix + "worker-index": "0",
		prefix + "template-revision-hash": revisionKey,
	}
	workerLabels := map[string]string{
		prefix + "name": "leaderworkerset-multi-template", prefix + "group-index": "0",
		prefix + "group-key": key, prefix + "template-revision-hash": revisionKey,
	}
	newSet := func() *lwstest.Builder { return lwstest.New("leaderworkerset-multi-template").Size(4) }
	const leaderName = "leaderworkerset-multi-template-0"

	tests := map[string]struct {
		set                    *lwsv1.LeaderWorkerSet
		wantLeader, wantWorker marks
	}{
		"plain": {
			newSet().Obj(),
			marks{leaderLabels, map[string]string{prefix + "size": "4"}, nil},
			marks{workerLabels, map[string]string{prefix + "size": "4", prefix + "leader-name": leaderName}, nil},
		},
		"shared network, written": {
			newSet().SubdomainPolicy(lwsv1.SubdomainShared).Obj(),
			marks{leaderLabels, map[string]string{prefix + "size": "4"}, nil},
			marks{workerLabels, map[string]string{prefix + "size": "4", prefix + "leader-name": leaderName}, nil},
		},
		"own network": {
			newSet().SubdomainPolicy(lwsv1.SubdomainUniquePerReplica).Obj(),
			marks{leaderLabels, map[string]string{prefix + "size": "4", prefix + "subdomainPolicy": "UniquePerReplica"}, nil},
			marks{workerLabels, map[string]string{prefix + "size": "4", prefix + "leader-name": leaderName}, nil},
		},
		"exclusive, by annotation": {
			newSet().Annotation(prefix+"exclusive-topology", "cloud.google.com/gke-nodepool").Obj(),
			marks{leaderLabels, map[string]string{
				prefix + "size": "4", prefix + "exclusive-topology": "cloud.google.com/gke-nodepool",
			}, nil},
			marks{workerLabels, map[string]string{
				prefix + "size": "4", prefix + "leader-name": leaderName, prefix + "exclusive-topology": "cloud.google.com/gke-nodepool",
			}, map[string]string{"cloud.google.com/gke-nodepool": "domain-a"}},
		},
		"exclusive, by field": {
			newSet().GroupTopology("zone").Obj(),
			marks{leaderLabels, map[string]string{prefix + "size": "4", prefix + "exclusive-topology": "zone"}, nil},
			marks{
				workerLabels,
				map[string]string{prefix + "size": "4", prefix + "leader-name": leaderName, prefix + "exclusive-topology": "zone"},
				map[string]string{"zone": "domain-a"},
			},
		},
		"subgroups": {
			newSet().SubGroups(2, lwsv1.SubGroupPolicyTypeLeaderWorker).Obj(),
			marks{leaderLabels, map[string]string{
				prefix + "size": "4", prefix + "subgroup-size": "2", prefix + "subgroup-policy-type": "LeaderWorker",
			}, nil},
			marks{workerLabels, map[string]string{
				prefix + "size": "4", prefix + "leader-name": leaderName,
				prefix + "subgroup-size": "2", prefix + "subgroup-policy-type": "LeaderWorker",
			}, nil},
		},
		"subgroups, exclusive": {
			newSet().SubGroups(3, lwsv1.SubGroupPolicyTypeLeaderExcluded).Annotation(prefix+"subgroup-exclusive-topology", "topologyKey").Obj(),
			marks{leaderLabels, map[string]string{
				prefix + "size": "4", prefix + "subgroup-size": "3", prefix + "subgroup-policy-type": "LeaderExcluded",
				prefix + "subgroup-exclusive-topology": "topologyKey",
			}, nil},
			marks{workerLabels, map[string]string{
				prefix + "size": "4", prefix + "leader-name": leaderName,
				prefix + "subgroup-size": "3", prefix + "subgroup-policy-type": "LeaderExcluded",
				prefix + "subgroup-exclusive-topology": "topologyKey",
			}, nil},
		},
		"subgroup topology without subgroups": {
			newSet().Annotation(prefix+"subgroup-exclusive-topology", "topologyKey").Obj(),
			marks{leaderLabels, map[string]string{prefix + "size": "4"}, nil},
			marks{workerLabels, map[string]string{prefix + "size": "4", prefix + "leader-name": leaderName}, nil},
		},
		"both levels, by field": {
			newSet().SubGroups(2, lwsv1.SubGroupPolicyTypeLeaderWorker).GroupTopology("zone").SubGroupTopology("rack").Obj(),
			marks{leaderLabels, map[string]string{
				prefix + "size": "4", prefix + "subgroup-size": "2", prefix + "subgroup-policy-type": "LeaderWorker",
				prefix + "exclusive-topology": "zone", prefix + "subgroup-exclusive-topology": "rack",
			}, nil},
			marks{workerLabels, map[string]string{
				prefix + "size": "4", prefix + "leader-name": leaderName,
				prefix + "subgroup-size": "2", prefix + "subgroup-policy-type": "LeaderWorker",
				prefix + "exclusive-topology": "zone", prefix + "subgroup-exclusive-topology": "rack",
			}, map[string]string{"zone": "domain-a"}},
		},
		"leader with TPUs": {
			newSet().LeaderTemplate(lwstest.TPUPodTemplate(4, "leader")).Obj(),
			marks{leaderLabels, map[string]string{prefix + "size": "4"}, nil},
			marks{workerLabels, map[string]string{
				prefix + "size": "4", prefix + "leader-name": leaderName, prefix + "leader-requests-tpus": "true",
			}, nil},
		},
		"one template with TPUs": {
			newSet().WorkerTemplate(lwstest.TPUPodTemplate(4, "worker")).Obj(),
			marks{leaderLabels, map[string]string{prefix + "size": "4"}, nil},
			marks{workerLabels, map[string]string{
				prefix + "size": "4", prefix + "leader-name": leaderName, prefix + "leader-requests-tpus": "true",
			}, nil},
		},
		"only workers with TPUs": {
			newSet().LeaderTemplate(lwstest.PodTemplate("leader")).WorkerTemplate(lwstest.TPUPodTemplate(4, "worker")).Obj(),
			marks{leaderLabels, map[string]string{prefix + "size": "4"}, nil},
			marks{workerLabels, map[string]string{prefix + "size": "4", prefix + "leader-name": leaderName}, nil},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			before := test.set.DeepCopy()
			if diff := cmp.Diff(test.wantLeader, of(LeaderPodTemplate(revisionOf(test.set)))); diff != "" {
				t.Errorf("leader (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.wantWorker, of(WorkerPodTemplate(revisionOf(test.set), leaderOf(test.set, 0)))); diff != "" {
				t.Errorf("worker (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, test.set); diff != "" {
				t.Errorf("the set was changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestTemplatesKeepTheUsers(t *testing.T) {
	leader, worker := lwstest.LabelledPodTemplate("leader", "role", "leader"), lwstest.LabelledPodTemplate("worker", "role", "worker")
	worker.Labels[prefix+"group-index"] = "mine"
	worker.Annotations = map[string]string{"a": "b", prefix + "size": "mine"}
	worker.Spec.NodeSelector = map[string]string{"zone": "mine", "disk": "ssd"}
	set := lwstest.New("a").Size(2).GroupTopology("zone").LeaderTemplate(leader).WorkerTemplate(worker).Obj()

	got := WorkerPodTemplate(revisionOf(set), leaderOf(set, 3))
	want := map[string]string{
		"role": "worker", prefix + "name": "a", prefix + "group-index": "3",
		prefix + "group-key": leaderOf(set, 3).GroupKey, prefix + "template-revision-hash": revisionKey,
	}
	if diff := cmp.Diff(want, got.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	want = map[string]string{"a": "b", prefix + "size": "2", prefix + "leader-name": "a-3", prefix + "exclusive-topology": "zone"}
	if diff := cmp.Diff(want, got.Annotations); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"zone": "domain-a", "disk": "ssd"}, got.Spec.NodeSelector); diff != "" {
		t.Errorf("node selector (-want +got):\n%s", diff)
	}
	if got := LeaderPodTemplate(revisionOf(set)).Spec.Containers[0].Name; got != "leader" {
		t.Errorf("the leader's container is %q", got)
	}
}

func TestPlacementOfPods(t *testing.T) {
	set := lwstest.New("a").Size(4).SubGroups(2, lwsv1.SubGroupPolicyTypeLeaderWorker).GroupTopology("zone").SubGroupTopology("rack").Obj()
	revision := revisionOf(set)
	if got := PlacementOfPods(LeaderPodTemplate(revision).Annotations); got != revision.Placement {
		t.Errorf("got %+v, want %+v", got, revision.Placement)
	}
	if got := PlacementOfPods(nil); got != (Placement{}) {
		t.Errorf("got %+v, want none", got)
	}
}

func TestApplyConfigurationLosesNothing(t *testing.T) {
	set := lwstest.New("a").Size(4).GroupTopology("zone").
		LeaderTemplate(lwstest.TPUPodTemplate(4, "one", "two")).
		SubGroups(2, lwsv1.SubGroupPolicyTypeLeaderWorker).Obj()
	template := LeaderPodTemplate(revisionOf(set))
	template.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}}
	configuration, err := ApplyConfiguration(template)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(configuration)
	if err != nil {
		t.Fatal(err)
	}
	got := &corev1.PodTemplateSpec{}
	if err := json.Unmarshal(encoded, got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(template, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
