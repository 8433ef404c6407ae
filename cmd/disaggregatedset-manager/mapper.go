package main

import (
	"net/http"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// newMapper knows the kinds of this project without asking: they may be served
// later than the manager starts. The API server knows all others.
func newMapper(config *rest.Config, client *http.Client) (meta.RESTMapper, error) {
	asking, err := apiutil.NewDynamicRESTMapper(config, client)
	if err != nil {
		return nil, err
	}
	known := meta.NewDefaultRESTMapper([]schema.GroupVersion{dsv1.GroupVersion, lwsv1.GroupVersion})
	for _, kind := range []schema.GroupVersionKind{
		dsv1.GroupVersion.WithKind(dsv1.Kind),
		dsv1.GroupVersion.WithKind(dsv1.RoleScalerKind),
		lwsv1.GroupVersion.WithKind(lwsv1.Kind),
	} {
		known.Add(kind, meta.RESTScopeNamespace)
	}
	return meta.FirstHitRESTMapper{MultiRESTMapper: meta.MultiRESTMapper{known, asking}}, nil
}
