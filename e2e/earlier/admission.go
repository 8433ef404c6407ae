package earlier

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"

	admissionv1 "k8s.io/api/admission/v1"
	registrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// admission is the webhook of a release, served by this process.
type admission struct {
	release       *Release
	client        client.Client
	server        *httptest.Server
	configuration *registrationv1.MutatingWebhookConfiguration
	// added is what a pod gets beside its labels, by its name.
	added map[string][]byte
}

// admit begins to admit pods as the release did.
func (r *Release) admit(ctx context.Context, c client.Client, documents []string) (*admission, error) {
	a := &admission{release: r, client: c, added: map[string][]byte{}}
	for _, document := range documents {
		if !isPod(document) {
			continue
		}
		pod, err := r.fill(ctx, c, document)
		if err != nil {
			return nil, err
		}
		if a.added[pod.GetName()], err = json.Marshal(pod); err != nil {
			return nil, err
		}
	}
	a.server = httptest.NewTLSServer(http.HandlerFunc(a.serve))
	a.configuration = configurationFor(a.server)
	if err := c.Create(ctx, a.configuration); err != nil {
		a.server.Close()
		return nil, err
	}
	if err := a.awaitCalled(ctx); err != nil {
		return nil, errors.Join(err, a.end(ctx))
	}
	return a, nil
}

// end also forgets it where a caller has given up.
func (a *admission) end(ctx context.Context) error {
	defer a.server.Close()
	return client.IgnoreNotFound(a.client.Delete(context.WithoutCancel(ctx), a.configuration))
}

func configurationFor(server *httptest.Server) *registrationv1.MutatingWebhookConfiguration {
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return &registrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "earlier-release"},
		Webhooks: []registrationv1.MutatingWebhook{{
			Name:                    "pods.earlier.release",
			AdmissionReviewVersions: []string{"v1"},
			ClientConfig:            registrationv1.WebhookClientConfig{URL: new(server.URL), CABundle: certificate},
			SideEffects:             new(registrationv1.SideEffectClassNone),
			ObjectSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
				{Key: lwsv1.SetNameLabelKey, Operator: metav1.LabelSelectorOpExists},
			}},
			Rules: []registrationv1.RuleWithOperations{{
				Operations: []registrationv1.OperationType{registrationv1.Create},
				Rule:       registrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
			}},
		}},
	}
}

// awaitCalled waits until the API server knows the webhook.
func (a *admission) awaitCalled(ctx context.Context) error {
	var refused error
	err := wait.PollUntilContextTimeout(ctx, pollInterval, patience, true, func(ctx context.Context) (bool, error) {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: a.release.Namespace, Name: "probe", Labels: map[string]string{
				lwsv1.SetNameLabelKey: "probe", appsv1.PodIndexLabel: "1",
			}},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "probe", Image: "probe"}}},
		}
		refused = a.client.Create(ctx, pod, client.DryRunAll)
		return pod.Labels[lwsv1.WorkerIndexLabelKey] == "1", nil
	})
	return errors.Join(err, refused)
}

func (a *admission) serve(w http.ResponseWriter, request *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(request.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	response := &admissionv1.AdmissionResponse{UID: review.Request.UID, PatchType: new(admissionv1.PatchTypeJSONPatch)}
	patch, err := a.change(review.Request.Object.Raw)
	if err != nil {
		response.Result = &metav1.Status{Message: err.Error()}
	} else {
		response.Allowed, response.Patch = true, patch
	}
	review.Request, review.Response = nil, response
	if err := json.NewEncoder(w).Encode(review); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// change is the patch that makes a pod a member of its group.
func (a *admission) change(raw []byte) ([]byte, error) {
	pod := &corev1.Pod{}
	if err := json.Unmarshal(raw, pod); err != nil {
		return nil, err
	}
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	maps.Copy(pod.Labels, a.labelsOf(pod))
	if added := a.added[pod.Name]; added != nil {
		bare, err := json.Marshal(pod)
		if err != nil {
			return nil, err
		}
		whole, err := strategicpatch.StrategicMergePatch(bare, added, &corev1.Pod{})
		if err != nil {
			return nil, fmt.Errorf("pod %s: %w", pod.Name, err)
		}
		if err := json.Unmarshal(whole, pod); err != nil {
			return nil, err
		}
	}
	return json.Marshal([]map[string]any{
		{"op": "add", "path": "/metadata/labels", "value": pod.Labels},
		{"op": "replace", "path": "/spec", "value": pod.Spec},
	})
}

// labelsOf are those that every pod of a set has.
func (a *admission) labelsOf(pod *corev1.Pod) map[string]string {
	ordinal := strconv.Itoa(int(ordinalOf(pod)))
	if owner := metav1.GetControllerOf(pod); owner != nil && owner.Name == pod.Labels[lwsv1.SetNameLabelKey] {
		return map[string]string{lwsv1.GroupIndexLabelKey: ordinal, lwsv1.GroupKeyLabelKey: a.release.groupKey(pod.Name)}
	}
	return map[string]string{lwsv1.WorkerIndexLabelKey: ordinal}
}

// ordinalOf is the number of a pod in its StatefulSet, which has it in a label.
func ordinalOf(pod *corev1.Pod) int32 {
	ordinal, err := strconv.ParseInt(pod.Labels[appsv1.PodIndexLabel], 10, 32)
	if err != nil {
		return -1
	}
	return int32(ordinal)
}
