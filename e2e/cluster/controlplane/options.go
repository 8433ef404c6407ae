package controlplane

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"sigs.k8s.io/lws/e2e/cluster/binaries"
)

// Options say what cluster Up starts.
type Options struct {
	// Dir holds the state directories of clusters, Name is this cluster's.
	Dir  string
	Name string
	// Kubernetes is a version that binaries.Minors lists, as "1.36"; the newest if empty.
	Kubernetes string
	// Nodes is the number of nodes to begin with.
	Nodes int
	// FeatureGates ("A=true,B=false") apply to API server, controller manager and scheduler.
	FeatureGates string
	// RuntimeConfig ("scheduling.k8s.io/v1beta1=true") switches APIs of the API server.
	RuntimeConfig string
	// AuditPolicy is a policy file, or AuditMetadata; without it there is no audit log.
	AuditPolicy string
	// NodeGrace is how long a node may be silent before it is NotReady.
	NodeGrace time.Duration
	// Load takes brakes off for benchmarks: more concurrent syncs in the controller
	// manager, no fairness in the API server, and nodes that are never judged silent.
	Load bool
	// Port is the API server's; a free one if 0.
	Port int
	// Log receives progress, one line for each step.
	Log io.Writer `json:"-"`
}

const (
	// AuditMetadata as an AuditPolicy records user, verb and object of every request.
	AuditMetadata = "metadata"

	defaultNodeGrace = 10 * time.Second
	loadNodeGrace    = 200 * time.Second
)

// What workload-aware scheduling needs to be switched on, for FeatureGates and
// RuntimeConfig: its objects, topologies, claims of groups, and groups of groups.
const (
	WorkloadAwareSchedulingGates = "GenericWorkload=true,TopologyAwareWorkloadScheduling=true," +
		"DRAWorkloadResourceClaims=true,CompositePodGroup=true"
	WorkloadAwareSchedulingAPIs = "scheduling.k8s.io/v1beta1=true,scheduling.k8s.io/v1alpha3=true"
)

// WithWorkloadAwareScheduling switches workload-aware scheduling on, beside what is
// switched on or off already.
func (o Options) WithWorkloadAwareScheduling() Options {
	o.FeatureGates = joined(WorkloadAwareSchedulingGates, o.FeatureGates)
	o.RuntimeConfig = joined(WorkloadAwareSchedulingAPIs, o.RuntimeConfig)
	return o
}

// joined puts what is said later last, where it counts.
func joined(first, then string) string {
	if then == "" {
		return first
	}
	return first + "," + then
}

// Defaults are the options of "up" without flags, for a cluster below dir.
func Defaults(dir string) Options {
	return Options{Dir: dir, Name: "default", Nodes: 10}
}

var validName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,40}[a-z0-9])?$`)

// complete fills defaults in and refuses what cannot work, before anything is
// written or started.
func (o Options) complete() (Options, error) {
	if o.Name == "" {
		o.Name = "default"
	}
	if !validName.MatchString(o.Name) {
		return o, fmt.Errorf("cluster name %q: use lower case letters, digits and dashes", o.Name)
	}
	if o.Nodes < 0 {
		return o, fmt.Errorf("number of nodes %d: must not be negative", o.Nodes)
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return o, err
	}
	o.Dir = dir
	if o.Kubernetes, err = binaries.Resolve(o.Kubernetes); err != nil {
		return o, err
	}
	if o.NodeGrace == 0 {
		o.NodeGrace = defaultNodeGrace
		if o.Load {
			o.NodeGrace = loadNodeGrace
		}
	}
	if o.NodeGrace < 4*time.Second {
		return o, fmt.Errorf("node grace %s: must be 4s or more, heartbeats come each quarter of it", o.NodeGrace)
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	return o.completeAudit()
}

func (o Options) completeAudit() (Options, error) {
	if o.AuditPolicy == "" || o.AuditPolicy == AuditMetadata {
		return o, nil
	}
	file, err := filepath.Abs(o.AuditPolicy)
	if err != nil {
		return o, err
	}
	if _, err := os.Stat(file); err != nil {
		return o, fmt.Errorf("audit policy: %w", err)
	}
	o.AuditPolicy = file
	return o, nil
}

// printf writes a line of progress.
func (o Options) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(o.Log, format, args...)
}

// sameCluster compares what a running cluster was started with.
func (o Options) sameCluster(other Options) bool {
	o.Log, other.Log = nil, nil
	o.Port, other.Port = 0, 0
	return o == other
}
