package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// Node is a node to add.
type Node struct {
	Name string
	// Labels are added to those that every node has; they may replace its domains.
	Labels map[string]string
	// Capacity replaces DefaultCapacity where it names a resource.
	Capacity corev1.ResourceList
	Taints   []corev1.Taint
}

// DefaultCapacity is room for as many pods as the control plane can carry.
func DefaultCapacity() corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("4k"),
		corev1.ResourceMemory:           resource.MustParse("64Ti"),
		corev1.ResourceEphemeralStorage: resource.MustParse("64Ti"),
		corev1.ResourcePods:             resource.MustParse("4k"),
		"nvidia.com/gpu":                resource.MustParse("4k"),
		"amd.com/gpu":                   resource.MustParse("4k"),
		"google.com/tpu":                resource.MustParse("4k"),
	}
}

// NumberedNodes are n nodes "node-<i>" from the given number on, spread over
// domains: two nodes share a rack, four a block, eight a zone.
func NumberedNodes(from, n int) []Node {
	nodes := make([]Node, 0, n)
	for i := from; i < from+n; i++ {
		nodes = append(nodes, Node{
			Name: fmt.Sprintf("node-%d", i),
			Labels: map[string]string{
				RackLabel:                fmt.Sprintf("rack-%d", i/2),
				BlockLabel:               fmt.Sprintf("block-%d", i/4),
				corev1.LabelTopologyZone: fmt.Sprintf("zone-%d", i/8),
			},
		})
	}
	return nodes
}

// AddNode makes a node; its Ready condition follows within a second.
func AddNode(ctx context.Context, client kubernetes.Interface, node Node) error {
	object := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: node.Name, Labels: map[string]string{
			NodeTypeLabel:              NodeTypeValue,
			corev1.LabelHostname:       node.Name,
			corev1.LabelOSStable:       "linux",
			corev1.LabelArchStable:     "amd64",
			corev1.LabelTopologyRegion: "local",
		}},
		Spec: corev1.NodeSpec{Taints: node.Taints},
	}
	for key, value := range node.Labels {
		object.Labels[key] = value
	}
	capacity := DefaultCapacity()
	for name, quantity := range node.Capacity {
		capacity[name] = quantity
	}
	object.Status = corev1.NodeStatus{
		Capacity:    capacity,
		Allocatable: capacity,
		Addresses: []corev1.NodeAddress{
			{Type: corev1.NodeHostName, Address: node.Name},
			{Type: corev1.NodeInternalIP, Address: address(node.Name)},
		},
	}
	if _, err := client.CoreV1().Nodes().Create(ctx, object, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("adding node %s: %w", node.Name, err)
	}
	return nil
}

// address is a private one that hardly any two names share; nobody listens there.
func address(name string) string {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(name))
	sum := hash.Sum32()
	return netip.AddrFrom4([4]byte{10, byte(sum>>16) & 0x7f, byte(sum >> 8), byte(sum)}).String()
}

// RemoveNode deletes the Node object, as a cloud does with a machine that is
// gone. Pod garbage collection takes its pods 40 to 60 seconds later.
func RemoveNode(ctx context.Context, client kubernetes.Interface, name string) error {
	if err := client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("removing node %s: %w", name, err)
	}
	return setDead(ctx, client, name, false)
}

// Kill stops a node: no heartbeat, nothing on it starts, ends or goes. It is
// NotReady once the control plane's node grace is over, and its pods are
// evicted after their tolerationSeconds.
func Kill(ctx context.Context, client kubernetes.Interface, name string) error {
	if err := setDead(ctx, client, name, true); err != nil {
		return err
	}
	return setNodeType(ctx, client, name, nil)
}

// Revive brings a killed node back, with what it had on it.
func Revive(ctx context.Context, client kubernetes.Interface, name string) error {
	if err := setDead(ctx, client, name, false); err != nil {
		return err
	}
	value := NodeTypeValue
	return setNodeType(ctx, client, name, &value)
}

func setDead(ctx context.Context, client kubernetes.Interface, name string, dead bool) error {
	var entry *string
	if dead {
		entry = new(string)
	}
	patch, err := json.Marshal(map[string]any{"data": map[string]*string{name: entry}})
	if err != nil {
		return err
	}
	_, err = client.CoreV1().ConfigMaps(DeadNodesNamespace).Patch(ctx, DeadNodesName, types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		return fmt.Errorf("list of dead nodes: %w", err)
	}
	return nil
}

func setNodeType(ctx context.Context, client kubernetes.Interface, name string, value *string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": map[string]*string{NodeTypeLabel: value}}})
	if err != nil {
		return err
	}
	if _, err := client.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("node %s: %w", name, err)
	}
	return nil
}
