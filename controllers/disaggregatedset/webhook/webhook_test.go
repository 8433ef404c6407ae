package webhook

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	"sigs.k8s.io/lws/apis/disaggregatedset/v1/dstest"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
)

func scheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	if err := dsv1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	return s
}

func request(t *testing.T, old, set *dsv1.DisaggregatedSet) admission.Request {
	t.Helper()
	raw := func(set *dsv1.DisaggregatedSet) runtime.RawExtension {
		encoded, err := json.Marshal(set)
		if err != nil {
			t.Fatal(err)
		}
		return runtime.RawExtension{Raw: encoded}
	}
	r := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Operation: admissionv1.Create, Namespace: set.Namespace, Name: set.Name, Object: raw(set),
	}}
	if old != nil {
		r.Operation, r.OldObject = admissionv1.Update, raw(old)
	}
	return r
}

func TestNameCheck(t *testing.T) {
	named := func(length int, roles ...string) *dstest.Builder {
		b := dstest.New(strings.Repeat("s", length)).Roles()
		for _, name := range roles {
			b.Role(dstest.NewRole(name))
		}
		return b
	}
	tests := map[string]struct {
		old, set *dsv1.DisaggregatedSet
		want     []string // parts of the answer; none if it is allowed
	}{
		"short": {nil, named(10, "prefill", "decode").Obj(), nil},
		"a set of 40 and a role of 20 characters": {
			nil, named(40, strings.Repeat("r", 20), "decode").Obj(),
			[]string{"spec.roles[0].name", "leader StatefulSet", "has 72 characters, 20 too many", "may have 40 characters together, and have 60", "spec.roles[1].name"},
		},
		"as long as it may be": {nil, named(33, "prefill", "decode").Obj(), nil},
		"one too long":         {nil, named(34, "prefill", "decode").Obj(), []string{"spec.roles[0].name", "1 too many"}},
		"too long already":     {named(40, "prefill", "decode").Obj(), named(40, "prefill", "decode").Obj(), nil},
		"too long already, and scaled down": {
			named(40, "prefill", "decode").Slices(20).Obj(), named(40, "prefill", "decode").Obj(), nil,
		},
		"too long already, and more so": {
			named(40, "prefill", "decode").Obj(), named(40, "prefill", "decode").Slices(20).Obj(), []string{"spec.roles[0].name"},
		},
		"a longer role": {named(33, "prefill", "decode").Obj(), named(33, "prefilling", "decode").Obj(), []string{"3 too many"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			check := &nameCheck{decoder: admission.NewDecoder(scheme(t))}
			answer := check.Handle(context.Background(), request(t, tc.old, tc.set))
			if answer.Allowed != (len(tc.want) == 0) {
				t.Fatalf("allowed %v: %+v", answer.Allowed, answer.Result)
			}
			for _, part := range tc.want {
				if !strings.Contains(answer.Result.Message, part) {
					t.Errorf("%q is not in %s", part, answer.Result.Message)
				}
			}
		})
	}
	check := &nameCheck{decoder: admission.NewDecoder(scheme(t))}
	broken := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Object: runtime.RawExtension{Raw: []byte(`{"spec":{"roles":7}}`)}}}
	if !check.Handle(context.Background(), broken).Allowed {
		t.Error("what cannot be read is to be left to the API server")
	}
}

func budgets(name string, replicas int32, surge, unavailable string) *dstest.RoleBuilder {
	return dstest.NewRole(name).From(lwstest.New(name).Replicas(replicas).MaxSurge(surge).MaxUnavailable(unavailable))
}

func TestWarnings(t *testing.T) {
	pod := func(edit func(*corev1.PodTemplateSpec)) *dstest.RoleBuilder {
		template := lwstest.PodTemplate("server")
		edit(&template)
		return dstest.NewRole("a").From(lwstest.New("a").WorkerTemplate(template))
	}
	quiet := dstest.NewRole("b")
	tests := map[string]struct {
		set    *dsv1.DisaggregatedSet
		scaled map[string]int
		want   []string
	}{
		"nothing to say": {dstest.New("llm").Obj(), nil, nil},
		"replicas of an external role": {
			dstest.New("llm").Roles(dstest.NewRole("a").Replicas(4).External(), quiet).Obj(), nil,
			[]string{"spec.roles[0].spec.replicas: ignored, the role has the replicas of its scaler llm-a"},
		},
		"more slices than replicas": {
			dstest.New("llm").Roles(dstest.NewRole("a").External(), quiet).Slices(3).Obj(),
			map[string]int{"a": 2},
			[]string{"spec.slices: scaler llm-a asks for 2 replicas, each of the 3 slices gets one"},
		},
		"budgets that round to zero": {
			dstest.New("llm").Roles(budgets("a", 5, "0", "10%"), budgets("b", 1, "0", "1")).Obj(), nil,
			[]string{"spec.roles[0].spec.rolloutStrategy.rollingUpdateConfiguration: maxUnavailable and maxSurge both come out as 0; maxUnavailable counts as 1"},
		},
		"a loan": {
			dstest.New("llm").Roles(budgets("a", 1, "0", "1"), budgets("b", 1, "1", "0")).Obj(), nil,
			[]string{"spec.roles: at the end of a rollout a may run one replica more than maxSurge 0 allows, since the last replicas of a revision go together and b must not lose its own"},
		},
		"no loan beside a role that may go": {
			dstest.New("llm").Roles(budgets("a", 1, "0", "1"), budgets("b", 1, "1", "1")).Obj(), nil, nil,
		},
		"what is overwritten in pods": {
			dstest.New("llm").Roles(pod(func(p *corev1.PodTemplateSpec) {
				p.Labels = map[string]string{"app": "x", "disaggregatedset.x-k8s.io/role": "x", "mine": "x"}
				p.Spec.Subdomain = "x"
				p.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "MINE"}, {Name: "DISAGGREGATEDSET_ROLE"}}
			}), quiet).Obj(), nil,
			[]string{
				"spec.roles[0].spec.leaderWorkerTemplate.workerTemplate.metadata.labels[app]: overwritten, the managers write this key",
				"spec.roles[0].spec.leaderWorkerTemplate.workerTemplate.metadata.labels[disaggregatedset.x-k8s.io/role]: overwritten, the managers write this key",
				"spec.roles[0].spec.leaderWorkerTemplate.workerTemplate.spec.containers[0].env[1]: DISAGGREGATEDSET_ROLE is replaced by the manager's",
				"spec.roles[0].spec.leaderWorkerTemplate.workerTemplate.spec.subdomain: overwritten with the pod's own",
			},
		},
		"what is deprecated": {
			dstest.New("llm").Roles(dstest.NewRole("a").From(lwstest.New("a").RestartPolicy(lwsv1.DeprecatedDefaultRestartPolicy).
				GroupTopology("rack").Annotation(lwsv1.ExclusiveTopologyAnnotationKey, "rack")), quiet).Obj(), nil,
			[]string{
				"spec.roles[0].spec.leaderWorkerTemplate.restartPolicy: Default is deprecated and means None",
				"spec.roles[0].metadata.annotations[leaderworkerset.sigs.k8s.io/exclusive-topology]: deprecated, placementPolicy says the same",
			},
		},
		"keys of ours on a role": {
			dstest.New("llm").Roles(dstest.NewRole("a").Annotation(dsv1.InitialReplicasAnnotationKey, "3"), quiet).Obj(), nil,
			[]string{"spec.roles[0].metadata.annotations[disaggregatedset.x-k8s.io/initial-replicas]: overwritten, the managers write this key"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, warnings(tc.set, tc.scaled)); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAdviser(t *testing.T) {
	set := dstest.New("llm").Roles(dstest.NewRole("a").External(), dstest.NewRole("b")).Slices(3).Obj()
	live := &dsv1.DisaggregatedSetRoleScaler{Spec: dsv1.DisaggregatedSetRoleScalerSpec{Replicas: ptr.To(int32(2))}}
	live.Name, live.Namespace = "llm-a", set.Namespace
	s := scheme(t)
	a := &adviser{decoder: admission.NewDecoder(s), scalers: fake.NewClientBuilder().WithScheme(s).WithObjects(live).Build()}
	answer := a.Handle(context.Background(), request(t, nil, set))
	if !answer.Allowed || len(answer.Warnings) != 1 || !strings.Contains(answer.Warnings[0], "asks for 2 replicas") {
		t.Errorf("got %+v", answer)
	}
}
