package managers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"k8s.io/client-go/tools/clientcmd"
)

// Readiness asks the process whether it is ready, and returns its answer.
func (p *Process) Readiness(ctx context.Context) (bool, string) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.ProbeAddress+"/readyz", http.NoBody)
	if err != nil {
		return false, err.Error()
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false, err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return false, err.Error()
	}
	return response.StatusCode == http.StatusOK, string(body)
}

// AwaitReady waits until the process is ready. It fails when the process ends.
func (p *Process) AwaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyPatience)
	defer cancel()
	answer := ""
	for {
		ready, said := p.Readiness(ctx)
		if ready {
			return nil
		}
		if ctx.Err() == nil {
			answer = said
		}
		select {
		case <-p.exited:
			return errors.Join(fmt.Errorf("%s ended before it was ready; its log ends with\n%s", p.name, p.lastLog()), p.failure)
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w\n%s\n%s", p.name, ctx.Err(), answer, p.lastLog())
		case <-time.After(pollInterval):
		}
	}
}

// adjust sets the namespace of a kubeconfig's context, which the manager takes for its
// own, and the way to the API server.
func adjust(kubeconfig, namespace string, proxy *Proxy) error {
	config, err := clientcmd.LoadFromFile(kubeconfig)
	if err != nil {
		return err
	}
	for _, inContext := range config.Contexts {
		inContext.Namespace = namespace
	}
	for _, cluster := range config.Clusters {
		if proxy != nil {
			cluster.Server, cluster.CertificateAuthorityData, cluster.CertificateAuthority = proxy.URL, proxy.Certificate, ""
		}
	}
	return clientcmd.WriteToFile(*config, kubeconfig)
}
