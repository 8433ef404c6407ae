//go:build integration

package revision

import (
	"context"
	"errors"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// The API server itself says what is the same: it raises the generation of a
// StatefulSet exactly when its template changes.
func TestMeaningIsThatOfTheAPIServer(t *testing.T) {
	server := &envtest.Environment{}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	config, err := server.Start()
	if err != nil {
		t.Fatal(err)
	}
	api, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	original := defaultsTemplate(t)
	statefulSet := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "sample"},
		Spec: appsv1.StatefulSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: original.Labels}, Template: *original.DeepCopy(),
		},
	}
	ctx := context.Background()
	if err := api.Create(ctx, statefulSet); err != nil {
		t.Fatal(err)
	}
	if !EqualTemplates(original, &statefulSet.Spec.Template) {
		t.Errorf("what is stored means something else than what was written")
	}
	check := func(t *testing.T, change change, want bool) {
		t.Helper()
		edited := original.DeepCopy()
		change.edit(edited)
		got, err := keepsGeneration(ctx, api, statefulSet, edited)
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("to the API server the template is the same: %v, to us %v", got, want)
		}
	}
	for _, change := range sameMeaning {
		t.Run(change.name, func(t *testing.T) { check(t, change, true) })
	}
	for _, change := range otherMeaning {
		t.Run(change.name, func(t *testing.T) { check(t, change, false) })
	}
}

// keepsGeneration updates the template in a dry run.
func keepsGeneration(ctx context.Context, api client.Client, statefulSet *appsv1.StatefulSet, template *corev1.PodTemplateSpec) (bool, error) {
	updated := statefulSet.DeepCopy()
	updated.Spec.Template = *template
	if err := api.Update(ctx, updated, client.DryRunAll); err != nil {
		return false, err
	}
	if EqualTemplates(&statefulSet.Spec.Template, &updated.Spec.Template) != (updated.Generation == statefulSet.Generation) {
		return false, errors.New("stored templates and generation disagree")
	}
	return updated.Generation == statefulSet.Generation, nil
}
