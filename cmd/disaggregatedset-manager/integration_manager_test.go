//go:build integration

package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	"sigs.k8s.io/lws/apis/disaggregatedset/v1/dstest"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

func writeTo(file, content string) {
	GinkgoHelper()
	Expect(os.WriteFile(file, []byte(content), 0o600)).To(Succeed())
}

const (
	setDefinition    = "disaggregatedset.x-k8s.io_disaggregatedsets"
	scalerDefinition = "disaggregatedset.x-k8s.io_disaggregatedsetrolescalers"
	lwsDefinition    = "leaderworkerset.x-k8s.io_leaderworkersets"
	allReady         = "[+] schema\n[+] leaderworkersets\n[+] caches\n[+] certificate\n[+] webhooks\n"

	// leads is what a replica logs once it holds the Lease.
	leads = `"Starting workers","controller":"disaggregatedset"`
)

// progressing is the reason of the condition of a set.
func progressing(ctx context.Context, name string) string {
	set := &dsv1.DisaggregatedSet{}
	if err := cluster.Get(ctx, client.ObjectKey{Namespace: "default", Name: name}, set); err != nil {
		return err.Error()
	}
	if c := meta.FindStatusCondition(set.Status.Conditions, dsv1.ConditionProgressing); c != nil {
		return string(c.Status) + " " + c.Reason
	}
	return "no condition yet"
}

// becomeReady plays the controller of LeaderWorkerSets and says how many there are.
func becomeReady(ctx context.Context, set string) (int, error) {
	var all lwsv1.LeaderWorkerSetList
	if err := cluster.List(ctx, &all, client.InNamespace("default"), client.MatchingLabels{dsv1.SetNameLabelKey: set}); err != nil {
		return 0, err
	}
	for i := range all.Items {
		one := &all.Items[i]
		before := one.DeepCopy()
		one.Status.Replicas, one.Status.ReadyReplicas = *one.Spec.Replicas, *one.Spec.Replicas
		one.Status.ObservedGeneration = one.Generation
		if err := cluster.Status().Patch(ctx, one, client.MergeFrom(before)); err != nil {
			return 0, err
		}
	}
	return len(all.Items), nil
}

// admit asks the API server to admit a set without storing it, which calls the
// webhooks.
func admit(ctx context.Context) error {
	return cluster.Create(ctx, dstest.New("admitted").Namespace("default").Obj(), client.DryRunAll)
}

var _ = Describe("disaggregatedset-manager", Ordered, func() {
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

	It("lives, but is not ready, without its CustomResourceDefinitions, and says so", func() {
		Eventually(first.readiness).Should(And(
			ContainSubstring("[-] schema: CustomResourceDefinition disaggregatedsets.disaggregatedset.x-k8s.io does not exist"),
			ContainSubstring("[-] leaderworkersets: CustomResourceDefinition leaderworkersets.leaderworkerset.x-k8s.io does not exist"),
		))
		status, _ := first.probe("/healthz")
		Expect(status).To(Equal(http.StatusOK))
	})

	It("names what an older CustomResourceDefinition lacks", func(ctx context.Context) {
		old := definitionOfTest(setDefinition).(*unstructured.Unstructured)
		versions, _, err := unstructured.NestedSlice(old.Object, "spec", "versions")
		Expect(err).NotTo(HaveOccurred())
		unstructured.RemoveNestedField(versions[0].(map[string]any),
			"schema", "openAPIV3Schema", "properties", "status", "properties", "readySlices")
		Expect(unstructured.SetNestedSlice(old.Object, versions, "spec", "versions")).To(Succeed())
		Expect(applyObject(ctx, old)).To(Succeed())
		Eventually(first.readiness).Should(ContainSubstring("is older than this manager: it has no status.readySlices"))
	})

	It("tells its sets that LeaderWorkerSets are not served", func(ctx context.Context) {
		Expect(applyObject(ctx, definitionOfTest(setDefinition))).To(Succeed())
		Expect(applyObject(ctx, definitionOfTest(scalerDefinition))).To(Succeed())
		Eventually(first.readiness).Should(And(
			ContainSubstring("[+] schema"), ContainSubstring("[+] certificate"), ContainSubstring("[+] webhooks"),
			ContainSubstring("[-] leaderworkersets: CustomResourceDefinition leaderworkersets.leaderworkerset.x-k8s.io does not exist"),
		))
		Expect(cluster.Create(ctx, dstest.New("early").Namespace("default").Obj())).To(Succeed())
		Eventually(progressing).WithArguments(ctx, "early").Should(Equal("True " + dsv1.ReasonSetAPINotAvailable))
	})

	It("works once they are served, without a restart", func(ctx context.Context) {
		Expect(applyObject(ctx, definitionOfTest(lwsDefinition))).To(Succeed())
		Eventually(first.readiness).Should(Equal(allReady))
		Eventually(func(ctx context.Context) string {
			_, _ = becomeReady(ctx, "early")
			return progressing(ctx, "early")
		}).WithContext(ctx).Should(Equal("False " + dsv1.ReasonAllRolesReady))
	})

	It("follows a change of LeaderWorkerSets", func(ctx context.Context) {
		var all lwsv1.LeaderWorkerSetList
		Expect(cluster.List(ctx, &all, client.InNamespace("default"))).To(Succeed())
		Expect(cluster.Delete(ctx, &all.Items[0])).To(Succeed())
		Eventually(becomeReady).WithArguments(ctx, "early").Should(Equal(2))
	})

	It("says by how much a name is too long", func(ctx context.Context) {
		set := dstest.New(strings.Repeat("s", 40)).Namespace("default").Roles(dstest.NewRole(strings.Repeat("r", 20)), dstest.NewRole("decode")).Obj()
		err := cluster.Create(ctx, set)
		Expect(err).To(MatchError(And(
			ContainSubstring("spec.roles[0].name"), ContainSubstring("20 too many"),
			ContainSubstring("the names of set and role may have 40 characters together, and have 60"),
		)))
	})

	It("warns", func(ctx context.Context) {
		var heard warningsHeard
		config := rest.CopyConfig(admin)
		config.WarningHandler = &heard
		warned, err := client.New(config, client.Options{Scheme: newScheme()})
		Expect(err).NotTo(HaveOccurred())
		set := dstest.New("warned").Namespace("default").Roles(dstest.NewRole("prefill").Replicas(4).External(), dstest.NewRole("decode")).Obj()
		Expect(warned.Create(ctx, set, client.DryRunAll)).To(Succeed())
		Expect(heard.texts).To(ContainElement(ContainSubstring("spec.roles[0].spec.replicas: ignored")))
	})

	It("shows metrics to those who may read them", func(ctx context.Context) {
		for _, name := range []string{"reader", "stranger"} {
			account := &corev1.ServiceAccount{}
			account.Namespace, account.Name = homeOfTest, name
			Expect(cluster.Create(ctx, account)).To(Succeed())
		}
		binding := &rbacv1.ClusterRoleBinding{
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "disaggregatedset-metrics-reader"},
			Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: homeOfTest, Name: "reader"}},
		}
		binding.Name = "reader"
		Expect(cluster.Create(ctx, binding)).To(Succeed())
		roots := x509.NewCertPool()
		Expect(roots.AppendCertsFromPEM(trust(ctx))).To(BeTrue())
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
		read := func(bearer string) int {
			GinkgoHelper()
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("https://localhost:%d/metrics", first.metrics), nil)
			Expect(err).NotTo(HaveOccurred())
			if bearer != "" {
				request.Header.Set("Authorization", "Bearer "+bearer)
			}
			response, err := transport.RoundTrip(request)
			Expect(err).NotTo(HaveOccurred())
			defer response.Body.Close()
			return response.StatusCode
		}
		Expect(read("")).To(Equal(http.StatusUnauthorized))
		Expect(read(token(ctx, "stranger"))).To(Equal(http.StatusForbidden))
		Expect(read(token(ctx, "reader"))).To(Equal(http.StatusOK))
	})

	It("admits every sample", func(ctx context.Context) {
		for _, file := range rootFiles("samples/disaggregatedset_*.yaml") {
			for _, object := range readManifests(file) {
				object.SetNamespace("default")
				Expect(applyObject(ctx, object, client.DryRunAll)).To(Succeed(), "%s of %s", object.GetName(), filepath.Base(file))
			}
		}
	})

	It("runs twice: both are ready, one leads", func(ctx context.Context) {
		second = startReplica(ctx)
		Eventually(second.readiness).Should(Equal(allReady))
		Expect(second.logged()).NotTo(ContainSubstring(leads))
	})

	It("goes on with both when somebody deletes the Secret of the certificate, and makes it anew", func(ctx context.Context) {
		key := client.ObjectKey{Namespace: homeOfTest, Name: "disaggregatedset-webhook-server-cert"}
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

	It("ends in order, and the other takes over", func(ctx context.Context) {
		started := time.Now()
		first.stop()
		Expect(first.failure).NotTo(HaveOccurred(), first.logged())
		GinkgoWriter.Printf("ended after %s\n", time.Since(started))
		Eventually(second.logged).Should(ContainSubstring(leads))
		applyWebhooks(ctx, second.webhooks)
		Eventually(func(ctx context.Context) error {
			return cluster.Create(ctx, dstest.New("late").Namespace("default").Obj())
		}).WithContext(ctx).Should(Succeed())
		Eventually(func(ctx context.Context) string {
			_, _ = becomeReady(ctx, "late")
			return progressing(ctx, "late")
		}).WithContext(ctx).Should(Equal("False " + dsv1.ReasonAllRolesReady))
	})

	It("was refused nothing by the API server", func() {
		for _, r := range []*replica{first, second} {
			Expect(r.logged()).NotTo(ContainSubstring("is forbidden"))
			Expect(r.logged()).NotTo(ContainSubstring("panic"))
		}
	})
})

// warningsHeard collects what the API server warns of.
type warningsHeard struct{ texts []string }

func (w *warningsHeard) HandleWarningHeader(_ int, _, text string) { w.texts = append(w.texts, text) }
