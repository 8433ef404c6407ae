package webhook

import (
	"context"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// setValidation refuses what CEL cannot see and warns where a user is likely wrong.
type setValidation struct {
	decoder admission.Decoder
	gangs   Scheduling
}

// Handle lets an update pass that changes neither spec nor annotations, such as
// the removal of a finalizer.
func (v *setValidation) Handle(ctx context.Context, request admission.Request) admission.Response {
	set := &lwsv1.LeaderWorkerSet{}
	if err := v.decoder.Decode(request, set); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	if request.Operation != admissionv1.Update {
		return decide(set, append(validateCreate(set), v.gangs.Validate(ctx, nil, set)...), warnings(set))
	}
	old := &lwsv1.LeaderWorkerSet{}
	if err := v.decoder.DecodeRaw(request.OldObject, old); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	if set.DeletionTimestamp != nil || !changed(old, set) {
		return admission.Allowed("")
	}
	return decide(set, append(validateUpdate(old, set), v.gangs.Validate(ctx, old, set)...), warnings(set))
}

func changed(old, set *lwsv1.LeaderWorkerSet) bool {
	return !equality.Semantic.DeepEqual(old.Spec, set.Spec) ||
		!equality.Semantic.DeepEqual(old.Annotations, set.Annotations)
}

func validateCreate(set *lwsv1.LeaderWorkerSet) field.ErrorList {
	return append(placementAnnotationErrors(set), placementFieldErrors(set)...)
}

// validateUpdate keeps to what the update changes: what an object was stored with
// does not hinder it.
func validateUpdate(old, set *lwsv1.LeaderWorkerSet) field.ErrorList {
	errors := placementAnnotationChanges(old, set)
	if len(placementFieldErrors(old)) == 0 {
		errors = append(errors, placementFieldErrors(set)...)
	}
	return errors
}

// decide answers with the errors, if there are any, as the API server would.
func decide(set *lwsv1.LeaderWorkerSet, errors field.ErrorList, warnings []string) admission.Response {
	if len(errors) == 0 {
		return admission.Allowed("").WithWarnings(warnings...)
	}
	status := apierrors.NewInvalid(lwsv1.GroupKind(lwsv1.Kind), set.Name, errors).Status()
	return admission.Response{
		AdmissionResponse: admissionv1.AdmissionResponse{Result: &status, Warnings: warnings},
	}
}
