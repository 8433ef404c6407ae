package webhook

import (
	"context"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
)

const prefix = "leaderworkerset.sigs.k8s.io/"

func TestPodsOfASetAreAdmitted(t *testing.T) {
	set := lwstest.New("sample").Size(4).PodTerminationPolicy(lwsv1.ParallelPodTermination).Obj()
	noneChain := []client.Object{
		statefulSet("sample", bySet("sample")), statefulSet("sample-1", bySet("sample")), set,
	}
	labelled := sampleWorker(set)
	labelled.Labels[prefix+"worker-index"] = "0"
	tests := map[string]struct {
		pod      *corev1.Pod
		cached   []client.Object
		live     []client.Object
		wantLive int
		policy   string
	}{
		"worker, labelled as a leader": {labelled, append(chainOfSample(), set), nil, 0, ""},
		"leader":                       {sampleLeader(set), append(chainOfSample(), set), nil, 0, "Parallel"},
		"leader, nothing cached":       {sampleLeader(set), nil, append(chainOfSample(), set), 2, "Parallel"},
		"leader, set gone":             {sampleLeader(set), chainOfSample(), nil, 1, ""},
		"worker":                       {sampleWorker(set), append(chainOfSample(), set), nil, 0, ""},
		"worker, nothing cached":       {sampleWorker(set), nil, append(chainOfSample(), set), 3, ""},
		"worker, its owner uncached":   {sampleWorker(set), chainOfSample()[:2], chainOfSample(), 1, ""},
		"worker of a None set":         {sampleWorker(set), noneChain, nil, 0, ""},
		"leader, cached as orphaned":   {sampleLeader(set), []client.Object{statefulSet("sample", nil), set}, chainOfSample(), 1, "Parallel"},
		"worker, cached as orphaned":   {sampleWorker(set), []client.Object{statefulSet("sample-1", nil)}, noneChain, 1, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var cached, live reads
			handler := podHandler(t, cached.reader(t, test.cached...), live.reader(t, test.live...))
			request := createRequest(t, test.pod)
			response := handler.Handle(context.Background(), request)
			if !response.Allowed {
				t.Fatalf("refused: %v", response.Result)
			}
			if live.count != test.wantLive {
				t.Errorf("%d live reads, want %d", live.count, test.wantLive)
			}
			want := test.pod.DeepCopy()
			set := lwstest.New("sample").PodTerminationPolicy(lwsv1.PodTerminationPolicyType(test.policy)).Obj()
			if err := podHandler(t, nil, nil).admit(want, &membership{leader: want.Name == "sample-1", set: set}); err != nil {
				t.Fatal(err)
			}
			got := apply(t, request, response)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if want := map[string]string{"sample-1": "0", "sample-1-2": "2"}[got.Name]; got.Labels[prefix+"worker-index"] != want {
				t.Errorf("worker-index %q, want %q", got.Labels[prefix+"worker-index"], want)
			}
			if got.Labels[prefix+"group-index"] != "1" || got.Annotations[prefix+"pod-termination-policy"] != test.policy {
				t.Errorf("labels %v, annotations %v", got.Labels, got.Annotations)
			}
			again := createRequest(t, got)
			if response := handler.Handle(context.Background(), again); !response.Allowed || len(response.Patches) != 0 {
				t.Errorf("admitted again: %v, %v", response.Result, response.Patches)
			}
		})
	}
}

// Only pods of a set are measured: what somebody labelled makes no series.
func TestAdmissionIsMeasured(t *testing.T) {
	set := lwstest.New("sample").Namespace("default").Size(4).Obj()
	var nobody reads
	handler := podHandler(t, nobody.reader(t, append(chainOfSample(), set)...), nobody.reader(t))
	registry := prometheus.NewRegistry()
	if err := handler.metrics.Register(registry); err != nil {
		t.Fatal(err)
	}
	handler.metrics.Appear(client.ObjectKeyFromObject(set), set.UID)
	forged := sampleWorker(set)
	forged.OwnerReferences = nil
	for _, pod := range []*corev1.Pod{sampleLeader(set), sampleWorker(set), forged} {
		if response := handler.Handle(t.Context(), createRequest(t, pod)); !response.Allowed {
			t.Fatalf("refused: %v", response.Result)
		}
	}
	families, err := registry.Gather()
	if err != nil || len(families) != 1 || len(families[0].GetMetric()) != 1 {
		t.Fatalf("metrics %v, error %v; want one series", families, err)
	}
	if n := families[0].GetMetric()[0].GetHistogram().GetSampleCount(); n != 2 {
		t.Errorf("%d admissions were measured, want those of 2 members", n)
	}
}

func TestOtherPodsPassUntouched(t *testing.T) {
	set := lwstest.New("sample").Size(4).Obj()
	edited := func(pod *corev1.Pod, edit func(*corev1.Pod)) *corev1.Pod {
		edit(pod)
		return pod
	}
	tests := map[string]struct {
		pod    *corev1.Pod
		change func(*admission.Request)
		chain  []client.Object
	}{
		"the name label and nothing else": {
			pod: edited(barePod("x", nil), func(p *corev1.Pod) { p.Labels = map[string]string{prefix + "name": "sample"} }),
		},
		"all labels, no owner": {pod: edited(sampleLeader(set), func(p *corev1.Pod) { p.OwnerReferences = nil }), chain: chainOfSample()},
		"an owner that is no controller": {
			pod:   edited(sampleLeader(set), func(p *corev1.Pod) { p.OwnerReferences[0].Controller = nil }),
			chain: chainOfSample(),
		},
		"no labels":       {pod: edited(sampleLeader(set), func(p *corev1.Pod) { p.Labels = nil }), chain: chainOfSample()},
		"empty name":      {pod: edited(sampleLeader(set), func(p *corev1.Pod) { p.Labels[prefix+"name"] = "" }), chain: chainOfSample()},
		"of a Job":        {pod: edited(sampleLeader(set), func(p *corev1.Pod) { p.OwnerReferences = controlledBy("batch/v1", "Job", "sample") }), chain: chainOfSample()},
		"of a pod":        {pod: edited(sampleLeader(set), func(p *corev1.Pod) { p.OwnerReferences = byPod("sample-1") }), chain: chainOfSample()},
		"of a set itself": {pod: edited(sampleLeader(set), func(p *corev1.Pod) { p.OwnerReferences = bySet("sample") }), chain: chainOfSample()},
		"of a foreign StatefulSet kind": {
			pod:   edited(sampleLeader(set), func(p *corev1.Pod) { p.OwnerReferences = controlledBy("apps.kruise.io/v1", "StatefulSet", "sample") }),
			chain: chainOfSample(),
		},
		"apiVersion that is none": {
			pod:   edited(sampleLeader(set), func(p *corev1.Pod) { p.OwnerReferences = controlledBy("a/b/c", "StatefulSet", "sample") }),
			chain: chainOfSample(),
		},
		"StatefulSet that is gone":          {pod: sampleLeader(set)},
		"StatefulSet without a controller":  {pod: sampleLeader(set), chain: []client.Object{statefulSet("sample", nil)}},
		"StatefulSet of somebody else":      {pod: sampleLeader(set), chain: []client.Object{statefulSet("sample", controlledBy("x/v1", "LeaderWorkerSet", "sample"))}},
		"StatefulSet of another set":        {pod: sampleLeader(set), chain: []client.Object{statefulSet("sample", bySet("other"))}},
		"worker whose leader is gone":       {pod: sampleWorker(set), chain: []client.Object{statefulSet("sample", bySet("sample")), statefulSet("sample-1", byPod("sample-1"))}},
		"worker of a leader of another set": {pod: sampleWorker(set), chain: []client.Object{statefulSet("sample-1", byPod("x")), barePod("x", byStatefulSet("y")), statefulSet("y", bySet("y"))}},
		"a chain without an end": {
			pod:   sampleWorker(set),
			chain: []client.Object{statefulSet("sample-1", byPod("x")), barePod("x", byStatefulSet("sample-1"))},
		},
		"update":      {pod: sampleLeader(set), chain: chainOfSample(), change: func(r *admission.Request) { r.Operation = admissionv1.Update }},
		"subresource": {pod: sampleLeader(set), chain: chainOfSample(), change: func(r *admission.Request) { r.SubResource = "eviction" }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			request := createRequest(t, test.pod)
			if test.change != nil {
				test.change(&request)
			}
			var cached, live reads
			handler := podHandler(t, cached.reader(t, test.chain...), live.reader(t, test.chain...))
			response := handler.Handle(context.Background(), request)
			if !response.Allowed || len(response.Patches) != 0 || len(response.Warnings) != 0 {
				t.Errorf("got %+v", response)
			}
		})
	}
}

func TestPodsThatCannotBeAdmitted(t *testing.T) {
	set := lwstest.New("sample").Size(4).Obj()
	withoutSize := sampleLeader(set)
	delete(withoutSize.Annotations, prefix+"size")
	misnamed := sampleLeader(set)
	misnamed.Name = "sample-x"
	var counts reads
	full := counts.reader(t, append(chainOfSample(), set)...)
	tests := map[string]struct {
		request      admission.Request
		cached, live client.Reader
		wantCode     int32
		wantMessage  string
	}{
		"no pod": {
			admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: []byte(`{"spec":1}`)}}},
			full, full, 400, "cannot unmarshal",
		},
		"empty request": {
			admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Operation: admissionv1.Create}}, full, full, 400, "there is no content to decode",
		},
		"template spoiled by hand":   {createRequest(t, withoutSize), full, full, 403, `annotation leaderworkerset.sigs.k8s.io/size is "", want a number from 1`},
		"name that is no leader's":   {createRequest(t, misnamed), full, full, 403, `pod "sample-x" is not called as a leader of set "sample"`},
		"API server does not answer": {createRequest(t, sampleLeader(set)), brokenReader{}, brokenReader{}, 500, "owner StatefulSet default/sample: no answer"},
		"set cannot be read": {
			createRequest(t, sampleLeader(set)), counts.reader(t, chainOfSample()...), brokenReader{}, 500, "set default/sample: no answer",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			response := podHandler(t, test.cached, test.live).Handle(context.Background(), test.request)
			if response.Allowed || response.Result.Code != test.wantCode || !strings.Contains(response.Result.Message, test.wantMessage) {
				t.Errorf("got %v, %+v, want %d %q", response.Allowed, response.Result, test.wantCode, test.wantMessage)
			}
		})
	}
}

// A cache that does not answer yet is no reason to refuse a pod.
func TestUnfilledCache(t *testing.T) {
	set := lwstest.New("sample").Size(4).Obj()
	var live reads
	handler := podHandler(t, brokenReader{}, live.reader(t, append(chainOfSample(), set)...))
	request := createRequest(t, sampleWorker(set))
	response := handler.Handle(context.Background(), request)
	if got := apply(t, request, response); got.Labels[prefix+"worker-index"] != "2" {
		t.Errorf("got %v, %v", response.Result, got.Labels)
	}
}

func TestNewerFieldsOfAPodStay(t *testing.T) {
	set := lwstest.New("sample").Size(4).Obj()
	request := createRequest(t, sampleLeader(set))
	raw := strings.Replace(string(request.Object.Raw), `"containers":[{`, `"timeToCome":{"a":1},"containers":[{"alsoNew":[2],`, 1)
	request.Object.Raw = []byte(raw)
	var counts reads
	handler := podHandler(t, counts.reader(t, append(chainOfSample(), set)...), counts.reader(t))
	response := handler.Handle(context.Background(), request)
	if err := response.Complete(request); err != nil || !response.Allowed {
		t.Fatalf("%v, %v", err, response.Result)
	}
	patch, err := jsonpatch.DecodePatch(response.Patch)
	if err != nil {
		t.Fatal(err)
	}
	patchedRaw, err := patch.Apply(request.Object.Raw)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"timeToCome":{"a":1}`, `"alsoNew":[2]`, `"LWS_LEADER_ADDRESS"`} {
		if !strings.Contains(string(patchedRaw), want) {
			t.Errorf("no %s in %s", want, patchedRaw)
		}
	}
}

// Whatever a user's pod has, the patch gives what admission computed.
func TestPatchIsExact(t *testing.T) {
	var counts reads
	set := lwstest.New("sample").Size(4).GroupTopology("zone").Obj()
	chain := counts.reader(t, append(chainOfSample(), set)...)
	handler := podHandler(t, chain, chain)
	rapid.Check(t, func(r *rapid.T) {
		pod := sampleLeader(set)
		for i := range pod.Spec.Containers {
			for range rapid.IntRange(0, 5).Draw(r, "variables") {
				name := rapid.SampledFrom([]string{"A", "B", "LWS_GROUP_SIZE", "LWS_LEADER_ADDRESS"}).Draw(r, "name")
				pod.Spec.Containers[i].Env = append(pod.Spec.Containers[i].Env, corev1.EnvVar{Name: name, Value: rapid.SampledFrom([]string{"", "4", "x"}).Draw(r, "value")})
			}
		}
		for range rapid.IntRange(0, 3).Draw(r, "init containers") {
			pod.Spec.InitContainers = append(pod.Spec.InitContainers, corev1.Container{Name: "init"})
		}
		if rapid.Bool().Draw(r, "affinity") {
			pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: "zone"}},
			}}
		}
		request := createRequest(t, pod)
		want := pod.DeepCopy()
		if err := handler.admit(want, &membership{leader: true, set: &lwsv1.LeaderWorkerSet{}}); err != nil {
			r.Fatal(err)
		}
		if diff := cmp.Diff(want, apply(t, request, handler.Handle(context.Background(), request))); diff != "" {
			r.Fatalf("(-want +got):\n%s", diff)
		}
	})
}
