package main

import (
	"fmt"
	"io"

	"sigs.k8s.io/lws/e2e/cluster/controlplane"
	"sigs.k8s.io/lws/e2e/managers"
)

// callHere passes rendered manifests of lws-manager on, with webhooks that are called
// at the process of make up: a post-renderer of Helm.
func callHere(options controlplane.Options, in io.Reader, out io.Writer) error {
	cluster, err := controlplane.Open(options.Dir, options.Name)
	if err != nil {
		return err
	}
	rendered, err := io.ReadAll(in)
	if err != nil {
		return fmt.Errorf("read manifests: %w", err)
	}
	port, err := managers.LWS().ServesAt(cluster)
	if err != nil {
		return err
	}
	here, err := managers.CallHere(rendered, port)
	if err != nil {
		return err
	}
	_, err = out.Write(here)
	return err
}
