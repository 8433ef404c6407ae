package earlier

import (
	"bytes"
	"context"
	"crypto/sha1"
	"embed"
	"encoding/hex"
	"fmt"
	"strings"
	"text/template"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// Namespace is where the sets are.
const Namespace = "default"

// Applier is the field manager of what earlier releases applied.
const Applier = "lws"

// creator and user are those of what they created, and of the set itself.
const creator, user = "manager", "kubectl"

//go:embed releases
var releases embed.FS

// Release is what an earlier release left of one set.
type Release struct {
	Version, Set string
	// Pods is how many the set has.
	Pods int
	// updated: its StatefulSets were written by an update, not by an apply.
	updated bool
}

// Releases are those that are told apart by what they stored.
func Releases() []Release {
	return []Release{
		{Version: "v0.8", Set: "old8", Pods: 4, updated: true},
		{Version: "v0.9", Set: "old9", Pods: 4},
		{Version: "v0.10", Set: "old10", Pods: 3},
	}
}

// Make makes the objects of the set, and acts as the webhooks of that release did to
// its pods: what was in pods and is immutable is of no interest to who takes them over.
// No manager and none of its webhooks may be there.
func (r *Release) Make(ctx context.Context, c client.Client) error {
	text, err := releases.ReadFile("releases/" + r.Version + ".yaml")
	if err != nil {
		return err
	}
	for document := range strings.SplitSeq(string(text), "---\n") {
		object, err := r.fill(ctx, c, document)
		if err != nil {
			return err
		}
		if err := r.makeObject(ctx, c, object); err != nil {
			return fmt.Errorf("%s %s of %s: %w", object.GetKind(), object.GetName(), r.Version, err)
		}
	}
	return nil
}

func (r *Release) makeObject(ctx context.Context, c client.Client, object *unstructured.Unstructured) error {
	switch object.GetKind() {
	case lwsv1.Kind:
		return awaitAccepted(ctx, func(ctx context.Context) error { return c.Create(ctx, object, client.FieldOwner(user)) })
	case "StatefulSet":
		return r.makeStatefulSet(ctx, c, object)
	default:
		return c.Create(ctx, object, client.FieldOwner(creator))
	}
}

// fill reads an object and fills in what only the cluster knows.
func (r *Release) fill(ctx context.Context, c client.Client, document string) (*unstructured.Unstructured, error) {
	filled, err := template.New(r.Version).Funcs(template.FuncMap{
		"uid":      func(kind, name string) (string, error) { return uidOf(ctx, c, kind, name) },
		"groupKey": groupKey,
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
		return nil, fmt.Errorf("%s: %w", r.Version, err)
	}
	object.SetNamespace(Namespace)
	return object, nil
}

func uidOf(ctx context.Context, c client.Client, kind, name string) (string, error) {
	kinds := map[string]schema.GroupVersionKind{
		lwsv1.Kind: lwsv1.GroupVersion.WithKind(lwsv1.Kind),
		"Pod":      corev1.SchemeGroupVersion.WithKind("Pod"),
	}
	owner := &metav1.PartialObjectMetadata{}
	owner.SetGroupVersionKind(kinds[kind])
	err := c.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: name}, owner)
	return string(owner.UID), err
}

func groupKey(leader string) string {
	sum := sha1.Sum([]byte(Namespace + "/" + leader))
	return hex.EncodeToString(sum[:])
}
