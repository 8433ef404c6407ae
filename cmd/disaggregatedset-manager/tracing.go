package main

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	configv1 "sigs.k8s.io/lws/apis/config/v1"
	"sigs.k8s.io/lws/controllers/disaggregatedset"
)

const (
	// rollout is the name of the only span of a trace.
	rollout = "rollout"
	// million is what a sampling rate is of.
	million = 1e6
	// flushTimeout is how long a collector may take for what is left at the end.
	flushTimeout = 5 * time.Second
)

// traces sends what sets went through to a collector: one trace for each
// rollout. They are sent when they are over, in batches; a collector that does not
// answer costs nothing but the traces.
type traces struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
}

func newTraces(ctx context.Context, c *configv1.Tracing) (*traces, error) {
	exporter, err := otlptracegrpc.New(ctx, otlptracegrpc.WithEndpoint(*c.Endpoint), otlptracegrpc.WithInsecure())
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	rate := float64(*c.SamplingRatePerMillion) / million
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(exporter),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(rate))),
		sdktrace.WithResource(resource.NewSchemaless(
			attribute.String("service.name", "disaggregatedset-manager"),
			attribute.String("service.version", buildVersion()),
		)),
	)
	return &traces{provider: provider, tracer: provider.Tracer("sigs.k8s.io/lws/cmd/disaggregatedset-manager")}, nil
}

// send sends a span that is over.
func (t *traces) send(span disaggregatedset.Span) {
	attributes := []attribute.KeyValue{
		attribute.String("k8s.namespace.name", span.Set.Namespace),
		attribute.String("disaggregatedset.set.name", span.Set.Name),
		attribute.String("disaggregatedset.revision", span.Revision),
	}
	_, sent := t.tracer.Start(context.Background(), rollout,
		trace.WithTimestamp(span.Began), trace.WithAttributes(attributes...))
	for _, step := range span.Steps {
		sent.AddEvent(step.What, trace.WithTimestamp(step.At))
	}
	sent.End(trace.WithTimestamp(span.Ended))
}

// flush waits until the context ends, and then sends what is left.
func (t *traces) flush(ctx context.Context) error {
	<-ctx.Done()
	return t.shutdown()
}

func (t *traces) shutdown() error {
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("tracing: %w", err)
	}
	return nil
}
