package webhook

import (
	"context"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	"sigs.k8s.io/lws/controllers/disaggregatedset/identity"
)

// nameCheck refuses a set whose objects would have names that are too long.
type nameCheck struct {
	decoder admission.Decoder
}

// Handle answers before the schema is checked: what cannot be read is left to the
// API server, whose error is better.
func (n *nameCheck) Handle(_ context.Context, request admission.Request) admission.Response {
	set := &dsv1.DisaggregatedSet{}
	if n.decoder.Decode(request, set) != nil {
		return admission.Allowed("")
	}
	var old *dsv1.DisaggregatedSet
	if request.Operation == admissionv1.Update {
		old = &dsv1.DisaggregatedSet{}
		if n.decoder.DecodeRaw(request.OldObject, old) != nil {
			return admission.Allowed("")
		}
	}
	errs := checkNames(old, set)
	if len(errs) == 0 {
		return admission.Allowed("")
	}
	refusal := apierrors.NewInvalid(dsv1.GroupKind(dsv1.Kind), set.Name, errs).Status()
	return admission.Response{AdmissionResponse: admissionv1.AdmissionResponse{Allowed: false, Result: &refusal}}
}

// checkNames finds the roles whose names are too long, and more so than they were:
// a set that is too long already can be changed, scaled down and deleted.
func checkNames(old, set *dsv1.DisaggregatedSet) field.ErrorList {
	before := worst(old)
	var errs field.ErrorList
	for i := range set.Spec.Roles {
		role := &set.Spec.Roles[i]
		longest := identity.Longest(set, role)
		if longest.TooLong() <= max(before, 0) {
			continue
		}
		path := field.NewPath("spec", "roles").Index(i).Child("name")
		errs = append(errs, field.Invalid(path, role.Name, fmt.Sprintf(
			"%s; the names of set and role may have %d characters together, and have %d",
			longest, longest.Left(set.Name), len(set.Name)+len(role.Name))))
	}
	return errs
}

func worst(set *dsv1.DisaggregatedSet) int {
	tooLong := 0
	if set == nil {
		return tooLong
	}
	for i := range set.Spec.Roles {
		tooLong = max(tooLong, identity.Longest(set, &set.Spec.Roles[i]).TooLong())
	}
	return tooLong
}
