//go:build integration

package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// readManifests reads the documents of a file.
func readManifests(file string) []client.Object {
	GinkgoHelper()
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(readFile(file)), 4096)
	var objects []client.Object
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(object)
		if errors.Is(err, io.EOF) {
			return objects
		}
		Expect(err).NotTo(HaveOccurred(), file)
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}

func applyObject(ctx context.Context, object client.Object, options ...client.ApplyOption) error {
	options = append(options, client.FieldOwner("test"), client.ForceOwnership)
	return cluster.Apply(ctx, client.ApplyConfigurationFromUnstructured(object.(*unstructured.Unstructured)), options...)
}

// token is one of a ServiceAccount in the manager's namespace.
func token(ctx context.Context, account string) string {
	GinkgoHelper()
	answer, err := kube.CoreV1().ServiceAccounts(homeOfTest).CreateToken(ctx, account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	return answer.Status.Token
}

// replica is a manager that runs as a process with the shipped ServiceAccount.
type replica struct {
	command                   *exec.Cmd
	webhooks, metrics, probes int
	exited                    chan struct{}
	failure                   error

	mu  sync.Mutex
	log bytes.Buffer
}

// Write takes what the process logs.
func (r *replica) Write(data []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, _ = GinkgoWriter.Write(data)
	return r.log.Write(data)
}

func (r *replica) logged() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.String()
}

func startReplica(ctx context.Context) *replica {
	GinkgoHelper()
	r := &replica{webhooks: freePort(), metrics: freePort(), probes: freePort(), exited: make(chan struct{})}
	dir := GinkgoT().TempDir()
	config := clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"c": {Server: admin.Host, CertificateAuthorityData: admin.CAData}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"u": {Token: token(ctx, "disaggregatedset-controller-manager")}},
		Contexts:       map[string]*clientcmdapi.Context{"c": {Cluster: "c", AuthInfo: "u", Namespace: homeOfTest}},
		CurrentContext: "c",
	}
	kubeconfig := filepath.Join(dir, "kubeconfig")
	Expect(clientcmd.WriteToFile(config, kubeconfig)).To(Succeed())
	file := filepath.Join(dir, "configuration.yaml")
	writeTo(file, fmt.Sprintf(`apiVersion: config.lws.x-k8s.io/v1
kind: Configuration
webhook: {host: localhost, port: %d}
`, r.webhooks))

	r.command = exec.Command(program, "--config="+file, "--kubeconfig="+kubeconfig,
		fmt.Sprintf("--metrics-bind-address=127.0.0.1:%d", r.metrics),
		fmt.Sprintf("--health-probe-bind-address=127.0.0.1:%d", r.probes))
	r.command.Stdout, r.command.Stderr = r, r
	Expect(r.command.Start()).To(Succeed())
	go func() {
		r.failure = r.command.Wait()
		close(r.exited)
	}()
	return r
}

// probe asks for health and returns the status and the answer; 0 without an answer.
func (r *replica) probe(path string) (int, string) {
	response, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d%s", r.probes, path))
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, string(body)
}

func (r *replica) readiness() string {
	_, body := r.probe("/readyz")
	return body
}

// kill ends what may still run.
func (r *replica) kill() {
	_ = r.command.Process.Kill()
	<-r.exited
}

func (r *replica) stop() {
	GinkgoHelper()
	Expect(r.command.Process.Signal(syscall.SIGTERM)).To(Succeed())
	Eventually(r.exited, "20s").Should(BeClosed(), "it does not end")
}

func freePort() int {
	GinkgoHelper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// applyWebhooks installs the shipped webhooks, called at a port of this machine.
func applyWebhooks(ctx context.Context, port int) {
	GinkgoHelper()
	for _, object := range readManifests(filepath.Join(configDir, "disaggregatedset/manifests.yaml")) {
		manifest := object.(*unstructured.Unstructured)
		webhooks, _, err := unstructured.NestedSlice(manifest.Object, "webhooks")
		Expect(err).NotTo(HaveOccurred())
		for _, webhook := range webhooks {
			fields := webhook.(map[string]any)
			path, _, err := unstructured.NestedString(fields, "clientConfig", "service", "path")
			Expect(err).NotTo(HaveOccurred())
			fields["clientConfig"] = map[string]any{"url": fmt.Sprintf("https://localhost:%d%s", port, path)}
		}
		Expect(unstructured.SetNestedSlice(manifest.Object, webhooks, "webhooks")).To(Succeed())
		Expect(applyObject(ctx, manifest)).To(Succeed())
	}
}

// trust is what the API server believes the webhooks by; empty unless all agree.
func trust(ctx context.Context) []byte {
	GinkgoHelper()
	var mutating admissionv1.MutatingWebhookConfiguration
	var validating admissionv1.ValidatingWebhookConfiguration
	Expect(cluster.Get(ctx, client.ObjectKey{Name: mutatingConfiguration}, &mutating)).To(Succeed())
	Expect(cluster.Get(ctx, client.ObjectKey{Name: validatingConfiguration}, &validating)).To(Succeed())
	bundle := validating.Webhooks[0].ClientConfig.CABundle
	for i := range mutating.Webhooks {
		if !bytes.Equal(bundle, mutating.Webhooks[i].ClientConfig.CABundle) {
			return nil
		}
	}
	return bundle
}

// callAll has the API server call the webhooks again and again, asks all replicas whether
// they are ready, and shakes hands with them as the API server does. What it returns ends
// that after some rounds more and tells what went wrong.
func callAll(ctx context.Context, replicas ...*replica) (end func() error) {
	ctx, cancel := context.WithCancel(ctx)
	var failures []error
	var rounds atomic.Int32
	ended := make(chan struct{})
	go func() {
		defer GinkgoRecover()
		defer close(ended)
		for ctx.Err() == nil {
			failures = append(failures, admit(context.WithoutCancel(ctx)))
			roots := x509.NewCertPool()
			isSettled := roots.AppendCertsFromPEM(trust(context.WithoutCancel(ctx))) // or is being written
			for _, r := range replicas {
				if status, said := r.probe("/readyz"); status != http.StatusOK {
					failures = append(failures, errors.New(said))
				}
				if !isSettled {
					continue
				}
				connection, err := tls.Dial("tcp", fmt.Sprintf("localhost:%d", r.webhooks), &tls.Config{RootCAs: roots})
				if failures = append(failures, err); err == nil {
					failures = append(failures, connection.Close())
				}
			}
			rounds.Add(1)
		}
	}()
	return func() error {
		GinkgoHelper()
		Eventually(rounds.Load).Should(BeNumerically(">", rounds.Load()+5))
		cancel()
		<-ended
		GinkgoWriter.Printf("%d rounds\n", rounds.Load())
		return errors.Join(failures...)
	}
}
