package managers

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	configv1 "sigs.k8s.io/lws/apis/config/v1"
)

// rendered is what a kustomization of config/ gives, by kind and name.
type rendered map[string][]byte

func render(t *testing.T, overlay string) rendered {
	t.Helper()
	checkout, err := Checkout()
	if err != nil {
		t.Fatal(err)
	}
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).
		Run(filesys.MakeFsOnDisk(), filepath.Join(checkout, "config", overlay))
	if err != nil {
		t.Fatal(err)
	}
	objects := rendered{}
	for _, resource := range resources.Resources() {
		data, err := resource.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		objects[resource.GetKind()+" "+resource.GetName()] = data
	}
	return objects
}

func read[T any](t *testing.T, objects rendered, name string) *T {
	t.Helper()
	data, found := objects[name]
	if !found {
		t.Fatalf("there is no %s", name)
	}
	object := new(T)
	if err := yaml.UnmarshalStrict(data, object); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return object
}

func kinds(objects rendered) []string {
	var found []string
	for name := range objects {
		kind, _, _ := strings.Cut(name, " ")
		found = append(found, kind)
	}
	slices.Sort(found)
	return found
}

// install is what all managers have in common.
type install struct {
	overlay, namespace, deployment, config string
	certificates                           []string
}

func installs() map[string]install {
	lws := install{
		overlay: "lws", namespace: "lws-system", deployment: "lws-controller-manager", config: "lws-manager-config",
		certificates: []string{"Secret"},
	}
	certManager := lws
	certManager.overlay, certManager.certificates = "certmanager/lws", []string{"Certificate", "Certificate", "Issuer", "Issuer"}
	return map[string]install{"with its own certificate": lws, "with cert-manager's": certManager}
}

func TestLWSManagerIsInstalled(t *testing.T) {
	for name, i := range installs() {
		t.Run(name, func(t *testing.T) {
			objects := render(t, i.overlay)
			want := append([]string{
				"Namespace", "CustomResourceDefinition", "ServiceAccount", "Role", "RoleBinding",
				"ClusterRole", "ClusterRole", "ClusterRole", "ClusterRole", "ClusterRole", "ClusterRoleBinding",
				"ConfigMap", "Service", "Service", "Deployment", "PodDisruptionBudget",
				"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration",
			}, i.certificates...)
			slices.Sort(want)
			if diff := cmp.Diff(want, kinds(objects)); diff != "" {
				t.Errorf("objects (-want +got)\n%s", diff)
			}
			checkNamespaces(t, objects, i.namespace)
			checkDeployment(t, read[appsv1.Deployment](t, objects, "Deployment "+i.deployment))
			checkConfiguration(t, objects, i)
			checkWebhooks(t, objects)
		})
	}
}

func checkNamespaces(t *testing.T, objects rendered, namespace string) {
	t.Helper()
	for name, data := range objects {
		var object metav1.PartialObjectMetadata
		if err := yaml.Unmarshal(data, &object); err != nil {
			t.Fatal(err)
		}
		if object.Namespace != "" && object.Namespace != namespace {
			t.Errorf("%s is in namespace %s", name, object.Namespace)
		}
	}
}

// checkDeployment asks Pod Security admission itself about the manager's pods.
func checkDeployment(t *testing.T, deployment *appsv1.Deployment) {
	t.Helper()
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	template := &deployment.Spec.Template
	restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	for _, result := range evaluator.EvaluatePod(restricted, &template.ObjectMeta, &template.Spec) {
		if !result.Allowed {
			t.Errorf("the pods are not restricted: %s: %s", result.ForbiddenReason, result.ForbiddenDetail)
		}
	}
	for key, value := range deployment.Spec.Selector.MatchLabels {
		if template.Labels[key] != value {
			t.Errorf("the selector asks for %s=%s, the pods have %q", key, value, template.Labels[key])
		}
	}
	manager := template.Spec.Containers[0]
	if !*manager.SecurityContext.ReadOnlyRootFilesystem {
		t.Error("the root file system can be written")
	}
	requests := manager.Resources.Requests
	if requests.Cpu().String() != "50m" || requests.Memory().String() != "128Mi" {
		t.Errorf("it asks for %v", requests)
	}
}

func checkConfiguration(t *testing.T, objects rendered, i install) {
	t.Helper()
	file := read[corev1.ConfigMap](t, objects, "ConfigMap "+i.config).Data["configuration.yaml"]
	c, err := configv1.Decode([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	configv1.SetDefaults(c, configv1.LWSManagerNames())
	if errs := configv1.Validate(c); len(errs) > 0 {
		t.Error(errs)
	}
	own := slices.Contains(i.certificates, "Secret")
	if *c.InternalCertManagement.Enable != own {
		t.Errorf("it makes its certificate: %t, want %t", *c.InternalCertManagement.Enable, own)
	}
	if own {
		read[corev1.Secret](t, objects, "Secret "+*c.InternalCertManagement.WebhookSecretName)
		read[corev1.Service](t, objects, "Service "+*c.InternalCertManagement.WebhookServiceName)
		return
	}
	deployment := read[appsv1.Deployment](t, objects, "Deployment "+i.deployment)
	mounts := deployment.Spec.Template.Spec.Containers[0].VolumeMounts
	if !slices.ContainsFunc(mounts, func(m corev1.VolumeMount) bool { return m.MountPath == c.Webhook.CertDir }) {
		t.Errorf("no volume is mounted at %s, where the certificate is looked for", c.Webhook.CertDir)
	}
}

func checkWebhooks(t *testing.T, objects rendered) {
	t.Helper()
	mutating := read[admissionv1.MutatingWebhookConfiguration](t, objects, "MutatingWebhookConfiguration lws-mutating-webhook-configuration")
	validating := read[admissionv1.ValidatingWebhookConfiguration](t, objects, "ValidatingWebhookConfiguration lws-validating-webhook-configuration")
	clients := map[string]admissionv1.WebhookClientConfig{}
	for i := range mutating.Webhooks {
		webhook := &mutating.Webhooks[i]
		clients[webhook.Name] = webhook.ClientConfig
		if webhook.Name != "pods.leaderworkerset.x-k8s.io" {
			continue
		}
		want := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
			Key: "leaderworkerset.sigs.k8s.io/name", Operator: metav1.LabelSelectorOpExists,
		}}}
		if diff := cmp.Diff(want, webhook.ObjectSelector); diff != "" {
			t.Errorf("pods that are asked about (-want +got)\n%s", diff)
		}
		if webhook.ReinvocationPolicy == nil || *webhook.ReinvocationPolicy != admissionv1.IfNeededReinvocationPolicy {
			t.Error("pods are not admitted again after others changed them")
		}
	}
	for i := range validating.Webhooks {
		clients[validating.Webhooks[i].Name] = validating.Webhooks[i].ClientConfig
	}
	if len(clients) != 3 {
		t.Errorf("%d webhooks, want 3", len(clients))
	}
	for name, client := range clients {
		if client.Service == nil || client.Service.Name != "lws-webhook-service" || client.Service.Namespace != "lws-system" {
			t.Errorf("webhook %s is called at %v", name, client.Service)
		}
	}
}

// policy of a webhook: what it is asked about, how long an answer may take, and what
// happens without one.
type webhookPolicy struct {
	Resources string
	Calls     []admissionv1.OperationType
	Seconds   int32
	Failure   admissionv1.FailurePolicyType
}

// TestWebhookPolicies: nothing of ours gets past a manager that is down, and pods, whose
// starts wait for the answer, are asked about only when they are created.
func TestWebhookPolicies(t *testing.T) {
	changes := []admissionv1.OperationType{admissionv1.Create, admissionv1.Update}
	sets := func(resources string) webhookPolicy { return webhookPolicy{resources, changes, 10, admissionv1.Fail} }
	want := map[string]webhookPolicy{
		"names.leaderworkerset.x-k8s.io":      sets("leaderworkersets"),
		"validation.leaderworkerset.x-k8s.io": sets("leaderworkersets"),
		"names.disaggregatedset.x-k8s.io":     sets("disaggregatedsets"),
		"warnings.disaggregatedset.x-k8s.io":  sets("disaggregatedsets"),
		"pods.leaderworkerset.x-k8s.io":       {"pods", changes[:1], 5, admissionv1.Fail},
	}
	objects := render(t, "default")
	got := map[string]webhookPolicy{}
	add := func(name string, rules []admissionv1.RuleWithOperations, seconds *int32, failure *admissionv1.FailurePolicyType) {
		if len(rules) != 1 || len(rules[0].Resources) != 1 || seconds == nil || failure == nil {
			t.Fatalf("webhook %s leaves something to a default", name)
		}
		got[name] = webhookPolicy{rules[0].Resources[0], rules[0].Operations, *seconds, *failure}
	}
	for _, manager := range []string{"lws", "disaggregatedset"} {
		mutating := read[admissionv1.MutatingWebhookConfiguration](t, objects, "MutatingWebhookConfiguration "+manager+"-mutating-webhook-configuration")
		for i := range mutating.Webhooks {
			w := &mutating.Webhooks[i]
			add(w.Name, w.Rules, w.TimeoutSeconds, w.FailurePolicy)
		}
		validating := read[admissionv1.ValidatingWebhookConfiguration](t, objects, "ValidatingWebhookConfiguration "+manager+"-validating-webhook-configuration")
		for i := range validating.Webhooks {
			w := &validating.Webhooks[i]
			add(w.Name, w.Rules, w.TimeoutSeconds, w.FailurePolicy)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestDisaggregatedSetManagerIsRestricted is what the namespace asks of the pods of both.
func TestDisaggregatedSetManagerIsRestricted(t *testing.T) {
	checkDeployment(t, read[appsv1.Deployment](t, render(t, "disaggregatedset"), "Deployment disaggregatedset-controller-manager"))
}

func TestDefaultIsBothManagers(t *testing.T) {
	both := render(t, "default")
	for _, overlay := range []string{"lws", "disaggregatedset"} {
		for name, data := range render(t, overlay) {
			if diff := cmp.Diff(string(data), string(both[name])); diff != "" {
				t.Errorf("%s (-%s +default)\n%s", name, overlay, diff)
			}
			delete(both, name)
		}
	}
	if len(both) > 0 {
		t.Errorf("besides what the managers have there is %v", kinds(both))
	}
}

// TestNamespaceCanBeChanged is what users do in an overlay of their own.
func TestNamespaceCanBeChanged(t *testing.T) {
	checkout, err := Checkout()
	if err != nil {
		t.Fatal(err)
	}
	disk := filesys.MakeFsOnDisk()
	overlay := t.TempDir()
	base, err := filepath.Rel(overlay, filepath.Join(checkout, "config", "lws"))
	if err != nil {
		t.Fatal(err)
	}
	if err := disk.WriteFile(filepath.Join(overlay, "kustomization.yaml"), []byte("namespace: elsewhere\nresources: ["+base+"]\n")); err != nil {
		t.Fatal(err)
	}
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(disk, overlay)
	if err != nil {
		t.Fatal(err)
	}
	all, err := resources.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(all), "lws-system") {
		for number, line := range strings.Split(string(all), "\n") {
			if strings.Contains(line, "lws-system") {
				t.Errorf("line %d still names the old namespace: %s", number+1, line)
			}
		}
	}
}
