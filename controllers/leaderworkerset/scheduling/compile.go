package scheduling

import (
	"fmt"

	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-helpers/scheduling/schedulingv1/workloadbuilder"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

// Counts are the numbers that the minimum of a gang is computed from.
type Counts struct {
	// Replicas and Size are those of the set, or of the revision of one group.
	Replicas, Size int32
	// Set is the minimum of a gang of all pods of the set.
	Set int32
}

// CountsOf are the counts of a set's spec.
func CountsOf(set *lwsv1.LeaderWorkerSet) Counts {
	c := Counts{Replicas: lwsv1.Replicas(set), Size: lwsv1.Size(&set.Spec.LeaderWorkerTemplate)}
	c.Set = max(c.Replicas*c.Size, 1)
	return c
}

var schedulingPath = field.NewPath("spec", "scheduling")

const (
	policyField      = "schedulingPolicy"
	constraintsField = "schedulingConstraints"
	disruptionField  = "disruptionMode"
	claimsField      = "resourceClaims"
)

// trees are the templates of a set as workloadbuilder takes them: one tree, but for
// the role level alone, whose templates have nothing above them.
func trees(set *lwsv1.LeaderWorkerSet, counts Counts) []*workloadbuilder.WorkloadItem {
	levels := levelsOf(set.Spec.Scheduling)
	if len(levels) == 1 && levels[0] == LevelRole {
		return roles(set, counts)
	}
	var below []*workloadbuilder.WorkloadItem
	for i := len(levels) - 1; i >= 0; i-- {
		switch levels[i] {
		case LevelRole:
			below = roles(set, counts)
		case LevelReplica:
			below = []*workloadbuilder.WorkloadItem{replicaItem(set, counts, below)}
		case LevelSet:
			below = []*workloadbuilder.WorkloadItem{setItem(set, counts, below)}
		}
	}
	return below
}

// block is what is set at the level of a set or a replica.
type block struct {
	policy      *schedulingv1alpha3.WorkloadCompositePodGroupSchedulingPolicy
	constraints *schedulingv1alpha3.WorkloadCompositePodGroupSchedulingConstraints
	mode        *schedulingv1alpha3.WorkloadCompositePodGroupDisruptionMode
	otherwise   *workloadbuilder.SchedulingPolicy
}

func setItem(set *lwsv1.LeaderWorkerSet, counts Counts, children []*workloadbuilder.WorkloadItem) *workloadbuilder.WorkloadItem {
	s := set.Spec.Scheduling
	b := block{policy: s.SchedulingPolicy, constraints: s.SchedulingConstraints, mode: s.DisruptionMode, otherwise: basic()}
	if len(children) > 0 {
		return b.composite(set, string(LevelSet), schedulingPath, max(counts.Replicas, 1), children)
	}
	return b.leaf(set, string(LevelSet), schedulingPath, counts.Set)
}

func replicaItem(set *lwsv1.LeaderWorkerSet, counts Counts, children []*workloadbuilder.WorkloadItem) *workloadbuilder.WorkloadItem {
	b := block{otherwise: &workloadbuilder.SchedulingPolicy{Gang: &workloadbuilder.GangSchedulingPolicy{}}}
	if replica := set.Spec.Scheduling.Replica; replica != nil {
		b.policy, b.constraints, b.mode = replica.SchedulingPolicy, replica.SchedulingConstraints, replica.DisruptionMode
	}
	path := schedulingPath.Child("replica")
	if len(children) > 0 {
		return b.composite(set, string(LevelReplica), path, int32(len(children)), children)
	}
	return b.leaf(set, string(LevelReplica), path, counts.Size)
}

func roles(set *lwsv1.LeaderWorkerSet, counts Counts) []*workloadbuilder.WorkloadItem {
	path := schedulingPath.Child("replica")
	var leader, worker workloadbuilder.WorkloadInput
	if l := set.Spec.Scheduling.Replica.Leader; l != nil {
		leader = roleInput(l.SchedulingPolicy, l.SchedulingConstraints, l.DisruptionMode, l.ResourceClaims)
	}
	if w := set.Spec.Scheduling.Replica.Worker; w != nil {
		worker = roleInput(w.SchedulingPolicy, w.SchedulingConstraints, w.DisruptionMode, w.ResourceClaims)
	}
	item := func(name string, input workloadbuilder.WorkloadInput, minimum int32) *workloadbuilder.WorkloadItem {
		return &workloadbuilder.WorkloadItem{
			Name: name, Path: path.Child(name), Input: input,
			DefaultConfig: defaults(set, basic()), Callbacks: []workloadbuilder.SchedulingConfigFunc{gangOf(minimum)},
		}
	}
	return []*workloadbuilder.WorkloadItem{item(roleLeader, leader, 1), item(roleWorker, worker, max(counts.Size-1, 1))}
}

func roleInput(
	policy *schedulingv1alpha3.WorkloadPodGroupSchedulingPolicy,
	constraints *schedulingv1alpha3.WorkloadPodGroupSchedulingConstraints,
	mode *schedulingv1alpha3.WorkloadPodGroupDisruptionMode,
	claims []schedulingv1alpha3.WorkloadPodGroupResourceClaim,
) workloadbuilder.WorkloadInput {
	return workloadbuilder.WorkloadInput{
		Policy:         workloadbuilder.PolicyInput{PodGroupData: policy, PathElements: []string{policyField}},
		Constraints:    workloadbuilder.ConstraintsInput{PodGroupData: constraints, PathElements: []string{constraintsField}},
		DisruptionMode: workloadbuilder.DisruptionModeInput{PodGroupData: mode, PathElements: []string{disruptionField}},
		ResourceClaims: workloadbuilder.ResourceClaimsInput{PodGroupData: claims, PathElements: []string{claimsField}},
	}
}

// leaf makes a PodGroup of a level that could also be one of groups.
func (b block) leaf(set *lwsv1.LeaderWorkerSet, name string, path *field.Path, minimum int32) *workloadbuilder.WorkloadItem {
	item := &workloadbuilder.WorkloadItem{
		Name: name, Path: path,
		DefaultConfig: defaults(set, b.otherwise), Callbacks: []workloadbuilder.SchedulingConfigFunc{gangOf(minimum)},
	}
	item.Input = roleInput(nil, nil, nil, nil)
	if b.policy != nil {
		item.Input.Policy.PodGroupData = podGroupPolicy(b.policy)
	}
	if b.constraints != nil {
		item.Input.Constraints.PodGroupData = &schedulingv1alpha3.WorkloadPodGroupSchedulingConstraints{Topology: b.constraints.Topology}
	}
	if b.mode != nil {
		item.Input.DisruptionMode.PodGroupData = podGroupMode(b.mode)
	}
	return item
}

// composite makes a group of groups. An explicit minGroupCount is the user's.
func (b block) composite(
	set *lwsv1.LeaderWorkerSet, name string, path *field.Path, groups int32, children []*workloadbuilder.WorkloadItem,
) *workloadbuilder.WorkloadItem {
	item := &workloadbuilder.WorkloadItem{
		Name: name, Path: path, Children: children,
		DefaultConfig: defaults(set, b.otherwise), Callbacks: []workloadbuilder.SchedulingConfigFunc{gangOfGroups(groups)},
	}
	item.Input = roleInput(nil, nil, nil, nil)
	item.Input.Policy.CompositePodGroupData = b.policy
	item.Input.Constraints.CompositePodGroupData = b.constraints
	item.Input.DisruptionMode.CompositePodGroupData = b.mode
	return item
}

func podGroupPolicy(p *schedulingv1alpha3.WorkloadCompositePodGroupSchedulingPolicy) *schedulingv1alpha3.WorkloadPodGroupSchedulingPolicy {
	policy := &schedulingv1alpha3.WorkloadPodGroupSchedulingPolicy{}
	if p.Basic != nil {
		policy.Basic = &schedulingv1alpha3.WorkloadPodGroupBasicSchedulingPolicy{}
	}
	if p.Gang != nil {
		policy.Gang = &schedulingv1alpha3.WorkloadPodGroupGangSchedulingPolicy{}
	}
	return policy
}

func podGroupMode(m *schedulingv1alpha3.WorkloadCompositePodGroupDisruptionMode) *schedulingv1alpha3.WorkloadPodGroupDisruptionMode {
	mode := &schedulingv1alpha3.WorkloadPodGroupDisruptionMode{}
	if m.Single != nil {
		mode.Single = &schedulingv1alpha3.WorkloadPodGroupSingleDisruptionMode{}
	}
	if m.All != nil {
		mode.All = &schedulingv1alpha3.WorkloadPodGroupAllDisruptionMode{}
	}
	return mode
}

func basic() *workloadbuilder.SchedulingPolicy {
	return &workloadbuilder.SchedulingPolicy{Basic: &workloadbuilder.BasicSchedulingPolicy{}}
}

// defaults: all pods of a set have the priority of its workers.
func defaults(set *lwsv1.LeaderWorkerSet, policy *workloadbuilder.SchedulingPolicy) *workloadbuilder.SchedulingConfig {
	return &workloadbuilder.SchedulingConfig{
		Policy:            policy,
		PriorityClassName: set.Spec.LeaderWorkerTemplate.WorkerTemplate.Spec.PriorityClassName,
	}
}

// gangOf sets the minimum of a gang: it follows from the set, so that an explicit
// one is either the same or of another revision.
func gangOf(minimum int32) workloadbuilder.SchedulingConfigFunc {
	return func(config *workloadbuilder.SchedulingConfig) {
		if config.Policy.Gang != nil {
			config.Policy.Gang.MinCount = &minimum
		}
	}
}

func gangOfGroups(groups int32) workloadbuilder.SchedulingConfigFunc {
	return func(config *workloadbuilder.SchedulingConfig) {
		if config.Policy.Gang != nil && config.Policy.Gang.MinCount == nil {
			config.Policy.Gang.MinCount = &groups
		}
	}
}

func builderOf(set *lwsv1.LeaderWorkerSet, tree *workloadbuilder.WorkloadItem) *workloadbuilder.Builder {
	return workloadbuilder.NewBuilder(tree, buildOptions(set))
}

func buildOptions(set *lwsv1.LeaderWorkerSet) workloadbuilder.BuildOptions {
	owner := *metav1.NewControllerRef(set, lwsv1.GroupVersion.WithKind(lwsv1.Kind))
	return workloadbuilder.BuildOptions{
		Name:                   identity.WorkloadName(set.Name),
		Namespace:              set.Namespace,
		Owner:                  &owner,
		AllowedPolicies:        []workloadbuilder.SchedulingPolicyOption{workloadbuilder.BasicPolicy, workloadbuilder.GangPolicy},
		AllowedDisruptionModes: []workloadbuilder.DisruptionModeOption{workloadbuilder.SingleMode, workloadbuilder.AllMode},
	}
}

// compile makes the Workload of a set.
func compile(set *lwsv1.LeaderWorkerSet, counts Counts) (*schedulingv1beta1.Workload, error) {
	var workload *schedulingv1beta1.Workload
	for _, tree := range trees(set, counts) {
		built, err := builderOf(set, tree).BuildWorkload()
		if err != nil {
			return nil, fmt.Errorf("compile spec.scheduling: %w", err)
		}
		if workload == nil {
			workload = built
			continue
		}
		workload.Spec.PodGroupTemplates = append(workload.Spec.PodGroupTemplates, built.Spec.PodGroupTemplates...)
	}
	return workload, nil
}
