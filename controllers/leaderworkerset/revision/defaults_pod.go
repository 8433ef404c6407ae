package revision

import (
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// The functions of defaults_*.go fill in what the API server fills in when it
// stores a StatefulSet's pod template, no less and no more. Defaults that exist
// only for pods, such as requests from limits, are not filled in: writing such a
// value out changes a StatefulSet's template.

const (
	defaultGracePeriodSeconds = 30
	defaultTerminationMessage = corev1.TerminationMessagePathDefault
	defaultFieldAPIVersion    = "v1"
)

// fill writes a default into a field that is empty.
func fill[T comparable](field *T, value T) {
	var empty T
	if *field == empty {
		*field = value
	}
}

// fillPointer writes a default into an optional field that is absent.
func fillPointer[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

func fillPodSpec(spec *corev1.PodSpec) {
	fill(&spec.ServiceAccountName, spec.DeprecatedServiceAccount)
	spec.DeprecatedServiceAccount = spec.ServiceAccountName
	fill(&spec.DNSPolicy, corev1.DNSClusterFirst)
	fill(&spec.RestartPolicy, corev1.RestartPolicyAlways)
	fill(&spec.SchedulerName, corev1.DefaultSchedulerName)
	fillPointer(&spec.SecurityContext, corev1.PodSecurityContext{})
	fillPointer(&spec.TerminationGracePeriodSeconds, defaultGracePeriodSeconds)
	for i := range spec.Volumes {
		fillVolume(&spec.Volumes[i])
	}
	for i := range spec.InitContainers {
		fillContainer(&spec.InitContainers[i])
	}
	for i := range spec.Containers {
		fillContainer(&spec.Containers[i])
	}
}

func fillContainer(container *corev1.Container) {
	fillPullPolicy(&container.ImagePullPolicy, container.Image)
	fill(&container.TerminationMessagePath, defaultTerminationMessage)
	fill(&container.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
	for i := range container.Ports {
		fill(&container.Ports[i].Protocol, corev1.ProtocolTCP)
	}
	for i := range container.Env {
		fillEnvSource(container.Env[i].ValueFrom)
	}
	fillProbe(container.LivenessProbe)
	fillProbe(container.ReadinessProbe)
	fillProbe(container.StartupProbe)
	if container.Lifecycle != nil {
		fillLifecycleHandler(container.Lifecycle.PostStart)
		fillLifecycleHandler(container.Lifecycle.PreStop)
	}
}

func fillEnvSource(source *corev1.EnvVarSource) {
	if source == nil {
		return
	}
	fillFieldRef(source.FieldRef)
	if source.FileKeyRef != nil {
		fillPointer(&source.FileKeyRef.Optional, false)
	}
}

func fillFieldRef(ref *corev1.ObjectFieldSelector) {
	if ref != nil {
		fill(&ref.APIVersion, defaultFieldAPIVersion)
	}
}

func fillProbe(probe *corev1.Probe) {
	if probe == nil {
		return
	}
	fill(&probe.TimeoutSeconds, 1)
	fill(&probe.PeriodSeconds, 10)
	fill(&probe.SuccessThreshold, 1)
	fill(&probe.FailureThreshold, 3)
	fillHTTPGet(probe.HTTPGet)
	if probe.GRPC != nil {
		fillPointer(&probe.GRPC.Service, "")
	}
}

func fillLifecycleHandler(handler *corev1.LifecycleHandler) {
	if handler != nil {
		fillHTTPGet(handler.HTTPGet)
	}
}

func fillHTTPGet(action *corev1.HTTPGetAction) {
	if action != nil {
		fill(&action.Path, "/")
		fill(&action.Scheme, corev1.URISchemeHTTP)
	}
}

// imageReference is an image name that is certainly well-formed. An image that
// the API server cannot parse has another default than one without a tag; where
// that is not certain the policy is left open, and then only the same absent
// policy is equal.
var imageReference = regexp.MustCompile(
	`^[a-z0-9]+([.-][a-z0-9]+)*(:[0-9]+)?(/[a-z0-9]+([._-][a-z0-9]+)*)*` +
		`(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(@sha256:[0-9a-f]{64})?$`)

func fillPullPolicy(policy *corev1.PullPolicy, image string) {
	if *policy != "" || len(image) > 200 || !imageReference.MatchString(image) {
		return
	}
	if hasLatestTag(image) {
		*policy = corev1.PullAlways
		return
	}
	*policy = corev1.PullIfNotPresent
}

// hasLatestTag: repo, repo:latest and repo:latest@sha256:… have it, repo:1 and
// repo@sha256:… have not. A colon before the last slash is that of a port.
func hasLatestTag(image string) bool {
	name, _, hasDigest := strings.Cut(image, "@")
	name = name[strings.LastIndexByte(name, '/')+1:]
	_, tag, hasTag := strings.Cut(name, ":")
	if !hasTag {
		return !hasDigest
	}
	return tag == "latest"
}
