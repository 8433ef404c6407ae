package scheduling

import (
	"fmt"
	"slices"

	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/schedulingv1/workloadbuilder"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// factory makes PodGroups of the templates of a Workload, for its set.
type factory struct {
	set      *lwsv1.LeaderWorkerSet
	workload *schedulingv1beta1.Workload
	// parent is the Workload as it exists, whose UID the owner references need.
	parent client.Object
	// template and above are the owner's of the set, if it has the Workload.
	template, above string
}

// leavesOf are the templates of PodGroups below those of groups: the builder finds
// only those that have nothing above them.
func leavesOf(composites []schedulingv1beta1.CompositePodGroupTemplate) []schedulingv1beta1.PodGroupTemplate {
	var leaves []schedulingv1beta1.PodGroupTemplate
	for i := range composites {
		leaves = append(leaves, composites[i].PodGroupTemplates...)
		leaves = append(leaves, leavesOf(composites[i].CompositePodGroupTemplates)...)
	}
	return leaves
}

// podGroup makes a PodGroup below a CompositePodGroup, none if that is empty.
func (f *factory) podGroup(name, template, above string) (client.Object, error) {
	if f.template != "" {
		template, above = f.template, f.above
	}
	flat := *f.workload
	flat.Spec.PodGroupTemplates = append(slices.Clone(flat.Spec.PodGroupTemplates), leavesOf(flat.Spec.CompositePodGroupTemplates)...)
	podGroup, err := workloadbuilder.NewBuilderFromExistingWorkload(&flat, buildOptions(f.set)).NewPodGroup(name, template)
	if err != nil {
		return nil, fmt.Errorf("make a PodGroup of template %s: %w", template, err)
	}
	if above != "" {
		podGroup.Spec.ParentCompositePodGroupName = &above
	}
	f.own(podGroup)
	podGroup.SetGroupVersionKind(podGroupKind)
	return podGroup, nil
}

// composite makes a CompositePodGroup of a level below another, none if that is empty.
func (f *factory) composite(name string, level Level, above string) (client.Object, error) {
	composite, err := workloadbuilder.NewBuilderFromExistingWorkload(f.workload, buildOptions(f.set)).NewCompositePodGroup(name, string(level))
	if err != nil {
		return nil, fmt.Errorf("make a CompositePodGroup of template %s: %w", level, err)
	}
	if above != "" {
		composite.Spec.ParentCompositePodGroupName = &above
	}
	f.own(composite)
	composite.SetGroupVersionKind(compositeKind)
	return composite, nil
}

// own adds the Workload to the owners: who deletes it alone ends its PodGroups.
func (f *factory) own(obj client.Object) {
	obj.SetOwnerReferences(append(obj.GetOwnerReferences(), metav1.OwnerReference{
		APIVersion: workloadKind.GroupVersion().String(), Kind: workloadKind.Kind,
		Name: f.parent.GetName(), UID: f.parent.GetUID(),
	}))
}
