package main

import (
	"net/http"
	"strings"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create

// Requests for metrics cost two reviews each. They have a budget of their own, so
// that nobody who asks for metrics slows the controllers down.
const (
	reviewQPS   = 5
	reviewBurst = 10
)

// metricsGuard lets the API server decide who reads metrics: a TokenReview says who
// asks, a SubjectAccessReview whether they may. (controller-runtime's filter does
// the same but links half of the API server.)
type metricsGuard struct {
	reviews client.Client
}

// newMetricsFilter makes the filter of the metrics server.
func newMetricsFilter(config *rest.Config, _ *http.Client) (server.Filter, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = reviewQPS, reviewBurst
	reviews, err := client.New(config, client.Options{Scheme: newScheme()})
	if err != nil {
		return nil, err
	}
	guard := &metricsGuard{reviews: reviews}
	return guard.filter, nil
}

func (g *metricsGuard) filter(logger logr.Logger, next http.Handler) (http.Handler, error) {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, err := g.admit(r)
		switch {
		case err != nil:
			logger.Error(err, "review a request for metrics")
			http.Error(w, "the API server could not be asked", http.StatusInternalServerError)
		case status != http.StatusOK:
			http.Error(w, http.StatusText(status), status)
		default:
			next.ServeHTTP(w, r)
		}
	}), nil
}

// admit is the status that a request deserves.
func (g *metricsGuard) admit(r *http.Request) (int, error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return http.StatusUnauthorized, nil
	}
	authentication := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}
	if err := g.reviews.Create(r.Context(), authentication); err != nil {
		return 0, err
	}
	if !authentication.Status.Authenticated {
		return http.StatusUnauthorized, nil
	}
	user := authentication.Status.User
	authorization := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User:   user.Username,
		UID:    user.UID,
		Groups: user.Groups,
		Extra:  map[string]authorizationv1.ExtraValue{},
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{
			Path: r.URL.Path, Verb: strings.ToLower(r.Method),
		},
	}}
	for key, values := range user.Extra {
		authorization.Spec.Extra[key] = authorizationv1.ExtraValue(values)
	}
	if err := g.reviews.Create(r.Context(), authorization); err != nil {
		return 0, err
	}
	if !authorization.Status.Allowed {
		return http.StatusForbidden, nil
	}
	return http.StatusOK, nil
}
