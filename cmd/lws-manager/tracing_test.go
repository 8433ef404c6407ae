package main

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	v1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"k8s.io/apimachinery/pkg/types"

	configv1 "sigs.k8s.io/lws/apis/config/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/metrics"
)

// receiver is a collector that keeps what it is sent.
type receiver struct {
	collector.UnimplementedTraceServiceServer

	mu    sync.Mutex
	spans []*v1.Span
}

// Export keeps spans.
func (r *receiver) Export(_ context.Context, request *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, of := range request.ResourceSpans {
		for _, scope := range of.ScopeSpans {
			r.spans = append(r.spans, scope.Spans...)
		}
	}
	return &collector.ExportTraceServiceResponse{}, nil
}

func startReceiver(t *testing.T) (*receiver, string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r, server := &receiver{}, grpc.NewServer()
	collector.RegisterTraceServiceServer(server, r)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return r, listener.Addr().String()
}

// sent is a span as it arrived.
type sent struct {
	Name         string
	Began, Ended time.Time
	Attributes   map[string]string
	Events       []string
}

func TestTraces(t *testing.T) {
	began := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	set := types.NamespacedName{Namespace: "ns", Name: "llm"}
	spans := []metrics.Span{
		{Name: metrics.GroupStart, Set: set, Began: began, Ended: began.Add(time.Minute), Leader: "leader"},
		{Name: metrics.Rollout, Set: set, Began: began, Ended: began.Add(time.Hour), Steps: []metrics.Step{{At: began, What: "2 leaders deleted"}}},
	}
	of := map[string]string{"k8s.namespace.name": "ns", "lws.set.name": "llm"}
	all := []sent{
		{metrics.GroupStart, began, began.Add(time.Minute), map[string]string{"k8s.namespace.name": "ns", "lws.set.name": "llm", "lws.leader.uid": "leader"}, nil},
		{metrics.Rollout, began, began.Add(time.Hour), of, []string{"2 leaders deleted"}},
	}
	tests := map[string]struct {
		rate int32
		want []sent
	}{
		"all of them":  {rate: 1_000_000, want: all},
		"none of them": {rate: 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r, address := startReceiver(t)
			traces, err := newTraces(t.Context(), &configv1.Tracing{Endpoint: &address, SamplingRatePerMillion: &test.rate})
			if err != nil {
				t.Fatal(err)
			}
			for _, span := range spans {
				traces.send(span)
			}
			if err := traces.shutdown(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, r.received()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			r.eachIsATrace(t)
		})
	}
}

func (r *receiver) received() []sent {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []sent
	for _, span := range r.spans {
		s := sent{
			Name:       span.Name,
			Began:      time.Unix(0, int64(span.StartTimeUnixNano)).UTC(),
			Ended:      time.Unix(0, int64(span.EndTimeUnixNano)).UTC(),
			Attributes: map[string]string{},
		}
		for _, attribute := range span.Attributes {
			s.Attributes[attribute.Key] = attribute.Value.GetStringValue()
		}
		for _, event := range span.Events {
			s.Events = append(s.Events, event.Name)
		}
		all = append(all, s)
	}
	return all
}

func (r *receiver) eachIsATrace(t *testing.T) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := map[string]bool{}
	for _, span := range r.spans {
		if id := string(span.TraceId); seen[id] || len(span.ParentSpanId) > 0 {
			t.Errorf("span %s is not a trace of its own", span.Name)
		} else {
			seen[id] = true
		}
	}
}
