package webhook

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/controllers/leaderworkerset/scheduling"
)

const (
	exclusive         = prefix + "exclusive-topology"
	subGroupExclusive = prefix + "subgroup-exclusive-topology"
)

func setRequest(t *testing.T, old, set *lwsv1.LeaderWorkerSet) admission.Request {
	t.Helper()
	request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Operation: admissionv1.Create, Namespace: "default", Object: encode(t, set),
	}}
	if old != nil {
		request.Operation, request.OldObject = admissionv1.Update, encode(t, old)
	}
	return request
}

// review is what a user sees of an answer.
type review struct {
	Error    string
	Warnings []string
}

func answer(t *testing.T, handler admission.Handler, old, set *lwsv1.LeaderWorkerSet) review {
	t.Helper()
	response := handler.Handle(context.Background(), setRequest(t, old, set))
	if len(response.Patches) != 0 || len(response.Patch) != 0 {
		t.Errorf("a set is never changed: %v", response.Patches)
	}
	got := review{Warnings: response.Warnings}
	if !response.Allowed {
		got.Error = response.Result.Message
		if response.Result.Reason != metav1.StatusReasonInvalid || response.Result.Code != 422 {
			t.Errorf("reason %s, code %d", response.Result.Reason, response.Result.Code)
		}
	}
	return got
}

func validationHandler(t *testing.T) admission.Handler {
	t.Helper()
	return &setValidation{decoder: admission.NewDecoder(newScheme(t)), gangs: scheduling.NewNone(false)}
}

func TestValidateCreate(t *testing.T) {
	invalid := func(name, text string) string {
		return `LeaderWorkerSet.leaderworkerset.x-k8s.io "` + name + `" is invalid: ` + text
	}
	scheduled := lwstest.New("a").Obj()
	scheduled.Spec.Scheduling = &lwsv1.LeaderWorkerSetScheduling{}
	leaderWorker := lwsv1.SubGroupPolicyTypeLeaderWorker
	subGroups := func() *lwstest.Builder { return lwstest.New("a").Size(4).SubGroups(2, leaderWorker) }

	tests := map[string]struct {
		set  *lwsv1.LeaderWorkerSet
		want review
	}{
		"plain":             {lwstest.New("a").Obj(), review{}},
		"exclusive":         {lwstest.New("a").Annotation(exclusive, "cloud.google.com/gke-nodepool").Obj(), review{}},
		"exclusive, empty":  {lwstest.New("a").Annotation(exclusive, "").Obj(), review{}},
		"different levels":  {subGroups().GroupTopology("zone").SubGroupTopology("rack").Obj(), review{}},
		"placement None":    {lwstestPlacement(lwstest.New("a"), lwsv1.PlacementPolicy{Type: lwsv1.NonePlacement}), review{}},
		"no subgroup size":  {withSpec(lwstest.New("a"), func(s *lwsv1.LeaderWorkerSetSpec) { s.LeaderWorkerTemplate.SubGroupPolicy = &lwsv1.SubGroupPolicy{} }), review{}},
		"subgroup size 0":   {lwstest.New("a").SubGroups(0, leaderWorker).Annotation(subGroupExclusive, "rack").Obj(), review{Warnings: []string{"metadata.annotations[leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology]: ignored without subGroupPolicy"}}},
		"strategy absent":   {withSpec(lwstest.New("a"), func(s *lwsv1.LeaderWorkerSetSpec) { s.RolloutStrategy = lwsv1.RolloutStrategy{} }), review{}},
		"nothing but zeros": {&lwsv1.LeaderWorkerSet{}, review{}},
		"no label key": {
			lwstest.New("a").Annotation(exclusive, "a b").Obj(),
			review{Error: invalid("a", `metadata.annotations[leaderworkerset.sigs.k8s.io/exclusive-topology]: Invalid value: "a b": must be a valid label key: name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`)},
		},
		"annotation and field agree": {
			subGroups().Annotation(exclusive, "zone").GroupTopology("zone").Annotation(subGroupExclusive, "rack").SubGroupTopology("rack").Obj(),
			review{Warnings: []string{
				"metadata.annotations[leaderworkerset.sigs.k8s.io/exclusive-topology]: deprecated, spec.leaderWorkerTemplate.placementPolicy says the same",
				"metadata.annotations[leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology]: deprecated, spec.leaderWorkerTemplate.subGroupPolicy.placementPolicy says the same",
			}},
		},
		"annotation and field disagree": {
			lwstest.New("a").Annotation(exclusive, "zone").GroupTopology("rack").Obj(),
			review{
				Error:    invalid("a", `spec.leaderWorkerTemplate.placementPolicy: Invalid value: "ExclusiveTopology rack": disagrees with the annotation leaderworkerset.sigs.k8s.io/exclusive-topology, which is "zone"`),
				Warnings: []string{"metadata.annotations[leaderworkerset.sigs.k8s.io/exclusive-topology]: deprecated, spec.leaderWorkerTemplate.placementPolicy says the same"},
			},
		},
		"annotation, and field None": {
			lwstestPlacement(lwstest.New("a").Annotation(exclusive, "zone"), lwsv1.PlacementPolicy{Type: lwsv1.NonePlacement}),
			review{
				Error:    invalid("a", `spec.leaderWorkerTemplate.placementPolicy: Invalid value: "None": disagrees with the annotation leaderworkerset.sigs.k8s.io/exclusive-topology, which is "zone"`),
				Warnings: []string{"metadata.annotations[leaderworkerset.sigs.k8s.io/exclusive-topology]: deprecated, spec.leaderWorkerTemplate.placementPolicy says the same"},
			},
		},
		"same level by field and annotation": {
			subGroups().GroupTopology("zone").Annotation(subGroupExclusive, "zone").Obj(),
			review{Error: invalid("a", `spec.leaderWorkerTemplate.subGroupPolicy.placementPolicy.topology: Invalid value: "zone": must differ from that of the group`)},
		},
		"same level by annotations": {
			subGroups().Annotation(exclusive, "zone").Annotation(subGroupExclusive, "zone").Obj(),
			review{Warnings: []string{"metadata.annotations[leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology]: the same as for groups, so a group with more than one subgroup cannot be scheduled"}},
		},
		"scheduling": {
			scheduled,
			review{Error: invalid("a", `spec.scheduling: Forbidden: needs the feature gate WorkloadAwareScheduling of lws-manager, which is off`)},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, answer(t, validationHandler(t), nil, test.set)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func withSpec(builder *lwstest.Builder, edit func(*lwsv1.LeaderWorkerSetSpec)) *lwsv1.LeaderWorkerSet {
	set := builder.Obj()
	edit(&set.Spec)
	return set
}

func lwstestPlacement(builder *lwstest.Builder, policy lwsv1.PlacementPolicy) *lwsv1.LeaderWorkerSet {
	return withSpec(builder, func(spec *lwsv1.LeaderWorkerSetSpec) { spec.LeaderWorkerTemplate.PlacementPolicy = &policy })
}

func TestValidateUpdate(t *testing.T) {
	forbidden := func(key, from, to, field string) string {
		return `LeaderWorkerSet.leaderworkerset.x-k8s.io "a" is invalid: metadata.annotations[` + key +
			`]: Forbidden: may not change from "` + from + `" to "` + to + `" on an existing set, whose pods are placed by it; ` + field + ` can change`
	}
	const groupField, subGroupField = "spec.leaderWorkerTemplate.placementPolicy", "spec.leaderWorkerTemplate.subGroupPolicy.placementPolicy"
	newSet := func() *lwstest.Builder { return lwstest.New("a").Size(4) }
	deleted := newSet().Annotation(exclusive, "rack").Obj()
	deleted.DeletionTimestamp = ptr.To(metav1.Now())
	scheduled := newSet().Obj()
	scheduled.Spec.Scheduling = &lwsv1.LeaderWorkerSetScheduling{}
	scheduledMore := scheduled.DeepCopy()
	scheduledMore.Spec.Replicas = ptr.To[int32](3)

	tests := map[string]struct {
		old, set  *lwsv1.LeaderWorkerSet
		wantError string
	}{
		"nothing":              {newSet().Obj(), newSet().Obj(), ""},
		"replicas":             {newSet().Annotation(exclusive, "zone").Obj(), newSet().Annotation(exclusive, "zone").Replicas(3).Obj(), ""},
		"other annotation":     {newSet().Obj(), newSet().Annotation("a", "b").Obj(), ""},
		"annotation added":     {newSet().Obj(), newSet().Annotation(exclusive, "zone").Obj(), forbidden(exclusive, "", "zone", groupField)},
		"annotation removed":   {newSet().Annotation(exclusive, "zone").Obj(), newSet().Obj(), forbidden(exclusive, "zone", "", groupField)},
		"annotation changed":   {newSet().Annotation(exclusive, "zone").Obj(), newSet().Annotation(exclusive, "rack").Obj(), forbidden(exclusive, "zone", "rack", groupField)},
		"subgroup annotation":  {newSet().Obj(), newSet().Annotation(subGroupExclusive, "rack").Obj(), forbidden(subGroupExclusive, "", "rack", subGroupField)},
		"empty one added":      {newSet().Obj(), newSet().Annotation(exclusive, "").Obj(), ""},
		"being deleted":        {newSet().Annotation(exclusive, "zone").Obj(), deleted, ""},
		"field added, agrees":  {newSet().Annotation(exclusive, "zone").Obj(), newSet().Annotation(exclusive, "zone").GroupTopology("zone").Obj(), ""},
		"field added, differs": {newSet().Annotation(exclusive, "zone").Obj(), newSet().Annotation(exclusive, "zone").GroupTopology("rack").Obj(), `LeaderWorkerSet.leaderworkerset.x-k8s.io "a" is invalid: spec.leaderWorkerTemplate.placementPolicy: Invalid value: "ExclusiveTopology rack": disagrees with the annotation leaderworkerset.sigs.k8s.io/exclusive-topology, which is "zone"`},
		"stored as contradiction": {
			newSet().Annotation(exclusive, "zone").GroupTopology("rack").Obj(),
			newSet().Annotation(exclusive, "zone").GroupTopology("rack").Replicas(3).Obj(), "",
		},
		"stored with a bad annotation": {
			newSet().Annotation(exclusive, "a b").Obj(), newSet().Annotation(exclusive, "a b").Replicas(3).Obj(), "",
		},
		"field changed":          {newSet().GroupTopology("zone").Obj(), newSet().GroupTopology("rack").Obj(), ""},
		"stored with scheduling": {scheduled, scheduledMore, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.wantError, answer(t, validationHandler(t), test.old, test.set).Error); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	const template = "spec.leaderWorkerTemplate."
	const experimental = prefix + "experimental-recreate-group-after-start"
	odd := lwstest.PodTemplate("main")
	odd.Labels = map[string]string{"app": "x", prefix + "group-index": "1", "disaggregatedset.x-k8s.io/role": "r"}
	odd.Annotations = map[string]string{prefix + "size": "1"}
	odd.Spec.Hostname, odd.Spec.Subdomain = "h", "s"
	odd.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "A"}, {Name: "LWS_GROUP_SIZE"}, {Name: "LWS_LEADER_ADDRESS"}}
	odd.Spec.InitContainers = []corev1.Container{{Name: "init", Env: []corev1.EnvVar{{Name: "LWS_WORKER_INDEX"}, {Name: "DISAGGREGATEDSET_NAME"}}}}

	newSet := func() *lwstest.Builder { return lwstest.New("a").Size(2) }
	tests := map[string]struct {
		set  *lwstest.Builder
		want []string
	}{
		"none":            {newSet(), nil},
		"default policy":  {newSet().RestartPolicy(lwsv1.DeprecatedDefaultRestartPolicy), []string{template + "restartPolicy: Default is deprecated and means None"}},
		"None":            {newSet().RestartPolicy(lwsv1.NoneRestartPolicy), nil},
		"experimental":    {newSet().Annotation(experimental, "true"), nil},
		"experimental no": {newSet().Annotation(experimental, "false").RestartPolicy(lwsv1.NoneRestartPolicy), nil},
		"experimental, None": {
			newSet().Annotation(experimental, "true").RestartPolicy(lwsv1.NoneRestartPolicy),
			[]string{"metadata.annotations[" + experimental + "]: ignored, because restartPolicy is None"},
		},
		"experimental, Default": {
			newSet().Annotation(experimental, "true").RestartPolicy(lwsv1.DeprecatedDefaultRestartPolicy),
			[]string{
				template + "restartPolicy: Default is deprecated and means None",
				"metadata.annotations[" + experimental + "]: ignored, because restartPolicy is Default",
			},
		},
		"budgets round to zero": {
			newSet().Replicas(5).MaxUnavailable("10%").MaxSurge("0"),
			[]string{"spec.rolloutStrategy.rollingUpdateConfiguration: maxUnavailable and maxSurge both come out as 0 of 5 replicas; maxUnavailable counts as 1"},
		},
		"budgets are enough": {newSet().Replicas(10).MaxUnavailable("10%").MaxSurge("0"), nil},
		"no replicas":        {newSet().Replicas(0).MaxUnavailable("10%"), nil},
		"odd worker": {
			newSet().WorkerTemplate(odd),
			[]string{
				template + "workerTemplate.metadata.labels[disaggregatedset.x-k8s.io/role]: keys of this prefix are written by the managers",
				template + "workerTemplate.metadata.labels[leaderworkerset.sigs.k8s.io/group-index]: keys of this prefix are written by the managers",
				template + "workerTemplate.metadata.annotations[leaderworkerset.sigs.k8s.io/size]: keys of this prefix are written by the managers",
				template + "workerTemplate.spec.hostname: overwritten with the pod's own",
				template + "workerTemplate.spec.subdomain: overwritten with the pod's own",
				template + "workerTemplate.spec.initContainers[0].env[0]: LWS_WORKER_INDEX is replaced by lws-manager's",
				template + "workerTemplate.spec.containers[0].env[1]: LWS_GROUP_SIZE is replaced by lws-manager's",
				template + "workerTemplate.spec.containers[0].env[2]: LWS_LEADER_ADDRESS is replaced by lws-manager's",
			},
		},
		"role of a DisaggregatedSet": {
			newSet().Label("disaggregatedset.x-k8s.io/name", "ds").LeaderTemplate(lwstest.LabelledPodTemplate("main", "disaggregatedset.x-k8s.io/role", "r")),
			nil,
		},
		"labelled leader": {
			newSet().LeaderTemplate(lwstest.LabelledPodTemplate("main", "disaggregatedset.x-k8s.io/role", "r")),
			[]string{template + "leaderTemplate.metadata.labels[disaggregatedset.x-k8s.io/role]: keys of this prefix are written by the managers"},
		},
		"TPU containers alike":  {newSet().LeaderTemplate(lwstest.TPUPodTemplate(4, "a")).WorkerTemplate(lwstest.TPUPodTemplate(4, "b")), nil},
		"TPU workers only":      {newSet().LeaderTemplate(lwstest.PodTemplate("a")).WorkerTemplate(lwstest.TPUPodTemplate(4, "b", "c")), nil},
		"TPU containers differ": {newSet().LeaderTemplate(lwstest.TPUPodTemplate(4, "a")).WorkerTemplate(lwstest.TPUPodTemplate(4, "b", "c")), []string{template + "leaderTemplate: the leader has 1 TPU containers and a worker 2, so their TPU variables do not agree"}},
		"TPU leader only":       {newSet().LeaderTemplate(lwstest.TPUPodTemplate(4, "a")), []string{template + "leaderTemplate: the leader has 1 TPU containers and a worker 0, so their TPU variables do not agree"}},
		"TPU leader, size 1":    {lwstest.New("a").LeaderTemplate(lwstest.TPUPodTemplate(4, "a")), nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			set := test.set.Obj()
			if diff := cmp.Diff(review{Warnings: test.want}, answer(t, validationHandler(t), nil, set)); diff != "" {
				t.Errorf("create (-want +got):\n%s", diff)
			}
			scaled := set.DeepCopy()
			scaled.Spec.StartupPolicy = lwsv1.LeaderReadyStartupPolicy
			if diff := cmp.Diff(review{Warnings: test.want}, answer(t, validationHandler(t), set, scaled)); diff != "" {
				t.Errorf("update (-want +got):\n%s", diff)
			}
			released := set.DeepCopy()
			released.Finalizers = []string{"example.com/x"}
			if diff := cmp.Diff(review{}, answer(t, validationHandler(t), set, released)); diff != "" {
				t.Errorf("update of a finalizer (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWarningsAreShort(t *testing.T) {
	long := lwstest.LabelledPodTemplate("main", prefix+strings.Repeat("x", 63), "r")
	for _, warning := range warnings(lwstest.New("a").LeaderTemplate(long).WorkerTemplate(long).Obj()) {
		if len(warning) > 256 {
			t.Errorf("%d characters, of which the API server passes on 256: %s", len(warning), warning)
		}
	}
}

func TestNameCheck(t *testing.T) {
	named := func(length int) *lwstest.Builder { return lwstest.New(strings.Repeat("n", length)) }
	tests := map[string]struct {
		old, set  *lwstest.Builder
		wantError string
	}{
		"ordinal, at the limit": {nil, named(50).Size(2).Replicas(10), ""},
		"ordinal, too long": {
			nil, named(51).Size(2).Replicas(10),
			`it has 51 characters, 1 too many: with 10 groups, surge included, of size 2 it has at most 50 characters, so that the name of the worker StatefulSet, ` + strings.Repeat("n", 51) + `-9, can exist`,
		},
		"surge counts": {
			nil, named(50).Size(2).Replicas(10).MaxSurge("1"),
			`it has 50 characters, 1 too many: with 11 groups, surge included, of size 2 it has at most 49 characters, so that the name of the worker StatefulSet, ` + strings.Repeat("n", 50) + `-10, can exist`,
		},
		"surge in percent": {nil, named(50).Size(2).Replicas(10).MaxSurge("1%"), "it has 50 characters, 1 too many"},
		"no replicas":      {nil, named(50).Size(2).Replicas(0), ""},
		"size 1, limit":    {nil, named(52).Replicas(1000), ""},
		"size 1, too long": {nil, named(60).Replicas(1000), `it has 60 characters, 8 too many: with 1000 groups, surge included, of size 1 it has at most 52 characters, so that the name of the leader StatefulSet`},
		"hash, limit":      {nil, named(43).Hash().Size(2), ""},
		"hash, too long":   {nil, named(44).Hash().Size(2), "it has 44 characters, 1 too many"},
		"hash, size 1":     {nil, named(54).Hash(), ""},
		"hash, size 1 too": {nil, named(55).Hash(), "it has 55 characters, 1 too many"},
		"absurd numbers":   {nil, named(10).Size(2).Replicas(1<<31 - 1).MaxSurge("100%"), ""},
		"negative numbers": {nil, named(10).Size(-5).Replicas(-7), ""},

		"update, nothing grew":  {named(60).Size(2), named(60).Size(2).Label("a", "b"), ""},
		"update, fewer":         {named(60).Size(2).Replicas(100), named(60).Size(2).Replicas(1), ""},
		"update, same digits":   {named(51).Size(2).Replicas(11), named(51).Size(2).Replicas(99), ""},
		"update, one digit up":  {named(50).Size(2).Replicas(10), named(50).Size(2).Replicas(11), "it has 50 characters, 1 too many"},
		"update, gets workers":  {named(52), named(52).Size(2), "it has 52 characters, 2 too many"},
		"update, room for more": {named(40).Size(2).Replicas(10), named(40).Size(2).Replicas(11), ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			handler := &nameCheck{decoder: admission.NewDecoder(newScheme(t))}
			var old *lwsv1.LeaderWorkerSet
			if test.old != nil {
				old = test.old.Obj()
			}
			got := answer(t, handler, old, test.set.Obj())
			if (test.wantError == "") != (got.Error == "") || !strings.Contains(got.Error, test.wantError) {
				t.Errorf("got  %q\nwant %q", got.Error, test.wantError)
			}
			if got.Error != "" && !strings.Contains(got.Error, `is invalid: metadata.name: Invalid value: "`) {
				t.Errorf("no field path in %q", got.Error)
			}
		})
	}
}

// What is not a set at all is refused by the schema, whose error is better, and
// never by a panic.
func TestOddSets(t *testing.T) {
	odd := map[string]string{
		"nothing":          ``,
		"null":             `null`,
		"no object":        `[]`,
		"wrong types":      `{"spec":{"replicas":"x"}}`,
		"spec null":        `{"metadata":{"name":"a"},"spec":null}`,
		"everything null":  `{"metadata":null,"spec":{"replicas":null,"rolloutStrategy":null,"networkConfig":null,"leaderWorkerTemplate":null}}`,
		"subgroup empty":   `{"spec":{"leaderWorkerTemplate":{"subGroupPolicy":{"placementPolicy":{}}}}}`,
		"strategy partial": `{"spec":{"rolloutStrategy":{"rollingUpdateConfiguration":{"maxUnavailable":"x","maxSurge":"-5%"}}}}`,
		"templates null":   `{"spec":{"leaderWorkerTemplate":{"leaderTemplate":null,"workerTemplate":null,"size":null}}}`,
	}
	decodes := map[string]bool{
		"spec null": true, "everything null": true, "subgroup empty": true, "strategy partial": true, "templates null": true, "null": true,
	}
	for name, raw := range odd {
		t.Run(name, func(t *testing.T) {
			for _, operation := range []admissionv1.Operation{admissionv1.Create, admissionv1.Update} {
				request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
					Operation: operation, Object: runtime.RawExtension{Raw: []byte(raw)}, OldObject: runtime.RawExtension{Raw: []byte(raw)},
				}}
				names := (&nameCheck{decoder: admission.NewDecoder(newScheme(t))}).Handle(context.Background(), request)
				if !names.Allowed {
					t.Errorf("%s, names: %v", operation, names.Result)
				}
				rest := validationHandler(t).Handle(context.Background(), request)
				if rest.Allowed != decodes[name] || !rest.Allowed && rest.Result.Code != 400 {
					t.Errorf("%s, validation: allowed %v, %v", operation, rest.Allowed, rest.Result)
				}
			}
		})
	}
	request := setRequest(t, lwstest.New("a").Obj(), lwstest.New("a").Replicas(3).Obj())
	request.OldObject.Raw = []byte(`[]`)
	if got := validationHandler(t).Handle(context.Background(), request); got.Allowed || got.Result.Code != 400 {
		t.Errorf("odd old object: %v", got.Result)
	}
	if got := (&nameCheck{decoder: admission.NewDecoder(newScheme(t))}).Handle(context.Background(), request); !got.Allowed {
		t.Errorf("odd old object, names: %v", got.Result)
	}
}

func TestSetupNeedsTheKinds(t *testing.T) {
	if err := checkScheme(newScheme(t)); err != nil {
		t.Error(err)
	}
	if err := checkScheme(runtime.NewScheme()); err == nil || !strings.Contains(err.Error(), "LeaderWorkerSet") {
		t.Errorf("got %v", err)
	}
}
