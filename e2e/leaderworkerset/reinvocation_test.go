package leaderworkerset

import (
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// meddle adds an annotation to every pod of the namespace, after our webhook: so ours
// is called again.
func (s *scenario) meddle() {
	GinkgoHelper()
	patch := admissionv1.PatchTypeJSONPatch
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{
			UID: review.Request.UID, Allowed: true, PatchType: &patch,
			Patch: []byte(`[{"op":"add","path":"/metadata/annotations/meddled","value":"true"}]`),
		}
		Expect(json.NewEncoder(w).Encode(review)).To(Succeed())
	}))
	DeferCleanup(server.Close)
	none := admissionregistrationv1.SideEffectClassNone
	configuration := &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "z-last-" + s.namespace},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name: "meddle.example.com",
			ClientConfig: admissionregistrationv1.WebhookClientConfig{
				URL:      &server.URL,
				CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
			},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
			}},
			NamespaceSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: s.namespace}},
			SideEffects:             &none,
			AdmissionReviewVersions: []string{"v1"},
		}},
	}
	Expect(s.env.Client.Create(s.ctx, configuration)).To(Succeed())
	DeferCleanup(func() { s.remove(configuration) })
}

var _ = Describe("A pod that is admitted twice", func() {
	It("is as if it had been admitted once", func() {
		s := begin()
		s.meddle()
		Eventually(func() map[string]string {
			pod := &corev1.Pod{Spec: template("theirs").Spec}
			pod.GenerateName, pod.Namespace, pod.Annotations = "probe-", s.namespace, map[string]string{"probe": ""}
			Expect(s.env.Client.Create(s.ctx, pod)).To(Succeed())
			return pod.Annotations
		}).WithTimeout(patience).Should(HaveKey("meddled"), "the other webhook is called")

		created := s.create(tpuSet("twice", 2, "tpu").SubGroups(1, lwsv1.SubGroupPolicyTypeLeaderWorker).
			GroupTopology("topology.kubernetes.io/zone").SubGroupTopology("kubernetes.io/hostname"))
		s.awaitAvailable(created.Name)
		s.awaitMemory(created.Name, 1)
		for index, name := range []string{"twice-0", "twice-0-1"} {
			pod := &corev1.Pod{}
			s.get(name, pod)
			Expect(pod.Annotations).To(HaveKeyWithValue("meddled", "true"))
			variables := map[string]int{}
			for _, variable := range pod.Spec.Containers[0].Env {
				variables[variable.Name]++
			}
			Expect(variables).To(HaveKey("TPU_WORKER_ID"))
			for variable, times := range variables {
				Expect(times).To(Equal(1), "%s %s", name, variable)
			}
			terms := 1
			if index == 0 {
				terms = 2 // those of the group and those of the subgroup
			}
			Expect(pod.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution).To(HaveLen(terms), name)
			Expect(pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution).To(HaveLen(terms), name)
		}
	})
})
