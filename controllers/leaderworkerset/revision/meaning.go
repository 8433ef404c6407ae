package revision

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// Equal says whether a revision means the same as the set does now.
func Equal(set *lwsv1.LeaderWorkerSet, revision *appsv1.ControllerRevision) (bool, error) {
	stored, err := Restore(revision)
	if err != nil {
		return false, err
	}
	return newMeaning(Of(set), set.Annotations).equal(newMeaning(stored, set.Annotations)), nil
}

// EqualTemplates says whether two pod templates are the same to the API server,
// so that a StatefulSet with the one is not changed by writing the other.
func EqualTemplates(a, b *corev1.PodTemplateSpec) bool {
	return equality.Semantic.DeepEqual(withDefaults(a), withDefaults(b))
}

// meaning is a snapshot in the form in which equal means equal.
type meaning struct {
	leader, worker             *corev1.PodTemplateSpec
	size                       int32
	claims                     []corev1.PersistentVolumeClaim
	subdomain                  lwsv1.SubdomainPolicy
	subGroups                  subGroups
	topology, subGroupTopology string
}

type subGroups struct {
	size int32
	kind lwsv1.SubGroupPolicyType
}

// newMeaning takes placement from the annotations where the snapshot has no typed
// field. They cannot change on an existing set, so a typed field that says the
// same as they do changes nothing.
func newMeaning(spec *Spec, annotations map[string]string) *meaning {
	template := &spec.LeaderWorkerTemplate
	groupSize, kind, _ := lwsv1.SubGroups(template)
	return &meaning{
		leader:           withDefaults(lwsv1.LeaderTemplate(template)),
		worker:           withDefaults(&template.WorkerTemplate),
		size:             lwsv1.Size(template),
		claims:           claimsWithDefaults(template.VolumeClaimTemplates),
		subdomain:        lwsv1.SubdomainPolicyOf(&spec.NetworkConfig),
		subGroups:        subGroups{groupSize, kind},
		topology:         lwsv1.GroupTopology(annotations, template),
		subGroupTopology: lwsv1.SubGroupTopology(annotations, template),
	}
}

// equal compares numbers and words first, which is cheap and tells most changes.
func (m *meaning) equal(other *meaning) bool {
	return m.size == other.size &&
		m.subdomain == other.subdomain &&
		m.subGroups == other.subGroups &&
		m.topology == other.topology &&
		m.subGroupTopology == other.subGroupTopology &&
		equality.Semantic.DeepEqual(m.worker, other.worker) &&
		equality.Semantic.DeepEqual(m.leader, other.leader) &&
		equality.Semantic.DeepEqual(m.claims, other.claims)
}

func withDefaults(template *corev1.PodTemplateSpec) *corev1.PodTemplateSpec {
	filled := template.DeepCopy()
	filled.CreationTimestamp = metav1.Time{}
	fillPodSpec(&filled.Spec)
	return filled
}

// claimsWithDefaults leaves out what a StatefulSet ignores in a claim template.
func claimsWithDefaults(claims []corev1.PersistentVolumeClaim) []corev1.PersistentVolumeClaim {
	filled := make([]corev1.PersistentVolumeClaim, 0, len(claims))
	for i := range claims {
		claim := claims[i].DeepCopy()
		claim.TypeMeta = metav1.TypeMeta{}
		claim.CreationTimestamp = metav1.Time{}
		claim.Status = corev1.PersistentVolumeClaimStatus{}
		fillClaimSpec(&claim.Spec)
		filled = append(filled, *claim)
	}
	return filled
}
