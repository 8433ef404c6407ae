package podspec

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

// maxTPUProcesses bounds the processes of a slice: each is in two variables of each
// of its containers, and an object of the API has about 1.5 million bytes.
const maxTPUProcesses = 10_000

// RequestsTPUs says whether a container or init container asks for TPUs.
func RequestsTPUs(spec *corev1.PodSpec) bool {
	for container := range containers(spec) {
		if requestsTPUs(container) {
			return true
		}
	}
	return false
}

// TPUContainers is how many containers of a pod work with TPUs at the same time:
// its TPU containers and sidecars. The variables of a group agree when it is the
// same for all members that have any.
func TPUContainers(spec *corev1.PodSpec) int {
	running, _ := tpuContainers(spec)
	return len(running)
}

func requestsTPUs(container *corev1.Container) bool {
	limit, request := container.Resources.Limits[lwsv1.TPUResourceName], container.Resources.Requests[lwsv1.TPUResourceName]
	return limit.Sign() > 0 || request.Sign() > 0
}

// tpuContainers are the TPU containers that run at the same time, and those that
// run alone, one after the other, before them.
func tpuContainers(spec *corev1.PodSpec) (running, alone []*corev1.Container) {
	for i := range spec.Containers {
		if container := &spec.Containers[i]; requestsTPUs(container) {
			running = append(running, container)
		}
	}
	for i := range spec.InitContainers {
		container := &spec.InitContainers[i]
		switch {
		case !requestsTPUs(container):
		case isSidecar(container):
			running = append(running, container)
		default:
			alone = append(alone, container)
		}
	}
	return running, alone
}

// addTPUVariables tells each TPU container of the slice that it is part of. All
// processes of a slice are listed in one order, pod by pod and in a pod container
// by container, and the ID of a container is its place in that list:
//
//	2 pods with 2 TPU containers:  TPU_WORKER_HOSTNAMES   p.s,p.s,p-1.s,p-1.s
//	                               TPU_PROCESS_ADDRESSES  p.s:8476,p.s:8477,p-1.s:8476,p-1.s:8477
//	second container of p-1:       TPU_WORKER_ID          3
//
// An init container runs alone, so its slice has one process in each pod; its
// port differs from those of the containers, with which pods that are ahead of
// this one may already listen.
func addTPUVariables(pod *corev1.Pod, m *member) error {
	running, alone := tpuContainers(&pod.Spec)
	if len(running)+len(alone) == 0 {
		return nil
	}
	first, last := m.tpuMembers(pod)
	if pods := int(last-first) + 1; pods*max(len(running), 1) > maxTPUProcesses {
		return fmt.Errorf("the addresses of the TPU containers of %d pods do not fit into a pod: subgroups make slices smaller", pods)
	}
	hosts, position := m.tpuHosts(pod, first, last), m.workerIndex-first
	ports := newPorts(slices.Concat(running, alone))
	addSlice(running, tpuSlice{m.groupName, hosts, position, ports[:len(running)]})
	for i, container := range alone {
		ports := ports[len(running)+i:]
		addSlice([]*corev1.Container{container}, tpuSlice{m.groupName, hosts, position, ports[:1]})
	}
	return nil
}

// tpuMembers are the worker indexes, from first to last, of the pods that share the
// pod's slice. A leader in no subgroup is alone.
func (m *member) tpuMembers(pod *corev1.Pod) (first, last int32) {
	first, last = 0, m.size-1
	if m.subGroups != nil {
		if subGroup, ok := m.subGroup(); ok {
			first, last = m.subGroups.Members(subGroup)
		} else {
			first, last = 0, 0
		}
	}
	if first == 0 && m.workerIndex > 0 && pod.Annotations[lwsv1.LeaderRequestsTPUsAnnotationKey] != trueValue {
		first = 1
	}
	return first, last
}

func (m *member) tpuHosts(pod *corev1.Pod, first, last int32) []string {
	hosts := make([]string, 0, last-first+1)
	for index := first; index <= last; index++ {
		hosts = append(hosts, identity.HostAddress(identity.MemberName(m.groupName, index), pod.Spec.Subdomain))
	}
	return hosts
}

// newPorts are the ports of a pod's TPU containers: each has its own, counted from
// the first one, unless the user chose one. It is 0 where the user's cannot be
// told, because the variable takes its value from elsewhere.
func newPorts(containers []*corev1.Container) []int {
	ports := make([]int, 0, len(containers))
	for i, container := range containers {
		port := lwsv1.TPUProcessFirstPort + i
		if own, ok := variable(container, lwsv1.TPUProcessPortEnvVar); ok {
			port, _ = strconv.Atoi(own.Value)
		}
		ports = append(ports, port)
	}
	return ports
}

// tpuSlice is a slice as one of its pods sees it.
type tpuSlice struct {
	name  string
	hosts []string
	// position of the pod among the hosts.
	position int32
	// ports of the slice's processes in each pod.
	ports []int
}

// addSlice adds the variables that a container does not have: those that the user
// wrote stay.
func addSlice(containers []*corev1.Container, slice tpuSlice) {
	hosts, addresses, known := slice.processes()
	for i, container := range containers {
		id := int(slice.position)*len(containers) + i
		ours := []corev1.EnvVar{
			{Name: lwsv1.TPUWorkerHostnamesEnvVar, Value: strings.Join(hosts, ",")},
			{Name: lwsv1.TPUWorkerIDEnvVar, Value: strconv.Itoa(id)},
			{Name: lwsv1.TPUNameEnvVar, Value: slice.name},
			{Name: lwsv1.TPUProcessPortEnvVar, Value: strconv.Itoa(slice.ports[i])},
		}
		if known {
			ours = append(ours, corev1.EnvVar{Name: lwsv1.TPUProcessAddressesEnvVar, Value: strings.Join(addresses, ",")})
		}
		ours = slices.DeleteFunc(ours, func(our corev1.EnvVar) bool {
			_, exists := variable(container, our.Name)
			return exists
		})
		container.Env = slices.Concat(ours, container.Env)
	}
}

// processes lists host names and addresses of the slice's processes. Addresses
// are known when all ports are.
func (s tpuSlice) processes() (hosts, addresses []string, known bool) {
	for _, host := range s.hosts {
		for _, port := range s.ports {
			hosts = append(hosts, host)
			addresses = append(addresses, fmt.Sprintf("%s:%d", host, port))
		}
	}
	return hosts, addresses, !slices.Contains(s.ports, 0)
}
