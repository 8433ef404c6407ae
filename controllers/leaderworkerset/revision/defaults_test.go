package revision

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

// change is one edit of the template of testdata/defaults.yaml.
type change struct {
	name string
	edit func(template *corev1.PodTemplateSpec)
}

func (c change) String() string { return c.name }

func defaultsTemplate(t *testing.T) *corev1.PodTemplateSpec {
	t.Helper()
	template := &corev1.PodTemplateSpec{}
	if err := yaml.UnmarshalStrict(readFile(t, "defaults.yaml"), template); err != nil {
		t.Fatal(err)
	}
	return template
}

func volume(t *corev1.PodTemplateSpec, name string) *corev1.VolumeSource {
	for i := range t.Spec.Volumes {
		if t.Spec.Volumes[i].Name == name {
			return &t.Spec.Volumes[i].VolumeSource
		}
	}
	panic("no volume " + name)
}

// sameMeaning takes a default away that the API server puts back.
var sameMeaning = []change{
	{"dnsPolicy", func(t *corev1.PodTemplateSpec) { t.Spec.DNSPolicy = "" }},
	{"restartPolicy", func(t *corev1.PodTemplateSpec) { t.Spec.RestartPolicy = "" }},
	{"schedulerName", func(t *corev1.PodTemplateSpec) { t.Spec.SchedulerName = "" }},
	{"securityContext", func(t *corev1.PodTemplateSpec) { t.Spec.SecurityContext = nil }},
	{"terminationGracePeriodSeconds", func(t *corev1.PodTemplateSpec) { t.Spec.TerminationGracePeriodSeconds = nil }},
	{"serviceAccount", func(t *corev1.PodTemplateSpec) { t.Spec.DeprecatedServiceAccount = "" }},
	{"empty tolerations", func(t *corev1.PodTemplateSpec) { t.Spec.Tolerations = []corev1.Toleration{} }},
	{"empty annotations", func(t *corev1.PodTemplateSpec) { t.Annotations = map[string]string{} }},
	{"cpu in other units", func(t *corev1.PodTemplateSpec) {
		t.Spec.Containers[0].Resources.Limits["cpu"] = resource.MustParse("1000m")
	}},
	{"imagePullPolicy", func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].ImagePullPolicy = "" }},
	{"imagePullPolicy of init", func(t *corev1.PodTemplateSpec) { t.Spec.InitContainers[0].ImagePullPolicy = "" }},
	{"terminationMessagePath", func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].TerminationMessagePath = "" }},
	{"terminationMessagePolicy", func(t *corev1.PodTemplateSpec) { t.Spec.InitContainers[0].TerminationMessagePolicy = "" }},
	{"protocol", func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].Ports[0].Protocol = "" }},
	{"env fieldRef", func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].Env[0].ValueFrom.FieldRef.APIVersion = "" }},
	{"probe path", func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].LivenessProbe.HTTPGet.Path = "" }},
	{"probe scheme", func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].LivenessProbe.HTTPGet.Scheme = "" }},
	{"probe timeout", func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].LivenessProbe.TimeoutSeconds = 0 }},
	{"probe period", func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].ReadinessProbe.PeriodSeconds = 0 }},
	{"probe success", func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].StartupProbe.SuccessThreshold = 0 }},
	{"probe failure", func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].StartupProbe.FailureThreshold = 0 }},
	{"grpc service", func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].ReadinessProbe.GRPC.Service = nil }},
	{"postStart path", func(t *corev1.PodTemplateSpec) { t.Spec.InitContainers[0].Lifecycle.PostStart.HTTPGet.Path = "" }},
	{"preStop scheme", func(t *corev1.PodTemplateSpec) { t.Spec.InitContainers[0].Lifecycle.PreStop.HTTPGet.Scheme = "" }},
	{"emptyDir", func(t *corev1.PodTemplateSpec) { volume(t, "empty").EmptyDir = nil }},
	{"hostPath type", func(t *corev1.PodTemplateSpec) { volume(t, "host").HostPath.Type = nil }},
	{"secret mode", func(t *corev1.PodTemplateSpec) { volume(t, "secret").Secret.DefaultMode = nil }},
	{"configMap mode", func(t *corev1.PodTemplateSpec) { volume(t, "config").ConfigMap.DefaultMode = nil }},
	{"downwardAPI mode", func(t *corev1.PodTemplateSpec) { volume(t, "downward").DownwardAPI.DefaultMode = nil }},
	{"downwardAPI fieldRef", func(t *corev1.PodTemplateSpec) { volume(t, "downward").DownwardAPI.Items[0].FieldRef.APIVersion = "" }},
	{"projected mode", func(t *corev1.PodTemplateSpec) { volume(t, "projected").Projected.DefaultMode = nil }},
	{"token expiry", func(t *corev1.PodTemplateSpec) {
		volume(t, "projected").Projected.Sources[0].ServiceAccountToken.ExpirationSeconds = nil
	}},
	{"projected fieldRef", func(t *corev1.PodTemplateSpec) {
		volume(t, "projected").Projected.Sources[1].DownwardAPI.Items[0].FieldRef.APIVersion = ""
	}},
	{"iscsi", func(t *corev1.PodTemplateSpec) { volume(t, "iscsi").ISCSI.ISCSIInterface = "" }},
	{"rbd pool", func(t *corev1.PodTemplateSpec) { volume(t, "rbd").RBD.RBDPool = "" }},
	{"rbd user", func(t *corev1.PodTemplateSpec) { volume(t, "rbd").RBD.RadosUser = "" }},
	{"rbd keyring", func(t *corev1.PodTemplateSpec) { volume(t, "rbd").RBD.Keyring = "" }},
	{"azure caching", func(t *corev1.PodTemplateSpec) { volume(t, "azure").AzureDisk.CachingMode = nil }},
	{"azure fsType", func(t *corev1.PodTemplateSpec) { volume(t, "azure").AzureDisk.FSType = nil }},
	{"azure readOnly", func(t *corev1.PodTemplateSpec) { volume(t, "azure").AzureDisk.ReadOnly = nil }},
	{"azure kind", func(t *corev1.PodTemplateSpec) { volume(t, "azure").AzureDisk.Kind = nil }},
	{"scaleio mode", func(t *corev1.PodTemplateSpec) { volume(t, "scaleio").ScaleIO.StorageMode = "" }},
	{"scaleio fsType", func(t *corev1.PodTemplateSpec) { volume(t, "scaleio").ScaleIO.FSType = "" }},
	{"image volume", func(t *corev1.PodTemplateSpec) { volume(t, "image").Image.PullPolicy = "" }},
	{"claim mode", func(t *corev1.PodTemplateSpec) {
		volume(t, "ephemeral").Ephemeral.VolumeClaimTemplate.Spec.VolumeMode = nil
	}},
}

// otherMeaning changes what a StatefulSet stores.
var otherMeaning = []change{
	{"label", func(t *corev1.PodTemplateSpec) { t.Labels["c"] = "d" }},
	{"annotation", func(t *corev1.PodTemplateSpec) { t.Annotations = map[string]string{"x": "y"} }},
	{"image", func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].Image = "nginx:1.30" }},
	{"pull policy", func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].ImagePullPolicy = corev1.PullAlways }},
	{"env", func(t *corev1.PodTemplateSpec) {
		t.Spec.Containers[0].Env = append(t.Spec.Containers[0].Env, corev1.EnvVar{Name: "B"})
	}},
	{"port", func(t *corev1.PodTemplateSpec) {
		t.Spec.Containers[0].LivenessProbe.HTTPGet.Port = intstr.FromInt32(81)
	}},
	{"grace period", func(t *corev1.PodTemplateSpec) { t.Spec.TerminationGracePeriodSeconds = ptr.To[int64](31) }},
	{"zero grace period", func(t *corev1.PodTemplateSpec) { t.Spec.TerminationGracePeriodSeconds = ptr.To[int64](0) }},
	{"cpu", func(t *corev1.PodTemplateSpec) {
		t.Spec.Containers[0].Resources.Limits["cpu"] = resource.MustParse("1001m")
	}},
	{"mode", func(t *corev1.PodTemplateSpec) { volume(t, "secret").Secret.DefaultMode = ptr.To[int32](0) }},
	{"medium", func(t *corev1.PodTemplateSpec) {
		volume(t, "empty").EmptyDir = &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}
	}},
	{"container", func(t *corev1.PodTemplateSpec) {
		t.Spec.Containers = append(t.Spec.Containers, corev1.Container{Name: "side", Image: "x:1"})
	}},
	{"node selector", func(t *corev1.PodTemplateSpec) { t.Spec.NodeSelector = map[string]string{"a": "b"} }},
	// What only a pod is given, a StatefulSet takes for a change.
	{"enableServiceLinks", func(t *corev1.PodTemplateSpec) { t.Spec.EnableServiceLinks = ptr.To(true) }},
	{"requests as limits", func(t *corev1.PodTemplateSpec) {
		t.Spec.Containers[0].Resources.Requests = t.Spec.Containers[0].Resources.Limits.DeepCopy()
	}},
	{"empty container security context", func(t *corev1.PodTemplateSpec) {
		t.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{}
	}},
}

func apply(t *rapid.T, template *corev1.PodTemplateSpec, label string, from []change, atLeast int) *corev1.PodTemplateSpec {
	edited := template.DeepCopy()
	for _, edit := range rapid.SliceOfNDistinct(rapid.SampledFrom(from), atLeast, len(from), change.String).Draw(t, label) {
		edit.edit(edited)
	}
	return edited
}

func TestDefaultsAreEqualToNothing(t *testing.T) {
	explicit := defaultsTemplate(t)
	for _, change := range sameMeaning {
		t.Run(change.name, func(t *testing.T) {
			edited := explicit.DeepCopy()
			change.edit(edited)
			if !EqualTemplates(explicit, edited) {
				t.Errorf("not equal")
			}
		})
	}
	if !equality.Semantic.DeepEqual(explicit, withDefaults(explicit)) {
		t.Errorf("defaults are filled in that are not in testdata/defaults.yaml")
	}
}

func TestChangesAreNotEqual(t *testing.T) {
	explicit := defaultsTemplate(t)
	for _, change := range otherMeaning {
		t.Run(change.name, func(t *testing.T) {
			edited := explicit.DeepCopy()
			change.edit(edited)
			if EqualTemplates(explicit, edited) {
				t.Errorf("equal")
			}
		})
	}
}

func TestEqualTemplatesProperties(t *testing.T) {
	explicit := defaultsTemplate(t)
	rapid.Check(t, func(t *rapid.T) {
		a, b := apply(t, explicit, "a", sameMeaning, 0), apply(t, explicit, "b", sameMeaning, 0)
		before := a.DeepCopy()
		if !EqualTemplates(a, b) || !EqualTemplates(b, a) {
			t.Fatal("defaults make a difference")
		}
		if !equality.Semantic.DeepEqual(a, before) {
			t.Fatal("the comparison changed its input")
		}
		encoded, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		decoded := &corev1.PodTemplateSpec{}
		if err := json.Unmarshal(encoded, decoded); err != nil || !EqualTemplates(decoded, b) {
			t.Fatalf("serialising makes a difference, %v", err)
		}
		changed := apply(t, b, "changed", otherMeaning, 1)
		if EqualTemplates(a, changed) || EqualTemplates(changed, a) {
			t.Fatal("a change makes no difference")
		}
	})
}

func TestPullPolicyDefault(t *testing.T) {
	const digest = "@sha256:0123456789012345678901234567890123456789012345678901234567890123"
	tests := map[string]corev1.PullPolicy{
		"nginx":                             corev1.PullAlways,
		"nginx:latest":                      corev1.PullAlways,
		"nginx:1":                           corev1.PullIfNotPresent,
		"nginx" + digest:                    corev1.PullIfNotPresent,
		"nginx:latest" + digest:             corev1.PullAlways,
		"nginx:1" + digest:                  corev1.PullIfNotPresent,
		"registry.example.com:5000/a/b_c":   corev1.PullAlways,
		"registry.example.com:5000/a/b-c:2": corev1.PullIfNotPresent,
		"Not A Name":                        "",
		"":                                  "",
		"nginx@sha256:short":                "",
	}
	for image, want := range tests {
		t.Run(image, func(t *testing.T) {
			var got corev1.PullPolicy
			fillPullPolicy(&got, image)
			if got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			kept := corev1.PullNever
			fillPullPolicy(&kept, image)
			if kept != corev1.PullNever {
				t.Errorf("Never became %q", kept)
			}
		})
	}
}

func TestClaimsAreEqualWithTheirDefaults(t *testing.T) {
	set := sampleSet(t)
	bare := corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}}}
	bare.Name = "data"
	set.Spec.LeaderWorkerTemplate.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{bare}
	revision, err := New(set, nil)
	if err != nil {
		t.Fatal(err)
	}
	full := bare.DeepCopy()
	full.APIVersion, full.Kind = "v1", "PersistentVolumeClaim"
	full.Spec.VolumeMode = ptr.To(corev1.PersistentVolumeFilesystem)
	full.Status.Phase = corev1.ClaimPending
	set.Spec.LeaderWorkerTemplate.VolumeClaimTemplates[0] = *full
	if equal, err := Equal(set, revision); err != nil || !equal {
		t.Errorf("Equal = %v, %v, want true", equal, err)
	}
	full.Labels = map[string]string{"a": "b"}
	set.Spec.LeaderWorkerTemplate.VolumeClaimTemplates[0] = *full
	if equal, err := Equal(set, revision); err != nil || equal {
		t.Errorf("with a label: Equal = %v, %v, want false", equal, err)
	}
}
