package main

import (
	"context"
	"slices"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	"sigs.k8s.io/lws/apis/disaggregatedset/v1/dstest"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
)

// router is the role that comes and goes.
const router = "router"

// drawSplit draws an operation on a DisaggregatedSet.
func (t *traffic) drawSplit() (string, func(context.Context) error) {
	const all = 20
	n := t.random.IntN(all)
	switch {
	case t.split.wants(n < 4):
		return "split create", t.createSplit
	case n < 7:
		return "split scale", t.scaleRole
	case n < 11:
		return "split update", t.updateRole
	case n < 13:
		return "split slices", t.slice
	case n < 15:
		return "split roles", t.toggleRole
	case n < 18:
		return "split fail", t.failRole
	default:
		return "split delete", t.deleteSplit
	}
}

// createSplit makes a set; the decode role of every other one is scaled from outside.
func (t *traffic) createSplit(ctx context.Context) error {
	const most = 2
	name := t.split.add("d")
	decode := t.role(dstest.Decode)
	if t.random.IntN(2) == 0 {
		decode.External()
	}
	set := dstest.New(name).Namespace(namespaceName).Roles(t.role(dstest.Prefill), decode).Slices(t.number(most)).Obj()
	if err := t.client.Create(ctx, set); err != nil {
		return err
	}
	t.split.exists[name] = true
	return nil
}

func (t *traffic) role(name string) *dstest.RoleBuilder {
	const most = 2
	template := lwstest.New(name).WorkerTemplate(podTemplate()).Replicas(t.number(most)).Size(t.number(most))
	return dstest.NewRole(name).From(template)
}

// scaleRole scales a role where its number comes from: in its spec or at its scaler.
func (t *traffic) scaleRole(ctx context.Context) error {
	const most = 4
	set := &dsv1.DisaggregatedSet{}
	if err := t.client.Get(ctx, t.pick(t.split), set); err != nil {
		return err
	}
	role := &set.Spec.Roles[t.random.IntN(len(set.Spec.Roles))]
	if dsv1.IsExternal(role) {
		return t.scaleScaler(ctx, set.Name+"-"+role.Name, t.random.Int32N(most+1))
	}
	patch := client.MergeFrom(set.DeepCopy())
	role.Spec.Replicas = new(t.number(most))
	return t.client.Patch(ctx, set, patch)
}

func (t *traffic) scaleScaler(ctx context.Context, name string, replicas int32) error {
	meta := metav1.ObjectMeta{Namespace: namespaceName, Name: name}
	scaler := &dsv1.DisaggregatedSetRoleScaler{ObjectMeta: meta}
	scale := &autoscalingv1.Scale{ObjectMeta: meta, Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
	return t.client.SubResource("scale").Update(ctx, scaler, client.WithSubResourceBody(scale))
}

func (t *traffic) updateRole(ctx context.Context) error {
	return t.changeSplit(ctx, func(set *dsv1.DisaggregatedSet) {
		role := &set.Spec.Roles[t.random.IntN(len(set.Spec.Roles))]
		role.Spec.LeaderWorkerTemplate.WorkerTemplate.Spec.Containers[0].Image = t.image()
	})
}

func (t *traffic) slice(ctx context.Context) error {
	const most = 3
	return t.changeSplit(ctx, func(set *dsv1.DisaggregatedSet) { set.Spec.Slices = new(t.number(most)) })
}

// toggleRole adds the role that comes and goes, or removes it.
func (t *traffic) toggleRole(ctx context.Context) error {
	return t.changeSplit(ctx, func(set *dsv1.DisaggregatedSet) {
		isRouter := func(role dsv1.DisaggregatedRoleSpec) bool { return role.Name == router }
		if slices.ContainsFunc(set.Spec.Roles, isRouter) {
			set.Spec.Roles = slices.DeleteFunc(set.Spec.Roles, isRouter)
			return
		}
		set.Spec.Roles = append(set.Spec.Roles, t.role(router).Obj())
	})
}

func (t *traffic) changeSplit(ctx context.Context, change func(*dsv1.DisaggregatedSet)) error {
	set := &dsv1.DisaggregatedSet{}
	if err := t.client.Get(ctx, t.pick(t.split), set); err != nil {
		return err
	}
	patch := client.MergeFrom(set.DeepCopy())
	change(set)
	return t.client.Patch(ctx, set, patch)
}

func (t *traffic) failRole(ctx context.Context) error {
	return t.failPod(ctx, client.MatchingLabels{dsv1.SetNameLabelKey: t.pick(t.split).Name})
}

// deleteSplit deletes a set before or after what it owns.
func (t *traffic) deleteSplit(ctx context.Context) error {
	cascades := []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground}
	key := t.pick(t.split)
	delete(t.split.exists, key.Name)
	set := &dsv1.DisaggregatedSet{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	return t.client.Delete(ctx, set, client.PropagationPolicy(cascades[t.random.IntN(len(cascades))]))
}
