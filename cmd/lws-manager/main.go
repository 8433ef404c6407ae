package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	configv1 "sigs.k8s.io/lws/apis/config/v1"
)

// version is set by the linker.
var version = ""

func main() {
	if err := run(ctrl.SetupSignalHandler(), os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "lws-manager:", err)
		os.Exit(1)
	}
}

// run is the program. It ends when ctx does.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	options, err := parseOptions(args, stderr)
	if errors.Is(err, pflag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	if options.version {
		_, err := fmt.Fprintln(stdout, "lws-manager", buildVersion())
		return err
	}
	logger := zap.New(zap.UseFlagOptions(&options.zap), zap.WriteTo(stderr), zap.RawZapOpts(encodeLazily))
	ctrl.SetLogger(logger)
	klog.SetLogger(logger)

	configuration, err := options.configuration()
	if err != nil {
		return err
	}
	connection, err := connect(options.kubeconfig, configuration)
	if err != nil {
		return err
	}
	mgr, err := newManager(ctx, configuration, connection)
	if err != nil {
		return err
	}
	logger.Info("starting", "version", buildVersion(), "namespace", connection.namespace,
		"featureGates", configuration.FeatureGates)
	if fields := unheeded(configuration); len(fields) > 0 {
		logger.Info("the configuration has what changes nothing in this manager", "fields", fields)
	}
	return mgr.Start(ctx)
}

// configuration reads the file and lays the flags that were given over it.
func (o *options) configuration() (*configv1.Configuration, error) {
	configuration := configv1.Default(configv1.LWSManagerNames())
	if o.config != "" {
		var err error
		if configuration, err = configv1.Load(o.config, configv1.LWSManagerNames()); err != nil {
			return nil, err
		}
	}
	o.override(configuration)
	if errs := configv1.Validate(configuration); len(errs) > 0 {
		return nil, fmt.Errorf("configuration: %w", errs.ToAggregate())
	}
	return configuration, nil
}

// buildVersion is what the linker was told, or what the build itself knows.
func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return "unknown"
}
