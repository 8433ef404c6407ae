package revision

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/disaggregatedset/placement"
)

// plain writes only what has no default.
const plain = `
leaderWorkerTemplate:
  workerTemplate:
    metadata: {labels: {team: search}}
    spec:
      serviceAccountName: model
      initContainers: [{name: fetch, image: "fetch:1"}]
      containers:
      - name: server
        image: registry.example.com:5000/server@sha256:0123
        ports: [{containerPort: 8000}]
        env:
        - {name: HOST, valueFrom: {fieldRef: {fieldPath: status.podIP}}}
        - {name: MEMORY, valueFrom: {resourceFieldRef: {resource: limits.memory}}}
        resources: {limits: {nvidia.com/gpu: 8, memory: 64Gi, cpu: 4}}
        readinessProbe: {httpGet: {port: 8000}}
        lifecycle: {preStop: {httpGet: {port: 8000, path: /drain}}}
      - {name: sidecar, image: sidecar}
      volumes:
      - name: scratch
      - {name: settings, configMap: {name: settings}}
      - {name: token, projected: {sources: [{serviceAccountToken: {path: token}}]}}
      - {name: disk, ephemeral: {volumeClaimTemplate: {spec: {resources: {requests: {storage: 1Gi}}}}}}
      tolerations: [{key: gpu, value: "true"}]
      topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]
  volumeClaimTemplates:
  - metadata: {name: cache}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 100Gi}}}
`

// defaulted writes the same with its defaults, live fields, another notation of
// quantities, and what the manager adds.
const defaulted = `
replicas: 5
groupIdentity: Ordinal
groupReplacementPolicy: PostTermination
podTerminationPolicy: Parallel
startupPolicy: LeaderReady
networkConfig: {subdomainPolicy: Shared}
rolloutStrategy: {type: RollingUpdate, rollingUpdateConfiguration: {maxSurge: 1, maxUnavailable: 0}}
leaderWorkerTemplate:
  size: 1
  restartPolicy: RecreateGroupAfterStart
  maxGroupRestarts: 3
  restartBackoff: {baseSeconds: 1}
  persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}
  workerTemplate:
    metadata:
      creationTimestamp: null
      labels:
        team: search
        app: llm-0-prefill
        disaggregatedset.x-k8s.io/name: llm
        disaggregatedset.x-k8s.io/role: prefill
        disaggregatedset.x-k8s.io/slice: "0"
        disaggregatedset.x-k8s.io/revision: abcdef01
    spec:
      restartPolicy: Always
      dnsPolicy: ClusterFirst
      schedulerName: default-scheduler
      terminationGracePeriodSeconds: 30
      enableServiceLinks: true
      securityContext: {}
      serviceAccountName: model
      serviceAccount: model
      initContainers:
      - name: fetch
        image: "fetch:1"
        imagePullPolicy: IfNotPresent
        terminationMessagePath: /dev/termination-log
        terminationMessagePolicy: File
        resources: {}
        env: [{name: DISAGGREGATEDSET_NAME, value: llm}]
      containers:
      - name: server
        image: registry.example.com:5000/server@sha256:0123
        imagePullPolicy: IfNotPresent
        terminationMessagePath: /dev/termination-log
        terminationMessagePolicy: File
        securityContext: {}
        ports: [{containerPort: 8000, protocol: TCP}]
        env:
        - {name: DISAGGREGATEDSET_NAME, value: llm}
        - {name: DISAGGREGATEDSET_ROLE, value: prefill}
        - {name: DISAGGREGATEDSET_SLICE, value: "0"}
        - {name: DISAGGREGATEDSET_REVISION, value: abcdef01}
        - {name: HOST, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: status.podIP}}}
        - {name: MEMORY, valueFrom: {resourceFieldRef: {resource: limits.memory, divisor: "0"}}}
        resources:
          limits: {nvidia.com/gpu: "8", memory: 65536Mi, cpu: 4000m}
          requests: {nvidia.com/gpu: "8", memory: 64Gi, cpu: "4"}
        readinessProbe:
          {httpGet: {port: 8000, path: /, scheme: HTTP}, timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3}
        lifecycle: {preStop: {httpGet: {port: 8000, path: /drain, scheme: HTTP}}}
      - {name: sidecar, image: sidecar, imagePullPolicy: Always}
      volumes:
      - {name: scratch, emptyDir: {}}
      - {name: settings, configMap: {name: settings, defaultMode: 420}}
      - {name: token, projected: {defaultMode: 420, sources: [{serviceAccountToken: {path: token, expirationSeconds: 3600}}]}}
      - {name: disk, ephemeral: {volumeClaimTemplate: {metadata: {creationTimestamp: null}, spec: {volumeMode: Filesystem, resources: {requests: {storage: 1024Mi}}}}}}
      tolerations: [{key: gpu, value: "true", operator: Equal}]
      topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, nodeAffinityPolicy: Honor, nodeTaintsPolicy: Ignore}]
  volumeClaimTemplates:
  - apiVersion: v1
    kind: PersistentVolumeClaim
    metadata: {name: cache, creationTimestamp: null}
    spec: {accessModes: [ReadWriteOnce], volumeMode: Filesystem, resources: {requests: {storage: 102400Mi}}}
    status: {phase: Pending}
`

func read(t *testing.T, text string) *lwsv1.LeaderWorkerSetSpec {
	t.Helper()
	spec := &lwsv1.LeaderWorkerSetSpec{}
	if err := yaml.UnmarshalStrict([]byte(text), spec); err != nil {
		t.Fatal(err)
	}
	return spec
}

func meaning(t *testing.T, spec *lwsv1.LeaderWorkerSetSpec) Meaning {
	t.Helper()
	m, err := MeaningOf(spec)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestDefaultsMeanNothing(t *testing.T) {
	with := read(t, defaulted)
	placement.Add(&with.LeaderWorkerTemplate.WorkerTemplate.Spec, placement.Slice{
		Namespace: "ns", Set: "llm", Type: dsv1.ExclusiveTopologyPlacement, Topology: "rack",
	})
	before := with.DeepCopy()
	a, b := meaning(t, read(t, plain)), meaning(t, with)
	if !a.Equal(b) {
		t.Errorf("want the same meaning, got\n%s\n%s", a, b)
	}
	if again := meaning(t, before); !again.Equal(b) {
		t.Error("reading a role changed it")
	}
}

func TestWhatShapesPodsHasAMeaning(t *testing.T) {
	pod := func(spec *lwsv1.LeaderWorkerSetSpec) *corev1.PodSpec {
		return &spec.LeaderWorkerTemplate.WorkerTemplate.Spec
	}
	tests := map[string]func(*lwsv1.LeaderWorkerSetSpec){
		"image":                            func(s *lwsv1.LeaderWorkerSetSpec) { pod(s).Containers[0].Image = "other" },
		"pull policy":                      func(s *lwsv1.LeaderWorkerSetSpec) { pod(s).Containers[0].ImagePullPolicy = corev1.PullAlways },
		"pull policy of an untagged image": func(s *lwsv1.LeaderWorkerSetSpec) { pod(s).Containers[1].ImagePullPolicy = corev1.PullIfNotPresent },
		"variable": func(s *lwsv1.LeaderWorkerSetSpec) {
			env := pod(s).Containers[0].Env
			env[len(env)-2].ValueFrom.FieldRef.FieldPath = "status.hostIP"
		},
		"a limit": func(s *lwsv1.LeaderWorkerSetSpec) { delete(pod(s).Containers[0].Resources.Limits, "memory") },
		"a lower request": func(s *lwsv1.LeaderWorkerSetSpec) {
			pod(s).Containers[0].Resources.Requests = corev1.ResourceList{"memory": pod(s).Containers[0].Resources.Limits["cpu"]}
		},
		"grace period": func(s *lwsv1.LeaderWorkerSetSpec) { pod(s).TerminationGracePeriodSeconds = ptr.To(int64(60)) },
		"probe":        func(s *lwsv1.LeaderWorkerSetSpec) { pod(s).Containers[0].ReadinessProbe.PeriodSeconds = 5 },
		"volume": func(s *lwsv1.LeaderWorkerSetSpec) {
			pod(s).Volumes[0].HostPath = &corev1.HostPathVolumeSource{Path: "/x"}
		},
		"mode of a volume": func(s *lwsv1.LeaderWorkerSetSpec) { pod(s).Volumes[1].ConfigMap.DefaultMode = ptr.To(int32(0o400)) },
		"an empty selector": func(s *lwsv1.LeaderWorkerSetSpec) {
			pod(s).TopologySpreadConstraints[0].LabelSelector = &metav1.LabelSelector{}
		},
		"label":    func(s *lwsv1.LeaderWorkerSetSpec) { s.LeaderWorkerTemplate.WorkerTemplate.Labels["team"] = "ads" },
		"size":     func(s *lwsv1.LeaderWorkerSetSpec) { s.LeaderWorkerTemplate.Size = ptr.To(int32(2)) },
		"leader":   func(s *lwsv1.LeaderWorkerSetSpec) { s.LeaderWorkerTemplate.LeaderTemplate = &corev1.PodTemplateSpec{} },
		"claim":    func(s *lwsv1.LeaderWorkerSetSpec) { s.LeaderWorkerTemplate.VolumeClaimTemplates = nil },
		"identity": func(s *lwsv1.LeaderWorkerSetSpec) { s.GroupIdentity = lwsv1.HashGroupIdentity },
		"network": func(s *lwsv1.LeaderWorkerSetSpec) {
			s.NetworkConfig = &lwsv1.NetworkConfig{SubdomainPolicy: ptr.To(lwsv1.SubdomainUniquePerReplica)}
		},
		"scheduling": func(s *lwsv1.LeaderWorkerSetSpec) { s.Scheduling = &lwsv1.LeaderWorkerSetScheduling{} },
		"subgroups": func(s *lwsv1.LeaderWorkerSetSpec) {
			s.LeaderWorkerTemplate.SubGroupPolicy = &lwsv1.SubGroupPolicy{SubGroupSize: ptr.To(int32(1))}
		},
		"the order of containers": func(s *lwsv1.LeaderWorkerSetSpec) {
			c := pod(s).Containers
			c[0], c[1] = c[1], c[0]
		},
	}
	base := meaning(t, read(t, plain))
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			for form, text := range map[string]string{"plain": plain, "defaulted": defaulted} {
				spec := read(t, text)
				change(spec)
				if meaning(t, spec).Equal(base) {
					t.Errorf("%s: want another meaning", form)
				}
			}
		})
	}
}

func TestHash(t *testing.T) {
	a, b := meaning(t, read(t, plain)), meaning(t, read(t, `leaderWorkerTemplate: {workerTemplate: {}}`))
	base := Hash([]Role{{"prefill", a}, {"decode", b}})
	// Written down: a release that computes another hash starts no rollout where
	// objects exist, but it names new revisions otherwise.
	if want := "b96b5195"; base != want {
		t.Errorf("got %s, want %s", base, want)
	}
	if again := Hash([]Role{{"prefill", meaning(t, read(t, defaulted))}, {"decode", b}}); again != base {
		t.Errorf("defaults change the hash: %s", again)
	}
	for name, roles := range map[string][]Role{
		"a meaning": {{"prefill", b}, {"decode", b}},
		"a name":    {{"context", a}, {"decode", b}},
		"the order": {{"decode", b}, {"prefill", a}},
		"a role":    {{"prefill", a}, {"decode", b}, {"router", b}},
	} {
		if Hash(roles) == base {
			t.Errorf("%s does not change the hash", name)
		}
	}
}
