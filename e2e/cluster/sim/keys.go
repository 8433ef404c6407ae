package sim

// Annotations by which a pod asks its node for a behaviour; the package
// comment gives their values.
const (
	StartDelayAnnotation = "sim.lws.x-k8s.io/start-delay"
	HangAnnotation       = "sim.lws.x-k8s.io/hang"
	CrashLoopAnnotation  = "sim.lws.x-k8s.io/crash-loop"
	RestartAnnotation    = "sim.lws.x-k8s.io/restart"
	FailAnnotation       = "sim.lws.x-k8s.io/fail"
	SucceedAnnotation    = "sim.lws.x-k8s.io/succeed"
	ExitCodeAnnotation   = "sim.lws.x-k8s.io/exit-code"
	StopAfterAnnotation  = "sim.lws.x-k8s.io/stop-after"
)

// Values of HangAnnotation.
const (
	HangUnready = "unready"
	HangImage   = "image"
)

const (
	// NodeTypeLabel with NodeTypeValue marks the nodes that kwok plays.
	NodeTypeLabel = "type"
	NodeTypeValue = "kwok"
	// RackLabel and BlockLabel are the topology domains of the nodes beside
	// the well-known zone: two nodes share a rack, two racks a block.
	RackLabel  = "sim.lws.x-k8s.io/rack"
	BlockLabel = "sim.lws.x-k8s.io/block"
)

const (
	// User is who the simulated kubelet is to the API server and its audit log.
	User = "sim-kubelet"
	// DeadNodesNamespace and DeadNodesName name the ConfigMap whose keys are
	// the nodes that Kill has stopped.
	DeadNodesNamespace = "kube-system"
	DeadNodesName      = "sim-dead-nodes"
)
