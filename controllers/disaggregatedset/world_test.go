//go:build integration

package disaggregatedset

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	"sigs.k8s.io/lws/apis/disaggregatedset/v1/dstest"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/disaggregatedset/identity"
)

// world is a namespace with one set, its reconciler, and somebody who plays the
// controller of LeaderWorkerSets.
type world struct {
	ctx        context.Context
	namespace  string
	set        *dsv1.DisaggregatedSet
	counting   *counting
	recorder   *events.FakeRecorder
	reconciler *Reconciler
	// slow are LeaderWorkerSets that do not become ready, by a part of the name.
	slow []string
	// watch is called with every state that anybody could see.
	watch func(*world)
}

func newWorld(ctx context.Context, build *dstest.Builder) *world {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "ds-"}}
	Expect(live.Create(ctx, namespace)).To(Succeed())
	w := &world{ctx: ctx, namespace: namespace.Name, set: build.Namespace(namespace.Name).Obj()}
	Expect(live.Create(ctx, w.set)).To(Succeed())
	w.restart()
	return w
}

// restart is a manager that begins anew.
func (w *world) restart() {
	w.counting = newCounting(cached)
	w.recorder = events.NewFakeRecorder(1000)
	w.reconciler = New(w.counting, live, w.recorder, Options{})
}

func (w *world) key() client.ObjectKey { return client.ObjectKeyFromObject(w.set) }

// reconcile runs once, when the cache has everything.
func (w *world) reconcile() (ctrl.Result, error) {
	GinkgoHelper()
	w.catchUp()
	w.counting.lists, w.counting.gets, w.counting.writes = map[string]int{}, map[string]int{}, nil
	result, err := w.reconciler.Reconcile(w.ctx, ctrl.Request{NamespacedName: w.key()})
	w.observeWorld()
	return result, err
}

func (w *world) observeWorld() {
	if w.watch != nil {
		w.watch(w)
	}
}

// catchUp waits until the cache shows what the API server has.
func (w *world) catchUp() {
	GinkgoHelper()
	for _, list := range []func() client.ObjectList{
		func() client.ObjectList { return &dsv1.DisaggregatedSetList{} },
		func() client.ObjectList { return &lwsv1.LeaderWorkerSetList{} },
		func() client.ObjectList { return &corev1.ServiceList{} },
		func() client.ObjectList { return &dsv1.DisaggregatedSetRoleScalerList{} },
	} {
		Eventually(func(g Gomega) {
			g.Expect(w.versions(cached, list())).To(Equal(w.versions(live, list())), "the cache lags behind")
		}, 10*time.Second, 5*time.Millisecond).Should(Succeed())
	}
}

// versions are the objects of a list that the cache is to have, with their versions.
func (w *world) versions(c client.Client, list client.ObjectList) []string {
	GinkgoHelper()
	Expect(c.List(w.ctx, list, client.InNamespace(w.namespace))).To(Succeed())
	items, err := meta.ExtractList(list)
	Expect(err).NotTo(HaveOccurred())
	versions := []string{}
	for _, item := range items {
		obj := item.(client.Object)
		_, isSet := obj.(*dsv1.DisaggregatedSet)
		_, isScaler := obj.(*dsv1.DisaggregatedSetRoleScaler)
		if isSet || isScaler || identity.SetOf(obj.GetLabels()) != "" {
			versions = append(versions, obj.GetName()+"@"+obj.GetResourceVersion())
		}
	}
	slices.Sort(versions)
	return versions
}

// settle reconciles, and lets pods become ready, until nothing is left to do.
func (w *world) settle() {
	GinkgoHelper()
	for range 400 {
		result, err := w.reconcile()
		Expect(err).NotTo(HaveOccurred())
		wrote := len(w.counting.writes) > 0
		if !w.becomeReady() && !wrote && result.RequeueAfter == 0 {
			return
		}
	}
	Fail("the set does not settle: " + w.describe())
}

// becomeReady plays the controller of LeaderWorkerSets for one step: all replicas
// exist and, but for slow ones, are ready. It says whether anything changed.
func (w *world) becomeReady() bool {
	GinkgoHelper()
	changed := false
	for _, set := range w.sets() {
		before := set.DeepCopy()
		set.Status.Replicas = *set.Spec.Replicas
		set.Status.ObservedGeneration = set.Generation
		set.Status.ReadyReplicas = *set.Spec.Replicas
		if slices.ContainsFunc(w.slow, func(part string) bool { return strings.Contains(set.Name, part) }) {
			set.Status.ReadyReplicas = 0
		}
		if before.Status.Replicas != set.Status.Replicas || before.Status.ReadyReplicas != set.Status.ReadyReplicas ||
			before.Status.ObservedGeneration != set.Status.ObservedGeneration {
			Expect(live.Status().Patch(w.ctx, &set, client.MergeFrom(before))).To(Succeed())
			changed = true
			w.observeWorld()
		}
	}
	return changed
}

// sets are the LeaderWorkerSets of the namespace.
func (w *world) sets() []lwsv1.LeaderWorkerSet {
	GinkgoHelper()
	var list lwsv1.LeaderWorkerSetList
	Expect(live.List(w.ctx, &list, client.InNamespace(w.namespace))).To(Succeed())
	return list.Items
}

func (w *world) services() []string {
	GinkgoHelper()
	var list corev1.ServiceList
	Expect(live.List(w.ctx, &list, client.InNamespace(w.namespace))).To(Succeed())
	names := []string{}
	for _, s := range list.Items {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	return names
}

// replicas are those of every LeaderWorkerSet as "slice/role replicas", without the
// revision when there is one.
func (w *world) replicas() []string {
	out := []string{}
	for _, set := range w.sets() {
		key, _ := identity.KeyOf(set.Labels)
		out = append(out, fmt.Sprintf("%d/%s %d", key.Slice, key.Role, *set.Spec.Replicas))
	}
	slices.Sort(out)
	return out
}

func (w *world) describe() string {
	var out strings.Builder
	for _, set := range w.sets() {
		fmt.Fprintf(&out, "\n%s %d/%d", set.Name, set.Status.ReadyReplicas, *set.Spec.Replicas)
	}
	w.reload()
	fmt.Fprintf(&out, "\n%+v\nlast writes %v", w.set.Status, w.counting.writes)
	return out.String()
}

func (w *world) reload() *dsv1.DisaggregatedSet {
	GinkgoHelper()
	Expect(live.Get(w.ctx, w.key(), w.set)).To(Succeed())
	return w.set
}

// change edits the spec.
func (w *world) change(edit func(*dsv1.DisaggregatedSetSpec)) {
	GinkgoHelper()
	before := w.reload().DeepCopy()
	edit(&w.set.Spec)
	Expect(live.Patch(w.ctx, w.set, client.MergeFrom(before))).To(Succeed())
}

func image(name string) func(*dsv1.DisaggregatedSetSpec) {
	return func(spec *dsv1.DisaggregatedSetSpec) {
		for i := range spec.Roles {
			spec.Roles[i].Spec.LeaderWorkerTemplate.WorkerTemplate.Spec.Containers[0].Image = name
		}
	}
}

func (w *world) condition(kind string) *metav1.Condition {
	GinkgoHelper()
	c := meta.FindStatusCondition(w.reload().Status.Conditions, kind)
	Expect(c).NotTo(BeNil(), "condition %s of %+v", kind, w.set.Status)
	return c
}

// told are the events so far, by reason.
func (w *world) told() map[string]int {
	counts := map[string]int{}
	for {
		select {
		case text := <-w.recorder.Events:
			counts[strings.Fields(text)[1]]++
		default:
			return counts
		}
	}
}

func (w *world) revision() string { return w.reload().Status.CurrentRevision }
