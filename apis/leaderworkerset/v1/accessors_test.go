package v1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
)

// reading is what the accessors say of a set.
type reading struct {
	Replicas, Size, Partition int32
	Startup                   lwsv1.StartupPolicyType
	Subdomain                 lwsv1.SubdomainPolicy
	Identity                  lwsv1.GroupIdentityType
	Replacement               lwsv1.GroupReplacementPolicyType
	Termination               lwsv1.PodTerminationPolicyType
	Restart                   lwsv1.RestartPolicyType
	Limited                   bool
	MaxRestarts               int32
	Backoff                   [2]int32
	Counts                    bool
	SubGroupSize              int32
	SubGroupType              lwsv1.SubGroupPolicyType
	Topology, SubTopology     string
}

func read(set *lwsv1.LeaderWorkerSet) reading {
	template := &set.Spec.LeaderWorkerTemplate
	r := reading{
		Replicas: lwsv1.Replicas(set), Size: lwsv1.Size(template), Partition: lwsv1.Partition(set),
		Startup: lwsv1.StartupPolicy(set), Subdomain: lwsv1.SubdomainPolicyOf(set.Spec.NetworkConfig),
		Identity: lwsv1.GroupIdentity(set), Replacement: lwsv1.GroupReplacementPolicy(set),
		Termination: lwsv1.PodTerminationPolicy(set), Restart: lwsv1.RestartPolicy(set),
		Counts:      lwsv1.CountsRestarts(set),
		Topology:    lwsv1.GroupTopology(set.Annotations, template),
		SubTopology: lwsv1.SubGroupTopology(set.Annotations, template),
	}
	r.MaxRestarts, r.Limited = lwsv1.MaxGroupRestarts(set)
	if base, limit, ok := lwsv1.BackoffSeconds(set); ok {
		r.Backoff = [2]int32{base, limit}
	}
	if size, kind, ok := lwsv1.SubGroups(template); ok {
		r.SubGroupSize, r.SubGroupType = size, kind
	}
	return r
}

func defaults() reading {
	return reading{
		Replicas: 1, Size: 1,
		Startup: lwsv1.LeaderCreatedStartupPolicy, Subdomain: lwsv1.SubdomainShared,
		Identity: lwsv1.OrdinalGroupIdentity, Replacement: lwsv1.PostTerminationGroupReplacement,
		Termination: lwsv1.SequentialPodTermination, Restart: lwsv1.RecreateGroupOnPodRestart,
	}
}

func TestAccessors(t *testing.T) {
	number := func(value int32) *int32 { return &value }
	for name, c := range map[string]struct {
		set  *lwstest.Builder
		want func(*reading)
	}{
		"defaults": {lwstest.New("s"), func(*reading) {}},
		"sizes": {lwstest.New("s").Replicas(0).Size(8).Partition(3), func(r *reading) {
			r.Replicas, r.Size, r.Partition = 0, 8, 3
		}},
		"policies": {
			lwstest.New("s").Hash().StartupPolicy(lwsv1.LeaderReadyStartupPolicy).SubdomainPolicy(lwsv1.SubdomainUniquePerReplica).
				GroupReplacementPolicy(lwsv1.ImmediateGroupReplacement).PodTerminationPolicy(lwsv1.ParallelPodTermination),
			func(r *reading) {
				r.Identity, r.Startup, r.Subdomain = lwsv1.HashGroupIdentity, lwsv1.LeaderReadyStartupPolicy, lwsv1.SubdomainUniquePerReplica
				r.Replacement, r.Termination = lwsv1.ImmediateGroupReplacement, lwsv1.ParallelPodTermination
			},
		},
		"immediate counts with hash only": {lwstest.New("s").GroupReplacementPolicy(lwsv1.ImmediateGroupReplacement), func(*reading) {}},
		"restart policy Default":          {lwstest.New("s").RestartPolicy(lwsv1.DeprecatedDefaultRestartPolicy), func(r *reading) { r.Restart = lwsv1.NoneRestartPolicy }},
		"restart policy None":             {lwstest.New("s").RestartPolicy(lwsv1.NoneRestartPolicy), func(r *reading) { r.Restart = lwsv1.NoneRestartPolicy }},
		"annotation without a policy": {
			lwstest.New("s").Annotation(lwsv1.RecreateGroupAfterStartAnnotationKey, "true"),
			func(r *reading) { r.Restart = lwsv1.RecreateGroupAfterStart },
		},
		"annotation with the default policy": {
			lwstest.New("s").RestartPolicy(lwsv1.RecreateGroupOnPodRestart).Annotation(lwsv1.RecreateGroupAfterStartAnnotationKey, "true"),
			func(r *reading) { r.Restart = lwsv1.RecreateGroupAfterStart },
		},
		"annotation with None": {
			lwstest.New("s").RestartPolicy(lwsv1.NoneRestartPolicy).Annotation(lwsv1.RecreateGroupAfterStartAnnotationKey, "true"),
			func(r *reading) { r.Restart = lwsv1.NoneRestartPolicy },
		},
		"annotation with Default": {
			lwstest.New("s").RestartPolicy(lwsv1.DeprecatedDefaultRestartPolicy).Annotation(lwsv1.RecreateGroupAfterStartAnnotationKey, "true"),
			func(r *reading) { r.Restart = lwsv1.NoneRestartPolicy },
		},
		"annotation with another value": {lwstest.New("s").Annotation(lwsv1.RecreateGroupAfterStartAnnotationKey, "yes"), func(*reading) {}},
		"budget of zero": {lwstest.New("s").MaxGroupRestarts(0), func(r *reading) {
			r.Limited, r.Counts = true, true
		}},
		"budget": {lwstest.New("s").MaxGroupRestarts(4), func(r *reading) {
			r.Limited, r.MaxRestarts, r.Counts = true, 4, true
		}},
		"backoff": {lwstest.New("s").RestartBackoff(5, 60), func(r *reading) {
			r.Backoff, r.Counts = [2]int32{5, 60}, true
		}},
		"subgroups": {lwstest.New("s").Size(5).SubGroups(2, lwsv1.SubGroupPolicyTypeLeaderExcluded), func(r *reading) {
			r.Size, r.SubGroupSize, r.SubGroupType = 5, 2, lwsv1.SubGroupPolicyTypeLeaderExcluded
		}},
		"topology by annotation": {
			lwstest.New("s").Size(4).SubGroups(2, lwsv1.SubGroupPolicyTypeLeaderWorker).
				Annotation(lwsv1.ExclusiveTopologyAnnotationKey, "zone").Annotation(lwsv1.SubGroupExclusiveTopologyAnnotationKey, "rack"),
			func(r *reading) {
				r.Size, r.SubGroupSize, r.SubGroupType = 4, 2, lwsv1.SubGroupPolicyTypeLeaderWorker
				r.Topology, r.SubTopology = "zone", "rack"
			},
		},
		"topology by field": {
			lwstest.New("s").Size(4).SubGroups(2, lwsv1.SubGroupPolicyTypeLeaderWorker).GroupTopology("zone").SubGroupTopology("rack"),
			func(r *reading) {
				r.Size, r.SubGroupSize, r.SubGroupType = 4, 2, lwsv1.SubGroupPolicyTypeLeaderWorker
				r.Topology, r.SubTopology = "zone", "rack"
			},
		},
		"subgroup topology without subgroups": {lwstest.New("s").Annotation(lwsv1.SubGroupExclusiveTopologyAnnotationKey, "rack"), func(*reading) {}},
	} {
		t.Run(name, func(t *testing.T) {
			want := defaults()
			c.want(&want)
			if diff := cmp.Diff(want, read(c.set.Obj())); diff != "" {
				t.Errorf("reads otherwise (-want +got):\n%s", diff)
			}
		})
	}

	// Forms that no builder has: what was stored before a rule or a default existed.
	for name, c := range map[string]struct {
		change func(*lwsv1.LeaderWorkerSetSpec)
		want   func(*reading)
	}{
		"empty network": {func(s *lwsv1.LeaderWorkerSetSpec) { s.NetworkConfig = &lwsv1.NetworkConfig{} }, func(*reading) {}},
		"empty rollout": {func(s *lwsv1.LeaderWorkerSetSpec) {
			s.RolloutStrategy.RollingUpdateConfiguration = &lwsv1.RollingUpdateConfiguration{}
		}, func(*reading) {}},
		"negative numbers": {func(s *lwsv1.LeaderWorkerSetSpec) {
			s.LeaderWorkerTemplate.Size = number(-2)
			s.LeaderWorkerTemplate.MaxGroupRestarts = number(-1)
		}, func(r *reading) { r.Limited, r.Counts = true, true }},
		"empty subgroups": {func(s *lwsv1.LeaderWorkerSetSpec) { s.LeaderWorkerTemplate.SubGroupPolicy = &lwsv1.SubGroupPolicy{} }, func(*reading) {}},
		"subgroups of 0": {func(s *lwsv1.LeaderWorkerSetSpec) {
			s.LeaderWorkerTemplate.SubGroupPolicy = &lwsv1.SubGroupPolicy{SubGroupSize: number(0)}
		}, func(*reading) {}},
		"subgroups without type": {func(s *lwsv1.LeaderWorkerSetSpec) {
			s.LeaderWorkerTemplate.SubGroupPolicy = &lwsv1.SubGroupPolicy{SubGroupSize: number(1)}
		}, func(r *reading) { r.SubGroupSize, r.SubGroupType = 1, lwsv1.SubGroupPolicyTypeLeaderWorker }},
		"empty backoff": {func(s *lwsv1.LeaderWorkerSetSpec) { s.LeaderWorkerTemplate.RestartBackoff = &lwsv1.RestartBackoff{} }, func(r *reading) { r.Backoff, r.Counts = [2]int32{10, 300}, true }},
		"large backoff base": {func(s *lwsv1.LeaderWorkerSetSpec) {
			s.LeaderWorkerTemplate.RestartBackoff = &lwsv1.RestartBackoff{BaseSeconds: number(600)}
		}, func(r *reading) { r.Backoff, r.Counts = [2]int32{600, 600}, true }},
		"placement of type None": {func(s *lwsv1.LeaderWorkerSetSpec) {
			s.LeaderWorkerTemplate.PlacementPolicy = &lwsv1.PlacementPolicy{Type: lwsv1.NonePlacement, Topology: "zone"}
		}, func(*reading) {}},
	} {
		t.Run(name, func(t *testing.T) {
			set := lwstest.New("s").Obj()
			c.change(&set.Spec)
			want := defaults()
			c.want(&want)
			if diff := cmp.Diff(want, read(set)); diff != "" {
				t.Errorf("reads otherwise (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlacementFieldGoesBeforeTheAnnotation(t *testing.T) {
	set := lwstest.New("s").Annotation(lwsv1.ExclusiveTopologyAnnotationKey, "zone").Obj()
	set.Spec.LeaderWorkerTemplate.PlacementPolicy = &lwsv1.PlacementPolicy{Type: lwsv1.NonePlacement}
	if got := lwsv1.GroupTopology(set.Annotations, &set.Spec.LeaderWorkerTemplate); got != "" {
		t.Errorf("topology is %q, want none", got)
	}
}

func TestLeaderTemplate(t *testing.T) {
	set := lwstest.New("s").Obj()
	if got := lwsv1.LeaderTemplate(&set.Spec.LeaderWorkerTemplate).Spec.Containers[0].Name; got != "worker" {
		t.Errorf("the leader's container is %s, want that of the worker template", got)
	}
	set = lwstest.New("s").LeaderTemplate(lwstest.PodTemplate("leader")).Obj()
	if got := lwsv1.LeaderTemplate(&set.Spec.LeaderWorkerTemplate).Spec.Containers[0].Name; got != "leader" {
		t.Errorf("the leader's container is %s, want that of the leader template", got)
	}
}
