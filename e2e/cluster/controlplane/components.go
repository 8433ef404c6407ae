package controlplane

import (
	"net"
	"strconv"
	"strings"

	"sigs.k8s.io/lws/e2e/cluster/binaries"
)

// Names of the ports of a cluster.
const (
	etcdClientPort = "etcd"
	etcdPeerPort   = "etcd-peer"
	apiPort        = binaries.APIServer
	controllerPort = binaries.ControllerManager
	schedulerPort  = binaries.Scheduler
)

const loopback = "127.0.0.1"

func localAddress(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }

// component is how a program of the cluster is run.
type component struct {
	name  string
	ports []string
	// prepare writes what the component reads, once its ports are known.
	prepare func(*state) error
	args    func(*state) []string
}

var (
	etcd              = component{name: binaries.Etcd, ports: []string{etcdClientPort, etcdPeerPort}, args: etcdArgs}
	apiServer         = component{name: binaries.APIServer, ports: []string{apiPort}, prepare: (*state).writeKeys, args: apiServerArgs}
	controllerManager = component{name: binaries.ControllerManager, ports: []string{controllerPort}, args: controllerManagerArgs}
	scheduler         = component{name: binaries.Scheduler, ports: []string{schedulerPort}, args: schedulerArgs}
	kwok              = component{name: binaries.Kwok, args: kwokArgs}
)

func etcdArgs(s *state) []string {
	client := "http://" + localAddress(s.Ports[etcdClientPort])
	peer := "http://" + localAddress(s.Ports[etcdPeerPort])
	return []string{
		"--name=local",
		"--data-dir=" + s.path(etcdDir),
		"--listen-client-urls=" + client,
		"--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=local=" + peer,
		"--quota-backend-bytes=4294967296",
		"--log-level=warn",
		// The data does not outlive the cluster: no write needs to reach the disk.
		"--unsafe-no-fsync",
	}
}

func apiServerArgs(s *state) []string {
	args := []string{
		"--etcd-servers=http://" + localAddress(s.Ports[etcdClientPort]),
		"--bind-address=" + loopback,
		"--secure-port=" + strconv.Itoa(s.Ports[apiPort]),
		// Nothing reaches the API server through its own Service, whose
		// endpoint must not be a loopback address.
		"--advertise-address=" + loopback,
		"--endpoint-reconciler-type=none",
		"--tls-cert-file=" + s.path(servingCertFile),
		"--tls-private-key-file=" + s.path(servingKeyFile),
		"--client-ca-file=" + s.path(caFile),
		"--requestheader-client-ca-file=" + s.path(caFile),
		"--requestheader-allowed-names=" + proxyName,
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + s.path(proxyCertFile),
		"--proxy-client-key-file=" + s.path(proxyKeyFile),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + s.path(accountsKeyFile),
		"--service-account-signing-key-file=" + s.path(accountsKeyFile),
		"--authorization-mode=Node,RBAC",
		"--service-cluster-ip-range=10.96.0.0/16",
		"--allow-privileged=true",
	}
	if s.Options.RuntimeConfig != "" {
		args = append(args, "--runtime-config="+s.Options.RuntimeConfig)
	}
	if s.Options.AuditPolicy != "" {
		args = append(args,
			"--audit-policy-file="+s.auditPolicy(),
			"--audit-log-path="+s.path(auditLogFile),
			// One file, however long: readers count its lines.
			"--audit-log-maxsize=100000")
	}
	if s.Options.Load {
		args = append(args,
			"--enable-priority-and-fairness=false",
			"--max-requests-inflight=0",
			"--max-mutating-requests-inflight=0")
	}
	return append(args, s.featureGates()...)
}

func controllerManagerArgs(s *state) []string {
	args := append(s.secured(controllerConfig, controllerPort),
		"--use-service-account-credentials=true",
		"--service-account-private-key-file="+s.path(accountsKeyFile),
		"--root-ca-file="+s.path(caFile),
		"--node-monitor-period=1s",
		"--node-monitor-grace-period="+s.Options.NodeGrace.String(),
		"--node-startup-grace-period="+s.Options.NodeGrace.String(),
		"--node-eviction-rate=10",
		"--secondary-node-eviction-rate=10",
		// Evictions go on however many nodes of a zone are down.
		"--large-cluster-size-threshold=0",
		"--unhealthy-zone-threshold=1",
	)
	if s.Options.Load {
		for _, kind := range []string{"statefulset", "gc", "deployment", "replicaset", "endpoint", "service-endpoint"} {
			args = append(args, "--concurrent-"+kind+"-syncs=50")
		}
	}
	return args
}

func schedulerArgs(s *state) []string { return s.secured(schedulerConfig, schedulerPort) }

func kwokArgs(s *state) []string {
	return []string{"--kubeconfig=" + s.path(kubeletConfig), "--config=" + s.path(kwokConfig), "--v=WARN"}
}

// secured are the flags that controller manager and scheduler share.
func (s *state) secured(kubeconfig, port string) []string {
	config := s.path(kubeconfig)
	return append([]string{
		"--kubeconfig=" + config,
		"--authentication-kubeconfig=" + config,
		"--authorization-kubeconfig=" + config,
		"--bind-address=" + loopback,
		"--secure-port=" + strconv.Itoa(s.Ports[port]),
		"--tls-cert-file=" + s.path(servingCertFile),
		"--tls-private-key-file=" + s.path(servingKeyFile),
		"--leader-elect=false",
		"--kube-api-qps=5000",
		"--kube-api-burst=10000",
	}, s.featureGates()...)
}

func (s *state) auditPolicy() string {
	if s.Options.AuditPolicy == AuditMetadata {
		return s.path(auditPolicyFile)
	}
	return s.Options.AuditPolicy
}

func (s *state) featureGates() []string {
	if gates := strings.TrimSpace(s.Options.FeatureGates); gates != "" {
		return []string{"--feature-gates=" + gates}
	}
	return nil
}
