package disaggregatedset

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/disaggregatedset/children"
	"sigs.k8s.io/lws/controllers/disaggregatedset/scaler"
)

// write writes what is planned. A slice whose writes fail keeps no other from its
// own.
func (r *Reconciler) write(ctx context.Context, seen *observation, plans []*slicePlan) *outcome {
	w := &writer{
		Reconciler: r,
		outcome:    &outcome{},
		seen:       seen,
		remembered: r.memory.of(client.ObjectKeyFromObject(seen.Set), seen.Set.UID),
	}
	w.writeScalers(ctx)
	for _, s := range seen.Strays {
		w.remove(ctx, serviceKind, s)
	}
	for _, s := range seen.Surplus {
		w.removeGenerations(ctx, append(s.Old, s.Current), fmt.Sprintf("slice %d is no longer wanted", s.Index))
	}
	w.writeSlices(ctx, plans)
	w.tellScaling(plans)
	return w.outcome
}

// slicesAtOnce is how many slices of a set are written at the same time: what one
// waits for holds up no other.
const slicesAtOnce = 8

func (w *writer) writeSlices(ctx context.Context, plans []*slicePlan) {
	parts := make([]*outcome, len(plans))
	free := make(chan struct{}, slicesAtOnce)
	var all sync.WaitGroup
	for i, p := range plans {
		parts[i] = &outcome{}
		part := &writer{Reconciler: w.Reconciler, outcome: parts[i], seen: w.seen, remembered: w.remembered}
		free <- struct{}{}
		all.Go(func() {
			part.writeSlice(ctx, p)
			<-free
		})
	}
	all.Wait()
	for _, part := range parts {
		w.add(part)
	}
}

// writeSlice goes from what hides replicas to what moves them to what shows them.
func (w *writer) writeSlice(ctx context.Context, p *slicePlan) {
	if p.Waits != "" {
		w.Obstacles = append(w.Obstacles, fmt.Sprintf("slice %d: %s", p.Slice.Index, p.Waits))
	}
	for _, g := range p.Withdraw {
		w.withdraw(ctx, g)
	}
	whole := true
	for _, m := range p.Members {
		if m.Live == nil && !w.createMember(ctx, m) {
			whole = false
		}
	}
	for _, m := range p.Members {
		if m.Live == nil {
			continue
		}
		if !whole {
			// A revision that cannot have all its roles gets no replicas.
			m.Replicas = m.From
		}
		w.writeMember(ctx, m)
	}
	for _, g := range p.Publish {
		w.publish(ctx, g)
	}
	w.removeGenerations(ctx, p.Drained, "its revision has been replaced")
}

// createMember makes a LeaderWorkerSet without replicas: they come when all roles of
// the revision are there.
func (w *writer) createMember(ctx context.Context, m *memberPlan) bool {
	empty := m.LeaderWorkerSet
	empty.Replicas = 0
	desired, _, err := empty.Desired()
	if err != nil {
		w.failed("planning", err)
		return false
	}
	made := &lwsv1.LeaderWorkerSet{}
	if !w.create(ctx, child{lwsv1.GroupVersion.WithKind(lwsv1.Kind), *desired.Name, desired, made}) {
		return false
	}
	m.Live = made
	return true
}

func (w *writer) writeMember(ctx context.Context, m *memberPlan) {
	desired, differs, err := m.Desired()
	if err != nil {
		w.failed("planning", err)
		return
	}
	if !differs {
		return
	}
	c := child{Kind: lwsv1.GroupVersion.WithKind(lwsv1.Kind), Name: *desired.Name, Desired: desired}
	live := m.Live.DeepCopy()
	if err := w.migrate(ctx, live); err != nil {
		w.failed("updating the field managers of "+c.String(), err)
		return
	}
	desired.WithResourceVersion(live.ResourceVersion)
	if w.apply(ctx, c, live, func() *string { return desired.ResourceVersion }) {
		m.Written = m.Replicas != m.From
	}
}

// publish makes the Services of a generation, each for a role that is wanted.
func (w *writer) publish(ctx context.Context, g *generation) {
	for role, m := range g.Members {
		if m.Replicas == 0 {
			w.withdrawRole(ctx, g, role)
			continue
		}
		service := children.Service{Set: w.seen.Set, Key: m.Key, Live: g.Services[role]}
		desired, differs := service.Desired()
		c := child{corev1.SchemeGroupVersion.WithKind(serviceKind), *desired.Name, desired, &corev1.Service{}}
		switch {
		case !differs:
		case service.Live == nil:
			w.create(ctx, c)
		default:
			w.applyPlainly(ctx, c, service.Live, func() *string { return desired.ResourceVersion })
		}
	}
}

// applyPlainly migrates and applies an object on whose state nothing depends.
func (w *writer) applyPlainly(ctx context.Context, c child, live client.Object, version func() *string) {
	copied, ok := live.DeepCopyObject().(client.Object)
	if !ok {
		return
	}
	if err := w.migrate(ctx, copied); err != nil {
		w.failed("updating the field managers of "+c.String(), err)
		return
	}
	w.apply(ctx, c, copied, version)
}

func (w *writer) withdraw(ctx context.Context, g *generation) {
	for role := range g.Services {
		w.withdrawRole(ctx, g, role)
	}
}

func (w *writer) withdrawRole(ctx context.Context, g *generation, role string) {
	if s := g.Services[role]; s != nil {
		w.remove(ctx, serviceKind, s)
	}
}

// removeGenerations deletes Services first, so that no client is sent to pods that
// go.
func (w *writer) removeGenerations(ctx context.Context, all []*generation, why string) {
	var gone []string
	for _, g := range all {
		w.withdraw(ctx, g)
		for _, m := range g.Members {
			if w.remove(ctx, leaderWorkerSetKind, m.Live) {
				gone = append(gone, m.Live.Name)
			}
		}
	}
	if len(gone) > 0 {
		w.Told = append(w.Told, lwsDeleted(gone, why))
	}
}

// writeScalers makes, seeds and deletes scalers.
func (w *writer) writeScalers(ctx context.Context) {
	for _, spare := range w.seen.SpareScalers {
		if w.remove(ctx, scalerKind, spare) {
			w.Told = append(w.Told, scalerDeleted(spare.Name))
		}
	}
	for _, r := range w.seen.Roles {
		if r.isExternal() {
			w.writeScaler(ctx, r)
		}
	}
}

func (w *writer) writeScaler(ctx context.Context, r *role) {
	seed := scaler.Seed(r.Scaling, len(w.seen.Slices))
	desired, differs := (&children.Scaler{Set: w.seen.Set, Role: r.Name, Live: r.Scaler, Seed: seed}).Desired()
	c := child{dsv1.GroupVersion.WithKind(scalerKind), *desired.Name, desired, &dsv1.DisaggregatedSetRoleScaler{}}
	if r.Scaler == nil {
		if w.create(ctx, c) {
			w.Told = append(w.Told, scalerCreated(c.Name, seed))
		}
		return
	}
	if differs {
		w.apply(ctx, c, r.Scaler, func() *string { return desired.ResourceVersion })
	}
	if scaler.NeedsSeed(r.Scaling, len(w.seen.Slices)) {
		w.seedScaler(ctx, r.Scaler, seed)
	}
}

// seedScaler gives a number to a scaler that has none yet, unless somebody else
// just did.
func (w *writer) seedScaler(ctx context.Context, live *dsv1.DisaggregatedSetRoleScaler, seed int) {
	seeded := live.DeepCopy()
	replicas := int32(seed)
	seeded.Spec.Replicas = &replicas
	patch := client.MergeFromWithOptions(live, client.MergeFromWithOptimisticLock{})
	if err := w.client.Patch(ctx, seeded, patch, client.FieldOwner(dsv1.FieldManager)); err != nil {
		w.failed("seeding "+scalerKind+" "+live.Name, err)
	}
}

// tellScaling tells, once for each role, what was scaled outside of a rollout.
func (w *writer) tellScaling(plans []*slicePlan) {
	from, to, where := map[string]int{}, map[string]int{}, map[string][]string{}
	first := map[string]string{}
	for _, p := range plans {
		for _, m := range p.Members {
			if m.Written && !p.Rolling {
				first[m.Key.Role] = cmp.Or(first[m.Key.Role], m.Live.Name)
				from[m.Key.Role] += m.From
				to[m.Key.Role] += m.Replicas
				where[m.Key.Role] = append(where[m.Key.Role], strconv.Itoa(m.Key.Slice))
			}
		}
	}
	for _, r := range w.seen.Roles {
		if len(where[r.Name]) > 0 {
			w.Told = append(w.Told, scaled(r.Name, first[r.Name], from[r.Name], to[r.Name], strings.Join(where[r.Name], ", ")))
		}
	}
}
