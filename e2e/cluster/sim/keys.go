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
	// NodeTypeLabel marks, with NodeTypeValue, the nodes that kwok plays.
	NodeTypeLabel = "type"
	// NodeTypeValue is the value of NodeTypeLabel.
	NodeTypeValue = "kwok"
	// RackLabel is the smallest topology domain of NumberedNodes: two nodes.
	RackLabel = "sim.lws.x-k8s.io/rack"
	// BlockLabel is the next one: two racks. Two blocks are a zone.
	BlockLabel = "sim.lws.x-k8s.io/block"
)

const (
	// User is who the simulated kubelet is to the API server and its audit log.
	User = "sim-kubelet"
	// DeadNodesName is the ConfigMap whose keys are the nodes that Kill has stopped.
	DeadNodesName = "sim-dead-nodes"
	// DeadNodesNamespace is where it is.
	DeadNodesNamespace = "kube-system"
)
