package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"sigs.k8s.io/lws/e2e/harness"
	"sigs.k8s.io/lws/e2e/managers"
)

type options struct {
	seed uint64
	// sets are those of both kinds, split those of them that are DisaggregatedSets.
	sets, split int
	rate        float64
	duration    time.Duration
	// patience is how long sets may take to settle when the traffic has ended.
	patience time.Duration
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ctrl.SetLogger(zap.New(zap.WriteTo(io.Discard)))
	err := run(ctx, parse())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

func parse() options {
	o := options{}
	flag.Uint64Var(&o.seed, "seed", 1, "what the traffic is drawn from")
	flag.IntVar(&o.sets, "sets", 40, "how many sets there may be")
	flag.IntVar(&o.split, "disaggregatedsets", 8, "how many of them are DisaggregatedSets")
	flag.Float64Var(&o.rate, "rate", 4, "operations per second")
	flag.DurationVar(&o.duration, "duration", 3*time.Minute, "how long there is traffic")
	flag.DurationVar(&o.patience, "patience", 3*time.Minute, "how long sets may take to settle afterwards")
	flag.Parse()
	return o
}

// run starts a cluster with its managers and leaves nothing of it behind.
func run(ctx context.Context, o options) (err error) {
	if o.split < 1 || o.sets <= o.split || o.rate <= 0 {
		return errors.New("at least one set of each kind and some traffic are needed")
	}
	env, err := harness.Start(ctx, harness.Options{
		Suite: "soak", Shipped: managers.DisaggregatedSet(), Beside: []managers.Shipped{managers.LWS()}, Log: os.Stderr,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, env.Stop()) }()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespaceName}}
	if err := env.Client.Create(ctx, namespace); err != nil {
		return err
	}
	used, err := soak(ctx, env, o)
	if err != nil {
		return fmt.Errorf("with seed %d: %w", o.seed, err)
	}
	fmt.Fprintf(os.Stdout, "seed %d: all sets are Available, nothing is left over\n", o.seed)
	for _, m := range used {
		fmt.Fprintln(os.Stdout, m)
	}
	return nil
}

// soak has traffic for a time and then judges what there is.
func soak(ctx context.Context, env *harness.Environment, o options) ([]*memory, error) {
	t := newTraffic(env.Client, o)
	used := []*memory{memoryOf(managers.LWS(), env.Beside[managers.LWS().Name]), memoryOf(managers.DisaggregatedSet(), env.Manager)}
	ticker := time.NewTicker(time.Duration(float64(time.Second) / o.rate))
	defer ticker.Stop()
	for began := time.Now(); time.Since(began) < o.duration; {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-ticker.C:
		}
		if err := t.operate(ctx); err != nil {
			return nil, err
		}
		if err := each(used, func(m *memory) error { return m.look(time.Since(began) >= o.duration/4) }); err != nil {
			return nil, err
		}
	}
	fmt.Fprintln(os.Stdout, t)
	if err := t.settle(ctx, o.patience); err != nil {
		return nil, err
	}
	return used, each(used, (*memory).judge)
}

func memoryOf(shipped managers.Shipped, manager *harness.Manager) *memory {
	return &memory{manager: shipped.Name, pid: manager.Process().PID}
}

func each(used []*memory, do func(*memory) error) error {
	var errs []error
	for _, m := range used {
		errs = append(errs, do(m))
	}
	return errors.Join(errs...)
}
