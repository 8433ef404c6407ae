package disaggregatedset

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestFailedWrites(t *testing.T) {
	sets := schema.GroupResource{Group: "leaderworkerset.x-k8s.io", Resource: "leaderworkersets"}
	ending := apierrors.NewForbidden(sets, "llm", errors.New("namespace is being terminated"))
	ending.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	for name, tc := range map[string]struct {
		err             error
		stale, obstacle bool
		isError         bool
	}{
		"changed in between":         {err: apierrors.NewConflict(sets, "llm", errors.New("changed")), stale: true},
		"deleted in between":         {err: fmt.Errorf("wrapped: %w", apierrors.NewNotFound(sets, "llm")), stale: true},
		"a kind that is not served":  {err: apierrors.NewGenericServerResponse(http.StatusNotFound, "post", sets, "", "", 0, true), isError: true},
		"a namespace that ends":      {err: ending},
		"refused":                    {err: apierrors.NewForbidden(sets, "llm", errors.New("quota")), obstacle: true, isError: true},
		"an API server that is down": {err: errors.New("connection refused"), isError: true},
	} {
		t.Run(name, func(t *testing.T) {
			o := &outcome{}
			o.failed("creating", tc.err)
			if o.Stale != tc.stale || (len(o.Obstacles) > 0) != tc.obstacle || (o.err() != nil) != tc.isError {
				t.Errorf("got %+v", o)
			}
		})
	}
}
