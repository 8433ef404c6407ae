package disaggregatedset

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"sigs.k8s.io/lws/apis/disaggregatedset/v1/dstest"
)

// series counts events as the recorder does: by all but what they say.
type series map[[3]string]int

func (s series) Eventf(_, related runtime.Object, _, reason, action, _ string, _ ...any) {
	name := ""
	if reference, is := related.(*corev1.ObjectReference); is {
		name = reference.Kind + " " + reference.Name
	}
	s[[3]string{reason, action, name}]++
}

func TestEventsAboutDifferentThingsAreApart(t *testing.T) {
	told := []notice{
		scaled("prefill", "llm-0-r-prefill", 0, 2, "0"), scaled("decode", "llm-0-r-decode", 0, 1, "0"),
		lwsDeleted([]string{"b", "a"}, "why"), lwsDeleted([]string{"c"}, "why"),
		scalerCreated("llm-prefill", 1), scalerCreated("llm-decode", 1),
		scalerDeleted("llm-prefill"), scalerDeleted("llm-decode"),
		nameConflict(serviceKind, "x-prv", "taken"), nameConflict(serviceKind, "y-prv", "taken"),
		scalerSpreadsThin("llm-prefill", "thin"), scalerSpreadsThin("llm-decode", "thin"),
	}
	seen := series{}
	record(seen, dstest.New("llm").Obj(), told)
	if len(seen) != len(told) {
		t.Errorf("%d events are counted as %d: %v", len(told), len(seen), seen)
	}
}
