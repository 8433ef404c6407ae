package revision

import (
	"maps"
	"strings"
)

// metadata is a field of every object, whatever its shape.
const metadata = "metadata"

// The shapes of a role and of what is in it. Numbers are int64, as the converter
// of apimachinery makes them.
var (
	roleShape = &shape{
		defaults: map[string]any{"groupIdentity": "Ordinal"},
		dropped:  []string{"rolloutStrategy", "startupPolicy", "replicas"},
		objects:  map[string]*shape{"leaderWorkerTemplate": templateShape, "networkConfig": networkShape},
		empties:  []string{"networkConfig"},
	}

	networkShape = &shape{defaults: map[string]any{"subdomainPolicy": "Shared"}}

	templateShape = &shape{
		defaults: map[string]any{"size": int64(1)},
		objects: map[string]*shape{
			"leaderTemplate": podTemplateShape,
			"workerTemplate": podTemplateShape,
			"subGroupPolicy": {defaults: map[string]any{"subGroupPolicyType": "LeaderWorker"}},
		},
		lists: map[string]*shape{"volumeClaimTemplates": claimShape},
	}

	metadataShape = &shape{
		dropped: []string{"creationTimestamp"},
		empties: []string{"labels", "annotations"},
	}

	podTemplateShape = &shape{
		objects: map[string]*shape{metadata: metadataShape, "spec": podShape},
		empties: []string{metadata},
	}

	podShape = &shape{
		defaults: map[string]any{
			"restartPolicy":                 "Always",
			"dnsPolicy":                     "ClusterFirst",
			"schedulerName":                 "default-scheduler",
			"terminationGracePeriodSeconds": int64(30),
			"enableServiceLinks":            true,
			"shareProcessNamespace":         false,
			"setHostnameAsFQDN":             false,
		},
		objects: map[string]*shape{"affinity": {empties: []string{"nodeAffinity", "podAffinity", "podAntiAffinity"}}},
		lists: map[string]*shape{
			"initContainers":            containerShape,
			"containers":                containerShape,
			"volumes":                   volumeShape,
			"tolerations":               {defaults: map[string]any{"operator": "Equal"}},
			"topologySpreadConstraints": spreadShape,
		},
		empties:    []string{"securityContext", "affinity", "nodeSelector"},
		quantities: []string{"overhead"},
		settle:     settleServiceAccount,
	}

	spreadShape = &shape{defaults: map[string]any{"nodeAffinityPolicy": "Honor", "nodeTaintsPolicy": "Ignore"}}

	containerShape = &shape{
		defaults: map[string]any{
			"terminationMessagePath":   "/dev/termination-log",
			"terminationMessagePolicy": "File",
		},
		objects: map[string]*shape{
			"resources":      resourcesShape,
			"livenessProbe":  probeShape,
			"readinessProbe": probeShape,
			"startupProbe":   probeShape,
			"lifecycle":      {objects: map[string]*shape{"postStart": handlerShape, "preStop": handlerShape}},
		},
		lists: map[string]*shape{
			"ports":        {defaults: map[string]any{"protocol": "TCP"}},
			"env":          variableShape,
			"volumeMounts": {defaults: map[string]any{"recursiveReadOnly": "Disabled", "mountPropagation": "None"}},
		},
		empties: []string{"resources", "securityContext"},
		settle:  settlePullPolicy,
	}

	resourcesShape = &shape{quantities: []string{"limits", "requests"}, settle: settleRequests, empties: []string{"requests"}}

	handlerShape = &shape{objects: map[string]*shape{
		"httpGet": {defaults: map[string]any{"scheme": "HTTP", "path": "/"}},
	}}

	probeShape = &shape{
		defaults: map[string]any{
			"timeoutSeconds":   int64(1),
			"periodSeconds":    int64(10),
			"successThreshold": int64(1),
			"failureThreshold": int64(3),
		},
		objects: map[string]*shape{
			"httpGet": handlerShape.objects["httpGet"],
			"grpc":    {defaults: map[string]any{"service": ""}},
		},
	}

	fieldRefShape = &shape{defaults: map[string]any{"apiVersion": "v1"}}

	resourceRefShape = &shape{quantities: []string{"divisor"}, defaults: map[string]any{"divisor": "0"}}

	variableShape = &shape{objects: map[string]*shape{"valueFrom": {objects: map[string]*shape{
		"fieldRef": fieldRefShape, "resourceFieldRef": resourceRefShape,
	}}}}

	claimShape = &shape{
		dropped: []string{"apiVersion", "kind", "status"},
		objects: map[string]*shape{metadata: metadataShape, "spec": claimSpecShape},
	}

	claimSpecShape = &shape{
		defaults: map[string]any{"volumeMode": "Filesystem"},
		objects:  map[string]*shape{"resources": {quantities: []string{"limits", "requests"}}},
	}
)

// filesShape is a volume of files that some other object provides.
var filesShape = &shape{
	defaults: map[string]any{"defaultMode": int64(0o644)},
	lists: map[string]*shape{"items": {objects: map[string]*shape{
		"fieldRef": fieldRefShape, "resourceFieldRef": resourceRefShape,
	}}},
}

var volumeShape = &shape{
	objects: map[string]*shape{
		"configMap":   filesShape,
		"secret":      filesShape,
		"downwardAPI": filesShape,
		"projected": {
			defaults: filesShape.defaults,
			lists: map[string]*shape{"sources": {objects: map[string]*shape{
				"downwardAPI":         {lists: filesShape.lists},
				"serviceAccountToken": {defaults: map[string]any{"expirationSeconds": int64(3600)}},
			}}},
		},
		"emptyDir": {quantities: []string{"sizeLimit"}},
		"hostPath": {defaults: map[string]any{"type": ""}},
		"iscsi":    {defaults: map[string]any{"iscsiInterface": "default"}},
		"rbd":      {defaults: map[string]any{"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"}},
		"azureDisk": {defaults: map[string]any{
			"cachingMode": "ReadWrite", "fsType": "ext4", "readOnly": false, "kind": "Shared",
		}},
		"scaleIO": {defaults: map[string]any{"storageMode": "ThinProvisioned", "fsType": "xfs"}},
		"ephemeral": {objects: map[string]*shape{"volumeClaimTemplate": {
			objects: map[string]*shape{metadata: metadataShape, "spec": claimSpecShape},
			empties: []string{metadata},
		}}},
	},
	settle: func(volume map[string]any) {
		if len(volume) == 1 { // a name only
			volume["emptyDir"] = map[string]any{}
		}
	},
}

// settleServiceAccount reads the deprecated name of serviceAccountName.
func settleServiceAccount(pod map[string]any) {
	if old, ok := pod["serviceAccount"]; ok && pod["serviceAccountName"] == nil {
		pod["serviceAccountName"] = old
	}
	delete(pod, "serviceAccount")
}

// settleRequests takes out requests that equal the limit, which is their default.
func settleRequests(resources map[string]any) {
	limits, _ := resources["limits"].(map[string]any)
	requests, _ := resources["requests"].(map[string]any)
	maps.DeleteFunc(requests, func(name string, value any) bool { return limits[name] == value })
}

// settlePullPolicy takes out the policy that the image's tag has for a default.
func settlePullPolicy(container map[string]any) {
	image, _ := container["image"].(string)
	policy := "IfNotPresent"
	if !strings.Contains(image, "@") {
		tag := image[strings.LastIndex(image, "/")+1:]
		if _, tag, tagged := strings.Cut(tag, ":"); !tagged || tag == "latest" {
			policy = "Always"
		}
	}
	if container["imagePullPolicy"] == policy {
		delete(container, "imagePullPolicy")
	}
}
