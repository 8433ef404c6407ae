//go:build integration

package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

func writeTo(file, content string) {
	GinkgoHelper()
	Expect(os.WriteFile(file, []byte(content), 0o600)).To(Succeed())
}

// admit asks the API server to admit a set without storing it, which calls the
// webhooks.
func admit(ctx context.Context) error {
	set := readManifests(filepath.Join(configDir, "samples/leaderworkerset_basic.yaml"))[0]
	set.SetNamespace("default")
	return applyObject(ctx, set, client.DryRunAll)
}

// leads is what a replica logs once it holds the Lease.
const leads = `"Starting workers","controller":"group"`

var _ = Describe("lws-manager", Ordered, func() {
	var first, second *replica

	BeforeAll(func(ctx context.Context) {
		first = startReplica(ctx)
		DeferCleanup(func() { first.kill() })
		applyWebhooks(ctx, first.webhooks)
	})

	AfterAll(func() {
		if second != nil {
			second.kill()
		}
	})

	It("lives, but is not ready, without its CustomResourceDefinition, and says so", func() {
		Eventually(first.readiness).Should(ContainSubstring(
			"[-] schema: CustomResourceDefinition " + definitionName + " does not exist: apply the CustomResourceDefinitions of release"))
		status, _ := first.probe("/readyz")
		Expect(status).To(Equal(http.StatusServiceUnavailable))
		status, _ = first.probe("/healthz")
		Expect(status).To(Equal(http.StatusOK))
		Expect(first.logged()).To(ContainSubstring("does not exist"))
	})

	It("names what an older CustomResourceDefinition lacks", func(ctx context.Context) {
		old := definitionOfTest().(*unstructured.Unstructured)
		versions, _, err := unstructured.NestedSlice(old.Object, "spec", "versions")
		Expect(err).NotTo(HaveOccurred())
		unstructured.RemoveNestedField(versions[0].(map[string]any),
			"schema", "openAPIV3Schema", "properties", "spec", "properties", "podTerminationPolicy")
		Expect(unstructured.SetNestedSlice(old.Object, versions, "spec", "versions")).To(Succeed())
		Expect(applyObject(ctx, old)).To(Succeed())
		Eventually(first.readiness).Should(ContainSubstring("is older than this manager: it has no spec.podTerminationPolicy"))
	})

	It("is ready once the definition is right, without a restart", func(ctx context.Context) {
		Expect(applyObject(ctx, definitionOfTest())).To(Succeed())
		Eventually(first.readiness).Should(Equal("[+] schema\n[+] caches\n[+] certificate\n[+] webhooks\n"))
		status, _ := first.probe("/readyz")
		Expect(status).To(Equal(http.StatusOK))
	})

	It("has its webhooks called as soon as it is ready", func(ctx context.Context) {
		Expect(trust(ctx)).NotTo(BeEmpty())
		Expect(admit(ctx)).To(Succeed())
	})

	It("reconciles", func(ctx context.Context) {
		set := readManifests(filepath.Join(configDir, "samples/leaderworkerset_basic.yaml"))[0]
		set.SetNamespace("default")
		Expect(applyObject(ctx, set)).To(Succeed())
		Eventually(func(g Gomega, ctx context.Context) {
			var stored v1.LeaderWorkerSet
			g.Expect(cluster.Get(ctx, client.ObjectKeyFromObject(set), &stored)).To(Succeed())
			g.Expect(stored.Status.ObservedGeneration).To(Equal(stored.Generation), "status %+v", stored.Status)
		}).WithContext(ctx).Should(Succeed())
	})

	It("shows metrics to those who may read them", func(ctx context.Context) {
		for _, name := range []string{"reader", "stranger"} {
			account := &corev1.ServiceAccount{}
			account.Namespace, account.Name = homeOfTest, name
			Expect(cluster.Create(ctx, account)).To(Succeed())
		}
		binding := &rbacv1.ClusterRoleBinding{
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "lws-metrics-reader"},
			Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: homeOfTest, Name: "reader"}},
		}
		binding.Name = "reader"
		Expect(cluster.Create(ctx, binding)).To(Succeed())

		roots := x509.NewCertPool()
		Expect(roots.AppendCertsFromPEM(trust(ctx))).To(BeTrue())
		transport := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: roots}}
		read := func(bearer string) (int, string) {
			GinkgoHelper()
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("https://localhost:%d/metrics", first.metrics), nil)
			Expect(err).NotTo(HaveOccurred())
			if bearer != "" {
				request.Header.Set("Authorization", "Bearer "+bearer)
			}
			response, err := transport.RoundTrip(request)
			Expect(err).NotTo(HaveOccurred())
			defer response.Body.Close()
			Expect(response.Proto).To(Equal("HTTP/1.1"))
			body, err := io.ReadAll(response.Body)
			Expect(err).NotTo(HaveOccurred())
			return response.StatusCode, string(body)
		}
		status, _ := read("")
		Expect(status).To(Equal(http.StatusUnauthorized), "without a token")
		status, _ = read("nonsense")
		Expect(status).To(Equal(http.StatusUnauthorized), "with a token of nobody")
		status, _ = read(token(ctx, "stranger"))
		Expect(status).To(Equal(http.StatusForbidden), "with a token of somebody who may not")
		status, body := read(token(ctx, "reader"))
		Expect(status).To(Equal(http.StatusOK), body)
		Expect(body).To(ContainSubstring("controller_runtime_reconcile_total"))
		Expect(body).To(ContainSubstring(`lws_groups{`))
	})

	It("renews a certificate that somebody took away, and is called with the new one", func(ctx context.Context) {
		before := trust(ctx)
		secret := &corev1.Secret{}
		Expect(cluster.Get(ctx, client.ObjectKey{Namespace: homeOfTest, Name: "lws-webhook-server-cert"}, secret)).To(Succeed())
		secret.Data = nil
		Expect(cluster.Update(ctx, secret)).To(Succeed())
		Eventually(trust).WithContext(ctx).Should(And(Not(BeEmpty()), Not(Equal(before))))
		Eventually(admit).WithContext(ctx).Should(Succeed())
	})

	It("repairs a webhook configuration that was applied anew", func(ctx context.Context) {
		before := trust(ctx)
		for _, object := range readManifests(filepath.Join(configDir, "webhook/manifests.yaml")) {
			Expect(cluster.Delete(ctx, object)).To(Succeed())
		}
		Eventually(first.readiness).Should(ContainSubstring("[-] certificate: get MutatingWebhookConfiguration"))
		applyWebhooks(ctx, first.webhooks)
		Eventually(trust).WithContext(ctx).Should(Equal(before))
		Eventually(first.readiness).Should(ContainSubstring("[+] certificate"))
	})

	It("admits every sample", func(ctx context.Context) {
		for _, file := range rootFiles("crd/bases/*.yaml") {
			for _, definition := range readManifests(file) {
				Expect(applyObject(ctx, definition)).To(Succeed())
			}
		}
		for _, file := range rootFiles("samples/*.yaml") {
			for _, object := range readManifests(file) {
				object.SetNamespace("default")
				// A definition that is new takes a moment to be served.
				Eventually(func(ctx context.Context) error { return applyObject(ctx, object, client.DryRunAll) }).
					WithContext(ctx).Should(Succeed(), "%s of %s", object.GetName(), filepath.Base(file))
			}
		}
	})

	It("runs twice: both are ready, one leads", func(ctx context.Context) {
		second = startReplica(ctx)
		Eventually(second.readiness).Should(Equal("[+] schema\n[+] caches\n[+] certificate\n[+] webhooks\n"))
		Expect(second.logged()).NotTo(ContainSubstring(leads))
	})

	It("goes on with both when somebody deletes the Secret of the certificate, and makes it anew", func(ctx context.Context) {
		key := client.ObjectKey{Namespace: homeOfTest, Name: "lws-webhook-server-cert"}
		before := &corev1.Secret{}
		Expect(cluster.Get(ctx, key, before)).To(Succeed())
		called := callAll(ctx, first, second)
		Expect(cluster.Delete(ctx, before.DeepCopy())).To(Succeed())
		Eventually(func(g Gomega, ctx context.Context) {
			after := &corev1.Secret{}
			g.Expect(cluster.Get(ctx, key, after)).To(Succeed())
			g.Expect(after.UID).NotTo(Equal(before.UID))
			g.Expect(after.Data).To(HaveKeyWithValue(authorityKey, Not(BeEmpty())))
			g.Expect(after.Data[authorityKey]).NotTo(Equal(before.Data[authorityKey]))
			g.Expect(after.Data[certificateKey]).To(Equal(before.Data[certificateKey]), "what works was replaced at once")
			g.Expect(trust(ctx)).To(Equal(after.Data[trustKey]), "trust is published")
		}).WithContext(ctx).Should(Succeed())
		Expect(called()).To(Succeed())
	})

	It("ends in order and leaves the Lease to the other", func(ctx context.Context) {
		started := time.Now()
		first.stop()
		Expect(first.failure).NotTo(HaveOccurred(), first.logged())
		GinkgoWriter.Printf("ended after %s\n", time.Since(started))

		lease := &coordinationv1.Lease{}
		Eventually(func(ctx context.Context) (string, error) {
			object, err := kube.CoordinationV1().Leases(homeOfTest).Get(ctx, "b8b2488c.x-k8s.io", metav1.GetOptions{})
			if err != nil || object.Spec.HolderIdentity == nil {
				return "", err
			}
			lease = object
			return *object.Spec.HolderIdentity, nil
		}, "10s").WithContext(ctx).ShouldNot(BeEmpty())
		Eventually(second.logged).Should(ContainSubstring(leads), "lease %v", lease.Spec)

		applyWebhooks(ctx, second.webhooks)
		Eventually(admit).WithContext(ctx).Should(Succeed(), "the other replica serves the webhooks")
	})

	It("has only warnings of what it waited for in its log, no refusals by the API server", func() {
		for _, r := range []*replica{first, second} {
			Expect(r.logged()).NotTo(ContainSubstring("is forbidden"))
			Expect(r.logged()).NotTo(ContainSubstring("panic"))
		}
	})
})
