package client_test

import (
	"context"
	"testing"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"sigs.k8s.io/lws/apis/client/clientset/versioned"
	"sigs.k8s.io/lws/apis/client/clientset/versioned/fake"
	"sigs.k8s.io/lws/apis/client/clientset/versioned/scheme"
	"sigs.k8s.io/lws/apis/client/informers/externalversions"
	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	"sigs.k8s.io/lws/apis/disaggregatedset/v1/dstest"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
)

func TestInformersAndListers(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var clientset versioned.Interface = fake.NewSimpleClientset(
		lwstest.New("one").Label("a", "b").Obj(), lwstest.New("two").Obj(), dstest.New("roles").Obj(),
		&dsv1.DisaggregatedSetRoleScaler{ObjectMeta: metav1.ObjectMeta{Name: "roles-prefill", Namespace: lwstest.Namespace}},
	)
	factory := externalversions.NewSharedInformerFactory(clientset, 0)
	sets := factory.Leaderworkerset().V1().LeaderWorkerSets().Lister()
	disaggregated := factory.Disaggregatedset().V1().DisaggregatedSets().Lister()
	scalers := factory.Disaggregatedset().V1().DisaggregatedSetRoleScalers().Lister()
	factory.Start(ctx.Done())
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			t.Fatalf("the cache of %s did not sync in 10 s", kind)
		}
	}
	selector, err := labels.Parse("a=b")
	if err != nil {
		t.Fatal(err)
	}
	if found, err := sets.List(selector); err != nil || len(found) != 1 || found[0].Name != "one" {
		t.Errorf("lister finds %v, %v with a=b, want the set one", found, err)
	}
	if set, err := sets.LeaderWorkerSets(lwstest.Namespace).Get("two"); err != nil || set.Name != "two" {
		t.Errorf("lister gets %v, %v", set, err)
	}
	if set, err := disaggregated.DisaggregatedSets(lwstest.Namespace).Get("roles"); err != nil || len(set.Spec.Roles) != 2 {
		t.Errorf("lister gets %v, %v, want two roles", set, err)
	}
	if _, err := scalers.DisaggregatedSetRoleScalers(lwstest.Namespace).Get("roles-prefill"); err != nil {
		t.Error(err)
	}
}

// What the clients offer, as far as a compiler can tell; the tests of the rules use
// them against a real API server.
func TestMethodsOfClients(t *testing.T) {
	var clientset versioned.Interface = fake.NewSimpleClientset()
	type scalable interface {
		GetScale(ctx context.Context, name string, options metav1.GetOptions) (*autoscalingv1.Scale, error)
		UpdateScale(ctx context.Context, name string, scale *autoscalingv1.Scale, options metav1.UpdateOptions) (*autoscalingv1.Scale, error)
	}
	var _ scalable = clientset.LeaderworkersetV1().LeaderWorkerSets(lwstest.Namespace)
	var _ scalable = clientset.DisaggregatedsetV1().DisaggregatedSetRoleScalers(lwstest.Namespace)
	for _, kind := range []string{lwsv1.Kind} {
		if !scheme.Scheme.Recognizes(lwsv1.GroupVersion.WithKind(kind)) {
			t.Errorf("the scheme of the clients does not know %s", kind)
		}
	}
	for _, kind := range []string{dsv1.Kind, dsv1.RoleScalerKind} {
		if !scheme.Scheme.Recognizes(dsv1.GroupVersion.WithKind(kind)) {
			t.Errorf("the scheme of the clients does not know %s", kind)
		}
	}
}
