package packaging

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	configv1 "sigs.k8s.io/lws/apis/config/v1"
)

func TestLint(t *testing.T) {
	for _, chart := range charts {
		dir, err := chartDir(chart)
		if err != nil {
			t.Fatal(err)
		}
		if out, err := helm(t.Context(), t.TempDir(), "", "lint", "--strict", "--kube-version", "1.37.0", dir); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
}

func TestWhatIsMisspeltIsRefused(t *testing.T) {
	tests := map[string]struct{ value, want string }{
		"at the top":             {`replica=3`, "replica"},
		"below":                  {`image.repo="x"`, "repo"},
		"deeper":                 {`metrics.serviceMonitor.enable=true`, "enable"},
		"a part of the config":   {`configuration.webhok={}`, "webhok"},
		"of another type":        {`replicas="two"`, "replicas"},
		"a number of labels":     {`nodeSelector={"a":1}`, "nodeSelector"},
		"no digest":              {`image.digest="abc"`, "digest"},
		"a gate that is no bool": {`featureGates={"CompositePodGroup":"yes"}`, "/featureGates/CompositePodGroup"},
		"a gate":                 {`featureGates={"Wings":true}`, "Wings"},
		"a gate elsewhere":       {`configuration.featureGates={"CompositePodGroup":true}`, "featureGates"},
		"a resource":             {`resources.requests.memroy="1Gi"`, "memroy"},
		"kinds of resources":     {`resources.request.memory="1Gi"`, "request"},
		"a toleration":           {`tolerations=[{"kye":"a"}]`, "kye"},
		"an affinity":            {`affinity.nodeAffinity.required=[]`, "required"},
		"deep in an affinity":    {`affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution=[{"weight":1,"podAffinityTerm":{"topologyKey":"a","labelSelecter":{}}}]`, "labelSelecter"},
		"half an affinity":       {`affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution=[{"labelSelector":{}}]`, "topologyKey"},
		"a spread":               {`topologySpreadConstraints=[{"maxSkew":1,"topologyKey":"a","whenUnsatisfied":"ScheduleAnyway"}]`, "whenUnsatisfi"},
		"half a spread":          {`topologySpreadConstraints=[{"maxSkew":1}]`, "topologyKey"},
		"a peer":                 {`networkPolicy.metricsFrom=[{"podSelecter":{}}]`, "podSelecter"},
		"no part of replicas":    {`podDisruptionBudget.maxUnavailable="half"`, "maxUnavailable"},
		"fewer than none":        {`podDisruptionBudget.maxUnavailable=-1`, "maxUnavailable"},
		"an issuer without name": {`certManager.issuerRef.kind="ClusterIssuer"`, "name"},
		"no interval":            {`metrics.serviceMonitor.interval="often"`, "interval"},
		"a field of the config":  {`configuration.clientConnection.qsp=1`, "qsp"},
		"a duration":             {`configuration.leaderElection.leaseDuration="soon"`, "leaseDuration"},
		"an address":             {`configuration.metrics.bindAddress="8443"`, "bindAddress"},
		"a TLS version":          {`configuration.tls.minVersion="1.3"`, "minVersion"},
		"a kind":                 {`configuration.controller.groupKindConcurrency={"Pods":3}`, "Pods"},
		"no workers":             {`configuration.controller.groupKindConcurrency={"DisaggregatedSet.disaggregatedset.x-k8s.io":0,"Pod":0}`, "groupKindConcurrency"},
		// What roles and other objects of the chart name.
		"the chart's Lease":       {`configuration.leaderElection.resourceName="mine"`, "resourceName"},
		"the chart's certificate": {`configuration.internalCertManagement.enable=false`, "internalCertManagement"},
		"the chart's directory":   {`configuration.webhook.certDir="/certs"`, "certDir"},
	}
	for name, test := range tests {
		for _, chart := range charts {
			t.Run(chart+" "+name, func(t *testing.T) {
				dir, err := chartDir(chart)
				if err != nil {
					t.Fatal(err)
				}
				_, err = helm(t.Context(), t.TempDir(), "", "template", dir, "--kube-version", "1.37.0", "--set-json", test.value)
				if err == nil || !strings.Contains(err.Error(), "schema") || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%s: %v, want an error of the schema about %s", test.value, err, test.want)
				}
			})
		}
	}
}

// TestWhatIsRightIsAccepted uses each kind of value to its depth.
func TestWhatIsRightIsAccepted(t *testing.T) {
	tests := map[string]string{
		"resources":     `resources={"requests":{"cpu":1,"memory":"1Gi"},"limits":{"hugepages-2Mi":"4Mi","example.com/card":1}}`,
		"tolerations":   `tolerations=[{"key":"a","operator":"Equal","value":"b","effect":"NoExecute","tolerationSeconds":5}]`,
		"node affinity": `affinity.nodeAffinity={"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"In","values":["b"]}]}]}}`,
		"pod affinity":  `affinity.podAntiAffinity={"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"podAffinityTerm":{"topologyKey":"a","labelSelector":{"matchLabels":{"b":"c"}}}}]}`,
		"spread":        `topologySpreadConstraints=[{"maxSkew":1,"topologyKey":"a","whenUnsatisfiable":"DoNotSchedule","minDomains":2,"matchLabelKeys":["pod-template-hash"]}]`,
		"peers":         `networkPolicy.metricsFrom=[{"ipBlock":{"cidr":"10.0.0.0/8"}},{"namespaceSelector":{"matchLabels":{"a":"b"}}}]`,
		"a budget":      `podDisruptionBudget.maxUnavailable="34%"`,
		"an interval":   `metrics.serviceMonitor.interval="1m30s"`,
		"configuration": `configuration={"webhook":{"host":"","port":9444},"leaderElection":{"leaderElect":true,"leaseDuration":"1m0.5s"},` +
			`"metrics":{"bindAddress":"0","secure":false},"tls":{"minVersion":"VersionTLS12","cipherSuites":["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"]},` +
			`"clientConnection":{"qps":0.5,"burst":1},"pprofBindAddress":"localhost:6060","tracing":{"endpoint":"c:4317","samplingRatePerMillion":1}}`,
		"a chart above": `global={"anything":1}`,
	}
	for name, value := range tests {
		for _, chart := range charts {
			t.Run(chart+" "+name, func(t *testing.T) {
				template(t, chart, "ns", value)
			})
		}
	}
}

// valueSchema is what is compared of a JSON schema.
type valueSchema struct {
	Default     any                     `json:"default"`
	Description string                  `json:"description"`
	Properties  map[string]*valueSchema `json:"properties"`
}

// defaults are the values that a schema gives, and an error for what it does not
// describe.
func (s *valueSchema) defaults(t *testing.T, path string) any {
	t.Helper()
	if s.Description == "" && path != "" {
		t.Errorf("%s has no description", path)
	}
	if s.Default != nil {
		return s.Default
	}
	values := map[string]any{}
	for name, property := range s.Properties {
		if path+name != "global" {
			values[name] = property.defaults(t, path+name+".")
		}
	}
	return values
}

func TestSchemaHasTheDefaultsOfTheValues(t *testing.T) {
	for _, chart := range charts {
		dir, err := chartDir(chart)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(dir, "values.schema.json"))
		if err != nil {
			t.Fatal(err)
		}
		described := &valueSchema{}
		if err := json.Unmarshal(data, described); err != nil {
			t.Fatal(err)
		}
		if data, err = os.ReadFile(filepath.Join(dir, "values.yaml")); err != nil {
			t.Fatal(err)
		}
		var values any
		if err := yaml.UnmarshalStrict(data, &values); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(described.defaults(t, ""), values); diff != "" {
			t.Errorf("chart %s (-values.schema.json +values.yaml)\n%s", chart, diff)
		}
	}
}

// TestTemplatesAreShared: charts cannot include each other's files, so the templates of
// both are the same files but for the name.
func TestTemplatesAreShared(t *testing.T) {
	dirs := map[string]string{}
	for _, chart := range charts {
		dir, err := chartDir(chart)
		if err != nil {
			t.Fatal(err)
		}
		dirs[chart] = filepath.Join(dir, "templates")
	}
	entries, err := os.ReadDir(dirs["lws"])
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if entry.Name() == "_name.tpl" || entry.Name() == "NOTES.txt" {
			continue
		}
		one, err := os.ReadFile(filepath.Join(dirs["lws"], entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		other, err := os.ReadFile(filepath.Join(dirs["disaggregatedset"], entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(one), string(other)); diff != "" {
			t.Errorf("%s (-lws +disaggregatedset)\n%s", entry.Name(), diff)
		}
	}
}

// TestValuesAreUsed sets what no kustomization varies.
func TestValuesAreUsed(t *testing.T) {
	pod := []string{"spec", "template", "spec"}
	deployment, budget := "Deployment NAME-controller-manager", "PodDisruptionBudget NAME-controller-manager"
	tests := map[string]struct {
		value, object string
		path          []string
		want          string
	}{
		"replicas":            {`replicas=3`, deployment, []string{"spec", "replicas"}, `3`},
		"imagePullSecrets":    {`imagePullSecrets=[{"name":"s"}]`, deployment, append(pod, "imagePullSecrets"), `[{"name":"s"}]`},
		"nodeSelector":        {`nodeSelector={"pool":"system"}`, deployment, append(pod, "nodeSelector"), `{"kubernetes.io/os":"linux","pool":"system"}`},
		"tolerations":         {`tolerations=[{"operator":"Exists"}]`, deployment, append(pod, "tolerations"), `[{"operator":"Exists"}]`},
		"affinity":            {`affinity={"podAffinity":{}}`, deployment, append(pod, "affinity"), `{"podAffinity":{}}`},
		"priorityClassName":   {`priorityClassName="1"`, deployment, append(pod, "priorityClassName"), `"1"`},
		"no spread":           {`topologySpreadConstraints=[]`, deployment, append(pod, "topologySpreadConstraints"), `null`},
		"spread of one's own": {`topologySpreadConstraints=[{"maxSkew":2,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"}]`, deployment, append(pod, "topologySpreadConstraints"), `[{"labelSelector":{"matchLabels":{"app.kubernetes.io/name":"NAME","control-plane":"controller-manager"}},"maxSkew":2,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"}]`},
		"spread of others":    {`topologySpreadConstraints=[{"maxSkew":2,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchExpressions":[{"key":"a","operator":"Exists"}]}}]`, deployment, append(pod, "topologySpreadConstraints"), `[{"labelSelector":{"matchExpressions":[{"key":"a","operator":"Exists"}]},"maxSkew":2,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"}]`},
		"disruption budget":   {`podDisruptionBudget.maxUnavailable="50%"`, budget, []string{"spec", "maxUnavailable"}, `"50%"`},
		"metrics from":        {`networkPolicy={"enabled":true,"metricsFrom":[{"podSelector":{}}]}`, "NetworkPolicy NAME-controller-manager", []string{"spec", "ingress"}, `[{"ports":[{"port":"webhook","protocol":"TCP"}]},{"from":[{"podSelector":{}}],"ports":[{"port":"metrics","protocol":"TCP"}]}]`},
		"labels of a monitor": {`metrics.serviceMonitor={"enabled":true,"interval":"1m","labels":{"release":"p"}}`, "ServiceMonitor NAME-controller-manager", []string{"metadata", "labels", "release"}, `"p"`},
		"label of our name":   {`metrics.serviceMonitor={"enabled":true,"labels":{"app.kubernetes.io/name":"theirs"}}`, "ServiceMonitor NAME-controller-manager", []string{"metadata", "labels"}, `{"app.kubernetes.io/component":"NAME-manager","app.kubernetes.io/name":"theirs"}`},
		"labels of alerts":    {`metrics.prometheusRule={"enabled":true,"labels":{"release":"p"}}`, "PrometheusRule NAME-controller-manager", []string{"metadata", "labels", "release"}, `"p"`},
		"dashboard's labels":  {`metrics.dashboard={"enabled":true,"labels":{"grafana":"yes"}}`, "ConfigMap NAME-dashboard", []string{"metadata", "labels", "grafana"}, `"yes"`},
		"metrics by HTTP":     {`metrics.serviceMonitor.enabled=true,configuration.metrics.secure=false`, "ServiceMonitor NAME-controller-manager", []string{"spec", "endpoints"}, `[{"honorLabels":true,"interval":"30s","path":"/metrics","port":"https","scheme":"http"}]`},
		"issuer":              {`certManager={"enabled":true,"issuerRef":{"name":"ours","kind":"ClusterIssuer"}}`, "Certificate NAME-serving-cert", []string{"spec", "issuerRef"}, `{"kind":"ClusterIssuer","name":"ours"}`},
	}
	for name, test := range tests {
		for _, chart := range charts {
			t.Run(chart+" "+name, func(t *testing.T) {
				object := template(t, chart, "ns", test.value)[strings.ReplaceAll(test.object, "NAME", chart)]
				if object == nil {
					t.Fatalf("there is no %s", test.object)
				}
				got, _, err := unstructured.NestedFieldNoCopy(object.Object, test.path...)
				if err != nil {
					t.Fatal(err)
				}
				text, err := json.Marshal(got)
				if err != nil {
					t.Fatal(err)
				}
				if want := strings.ReplaceAll(test.want, "NAME", chart); string(text) != want {
					t.Errorf("got %s\nwant %s", text, want)
				}
			})
		}
	}
}

// TestNothingIsServed: a port that nobody listens at is no port of the pod, and is not
// probed.
func TestNothingIsServed(t *testing.T) {
	for _, chart := range charts {
		object := template(t, chart, "ns", `configuration={"metrics":{"bindAddress":"0"},"health":{"healthProbeBindAddress":"0"}}`)["Deployment "+chart+"-controller-manager"]
		containers, _, err := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
		if err != nil {
			t.Fatal(err)
		}
		container := containers[0].(map[string]any)
		ports, err := json.Marshal(container["ports"])
		if err != nil {
			t.Fatal(err)
		}
		if want := `[{"containerPort":9443,"name":"webhook"}]`; string(ports) != want {
			t.Errorf("chart %s: ports %s, want %s", chart, ports, want)
		}
		if container["livenessProbe"] != nil || container["readinessProbe"] != nil {
			t.Errorf("chart %s probes what is not served", chart)
		}
	}
}

// TestWhatIsOffIsNotThere: options that are off by default or can be switched off.
func TestWhatIsOffIsNotThere(t *testing.T) {
	for _, chart := range charts {
		objects := template(t, chart, "ns", `podDisruptionBudget.enabled=false`)
		for _, kind := range []string{"PodDisruptionBudget", "NetworkPolicy", "ServiceMonitor", "PrometheusRule", "Certificate", "Issuer"} {
			for key := range objects {
				if strings.HasPrefix(key, kind+" ") {
					t.Errorf("chart %s has %s", chart, key)
				}
			}
		}
		if objects["ConfigMap "+chart+"-dashboard"] != nil {
			t.Errorf("chart %s has a dashboard", chart)
		}
	}
}

func TestImage(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0123456789abcdef", 4)
	tests := map[string]struct {
		values []string
		want   string
	}{
		"a tag":    {[]string{`image.repository="r/x"`, `image.tag="v1"`}, "r/x:v1"},
		"a digest": {[]string{`image.repository="r/x"`, `image.tag="v1"`, `image.digest="` + digest + `"`}, "r/x@" + digest},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			object := template(t, "lws", "ns", test.values...)["Deployment lws-controller-manager"]
			containers, _, err := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
			if err != nil {
				t.Fatal(err)
			}
			if got := containers[0].(map[string]any)["image"]; got != test.want {
				t.Errorf("got %v, want %s", got, test.want)
			}
		})
	}
}

// TestConfiguration reads the configuration as the manager does.
func TestConfiguration(t *testing.T) {
	objects := template(t, "lws", "ns",
		`featureGates={"WorkloadAwareScheduling":false}`,
		`configuration={"webhook":{"port":9999},"metrics":{"bindAddress":":7777"},"clientConnection":{"qps":20},"leaderElection":{"leaseDuration":"30s"}}`)
	text, _, err := unstructured.NestedString(objects["ConfigMap lws-manager-config"].Object, "data", "configuration.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c, err := configv1.Decode([]byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	configv1.SetDefaults(c, configv1.LWSManagerNames())
	if *c.Webhook.Port != 9999 || c.Metrics.BindAddress != ":7777" || *c.ClientConnection.QPS != 20 ||
		!*c.LeaderElection.LeaderElect || !*c.InternalCertManagement.Enable {
		t.Errorf("configuration\n%s", text)
	}
	containers, _, err := unstructured.NestedSlice(objects["Deployment lws-controller-manager"].Object, "spec", "template", "spec", "containers")
	if err != nil {
		t.Fatal(err)
	}
	ports, err := json.Marshal(containers[0].(map[string]any)["ports"])
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"containerPort":9999,"name":"webhook"},{"containerPort":7777,"name":"metrics"},{"containerPort":8081,"name":"probes"}]`
	if string(ports) != want {
		t.Errorf("ports %s, want %s", ports, want)
	}
}
