package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
	"sigs.k8s.io/lws/controllers/leaderworkerset/metrics"
	"sigs.k8s.io/lws/controllers/leaderworkerset/podspec"
	"sigs.k8s.io/lws/controllers/leaderworkerset/scheduling"
)

func newScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme, lwsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}

func controlledBy(apiVersion, kind, name string) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: types.UID("uid-of-" + name), Controller: ptr.To(true)}}
}

func bySet(name string) []metav1.OwnerReference {
	return controlledBy("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", name)
}

func byStatefulSet(name string) []metav1.OwnerReference {
	return controlledBy("apps/v1", "StatefulSet", name)
}

func byPod(name string) []metav1.OwnerReference { return controlledBy("v1", "Pod", name) }

func statefulSet(name string, owners []metav1.OwnerReference) *appsv1.StatefulSet {
	return &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, OwnerReferences: owners}}
}

func barePod(name string, owners []metav1.OwnerReference) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, OwnerReferences: owners}}
}

// chainOfSample is everything above the pods of group 1 of the set sample.
func chainOfSample() []client.Object {
	return []client.Object{
		statefulSet("sample", bySet("sample")),
		barePod("sample-1", byStatefulSet("sample")),
		statefulSet("sample-1", byPod("sample-1")),
	}
}

// sampleLeader and sampleWorker are pods as the StatefulSet controller creates them.
func sampleLeader(set *lwsv1.LeaderWorkerSet) *corev1.Pod {
	return fromTemplate(podspec.LeaderPodTemplate(sampleRevision(set)), "sample-1", byStatefulSet("sample"))
}

func sampleWorker(set *lwsv1.LeaderWorkerSet) *corev1.Pod {
	group := identity.OrdinalGroup(types.NamespacedName{Namespace: "default", Name: "sample"}, 1)
	template := podspec.WorkerPodTemplate(sampleRevision(set), podspec.Leader{
		Group: group, GroupKey: identity.GroupKey("default", "sample-1"), PodName: "sample-1",
	})
	return fromTemplate(template, "sample-1-2", byStatefulSet("sample-1"))
}

func sampleRevision(set *lwsv1.LeaderWorkerSet) podspec.Revision {
	template := &set.Spec.LeaderWorkerTemplate
	return podspec.Revision{
		Set: set.Name, Key: "r", Template: template, Network: set.Spec.NetworkConfig,
		Placement: podspec.PlacementOf(set.Annotations, template),
	}
}

func fromTemplate(template *corev1.PodTemplateSpec, name string, owners []metav1.OwnerReference) *corev1.Pod {
	pod := barePod(name, owners)
	pod.Labels, pod.Annotations, pod.Spec = maps.Clone(template.Labels), maps.Clone(template.Annotations), *template.Spec.DeepCopy()
	pod.Spec.Hostname, pod.Spec.Subdomain = name, "sample"
	return pod
}

func encode(t *testing.T, obj any) runtime.RawExtension {
	t.Helper()
	raw, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	return runtime.RawExtension{Raw: raw}
}

func createRequest(t *testing.T, pod *corev1.Pod) admission.Request {
	t.Helper()
	pod.APIVersion, pod.Kind = "v1", "Pod"
	return admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Operation: admissionv1.Create, Namespace: "default", Name: pod.Name, Object: encode(t, pod),
	}}
}

// reads counts what a reader was asked for.
type reads struct{ count int }

func (r *reads) reader(t *testing.T, objects ...client.Object) client.Reader {
	t.Helper()
	return fake.NewClientBuilder().WithScheme(newScheme(t)).WithObjects(objects...).
		WithInterceptorFuncs(interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
				r.count++
				return c.Get(ctx, key, obj, opts...)
			},
		}).Build()
}

type brokenReader struct{ client.Reader }

func (brokenReader) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errors.New("no answer")
}

func podHandler(t *testing.T, cached, live client.Reader) *podAdmission {
	t.Helper()
	return &podAdmission{
		decoder: admission.NewDecoder(newScheme(t)),
		reader:  reader{cached: cached, live: live},
		metrics: metrics.New(),
		clock:   clock.RealClock{},
		gangs:   scheduling.NewNone(false),
	}
}

// apply is what the API server makes of a response.
func apply(t *testing.T, request admission.Request, response admission.Response) *corev1.Pod {
	t.Helper()
	if err := response.Complete(request); err != nil {
		t.Fatal(err)
	}
	raw := request.Object.Raw
	if response.Patch != nil {
		patch, err := jsonpatch.DecodePatch(response.Patch)
		if err != nil {
			t.Fatal(err)
		}
		if raw, err = patch.Apply(raw); err != nil {
			t.Fatal(err)
		}
	}
	pod := &corev1.Pod{}
	if err := json.Unmarshal(raw, pod); err != nil {
		t.Fatal(err)
	}
	return pod
}
