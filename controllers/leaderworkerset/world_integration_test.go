//go:build integration

package leaderworkerset_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/controllers/leaderworkerset"
	"sigs.k8s.io/lws/controllers/leaderworkerset/group"
)

// world is a namespace with one manager and one set, "x".
type world struct {
	ctx       context.Context
	namespace string
	clock     *clocktesting.FakePassiveClock
	recorder  *events.FakeRecorder
	reports   *group.Reports
	requests  *requests
	sets      *leaderworkerset.Reconciler
}

// requests are what the reconciler asked the API server for, in order, as
// "verb Kind name".
type requests struct {
	writes []string
	reads  []string // past the cache
}

func newWorld(ctx context.Context) *world {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "set-"}}
	Expect(live.Create(ctx, namespace)).To(Succeed())
	w := &world{
		ctx:       ctx,
		namespace: namespace.Name,
		clock:     clocktesting.NewFakePassiveClock(time.Now().Truncate(time.Second)),
		reports:   group.NewReports(),
	}
	w.restart()
	return w
}

// restart starts the manager anew, without its memory.
func (w *world) restart() {
	w.recorder = events.NewFakeRecorder(1000)
	w.requests = &requests{}
	w.sets = leaderworkerset.New(w.requests.counting(api), w.requests.readingLive(live), w.recorder,
		leaderworkerset.Options{Reports: w.reports, Clock: w.clock})
}

func (r *requests) counting(c client.WithWatch) client.Client {
	note := func(verb string, obj any) { r.writes = append(r.writes, verb+" "+describe(obj)) }
	return interceptor.NewClient(c, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
			note("create", obj)
			return c.Create(ctx, obj, opts...)
		},
		Update: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.UpdateOption) error {
			note("update", obj)
			return c.Update(ctx, obj, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
			note("patch", obj)
			return c.Patch(ctx, obj, patch, opts...)
		},
		Apply: func(ctx context.Context, c client.WithWatch, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			note("apply", obj)
			return c.Apply(ctx, obj, opts...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.DeleteOption) error {
			note("delete", obj)
			return c.Delete(ctx, obj, opts...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			note("patch "+sub, obj)
			return c.SubResource(sub).Patch(ctx, obj, patch, opts...)
		},
	})
}

func (r *requests) readingLive(c client.Client) client.Reader {
	return interceptor.NewClient(withoutWatch{c}, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			r.reads = append(r.reads, "get "+obj.GetObjectKind().GroupVersionKind().Kind+" "+key.Name)
			return c.Get(ctx, key, obj, opts...)
		},
	})
}

type withoutWatch struct{ client.Client }

func (withoutWatch) Watch(context.Context, client.ObjectList, ...client.ListOption) (watchInterface, error) {
	return nil, fmt.Errorf("not used")
}

func describe(obj any) string {
	switch obj := obj.(type) {
	case client.Object:
		name, _, _ := strings.Cut(fmt.Sprintf("%T", obj), "{")
		return name[strings.LastIndexByte(name, '.')+1:] + " " + obj.GetName()
	case interface {
		GetKind() *string
		GetName() *string
	}:
		return *obj.GetKind() + " " + *obj.GetName()
	default:
		return fmt.Sprintf("%T", obj)
	}
}

// reconcile runs one reconcile of the set and returns its writes.
func (w *world) reconcile() []string {
	GinkgoHelper()
	writes, _, err := w.tryReconcile()
	Expect(err).NotTo(HaveOccurred())
	return writes
}

func (w *world) tryReconcile() ([]string, ctrl.Result, error) {
	GinkgoHelper()
	w.requests.writes, w.requests.reads = nil, nil
	result, err := w.sets.Reconcile(w.ctx, ctrl.Request{NamespacedName: w.key()})
	return w.requests.writes, result, err
}

// settle reconciles until nothing is written any more.
func (w *world) settle() {
	GinkgoHelper()
	for range 10 {
		w.clock.SetTime(w.clock.Now().Add(10 * time.Second))
		if len(w.reconcile()) == 0 {
			return
		}
	}
	Fail(fmt.Sprintf("still writing after 10 reconciles: %v", w.requests.writes))
}

func (w *world) key() client.ObjectKey { return client.ObjectKey{Namespace: w.namespace, Name: "x"} }

// build starts a set of the world's namespace.
func (w *world) build() *lwstest.Builder { return lwstest.New("x").Namespace(w.namespace) }

// create stores an object.
func (w *world) create(obj client.Object) {
	GinkgoHelper()
	if obj.GetNamespace() != w.namespace {
		obj.SetNamespace(w.namespace)
	}
	Expect(api.Create(w.ctx, obj)).To(Succeed())
}

// createForeign stores an object that the manager's cache does not show.
func (w *world) createForeign(obj client.Object) {
	GinkgoHelper()
	obj.SetNamespace(w.namespace)
	Expect(live.Create(w.ctx, obj)).To(Succeed())
}

func (w *world) set() *lwsv1.LeaderWorkerSet {
	GinkgoHelper()
	return fetch(w, "x", &lwsv1.LeaderWorkerSet{})
}

func (w *world) leaders() *appsv1.StatefulSet {
	GinkgoHelper()
	return fetch(w, "x", &appsv1.StatefulSet{})
}

// fetch reads an object from the API server.
func fetch[T client.Object](w *world, name string, into T) T {
	GinkgoHelper()
	Expect(live.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: name}, into)).To(Succeed())
	return into
}

// change changes the set.
func (w *world) change(change func(*lwsv1.LeaderWorkerSet)) {
	GinkgoHelper()
	set := w.set()
	change(set)
	Expect(api.Update(w.ctx, set)).To(Succeed())
}

func (w *world) revisions() []appsv1.ControllerRevision {
	GinkgoHelper()
	var list appsv1.ControllerRevisionList
	Expect(live.List(w.ctx, &list, client.InNamespace(w.namespace))).To(Succeed())
	slices.SortFunc(list.Items, func(a, b appsv1.ControllerRevision) int { return int(a.Revision - b.Revision) })
	return list.Items
}

// told are the events since the last call, as "Type Reason note".
func (w *world) told() []string {
	var told []string
	for {
		select {
		case e := <-w.recorder.Events:
			told = append(told, e)
		default:
			return told
		}
	}
}

// toldReasons are told without their notes.
func (w *world) toldReasons() []string {
	var reasons []string
	for _, e := range w.told() {
		reasons = append(reasons, strings.Join(strings.SplitN(e, " ", 3)[:2], " "))
	}
	return reasons
}

// conditions are the set's as "status reason".
func (w *world) conditions() map[string]string {
	GinkgoHelper()
	told := map[string]string{}
	set := w.set()
	for _, c := range set.Status.Conditions {
		told[c.Type] = string(c.Status) + " " + c.Reason
		Expect(c.ObservedGeneration).To(Equal(set.Generation), "observedGeneration of %s", c.Type)
	}
	return told
}

func (w *world) message(conditionType string) string {
	GinkgoHelper()
	c := meta.FindStatusCondition(w.set().Status.Conditions, conditionType)
	Expect(c).NotTo(BeNil(), conditionType)
	return c.Message
}
