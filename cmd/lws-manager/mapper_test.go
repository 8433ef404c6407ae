package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	configv1 "sigs.k8s.io/lws/apis/config/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/scheduling"
)

// An API server that serves no scheduling objects, or does not answer, when the manager
// starts: what will be cached of them is narrowed all the same.
func TestSchedulingObjectsAreNarrowedBeforeTheyAreServed(t *testing.T) {
	for name, status := range map[string]int{"not served": http.StatusNotFound, "no answer": http.StatusServiceUnavailable} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				http.Error(w, r.URL.Path, status)
			}))
			defer server.Close()
			config := &rest.Config{Host: server.URL}
			gangs := scheduling.NewKubernetes(true, true)
			mapper, err := newMapperOf(gangs.Kinds())(config, server.Client())
			if err != nil {
				t.Fatal(err)
			}
			options := cache.Options{Scheme: newScheme(), Mapper: mapper, ByObject: map[client.Object]cache.ByObject{}}
			if err := gangs.AddToScheme(options.Scheme); err != nil {
				t.Fatal(err)
			}
			c := configv1.Default(configv1.LWSManagerNames())
			all := cacheOptions(c, "home", gangs.Kinds()...).ByObject
			for obj, narrowed := range all {
				if gvk, _, err := options.Scheme.ObjectKinds(obj); err == nil && gvk[0].Group == "scheduling.k8s.io" {
					options.ByObject[obj] = narrowed
					if isParent := gvk[0].Kind == "Workload"; (narrowed.Label == nil) != isParent {
						t.Errorf("%s: narrowed by %v", gvk[0].Kind, narrowed.Label)
					}
				}
			}
			if len(options.ByObject) != len(gangs.Kinds()) {
				t.Errorf("%d kinds have options, want %d", len(options.ByObject), len(gangs.Kinds()))
			}
			if _, err := cache.New(config, options); err != nil {
				t.Errorf("no cache: %v", err)
			}
		})
	}
}
