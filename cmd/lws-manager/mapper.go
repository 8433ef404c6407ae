package main

import (
	"net/http"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"sigs.k8s.io/lws/controllers/leaderworkerset/scheduling"
)

// newMapperOf knows scheduling objects without asking: they may be served later than
// the manager starts, and what it caches of them is narrowed before. The API server
// knows all others.
func newMapperOf(kinds []scheduling.Kind) func(*rest.Config, *http.Client) (meta.RESTMapper, error) {
	known := meta.NewDefaultRESTMapper(nil)
	for _, kind := range kinds {
		known.Add(kind.GroupVersionKind, meta.RESTScopeNamespace)
	}
	return func(config *rest.Config, client *http.Client) (meta.RESTMapper, error) {
		asking, err := apiutil.NewDynamicRESTMapper(config, client)
		if err != nil {
			return nil, err
		}
		return meta.FirstHitRESTMapper{MultiRESTMapper: meta.MultiRESTMapper{known, asking}}, nil
	}
}
