package packaging

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/lws/apis/disaggregatedset/v1/dstest"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
)

// width is how many requests a round of load has side by side.
const width = 12

// load has the API server admit objects, without storing them, round after round. In
// each round the API server verifies the certificates again.
type load struct {
	managers []*certified
	kinds    []func() client.Object

	stop     context.CancelFunc
	ended    chan struct{}
	rounds   atomic.Int64
	refusals []error
}

// startLoad begins with a round that has been admitted when it returns.
func startLoad(ctx context.Context, called []*certified, kinds ...func() client.Object) *load {
	GinkgoHelper()
	during, stop := context.WithCancel(context.WithoutCancel(ctx))
	ctx = context.WithoutCancel(during) // a round that has begun ends
	l := &load{managers: called, kinds: kinds, stop: stop, ended: make(chan struct{})}
	DeferCleanup(stop)
	l.round(ctx)
	Expect(l.refusals).To(BeEmpty(), "before anything was renewed")
	go func() {
		defer close(l.ended)
		for during.Err() == nil {
			l.round(ctx)
		}
	}()
	return l
}

func (l *load) round(ctx context.Context) {
	for _, called := range l.managers {
		called.relay.forget()
	}
	answers := make(chan error, width)
	for i := range width {
		go func() { answers <- env.Client.Create(ctx, l.kinds[i%len(l.kinds)](), client.DryRunAll) }()
	}
	for range width {
		if err := <-answers; err != nil {
			l.refusals = append(l.refusals, err)
		}
	}
	l.rounds.Add(1)
}

// end ends the load and returns the first refusals.
func (l *load) end() error {
	l.stop()
	<-l.ended
	GinkgoWriter.Printf("%d rounds of %d requests, %d refused\n", l.rounds.Load(), width, len(l.refusals))
	if len(l.refusals) == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d requests were refused, of which\n%w", len(l.refusals), l.rounds.Load()*width,
		errors.Join(l.refusals[:min(3, len(l.refusals))]...))
}

func anySet() client.Object { return newSet("loaded").Obj() }

func anySplit() client.Object { return dstest.New("loaded").Namespace("default").Obj() }

func anyMember() client.Object {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: "loaded", Labels: map[string]string{lwsv1.SetNameLabelKey: "loaded"},
	}}
	pod.Spec = lwstest.PodTemplate("worker").Spec
	return pod
}
