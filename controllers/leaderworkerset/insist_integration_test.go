//go:build integration

package leaderworkerset_test

import (
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admission/v1"
	registrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// insist starts an admission webhook that gives every StatefulSet of the namespace
// the label team=theirs.
func (w *world) insist() {
	GinkgoHelper()
	server := httptest.NewTLSServer(http.HandlerFunc(answerTheirs))
	DeferCleanup(server.Close)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	failure, sideEffects := registrationv1.Fail, registrationv1.SideEffectClassNone
	configuration := &registrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: w.namespace},
		Webhooks: []registrationv1.MutatingWebhook{{
			Name:                    "insist.example.com",
			ClientConfig:            registrationv1.WebhookClientConfig{URL: &server.URL, CABundle: authority},
			FailurePolicy:           &failure,
			SideEffects:             &sideEffects,
			AdmissionReviewVersions: []string{"v1"},
			NamespaceSelector: &metav1.LabelSelector{
				MatchLabels: map[string]string{corev1.LabelMetadataName: w.namespace},
			},
			Rules: []registrationv1.RuleWithOperations{{
				Operations: []registrationv1.OperationType{registrationv1.Create, registrationv1.Update},
				Rule: registrationv1.Rule{
					APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"statefulsets"},
				},
			}},
		}},
	}
	Expect(live.Create(w.ctx, configuration)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) { Expect(live.Delete(ctx, configuration)).To(Succeed()) })
}

func answerTheirs(response http.ResponseWriter, request *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(request.Body).Decode(&review); err != nil {
		http.Error(response, err.Error(), http.StatusBadRequest)
		return
	}
	patchType := admissionv1.PatchTypeJSONPatch
	review.Response = &admissionv1.AdmissionResponse{
		UID: review.Request.UID, Allowed: true, PatchType: &patchType,
		Patch: []byte(`[{"op":"add","path":"/metadata/labels/team","value":"theirs"}]`),
	}
	review.Request = nil
	response.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(response).Encode(review)
}
