package identity

import (
	"strings"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// LeaderIndex is the worker index of every leader, as a label's value.
const LeaderIndex = "0"

// LeaderStatefulSetName is the name of the StatefulSet of a set's leaders. The
// set's other objects that exist once are called like it: the leader Deployment and
// the shared Service.
func LeaderStatefulSetName(set string) string {
	return set
}

// LeaderDeploymentName is the name of the Deployment of a set's leaders, with Hash
// identity.
func LeaderDeploymentName(set string) string {
	return set
}

// LeaderName is the name of the leader pod of the given ordinal.
func LeaderName(set string, ordinal int32) string {
	return groupName(set, formatIndex(ordinal))
}

// WorkerName is the name and host name of a worker pod: <group name>-<worker index>.
func WorkerName(groupName string, workerIndex int32) string {
	return groupName + "-" + formatIndex(workerIndex)
}

// MemberName is the host name of any member of a group.
func MemberName(groupName string, workerIndex int32) string {
	if workerIndex == 0 {
		return groupName
	}
	return WorkerName(groupName, workerIndex)
}

// SharedServiceName is the name of the Service that all groups of a set share.
func SharedServiceName(set string) string {
	return set
}

// ServiceName is the name of the Service that gives the pods of a group their
// subdomain: the shared one, or the group's own.
func (g Group) ServiceName(policy lwsv1.SubdomainPolicy) string {
	if policy == lwsv1.SubdomainUniquePerReplica {
		return g.Name()
	}
	return SharedServiceName(g.Set)
}

// LeaderAddress is the DNS name of a leader for pods of all namespaces.
func LeaderAddress(hostName, subdomain, namespace string) string {
	return hostName + "." + subdomain + "." + namespace
}

// HostAddress is the DNS name of a member for pods of its own namespace.
func HostAddress(hostName, subdomain string) string {
	return hostName + "." + subdomain
}

// SplitOrdinal takes the name of a StatefulSet's pod apart into the name of the
// StatefulSet and the pod's ordinal.
func SplitOrdinal(podName string) (statefulSet string, ordinal int32, ok bool) {
	dash := strings.LastIndexByte(podName, '-')
	if dash <= 0 {
		return "", 0, false
	}
	ordinal, ok = parseIndex(podName[dash+1:])
	if !ok {
		return "", 0, false
	}
	return podName[:dash], ordinal, true
}
