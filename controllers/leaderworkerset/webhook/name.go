package webhook

import (
	"context"
	"fmt"
	"math"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

// nameCheck refuses a set whose name is too long for what is made from it.
type nameCheck struct {
	decoder admission.Decoder
}

// Handle runs before the schema is checked: what cannot be read is left to the
// API server, whose error is better.
func (n *nameCheck) Handle(_ context.Context, request admission.Request) admission.Response {
	set, old := &lwsv1.LeaderWorkerSet{}, &lwsv1.LeaderWorkerSet{}
	if n.decoder.Decode(request, set) != nil {
		return admission.Allowed("")
	}
	if request.Operation == admissionv1.Update {
		if n.decoder.DecodeRaw(request.OldObject, old) != nil {
			return admission.Allowed("")
		}
		if !demandGrew(demandOf(old), demandOf(set)) {
			return admission.Allowed("")
		}
	}
	return decide(set, field.ErrorList(checkName(set)), nil)
}

// checkName says by how much a name is too long, nothing if it is not.
func checkName(set *lwsv1.LeaderWorkerSet) []*field.Error {
	demand := demandOf(set)
	limit := demand.Limit(set.Name)
	if limit.Left(set.Name) >= 0 {
		return nil
	}
	detail := fmt.Sprintf("it has %d characters, %d too many: with %d groups, surge included, of size %d it has %s",
		len(set.Name), -limit.Left(set.Name), demand.Groups, demand.Size, limit)
	return field.ErrorList{field.Invalid(field.NewPath("metadata", "name"), set.Name, detail)}
}

// demandGrew says whether an update leaves less room for the name than there was.
// Otherwise it passes, so that a set that is too long already can be changed,
// scaled down and deleted.
func demandGrew(before, after identity.NameDemand) bool {
	return after.Limit("").MaxLength < before.Limit("").MaxLength
}

// demandOf is bounded, since replicas are not checked yet.
func demandOf(set *lwsv1.LeaderWorkerSet) identity.NameDemand {
	groups := int64(lwsv1.Replicas(set)) + int64(lwsv1.Budget(set).MaxSurge)
	return identity.NameDemand{
		Groups: int32(min(groups, math.MaxInt32)),
		Size:   lwsv1.Size(&set.Spec.LeaderWorkerTemplate),
		Hash:   lwsv1.GroupIdentity(set) == lwsv1.HashGroupIdentity,
	}
}
