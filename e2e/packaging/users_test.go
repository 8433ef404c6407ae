package packaging

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	changing = "create delete patch update"
	reading  = "get list watch"
)

// allowances are the verbs that users of a namespace have, by what they are bound to
// and by resource. Nobody but a manager writes a status.
var allowances = map[string]map[string]string{
	"admin": {"": changing + " deletecollection " + reading, "scale": "get patch update", "status": "get"},
	"edit":  {"": changing + " " + reading, "scale": "get patch update", "status": "get"},
	"view":  {"": reading, "scale": "get", "status": "get"},
}

// ofUsers are the resources of both managers. A DisaggregatedSet is scaled by its scalers.
var ofUsers = map[string][]string{
	"leaderworkersets.leaderworkerset.x-k8s.io":             {"", "scale", "status"},
	"disaggregatedsets.disaggregatedset.x-k8s.io":           {"", "status"},
	"disaggregatedsetrolescalers.disaggregatedset.x-k8s.io": {"", "scale", "status"},
}

// bind gives a user of a namespace a role, and returns the user's name.
func bind(ctx context.Context, namespace, role string) string {
	GinkgoHelper()
	user := "user-of-" + role
	Expect(env.Client.Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: role},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	})).To(Succeed())
	return user
}

// allowed are the verbs that a user has on a resource, as the API server decides.
func allowed(ctx context.Context, user, namespace, resource, subresource string) ([]string, error) {
	name, group, _ := strings.Cut(resource, ".")
	var verbs []string
	for _, verb := range strings.Fields(changing + " deletecollection " + reading) {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: user,
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: namespace, Verb: verb, Group: group, Resource: name, Subresource: subresource,
			},
		}}
		if err := env.Client.Create(ctx, review); err != nil {
			return nil, err
		}
		if review.Status.Allowed {
			verbs = append(verbs, verb)
		}
	}
	return verbs, nil
}

// expectAllowances compares what users have with the table. Kubernetes' own roles take
// up ours some moments after these are there.
func expectAllowances(ctx context.Context, user, kind, namespace string, resources map[string][]string) {
	GinkgoHelper()
	for resource, parts := range resources {
		for _, part := range parts {
			Eventually(allowed).WithArguments(ctx, user, namespace, resource, part).
				Should(ConsistOf(strings.Fields(allowances[kind][part])), fmt.Sprintf("%s on %s/%s", user, resource, part))
		}
	}
}
