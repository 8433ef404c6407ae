package packaging

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/lws/apis/disaggregatedset/v1/dstest"
	"sigs.k8s.io/lws/e2e/managers"
)

// newCertManagerObject is an object of cert-manager's API, whose types are not ours.
func newCertManagerObject(kind, namespace, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(schema.GroupVersionKind{Group: "cert-manager.io", Version: "v1", Kind: kind})
	object.SetNamespace(namespace)
	object.SetName(name)
	return object
}

// conditionOf is a condition of an object of cert-manager's with what it says.
func conditionOf(ctx context.Context, object *unstructured.Unstructured, condition string) (string, error) {
	if err := env.Client.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
		return "", err
	}
	conditions, _, err := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, entry := range conditions {
		if c, ok := entry.(map[string]any); ok && c["type"] == condition {
			return fmt.Sprintf("%v: %v", c["status"], c["message"]), nil
		}
	}
	return "none", err
}

// issued waits until cert-manager has nothing left to do for a Certificate.
func issued(ctx context.Context, namespace, name string) {
	GinkgoHelper()
	certificate := newCertManagerObject("Certificate", namespace, name)
	Eventually(conditionOf).WithArguments(ctx, certificate, "Issuing").Should(Equal("none"), "Certificate %s is being issued", name)
}

// renew asks cert-manager for a Certificate anew as its own command does.
func renew(ctx context.Context, namespace, name string) {
	GinkgoHelper()
	issued(ctx, namespace, name)
	Eventually(func() error {
		certificate := newCertManagerObject("Certificate", namespace, name)
		if err := env.Client.Get(ctx, client.ObjectKeyFromObject(certificate), certificate); err != nil {
			return err
		}
		conditions, _, err := unstructured.NestedSlice(certificate.Object, "status", "conditions")
		if err != nil {
			return err
		}
		conditions = append(conditions, map[string]any{
			"type": "Issuing", "status": "True", "reason": "ManuallyTriggered", "message": "a test wants it",
			"observedGeneration": certificate.GetGeneration(), "lastTransitionTime": metav1.Now().UTC().Format(time.RFC3339),
		})
		if err := unstructured.SetNestedSlice(certificate.Object, conditions, "status", "conditions"); err != nil {
			return err
		}
		return env.Client.Status().Update(ctx, certificate)
	}).Should(Succeed())
}

var _ = Describe("cert-manager", Ordered, func() {
	var lws, ds *certified
	var all []*certified
	var program string
	var running []*managers.Process

	BeforeAll(func(ctx SpecContext) {
		var err error
		program, err = buildCertManager()
		Expect(err).NotTo(HaveOccurred())
		startEnvironment(ctx, issuing, injecting)
		installCertManager(ctx)

		lws = newCertified(ctx, "lws", managers.LWS())
		ds = newCertified(ctx, "disaggregatedset", managers.DisaggregatedSet())
		all = []*certified{lws, ds}
		By("installing one manager with kustomize and one with Helm, which nobody tells whom to trust")
		lws.kustomize(ctx, "certmanager/lws")
		namespaceFor(ctx, ds.namespace())
		ds.release.install(ctx, chart("disaggregatedset"), "--set", "certManager.enabled=true")
		for _, c := range all {
			c.wantsAuthority(ctx, "null")
			c.start(ctx)
		}
	})

	AfterAll(func() {
		for _, process := range running {
			Expect(process.Stop()).To(Succeed())
		}
	})

	It("is waited for by the managers", func(ctx SpecContext) {
		for _, c := range all {
			Eventually(c.readiness).WithContext(ctx).Should(And(
				ContainSubstring("[-] certificate: the webhooks' certificate, which internalCertManagement leaves to others: open "),
				ContainSubstring("[+] schema")))
		}
		Expect(env.Client.Create(ctx, newSet("early").Obj())).To(MatchError(ContainSubstring("failed calling webhook")))
	})

	It("issues the certificates, with which the managers wait to be trusted", func(ctx SpecContext) {
		running = startCertManager(ctx, program)
		ended := func() error { return errors.Join(running[0].Ended(), running[1].Ended()) }
		for _, c := range all {
			for _, name := range []string{"-ca", "-serving-cert"} {
				certificate := newCertManagerObject("Certificate", c.namespace(), c.name+name)
				Eventually(func() (string, error) {
					if err := ended(); err != nil {
						return "", StopTrying("cert-manager does not run").Wrap(err)
					}
					return conditionOf(ctx, certificate, "Ready")
				}).Should(HavePrefix("True"), "Certificate %s%s", c.name, name)
			}
			Eventually(c.readiness).WithContext(ctx).Should(And(
				ContainSubstring("[-] certificate: the API server does not trust the certificate: webhook "),
				ContainSubstring("-webhook-configuration: nobody has written a caBundle yet")))
		}
	})

	It("injects the authority: a manager is ready then, and the first set is admitted", func(ctx SpecContext) {
		for _, c := range all {
			c.injects(ctx)
		}
		Expect(lws.process.AwaitReady(ctx)).To(Succeed())
		Expect(env.Client.Create(ctx, newSet("first").Replicas(1).Obj())).To(Succeed())
		Expect(ds.process.AwaitReady(ctx)).To(Succeed())
		Expect(env.Client.Create(ctx, dstest.New("first-split").Namespace("default").Obj())).To(Succeed())
		Eventually(available).WithArguments(ctx, "first").Should(Equal("True"))
		Eventually(progressOf).WithArguments(ctx, "first-split").Should(Equal("True"))
		for _, c := range all {
			authority := &corev1.Secret{}
			Expect(env.Client.Get(ctx, client.ObjectKey{Namespace: c.namespace(), Name: c.name + "-ca-cert"}, authority)).To(Succeed())
			Expect(c.authorities(ctx)).To(HaveEach(string(authority.Data[corev1.TLSCertKey])), "%s", c.name)
		}
	})

	It("certifies the metrics", func(ctx SpecContext) {
		for _, c := range all {
			stored, err := c.certificateOf(ctx, c.secret)
			Expect(err).NotTo(HaveOccurred())
			served, err := c.served(ctx, c.process.MetricsAddress, c.name+"-controller-manager-metrics-service")
			Expect(err).NotTo(HaveOccurred())
			Expect(served.SerialNumber).To(Equal(stored.SerialNumber), "%s", c.name)
		}
	})

	// That an authority is injected in time is luck. Until the last step nobody injects any.
	It("renews certificates under load, and nothing is refused", func(ctx SpecContext) {
		for _, c := range all {
			c.wantsAuthority(ctx, "null")
		}
		load := startLoad(ctx, all, anySet, anySplit, anyMember)
		for _, c := range all {
			c.renewed(ctx, func(ctx context.Context) { renew(ctx, c.namespace(), c.name+"-serving-cert") })
			By("taking the certificate of " + c.name + " away")
			c.renewed(ctx, func(ctx context.Context) {
				secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace(), Name: c.secret}}
				Expect(env.Client.Delete(ctx, secret)).To(Succeed())
			})
		}
		Eventually(load.rounds.Load).Should(BeNumerically(">", load.rounds.Load()+1), "rounds with the last certificate")
		Expect(load.end()).To(Succeed())
		for _, c := range all {
			Expect(c.process.AwaitReady(ctx)).To(Succeed())
		}
	})

	It("renews an authority under load, and nothing is refused", func(ctx SpecContext) {
		load := startLoad(ctx, all, anySet, anySplit, anyMember)
		for _, c := range all {
			before, err := c.certificateOf(ctx, c.name+"-ca-cert")
			Expect(err).NotTo(HaveOccurred())
			renew(ctx, c.namespace(), c.name+"-ca")
			var after *x509.Certificate
			Eventually(func(g Gomega) {
				after, err = c.certificateOf(ctx, c.name+"-ca-cert")
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(after.SerialNumber).NotTo(Equal(before.SerialNumber))
			}).Should(Succeed())
			Expect(after.PublicKey).To(Equal(before.PublicKey), "the authority has another key")
			c.renewed(ctx, func(ctx context.Context) { renew(ctx, c.namespace(), c.name+"-serving-cert") })
			Expect(c.process.AwaitReady(ctx)).To(Succeed(), "with the authority as it was before")
			By("injecting the authority of " + c.name + " as it is now")
			Expect(c.authorities(ctx)).To(HaveEach(Not(BeEmpty())))
			c.injects(ctx)
			Eventually(c.authorities).WithContext(ctx).Should(HaveEach(ContainSubstring(written(after))), "the API server trusts the authority as it is now")
		}
		Expect(load.end()).To(Succeed())
		for _, c := range all {
			Expect(c.process.AwaitReady(ctx)).To(Succeed())
		}
	})

	// The Secret of an authority is what somebody deletes whose key became known.
	It("changes an authority's key under load, and nothing is refused", func(ctx SpecContext) {
		load := startLoad(ctx, all, anySet, anySplit, anyMember)
		befores, afters := map[*certified]*x509.Certificate{}, map[*certified]*x509.Certificate{}
		for _, c := range all {
			befores[c], afters[c] = c.changeAuthority(ctx)
		}
		By("having the new authorities sign what is served")
		changed := time.Now()
		var renewals []func()
		for _, c := range all {
			Expect(c.process.AwaitReady(ctx)).To(Succeed(), "with what the authority signed that is gone")
			renewals = append(renewals, c.renewing(ctx, func(ctx context.Context) { renew(ctx, c.namespace(), c.name+"-serving-cert") }))
		}
		for i, c := range all {
			renewals[i]()
			GinkgoWriter.Printf("%s serves what its new authority signed after %s\n", c.name, time.Since(changed))
			served, err := c.servedByWebhooks(ctx)
			Expect(err).NotTo(HaveOccurred())
			Expect(served.CheckSignatureFrom(afters[c])).To(Succeed())
			Expect(c.authorities(ctx)).To(HaveEach(And(ContainSubstring(written(befores[c])), ContainSubstring(written(afters[c])))))
			Expect(c.process.AwaitReady(ctx)).To(Succeed())
		}
		By("having the API server forget the authorities before")
		for _, c := range all {
			c.trustsOnly(ctx)
			Expect(c.process.AwaitReady(ctx)).To(Succeed())
		}
		Eventually(load.rounds.Load).Should(BeNumerically(">", load.rounds.Load()+1), "rounds with the new authorities alone")
		Expect(load.end()).To(Succeed())
		for _, c := range all {
			authority, err := c.certificateOf(ctx, c.name+"-ca-cert")
			Expect(err).NotTo(HaveOccurred())
			Expect(c.authorities(ctx)).To(HaveEach(Equal(written(authority))), "what cert-manager makes of it")
			Expect(c.process.AwaitReady(ctx)).To(Succeed())
		}
	})

	It("trusts an authority again that was forgotten too early", func(ctx SpecContext) {
		before, after := lws.changeAuthority(ctx)
		forgotten := time.Now()
		lws.replaceTrust(ctx, []byte(written(after)))
		Eventually(lws.authorities).WithContext(ctx).Should(HaveEach(And(ContainSubstring(written(before)), ContainSubstring(written(after)))))
		Eventually(func() error {
			lws.relay.forget()
			return env.Client.Create(ctx, anySet(), client.DryRunAll)
		}).Should(Succeed())
		GinkgoWriter.Printf("trusted again after %s\n", time.Since(forgotten))
		Expect(lws.process.AwaitReady(ctx)).To(Succeed())
	})

	It("had all that with the permissions that cert-manager ships", func() {
		var want []string
		for _, c := range all {
			for _, write := range []string{
				"create secrets", "patch secrets", "delete secrets", "create certificaterequests",
				"update certificaterequests/status", "update certificates/status", "update issuers/status",
			} {
				want = append(want, write+" in "+c.namespace())
			}
		}
		Expect(permitted(issuing)).To(ContainElements(want))
		Expect(permitted(injecting)).To(ConsistOf("patch mutatingwebhookconfigurations", "patch validatingwebhookconfigurations"))
		for _, process := range running {
			Expect(process.Ended()).To(Succeed())
		}
	})
})
