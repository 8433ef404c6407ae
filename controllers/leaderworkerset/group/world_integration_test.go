//go:build integration

package group

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

// world is a namespace with one set "x", the manager's reconciler of its groups, and
// everybody else as tests act them.
type world struct {
	ctx       context.Context
	namespace string
	clock     *clocktesting.FakePassiveClock
	recorder  *events.FakeRecorder

	// The manager: restart makes it anew.
	groups  *Reconciler
	waker   *waker
	reports *Reports
	queue   queue
	after   map[identity.Group]time.Duration // what the last reconcile asked for
	errs    []error
	setsOff bool // the reconciler of sets does not work

	mu     sync.Mutex
	writes []string
	reads  []string           // past the cache
	fail   func(string) error // a write that does not come through
	seen   map[string]string  // versions that the watches showed

	pending map[string]string // pods that stay Pending, and what the scheduler says
	hanging map[string]bool   // pods that do not terminate
	leaders []types.UID       // that were made
}

// roster finds the world of a namespace.
type roster struct {
	mu     sync.Mutex
	worlds map[string]*world
}

func (r *roster) notify(before, after client.Object) {
	r.mu.Lock()
	defer r.mu.Unlock()
	obj := after
	if obj == nil {
		obj = before
	}
	if w := r.worlds[obj.GetNamespace()]; w != nil {
		w.notify(before, after)
	}
}

func newWorld(ctx context.Context, build func(*lwstest.Builder)) *world {
	ginkgo.GinkgoHelper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "group-"}}
	Expect(live.Create(ctx, namespace)).To(Succeed())
	w := &world{
		ctx: ctx, namespace: namespace.Name,
		clock: clocktesting.NewFakePassiveClock(time.Now()),
		seen:  map[string]string{}, pending: map[string]string{}, hanging: map[string]bool{},
	}
	w.restart()
	worlds.mu.Lock()
	worlds.worlds[w.namespace] = w
	worlds.mu.Unlock()
	builder := lwstest.New("x").Namespace(w.namespace).Replicas(1)
	build(builder)
	set := builder.Obj()
	set.UID, set.Generation = "", 0
	Expect(live.Create(ctx, set)).To(Succeed())
	w.rollOut()
	return w
}

// restart starts the manager anew, without what it kept in memory, and wakes all
// groups, as the first lists of its watches do.
func (w *world) restart() {
	w.mu.Lock()
	w.recorder = events.NewFakeRecorder(10000)
	w.reports = NewReports()
	w.queue = newQueue()
	w.after = map[identity.Group]time.Duration{}
	w.groups = New(w.counting(api), w.readingLive(live), w.recorder, Options{Reports: w.reports, Clock: w.clock})
	w.waker = &waker{reader: api, ledger: w.groups.ledger, paired: w.groups.paired}
	w.mu.Unlock()
	for _, p := range w.pods() {
		wakePod(&p, turn, w.queue)
	}
	for _, s := range w.statefulSets() {
		if group, ok := identity.GroupOfWorkerStatefulSet(&s); ok {
			w.queue.Add(group)
		}
	}
}

func (w *world) notify(before, after client.Object) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if before != nil {
		delete(w.seen, versionKey(before))
	}
	if after != nil {
		w.seen[versionKey(after)] = after.GetResourceVersion()
	}
	obj := after
	if obj == nil {
		obj = before
	}
	switch obj.(type) {
	case *corev1.Pod:
		pass[*corev1.Pod](w.ctx, w.waker.pods(), w.queue, before, after)
	case *appsv1.StatefulSet:
		pass[*appsv1.StatefulSet](w.ctx, w.waker.statefulSets(), w.queue, before, after)
	case *corev1.Service:
		pass[*corev1.Service](w.ctx, w.waker.services(), w.queue, before, after)
	case *lwsv1.LeaderWorkerSet:
		pass[*lwsv1.LeaderWorkerSet](w.ctx, w.waker.sets(), w.queue, before, after)
	}
}

func versionKey(obj client.Object) string {
	return fmt.Sprintf("%T %s", obj, obj.GetName())
}

// sync waits until the watches have shown what the API server has.
func (w *world) sync() {
	ginkgo.GinkgoHelper()
	Eventually(func(g Gomega) {
		want := w.versions()
		w.mu.Lock()
		defer w.mu.Unlock()
		g.Expect(w.seen).To(Equal(want), "versions that the watches showed")
	}).WithTimeout(20 * time.Second).WithPolling(2 * time.Millisecond).Should(Succeed())
}

func (w *world) versions() map[string]string {
	versions := map[string]string{}
	add := func(obj client.Object) {
		if _, sets := obj.(*lwsv1.LeaderWorkerSet); sets || obj.GetLabels()[lwsv1.SetNameLabelKey] != "" {
			versions[versionKey(obj)] = obj.GetResourceVersion()
		}
	}
	for _, p := range w.pods() {
		add(&p)
	}
	for _, s := range w.statefulSets() {
		add(&s)
	}
	for _, s := range list(w, &corev1.ServiceList{}).Items {
		add(&s)
	}
	for _, s := range list(w, &lwsv1.LeaderWorkerSetList{}).Items {
		add(&s)
	}
	for _, r := range list(w, &appsv1.ControllerRevisionList{}).Items {
		add(&r)
	}
	return versions
}

// work reconciles the groups that are woken until none is.
func (w *world) work() {
	ginkgo.GinkgoHelper()
	for range 100 {
		w.sync()
		if w.queue.Len() == 0 {
			return
		}
		for w.queue.Len() > 0 {
			group, _ := w.queue.Get()
			w.reconcile(group)
			w.queue.Done(group)
		}
		w.reconcileSet()
	}
	ginkgo.Fail(fmt.Sprintf("groups wake each other for ever; last writes: %v", w.writes))
}

func (w *world) reconcile(group identity.Group) {
	result, err := w.groups.Reconcile(w.ctx, group)
	w.after[group] = result.RequeueAfter
	if err != nil {
		w.errs = append(w.errs, err)
	}
}

// wake reconciles groups without an event, as when a deadline has come.
func (w *world) wake(indexes ...int32) {
	ginkgo.GinkgoHelper()
	for _, index := range indexes {
		w.queue.Add(w.group(index))
	}
	w.work()
}

func (w *world) key() types.NamespacedName {
	return types.NamespacedName{Namespace: w.namespace, Name: "x"}
}

func (w *world) group(index int32) identity.Group { return identity.OrdinalGroup(w.key(), index) }

// reconcileSet is what the reconciler of sets does with reports: it stores the counts.
func (w *world) reconcileSet() {
	ginkgo.GinkgoHelper()
	if w.setsOff {
		return
	}
	set := &lwsv1.LeaderWorkerSet{}
	if err := live.Get(w.ctx, w.key(), set); apierrors.IsNotFound(err) {
		return
	}
	counts, errs := ReadCounts(set)
	Expect(errs).To(BeEmpty())
	changed := false
	for _, report := range w.reports.ForSet(w.key()) {
		if report.Restart != nil {
			changed = counts.Raise(report.Restart.Entry, report.Restart.Leader) || changed
		}
		if report.Recovery != nil {
			changed = counts.Clear(*report.Recovery) || changed
		}
	}
	if !changed {
		return
	}
	patch := client.MergeFrom(set.DeepCopy())
	restarts, leaders := counts.Annotations()
	set.Annotations = maps.Clone(set.Annotations)
	if set.Annotations == nil {
		set.Annotations = map[string]string{}
	}
	set.Annotations[lwsv1.GroupRestartCountsAnnotationKey] = restarts
	set.Annotations[lwsv1.GroupRestartLeadersAnnotationKey] = leaders
	Expect(live.Patch(w.ctx, set, patch)).To(Succeed())
}

// settle lets everybody act until nothing changes any more.
func (w *world) settle() {
	ginkgo.GinkgoHelper()
	for range 60 {
		w.work()
		before := w.versions()
		w.act()
		w.sync()
		if maps.Equal(before, w.versions()) && w.queue.Len() == 0 {
			return
		}
	}
	ginkgo.Fail("the world does not come to rest: " + w.describePods())
}
