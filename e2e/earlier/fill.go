package earlier

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"text/template"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// fill reads an object and fills in what only the cluster knows.
func (r *Release) fill(ctx context.Context, c client.Client, document string) (*unstructured.Unstructured, error) {
	filled, err := template.New(r.Set).Funcs(template.FuncMap{
		"uid":      func(kind, name string) (string, error) { return r.uidOf(ctx, c, kind, name) },
		"domain":   func(pod, topology string) (string, error) { return r.domainOf(ctx, c, pod, topology) },
		"groupKey": r.groupKey,
		"subGroupKey": func(leader string, subGroup int) string {
			return hash(fmt.Sprintf("%s/%d", leader, subGroup))
		},
	}).Parse(document)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := filled.Execute(&out, nil); err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(out.Bytes(), &object.Object); err != nil {
		return nil, fmt.Errorf("%s: %w", r.Set, err)
	}
	object.SetNamespace(r.Namespace)
	return object, nil
}

func (r *Release) uidOf(ctx context.Context, c client.Client, kind, name string) (string, error) {
	kinds := map[string]schema.GroupVersionKind{
		lwsv1.Kind: lwsv1.GroupVersion.WithKind(lwsv1.Kind),
		dsv1.Kind:  dsv1.GroupVersion.WithKind(dsv1.Kind),
		"Pod":      corev1.SchemeGroupVersion.WithKind("Pod"),
	}
	owner := &metav1.PartialObjectMetadata{}
	owner.SetGroupVersionKind(kinds[kind])
	err := c.Get(ctx, client.ObjectKey{Namespace: r.Namespace, Name: name}, owner)
	return string(owner.UID), err
}

// domainOf is the domain of a leader, which has to be scheduled before.
func (r *Release) domainOf(ctx context.Context, c client.Client, leader, topology string) (string, error) {
	pod := &corev1.Pod{}
	err := wait.PollUntilContextTimeout(ctx, pollInterval, patience, true, func(ctx context.Context) (bool, error) {
		err := c.Get(ctx, client.ObjectKey{Namespace: r.Namespace, Name: leader}, pod)
		return pod.Spec.NodeName != "", err
	})
	if err != nil {
		return "", fmt.Errorf("the node of %s: %w", leader, err)
	}
	node := &corev1.Node{}
	err = c.Get(ctx, client.ObjectKey{Name: pod.Spec.NodeName}, node)
	return node.Labels[topology], err
}

func (r *Release) groupKey(leader string) string { return hash(r.Namespace + "/" + leader) }

func hash(text string) string {
	sum := sha1.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}
