package disaggregatedset

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/disaggregatedset/children"
	"sigs.k8s.io/lws/controllers/disaggregatedset/identity"
	"sigs.k8s.io/lws/controllers/disaggregatedset/revision"
	"sigs.k8s.io/lws/controllers/disaggregatedset/scaler"
)

// objects are all objects of a set that the cache has, one list of each kind.
type objects struct {
	LeaderWorkerSets []lwsv1.LeaderWorkerSet
	Services         []corev1.Service
	Scalers          []dsv1.DisaggregatedSetRoleScaler
}

func (r *Reconciler) observe(ctx context.Context, set *dsv1.DisaggregatedSet) (*observation, error) {
	var sets lwsv1.LeaderWorkerSetList
	var services corev1.ServiceList
	var scalers dsv1.DisaggregatedSetRoleScalerList
	for _, list := range []struct {
		into client.ObjectList
		by   client.ListOption
	}{
		{&sets, client.MatchingFields{bySetIndex: set.Name}},
		{&services, client.MatchingFields{bySetIndex: set.Name}},
		{&scalers, client.MatchingFields{byNameIndex: set.Name}},
	} {
		if err := r.client.List(ctx, list.into, client.InNamespace(set.Namespace), list.by); err != nil {
			return nil, fmt.Errorf("list %T: %w", list.into, err)
		}
	}
	seen, err := resolve(set, &objects{sets.Items, services.Items, scalers.Items})
	if err != nil {
		return nil, err
	}
	seen.Now = r.clock.Now()
	return seen, nil
}

// resolve makes an observation of a set and its objects: whose they are, what they
// belong to, and all numbers.
func resolve(set *dsv1.DisaggregatedSet, all *objects) (*observation, error) {
	seen := &observation{Set: set, Leaving: map[string]string{}, Foreign: map[string]string{}}
	for i := range set.Spec.Roles {
		spec := &set.Spec.Roles[i]
		meaning, err := revision.MeaningOf(&spec.Spec)
		if err != nil {
			return nil, fmt.Errorf("role %s: %w", spec.Name, err)
		}
		seen.Roles = append(seen.Roles, &role{Name: spec.Name, Spec: spec, Meaning: meaning})
	}
	generations, err := seen.group(all)
	if err != nil {
		return nil, err
	}
	seen.settle(generations)
	seen.resolveScalers(all.Scalers)
	seen.resolveTargets()
	return seen, nil
}

// admit says whether an object is the set's to write, and keeps in mind why not.
func (o *observation) admit(kind string, obj client.Object) bool {
	name := kind + " " + obj.GetName()
	switch claimOf(o.Set, kind, obj) {
	case claimForeign:
		o.Foreign[name] = describeOwner(obj)
	case claimLeaving:
		o.Leaving[name] = name + " is still being deleted"
	case claimOurs, claimLeftover:
		return true
	}
	return false
}

// place tells a generation from the others.
type place struct {
	Slice     int
	Revision  string
	Sliceless bool
}

// group sorts LeaderWorkerSets and Services into generations.
func (o *observation) group(all *objects) (map[place]*generation, error) {
	found := map[place]*generation{}
	for i := range all.LeaderWorkerSets {
		live := &all.LeaderWorkerSets[i]
		key, ok := identity.KeyOf(live.Labels)
		if !ok || live.Name != identity.LeaderWorkerSetName(o.Set.Name, key) || !o.admit(leaderWorkerSetKind, live) {
			continue
		}
		at := place{key.Slice, key.Revision, key.Sliceless}
		if found[at] == nil {
			found[at] = newGeneration(at)
		}
		found[at].add(key, live)
	}
	for i := range all.Services {
		live := &all.Services[i]
		key, ok := identity.KeyOf(live.Labels)
		if !ok || live.Name != identity.ServiceName(o.Set.Name, key) || !o.admit(serviceKind, live) {
			continue
		}
		if g := found[place{key.Slice, key.Revision, key.Sliceless}]; g != nil {
			g.Services[key.Role] = live
		} else {
			o.Strays = append(o.Strays, live)
		}
	}
	current, err := o.currentRevision(found)
	o.Revision = current
	return found, err
}

func newGeneration(at place) *generation {
	return &generation{
		Revision: at.Revision, Sliceless: at.Sliceless,
		Members: map[string]*member{}, Services: map[string]*corev1.Service{},
	}
}

func (g *generation) add(key identity.Key, live *lwsv1.LeaderWorkerSet) {
	replicas := int(lwsv1.Replicas(live))
	g.Members[key.Role] = &member{
		Key: key, Live: live, Replicas: replicas, Ready: min(int(live.Status.ReadyReplicas), replicas),
	}
	if created := live.CreationTimestamp.Time; created.After(g.Created) {
		g.Created = created
	}
}

// currentRevision finds the revision that the spec means.
func (o *observation) currentRevision(found map[place]*generation) (string, error) {
	var roles []revision.Role
	for _, r := range o.Roles {
		roles = append(roles, revision.Role{Name: r.Name, Meaning: r.Meaning})
	}
	if hash := revision.Hash(roles); hasRevision(found, hash) {
		return hash, nil
	}
	var existing []revision.Existing
	for at, g := range found {
		e := revision.Existing{Revision: at.Revision, Slice: at.Slice}
		for name, m := range g.Members {
			meaning, err := revision.MeaningOf(&m.Live.Spec)
			if err != nil {
				return "", fmt.Errorf("LeaderWorkerSet %s: %w", m.Live.Name, err)
			}
			e.Roles = append(e.Roles, revision.Role{Name: name, Meaning: meaning})
		}
		existing = append(existing, e)
	}
	return revision.Current(roles, existing), nil
}

func hasRevision(found map[place]*generation, hash string) bool {
	for at := range found {
		if at.Revision == hash {
			return true
		}
	}
	return false
}

// resolveScalers finds the scaler of every external role and those that are spare.
func (o *observation) resolveScalers(all []dsv1.DisaggregatedSetRoleScaler) {
	for i := range all {
		live := &all[i]
		at := slices.IndexFunc(o.Roles, func(r *role) bool {
			return r.isExternal() && identity.ScalerName(o.Set.Name, r.Name) == live.Name
		})
		switch {
		case at >= 0 && o.admit(scalerKind, live):
			o.Roles[at].Scaler = live
		case at < 0 && claimOf(o.Set, scalerKind, live) == claimOurs:
			o.SpareScalers = append(o.SpareScalers, live)
		}
	}
}

func (o *observation) resolveTargets() {
	for _, r := range o.Roles {
		r.Scaling = o.scaling(r)
		if r.Spec == nil {
			r.Targets = make([]int, len(o.Slices))
			r.Budgets = make([]children.Budget, len(o.Slices))
			continue
		}
		r.Targets = scaler.Targets(r.Scaling, len(o.Slices))
		r.Budgets = make([]children.Budget, len(o.Slices))
		for i, target := range r.Targets {
			r.Budgets[i] = children.BudgetOf(&r.Spec.Spec, target)
		}
	}
}
