package harness

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/lws/e2e/managers"
)

// reader is the account that reads metrics.
const (
	reader     = "metrics-reader"
	readerRole = "lws-metrics-reader"
	// servingCertificate is where the manager keeps its certificate.
	servingCertificate = "lws-webhook-server-cert"
)

// Metrics reads the metrics of the manager, as an account that may.
type Metrics struct {
	url   string
	token string
	http  *http.Client
}

// Metrics makes an account in a namespace that may read the metrics of the manager.
func (e *Environment) Metrics(ctx context.Context, namespace string) (*Metrics, error) {
	meta := metav1.ObjectMeta{Name: reader, Namespace: namespace}
	_, err := e.Kube.CoreV1().ServiceAccounts(namespace).Create(ctx, &corev1.ServiceAccount{ObjectMeta: meta}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return nil, fmt.Errorf("the reader of metrics: %w", err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: namespace + "-" + reader},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: reader}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: readerRole},
	}
	_, err = e.Kube.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return nil, fmt.Errorf("the reader of metrics: %w", err)
	}
	token, err := e.Kube.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, reader, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("the reader of metrics: %w", err)
	}
	trust, err := e.trust(ctx)
	if err != nil {
		return nil, err
	}
	return &Metrics{
		url:   "https://" + e.Manager.Process().MetricsAddress + "/metrics",
		token: token.Status.Token,
		http:  &http.Client{Transport: &http.Transport{TLSClientConfig: trust}},
	}, nil
}

// trust is in the certificate that the manager makes for itself.
func (e *Environment) trust(ctx context.Context) (*tls.Config, error) {
	secret, err := e.Kube.CoreV1().Secrets(managers.LWS().Namespace).Get(ctx, servingCertificate, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("the certificate of the manager: %w", err)
	}
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM(secret.Data["ca.crt"]) {
		return nil, fmt.Errorf("the certificate of the manager: no ca.crt in Secret %s", servingCertificate)
	}
	return &tls.Config{RootCAs: authorities, ServerName: "localhost", MinVersion: tls.VersionTLS12}, nil
}

// Status asks for the metrics with a token and returns the status code.
func (m *Metrics) Status(ctx context.Context, token string) (int, error) {
	response, err := m.ask(ctx, token)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}

func (m *Metrics) ask(ctx context.Context, token string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, m.url, http.NoBody)
	if err != nil {
		return nil, err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	return m.http.Do(request)
}

// Sum adds up the values of a counter or gauge whose labels have the given values.
func (m *Metrics) Sum(ctx context.Context, name string, labels map[string]string) (float64, error) {
	response, err := m.ask(ctx, m.token)
	if err != nil {
		return 0, fmt.Errorf("metrics: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("metrics: %s", response.Status)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(response.Body)
	if err != nil {
		return 0, fmt.Errorf("metrics: %w", err)
	}
	family, found := families[name]
	if !found {
		return 0, nil
	}
	sum := 0.0
	for _, metric := range family.GetMetric() {
		if hasLabels(metric, labels) {
			sum += metric.GetCounter().GetValue() + metric.GetGauge().GetValue()
		}
	}
	return sum, nil
}

func hasLabels(metric *dto.Metric, wanted map[string]string) bool {
	matching := 0
	for _, label := range metric.GetLabel() {
		if value, asked := wanted[label.GetName()]; asked && value == label.GetValue() {
			matching++
		}
	}
	return matching == len(wanted)
}
