package earlier

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Applier is the field manager of what earlier releases applied.
const Applier = "lws"

// creator and user are those of what they created, and of the set itself.
const creator, user = "manager", "kubectl"

//go:embed releases
var releases embed.FS

// Release is what an earlier release left of one set.
type Release struct {
	Version, Set string
	// Namespace is where the set is.
	Namespace string
	// Pods is how many the set has.
	Pods int
	// updated: its StatefulSets were written by an update, not by an apply.
	updated bool
}

// Releases are those that are told apart by what they stored of a plain set.
func Releases() []Release {
	return []Release{
		{Version: "v0.8", Set: "old8", Namespace: metav1.NamespaceDefault, Pods: 4, updated: true},
		{Version: "v0.9", Set: "old9", Namespace: metav1.NamespaceDefault, Pods: 4},
		{Version: "v0.10", Set: "old10", Namespace: metav1.NamespaceDefault, Pods: 3},
	}
}

// Placed are sets whose pods have what no template has: affinity, domains, and the
// variables of accelerators. Each is in a namespace of its own, for a group that is
// alone keeps away from all others of its namespace.
func Placed() []Release {
	return []Release{
		{Version: "v0.9", Set: "alone", Namespace: "alone", Pods: 4},
		{Version: "v0.10", Set: "alonesub", Namespace: "alonesub", Pods: 4},
		{Version: "v0.9", Set: "tpu", Namespace: "tpu", Pods: 4},
	}
}

// Rolling are sets in the middle of a rollout. Of the four groups of one the last is new,
// the leader of the third is, and the others are to follow. Of the other one a group is
// new that is on top of the two that it wants.
func Rolling() []Release {
	return []Release{
		{Version: "v0.10", Set: "rolling", Namespace: "rolling", Pods: 7},
		{Version: "v0.9", Set: "surging", Namespace: "surging", Pods: 6},
	}
}

// Disaggregated are DisaggregatedSets, of a release without slices and of one with them.
// Pods are those of all roles.
func Disaggregated() []Release {
	return []Release{
		{Version: "v0.8", Set: "split", Namespace: "split", Pods: 4},
		{Version: "v0.10", Set: "parted", Namespace: "parted", Pods: 5},
	}
}

// Make makes the objects of the set, with its pods admitted as by the webhook of that
// release. No manager and none of its webhooks may be there.
func (r *Release) Make(ctx context.Context, c client.Client) (err error) {
	documents, err := r.documents()
	if err != nil {
		return err
	}
	if err := r.makeNamespace(ctx, c); err != nil {
		return err
	}
	admission, err := r.admit(ctx, c, documents)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, admission.end(ctx)) }()
	for _, document := range documents {
		if isPod(document) {
			continue
		}
		object, err := r.fill(ctx, c, document)
		if err != nil {
			return err
		}
		if err := r.makeObject(ctx, c, object); err != nil {
			return fmt.Errorf("%s %s of %s: %w", object.GetKind(), object.GetName(), r.Set, err)
		}
	}
	return nil
}

func (r *Release) makeNamespace(ctx context.Context, c client.Client) error {
	err := c.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.Namespace}})
	return client.IgnoreAlreadyExists(err)
}

// Stored are the objects as the release would store them for the owners that there are
// now. Of an object that it wrote twice it is the last.
func (r *Release) Stored(ctx context.Context, c client.Client) ([]unstructured.Unstructured, error) {
	documents, err := r.documents()
	if err != nil {
		return nil, err
	}
	var stored []unstructured.Unstructured
	at := map[string]int{}
	for _, document := range documents {
		if isPod(document) {
			continue
		}
		object, err := r.fill(ctx, c, document)
		if err != nil {
			return nil, err
		}
		name := object.GetKind() + " " + object.GetName()
		if i, again := at[name]; again {
			stored[i] = *object
			continue
		}
		at[name] = len(stored)
		stored = append(stored, *object)
	}
	return stored, nil
}

func (r *Release) documents() ([]string, error) {
	text, err := releases.ReadFile("releases/" + r.Set + ".yaml")
	return strings.Split(string(text), "---\n"), err
}

func isPod(document string) bool { return strings.Contains(document, "\nkind: Pod\n") }

func (r *Release) makeObject(ctx context.Context, c client.Client, object *unstructured.Unstructured) error {
	switch {
	case object.GetKind() == "StatefulSet":
		return r.makeStatefulSet(ctx, c, object)
	case metav1.GetControllerOf(object) == nil:
		return awaitAccepted(ctx, func(ctx context.Context) error { return c.Create(ctx, object, client.FieldOwner(user)) })
	default:
		return c.Create(ctx, object, client.FieldOwner(creator))
	}
}
