package packaging

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net"
	"path/filepath"
	"strconv"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	configv1 "sigs.k8s.io/lws/apis/config/v1"
	"sigs.k8s.io/lws/e2e/managers"
)

// injectFrom is the annotation by which a webhook configuration asks cert-manager for
// an authority.
const injectFrom = "cert-manager.io/inject-ca-from"

// certified is a manager whose certificate comes from cert-manager.
type certified struct {
	// name begins those of its objects.
	name    string
	release *release
	// relay is where the API server calls it.
	relay   *relay
	process *managers.Process
	// files is where its certificate is mounted, secret what is mounted there.
	files, secret string
}

func newCertified(ctx context.Context, name string, shipped managers.Shipped) *certified {
	GinkgoHelper()
	c := &certified{name: name, release: newRelease(ctx, name, shipped), files: filepath.Join(GinkgoT().TempDir(), "mounted")}
	c.relay = startRelay(ctx, c.release.manager.WebhookPort())
	c.release.calledAt = c.relay.port()
	return c
}

func (c *certified) namespace() string { return c.release.manager.Namespace }

// kustomize installs it as the documentation says.
func (c *certified) kustomize(ctx context.Context, overlay string) {
	GinkgoHelper()
	checkout, err := managers.Checkout()
	Expect(err).NotTo(HaveOccurred())
	rendered, err := managers.Kubectl(ctx, env.Cluster, nil, "kustomize", filepath.Join(checkout, "config", overlay))
	Expect(err).NotTo(HaveOccurred())
	here, err := managers.ServeHere(rendered, c.relay.port())
	Expect(err).NotTo(HaveOccurred())
	_, err = managers.Kubectl(ctx, env.Cluster, here, "apply", "--server-side", "--force-conflicts", "-f", "-")
	Expect(err).NotTo(HaveOccurred())
}

// start starts its process with what is shipped: the configuration is the ConfigMap's,
// and where that looks for the certificate the Deployment's Secret is mounted.
func (c *certified) start(ctx context.Context) {
	GinkgoHelper()
	config := &corev1.ConfigMap{}
	Expect(env.Client.Get(ctx, client.ObjectKey{Namespace: c.namespace(), Name: c.name + "-manager-config"}, config)).To(Succeed())
	shipped, err := configv1.Decode([]byte(config.Data["configuration.yaml"]))
	Expect(err).NotTo(HaveOccurred())
	deployment := &appsv1.Deployment{}
	Expect(env.Client.Get(ctx, client.ObjectKey{Namespace: c.namespace(), Name: c.name + "-controller-manager"}, deployment)).To(Succeed())
	c.secret = mountedAt(&deployment.Spec.Template.Spec, shipped.Webhook.CertDir)
	Expect(c.secret).NotTo(BeEmpty(), "nothing is mounted at %q", shipped.Webhook.CertDir)
	mountSecret(ctx, c.namespace(), c.secret, c.files)
	c.process = c.release.start(ctx, managers.Options{Configure: func(own *configv1.Configuration) {
		own.InternalCertManagement = shipped.InternalCertManagement
		own.Webhook.CertDir = c.files
	}})
}

// mountedAt is the Secret that a pod's first container finds in a directory.
func mountedAt(pod *corev1.PodSpec, dir string) string {
	for _, mounted := range pod.Containers[0].VolumeMounts {
		for _, volume := range pod.Volumes {
			if mounted.MountPath == dir && mounted.Name == volume.Name && volume.Secret != nil {
				return volume.Secret.SecretName
			}
		}
	}
	return ""
}

func (c *certified) readiness(ctx context.Context) string {
	_, said := c.process.Readiness(ctx)
	return said
}

// configurations are the metadata of its webhook configurations.
func (c *certified) configurations() []client.Object {
	mutating, validating := &admissionv1.MutatingWebhookConfiguration{}, &admissionv1.ValidatingWebhookConfiguration{}
	mutating.Name, validating.Name = c.name+"-mutating-webhook-configuration", c.name+"-validating-webhook-configuration"
	return []client.Object{mutating, validating}
}

// injects has cert-manager write the authority again.
func (c *certified) injects(ctx context.Context) {
	GinkgoHelper()
	c.wantsAuthority(ctx, `"`+c.namespace()+"/"+c.name+`-serving-cert"`)
}

// wantsAuthority writes the annotation of its webhook configurations, null for none.
func (c *certified) wantsAuthority(ctx context.Context, value string) {
	GinkgoHelper()
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"`+injectFrom+`":`+value+`}}}`))
	for _, object := range c.configurations() {
		Expect(env.Client.Patch(ctx, object, patch)).To(Succeed())
	}
}

// authorities are the caBundles of its webhooks.
func (c *certified) authorities(ctx context.Context) ([]string, error) {
	objects := c.configurations()
	for _, object := range objects {
		if err := env.Client.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return nil, err
		}
	}
	var bundles []string
	for i := range objects[0].(*admissionv1.MutatingWebhookConfiguration).Webhooks {
		bundles = append(bundles, string(objects[0].(*admissionv1.MutatingWebhookConfiguration).Webhooks[i].ClientConfig.CABundle))
	}
	for i := range objects[1].(*admissionv1.ValidatingWebhookConfiguration).Webhooks {
		bundles = append(bundles, string(objects[1].(*admissionv1.ValidatingWebhookConfiguration).Webhooks[i].ClientConfig.CABundle))
	}
	return bundles, nil
}

// certificateOf is the certificate in a Secret of its namespace, nil if there is none.
func (c *certified) certificateOf(ctx context.Context, secretName string) (*x509.Certificate, error) {
	secret := &corev1.Secret{}
	if err := env.Client.Get(ctx, client.ObjectKey{Namespace: c.namespace(), Name: secretName}, secret); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	block, _ := pem.Decode(secret.Data[corev1.TLSCertKey])
	if block == nil {
		return nil, nil
	}
	return x509.ParseCertificate(block.Bytes)
}

// served is the certificate that an address of its process serves under a name, if who
// trusts the Secret's authority trusts it.
func (c *certified) served(ctx context.Context, address, name string) (*x509.Certificate, error) {
	secret := &corev1.Secret{}
	if err := env.Client.Get(ctx, client.ObjectKey{Namespace: c.namespace(), Name: c.secret}, secret); err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(secret.Data["ca.crt"])
	dialer := &tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: name + "." + c.namespace() + ".svc"}}
	connection, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	defer func() { _ = connection.Close() }()
	return connection.(*tls.Conn).ConnectionState().PeerCertificates[0], nil
}

func (c *certified) servedByWebhooks(ctx context.Context) (*x509.Certificate, error) {
	address := net.JoinHostPort("localhost", strconv.Itoa(c.release.manager.WebhookPort()))
	return c.served(ctx, address, c.name+"-webhook-service")
}

// renewed lets cert-manager issue a certificate anew and waits until the process
// serves it.
func (c *certified) renewed(ctx context.Context, how func(context.Context)) {
	GinkgoHelper()
	c.renewing(ctx, how)()
}

// renewing lets cert-manager issue a certificate anew. What it returns waits until the
// process serves it.
func (c *certified) renewing(ctx context.Context, how func(context.Context)) (await func()) {
	GinkgoHelper()
	before, err := c.servedByWebhooks(ctx)
	Expect(err).NotTo(HaveOccurred())
	issued(ctx, c.namespace(), c.name+"-serving-cert")
	how(ctx)
	return func() {
		GinkgoHelper()
		Eventually(func(g Gomega) {
			stored, err := c.certificateOf(ctx, c.secret)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(stored).NotTo(BeNil(), "the certificate was not issued again")
			served, err := c.servedByWebhooks(ctx)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(stored.SerialNumber).NotTo(Equal(before.SerialNumber), "the certificate was not issued again")
			g.Expect(served.SerialNumber).To(Equal(stored.SerialNumber), "what is served is not what was issued")
		}).Should(Succeed())
	}
}

// changeAuthority deletes the Secret of its authority and returns the authority before
// and the one that cert-manager makes, which has another key.
func (c *certified) changeAuthority(ctx context.Context) (before, after *x509.Certificate) {
	GinkgoHelper()
	issued(ctx, c.namespace(), c.name+"-ca")
	before, err := c.certificateOf(ctx, c.name+"-ca-cert")
	Expect(err).NotTo(HaveOccurred())
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace(), Name: c.name + "-ca-cert"}}
	deleted := time.Now()
	Expect(env.Client.Delete(ctx, secret)).To(Succeed())
	Eventually(func(g Gomega) {
		after, err = c.certificateOf(ctx, c.name+"-ca-cert")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(after).NotTo(BeNil(), "the authority was not issued again")
	}).Should(Succeed())
	Expect(after.PublicKey).NotTo(Equal(before.PublicKey), "the authority kept a key that was deleted")
	issued(ctx, c.namespace(), c.name+"-ca")
	GinkgoWriter.Printf("%s has another authority after %s\n", c.name, time.Since(deleted))
	return before, after
}

// trustsOnly has the API server trust the authority of the Secret that is served and no
// other.
func (c *certified) trustsOnly(ctx context.Context) {
	GinkgoHelper()
	secret := &corev1.Secret{}
	Expect(env.Client.Get(ctx, client.ObjectKey{Namespace: c.namespace(), Name: c.secret}, secret)).To(Succeed())
	c.replaceTrust(ctx, secret.Data["ca.crt"])
}

// replaceTrust writes an authority over all that its webhooks have.
func (c *certified) replaceTrust(ctx context.Context, authority []byte) {
	GinkgoHelper()
	for _, object := range c.configurations() {
		Expect(env.Client.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
		switch configuration := object.(type) {
		case *admissionv1.MutatingWebhookConfiguration:
			for i := range configuration.Webhooks {
				configuration.Webhooks[i].ClientConfig.CABundle = authority
			}
		case *admissionv1.ValidatingWebhookConfiguration:
			for i := range configuration.Webhooks {
				configuration.Webhooks[i].ClientConfig.CABundle = authority
			}
		}
		Expect(env.Client.Update(ctx, object)).To(Succeed())
	}
}

// written is a certificate as Secrets and caBundles have it.
func written(certificate *x509.Certificate) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Raw}))
}
