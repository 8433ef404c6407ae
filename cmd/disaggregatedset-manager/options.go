package main

import (
	"flag"
	"fmt"
	"io"
	"maps"

	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	configv1 "sigs.k8s.io/lws/apis/config/v1"
)

// Flags that override a field of the configuration when they are given.
const (
	metricsFlag        = "metrics-bind-address"
	healthFlag         = "health-probe-bind-address"
	leaderElectionFlag = "leader-elect"
	featureGatesFlag   = "feature-gates"
)

// options are the command line.
type options struct {
	config             string
	kubeconfig         string
	metricsBindAddress string
	healthBindAddress  string
	leaderElect        bool
	featureGates       map[string]bool
	zap                zap.Options
	version            bool

	// given tells a flag that was given from one that was not.
	given func(name string) bool
}

// parseOptions reads the command line. Usage goes to out.
func parseOptions(args []string, out io.Writer) (*options, error) {
	o := &options{featureGates: map[string]bool{}}
	flags := pflag.NewFlagSet("disaggregatedset-manager", pflag.ContinueOnError)
	flags.SetOutput(out)
	flags.StringVar(&o.config, "config", "", "file with a Configuration of config.lws.x-k8s.io; flags override it")
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig file; without it $KUBECONFIG, then the pod's own credentials")
	flags.StringVar(&o.metricsBindAddress, metricsFlag, configv1.DefaultMetricsBindAddress, `host:port of metrics, "0" for none`)
	flags.StringVar(&o.healthBindAddress, healthFlag, configv1.DefaultHealthProbeBindAddress, `host:port of the probes, "0" for none`)
	flags.BoolVar(&o.leaderElect, leaderElectionFlag, true, "work only while holding the Lease, so that several replicas can run")
	flags.Var(cliflag.NewMapStringBool(&o.featureGates), featureGatesFlag, "comma-separated Name=true or Name=false")
	flags.BoolVar(&o.version, "version", false, "print the version and exit")

	logging := flag.NewFlagSet("zap", flag.ContinueOnError)
	o.zap.BindFlags(logging)
	flags.AddGoFlagSet(logging)

	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	o.given = flags.Changed
	return o, nil
}

// override lays the flags that were given over the configuration.
func (o *options) override(configuration *configv1.Configuration) {
	if o.given(metricsFlag) {
		configuration.Metrics.BindAddress = o.metricsBindAddress
	}
	if o.given(healthFlag) {
		configuration.Health.HealthProbeBindAddress = o.healthBindAddress
	}
	if o.given(leaderElectionFlag) {
		configuration.LeaderElection.LeaderElect = &o.leaderElect
	}
	if o.given(featureGatesFlag) {
		maps.Copy(configuration.FeatureGates, o.featureGates)
	}
}
