package packaging

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	"sigs.k8s.io/lws/apis/disaggregatedset/v1/dstest"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/e2e/managers"
)

// release is a chart that Helm installs, and its manager as a process.
type release struct {
	name, home string
	manager    *managers.Installed
	process    *managers.Process
	// calledAt is the port that webhooks are called at by their Service. If it is 0 they
	// are called at the manager's address.
	calledAt int
}

func newRelease(ctx context.Context, name string, shipped managers.Shipped) *release {
	GinkgoHelper()
	manager, err := managers.Prepare(ctx, env.Cluster, shipped)
	Expect(err).NotTo(HaveOccurred())
	return &release{name: name, home: GinkgoT().TempDir(), manager: manager}
}

// helm runs Helm for the release, with its webhooks called on this machine.
func (r *release) helm(ctx context.Context, args ...string) string {
	GinkgoHelper()
	args = append(args, "--namespace", r.manager.Namespace, "--timeout", "2m")
	if args[0] == "install" || args[0] == "upgrade" {
		self, err := os.Executable()
		Expect(err).NotTo(HaveOccurred())
		script := filepath.Join(r.home, "post-render")
		variables := fmt.Sprintf("%s=%d", postRender, r.manager.WebhookPort())
		if r.calledAt != 0 {
			variables = fmt.Sprintf("%s=%d %s=yes", postRender, r.calledAt, postRenderService)
		}
		text := fmt.Sprintf("#!/bin/sh\n%s exec %s\n", variables, self)
		Expect(os.WriteFile(script, []byte(text), 0o700)).To(Succeed())
		args = append(args, "--post-renderer", script)
	}
	out, err := helm(ctx, r.home, env.Cluster.Kubeconfig(), args...)
	Expect(err).NotTo(HaveOccurred())
	return out
}

func (r *release) install(ctx context.Context, chart string, options ...string) {
	GinkgoHelper()
	Expect(r.helm(ctx, append([]string{"install", r.name, chart}, options...)...)).To(ContainSubstring("STATUS: deployed"))
}

func (r *release) start(ctx context.Context, options managers.Options) *managers.Process {
	GinkgoHelper()
	process, err := r.manager.Start(ctx, options)
	Expect(err).NotTo(HaveOccurred())
	return process
}

// run starts the manager and waits until it is ready.
func (r *release) run(ctx context.Context) {
	GinkgoHelper()
	r.process = r.start(ctx, managers.Options{})
	Expect(r.process.AwaitReady(ctx)).To(Succeed())
}

// uninstall ends the manager as Kubernetes would, and removes the release.
func (r *release) uninstall(ctx context.Context) {
	GinkgoHelper()
	Expect(r.process.Stop()).To(Succeed())
	r.helm(ctx, "uninstall", r.name)
}

// replicas are those of the Deployment that exist: pods that are not restricted do not.
func (r *release) replicas(ctx context.Context) (int32, error) {
	deployment := &appsv1.Deployment{}
	key := client.ObjectKey{Namespace: r.manager.Namespace, Name: r.name + "-controller-manager"}
	err := env.Client.Get(ctx, key, deployment)
	if deployment.Status.ObservedGeneration != deployment.Generation {
		return -1, err
	}
	return deployment.Status.Replicas, err
}

func chart(name string) string {
	GinkgoHelper()
	dir, err := chartDir(name)
	Expect(err).NotTo(HaveOccurred())
	return dir
}

// without copies a chart and leaves out a CustomResourceDefinition, as an earlier
// release of the chart that did not have it yet.
func without(name, definition string) string {
	GinkgoHelper()
	dir := filepath.Join(GinkgoT().TempDir(), name)
	Expect(os.CopyFS(dir, os.DirFS(chart(name)))).To(Succeed())
	Expect(os.Remove(filepath.Join(dir, "files", "crds", definition+".yaml"))).To(Succeed())
	return dir
}

func newSet(name string) *lwstest.Builder {
	template := lwstest.PodTemplate("worker")
	template.Spec.TerminationGracePeriodSeconds = new(int64(1))
	return lwstest.New(name).Namespace("default").Replicas(2).Size(2).WorkerTemplate(template)
}

// leaderOf is the leader of the first group of a set, which may be on its way: then it
// has no UID.
func leaderOf(ctx context.Context, set string) *corev1.Pod {
	GinkgoHelper()
	leader := &corev1.Pod{}
	err := env.Client.Get(ctx, client.ObjectKey{Namespace: "default", Name: set + "-0"}, leader)
	Expect(client.IgnoreNotFound(err)).To(Succeed())
	return leader
}

func create(ctx context.Context, obj client.Object) {
	GinkgoHelper()
	Eventually(func() error { return env.Client.Create(ctx, obj) }).Should(Succeed())
}

// progressOf is what a DisaggregatedSet says of itself.
func progressOf(ctx context.Context, name string) (string, error) {
	return progressAt(ctx, client.ObjectKey{Namespace: "default", Name: name})
}

// progressAt is progressOf for a set in another namespace.
func progressAt(ctx context.Context, key client.ObjectKey) (string, error) {
	set := &dsv1.DisaggregatedSet{}
	if err := env.Client.Get(ctx, key, set); err != nil {
		return "", err
	}
	c := meta.FindStatusCondition(set.Status.Conditions, dsv1.ConditionAvailable)
	if c == nil || c.ObservedGeneration != set.Generation {
		return "not looked at", nil
	}
	if c.Status != metav1.ConditionTrue {
		return c.Message, nil
	}
	return "True", nil
}

// applyAgainAndAgain applies a sample as GitOps tools do, and as somebody who applies what
// was read: there is no difference, and no new generation.
func applyAgainAndAgain(ctx context.Context, sample string) {
	GinkgoHelper()
	checkout, err := managers.Checkout()
	Expect(err).NotTo(HaveOccurred())
	file := filepath.Join(checkout, "config", "samples", sample+".yaml")
	kubectl := func(args ...string) []byte {
		GinkgoHelper()
		out, err := managers.Kubectl(ctx, env.Cluster, nil, args...)
		Expect(err).NotTo(HaveOccurred(), "kubectl %v", args)
		return out
	}
	for _, how := range [][]string{{"-f", file}, {"--server-side", "--field-manager=gitops", "--force-conflicts", "-f", file}} {
		kubectl(append([]string{"apply"}, how...)...)
		kubectl(append([]string{"apply"}, how...)...)
		kubectl(append([]string{"diff"}, how...)...)
	}
	Eventually(func() error {
		live, err := managers.Kubectl(ctx, env.Cluster, nil, "get", "-f", file, "-o", "yaml")
		if err != nil {
			return err
		}
		_, err = managers.Kubectl(ctx, env.Cluster, live, "apply", "-f", "-")
		return err
	}).Should(Succeed(), "%s as it was read, unless its status changed in between", sample)
	generations := kubectl("get", "-f", file, "-o", "jsonpath={.metadata.generation} {.items[*].metadata.generation}")
	Expect(strings.Fields(string(generations))).To(HaveEach("1"), "generations after %s was applied again and again", sample)
	kubectl("delete", "--wait=false", "-f", file)
}

var _ = Describe("Helm", Ordered, func() {
	const rolescalers = "disaggregatedsetrolescalers.disaggregatedset.x-k8s.io"
	var lws, ds *release
	var pods map[string]string
	var dsUID string

	BeforeAll(func(ctx SpecContext) {
		startEnvironment(ctx)
		lws = newRelease(ctx, "lws", managers.LWS())
		ds = newRelease(ctx, "disaggregatedset", managers.DisaggregatedSet())
		namespaceFor(ctx, "lws-system")
		namespaceFor(ctx, "disaggregatedset-system")
	})

	// unharmed: what users have lives on.
	unharmed := func(ctx context.Context) {
		GinkgoHelper()
		Expect(podsOf(ctx, "llm")).To(Equal(pods))
		if dsUID == "" {
			return
		}
		set := &dsv1.DisaggregatedSet{}
		Expect(env.Client.Get(ctx, client.ObjectKey{Namespace: "default", Name: "split"}, set)).To(Succeed())
		Expect(string(set.UID)).To(Equal(dsUID))
	}

	It("installs lws alone, with pods that are restricted", func(ctx SpecContext) {
		lws.install(ctx, chart("lws"))
		lws.run(ctx)
		Eventually(lws.replicas).WithContext(ctx).Should(Equal(int32(2)))
		create(ctx, newSet("llm").Obj())
		Eventually(available).WithArguments(ctx, "llm").Should(Equal("True"))
		pods = podsOf(ctx, "llm")
		Expect(pods).To(HaveLen(4))
	})

	It("shows a GitOps tool no difference, whichever way it applies", func(ctx SpecContext) {
		for _, sample := range []string{"basic", "subgroups", "two_templates", "vllm", "hash", "storage"} {
			applyAgainAndAgain(ctx, "leaderworkerset_"+sample)
		}
	})

	It("upgrades and rolls back, and webhooks are trusted all the time", func(ctx SpecContext) {
		lws.helm(ctx, "upgrade", lws.name, chart("lws"), "--set", "replicas=3,resources.limits.memory=1Gi")
		Eventually(lws.replicas).WithContext(ctx).Should(Equal(int32(3)))
		Expect(env.Client.Create(ctx, newSet("admitted").Obj(), client.DryRunAll)).To(Succeed())
		unharmed(ctx)
		lws.helm(ctx, "rollback", lws.name, "1")
		Eventually(lws.replicas).WithContext(ctx).Should(Equal(int32(2)))
		Expect(env.Client.Create(ctx, newSet("admitted").Obj(), client.DryRunAll)).To(Succeed())
		unharmed(ctx)
	})

	It("upgrades from a chart with fewer CustomResourceDefinitions", func(ctx SpecContext) {
		By("taking over a definition, with a set, that kubectl applied")
		old := without("disaggregatedset", rolescalers)
		_, err := managers.Kubectl(ctx, env.Cluster, nil, "apply", "--server-side", "-f", filepath.Join(old, "files", "crds"))
		Expect(err).NotTo(HaveOccurred())
		create(ctx, dstest.New("split").Namespace("default").Obj())
		ds.install(ctx, old, "--take-ownership")
		ds.process = ds.start(ctx, managers.Options{})
		set := &dsv1.DisaggregatedSet{}
		Expect(env.Client.Get(ctx, client.ObjectKey{Namespace: "default", Name: "split"}, set)).To(Succeed())
		dsUID = string(set.UID)
		Eventually(func() string {
			_, said := ds.process.Readiness(ctx)
			return said
		}).Should(ContainSubstring("CustomResourceDefinition " + rolescalers + " does not exist"))

		ds.helm(ctx, "upgrade", ds.name, chart("disaggregatedset"))
		Expect(ds.process.AwaitReady(ctx)).To(Succeed())
		Eventually(progressOf).WithArguments(ctx, "split").Should(Equal("True"))
		unharmed(ctx)
	})

	It("removes disaggregatedset alone: nothing of the user's goes, the other manager works", func(ctx SpecContext) {
		ds.uninstall(ctx)
		unharmed(ctx)
		create(ctx, newSet("later").Replicas(1).Obj())
		Eventually(available).WithArguments(ctx, "later").Should(Equal("True"))
	})

	It("installs it again over the definitions that it left", func(ctx SpecContext) {
		ds.install(ctx, chart("disaggregatedset"))
		ds.run(ctx)
		create(ctx, dstest.New("again").Namespace("default").Obj())
		Eventually(progressOf).WithArguments(ctx, "again").Should(Equal("True"))
		unharmed(ctx)
	})

	It("shows a GitOps tool no difference of DisaggregatedSets either", func(ctx SpecContext) {
		for _, sample := range []string{"vllm_router", "slices", "autoscaling"} {
			applyAgainAndAgain(ctx, "disaggregatedset_"+sample)
		}
	})

	It("lets users of a namespace do with sets what they may do with Deployments", func(ctx SpecContext) {
		Expect(env.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}})).To(Succeed())
		for kind := range allowances {
			expectAllowances(ctx, bind(ctx, "team", kind), kind, "team", ofUsers)
		}
		By("binding roles of one manager, which give nothing of the other's")
		own := map[string]string{"lws-admin": "admin", "lws-editor": "edit", "lws-viewer": "view"}
		sets := "leaderworkersets.leaderworkerset.x-k8s.io"
		for role, kind := range own {
			user := bind(ctx, "team", role)
			expectAllowances(ctx, user, kind, "team", map[string][]string{sets: ofUsers[sets]})
			Expect(allowed(ctx, user, "team", "disaggregatedsets.disaggregatedset.x-k8s.io", "")).To(BeEmpty())
			Expect(allowed(ctx, user, "default", sets, "")).To(BeEmpty())
		}
		By("creating and scaling a set as one of them")
		team := newSet("theirs").Namespace("team").Replicas(1).Obj()
		config := rest.CopyConfig(env.Config)
		config.Impersonate.UserName = "user-of-edit"
		editor, err := client.New(config, client.Options{Scheme: env.Client.Scheme()})
		Expect(err).NotTo(HaveOccurred())
		Expect(editor.Create(ctx, team)).To(Succeed())
		scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 2}}
		Expect(editor.SubResource("scale").Update(ctx, team, client.WithSubResourceBody(scale))).To(Succeed())
		Expect(apierrors.IsForbidden(editor.Status().Update(ctx, team))).To(BeTrue(), "an editor writes no status")
		Eventually(availableAt).WithArguments(ctx, client.ObjectKeyFromObject(team)).Should(Equal("True"))
		Expect(editor.Delete(ctx, team)).To(Succeed())
	})

	It("has the other replica take over when the leader is killed", func(ctx SpecContext) {
		Expect(lws.process.Stop()).To(Succeed())
		leader := lws.start(ctx, managers.Options{Replica: "1"})
		Expect(leader.AwaitReady(ctx)).To(Succeed())
		lws.run(ctx)
		create(ctx, newSet("before").Replicas(1).Obj())
		Eventually(available).WithArguments(ctx, "before").Should(Equal("True"))
		leader.Kill()
		create(ctx, newSet("after").Replicas(1).Obj())
		Eventually(available).WithArguments(ctx, "after").Should(Equal("True"))
		unharmed(ctx)
	})

	It("removes lws first: disaggregatedset and all sets stay, and other pods start", func(ctx SpecContext) {
		create(ctx, newSet("unattended").Replicas(1).Obj())
		Eventually(available).WithArguments(ctx, "unattended").Should(Equal("True"))
		lws.uninstall(ctx)
		unharmed(ctx)
		Expect(env.Client.Get(ctx, client.ObjectKey{Name: "leaderworkersets.leaderworkerset.x-k8s.io"}, &apiextensionsv1.CustomResourceDefinition{})).To(Succeed())
		var left admissionv1.MutatingWebhookConfigurationList
		Expect(env.Client.List(ctx, &left)).To(Succeed())
		for _, configuration := range left.Items {
			Expect(configuration.Name).NotTo(HavePrefix("lws-"))
		}
		ready, said := ds.process.Readiness(ctx)
		Expect(ready).To(BeTrue(), said)
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "bystander"},
			Spec:       lwstest.PodTemplate("c").Spec,
		}
		Expect(env.Client.Create(ctx, pod)).To(Succeed())

		By("losing a leader, which its StatefulSet makes again")
		lost := leaderOf(ctx, "unattended")
		Expect(env.Client.Delete(ctx, lost)).To(Succeed())
		Eventually(func(g Gomega) {
			made := leaderOf(ctx, "unattended")
			g.Expect(made.UID).NotTo(BeElementOf(lost.UID, types.UID("")))
			g.Expect(made.Labels).NotTo(HaveKey(lwsv1.GroupIndexLabelKey), "nobody admits it")
		}).WithContext(ctx).Should(Succeed())
	})

	It("brings lws back to sets that waited, and to one that lost its leader", func(ctx SpecContext) {
		set := newSet("waited").Replicas(1).Obj()
		create(ctx, set)
		lws.install(ctx, chart("lws"))
		lws.run(ctx)
		Eventually(available).WithArguments(ctx, "waited").Should(Equal("True"))
		Eventually(func(g Gomega) {
			g.Expect(leaderOf(ctx, "unattended").Labels).To(HaveKeyWithValue(lwsv1.GroupIndexLabelKey, "0"), "another leader is admitted")
			said, err := available(ctx, "unattended")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(said).To(Equal("True"))
		}).WithContext(ctx).Should(Succeed())
		unharmed(ctx)
		for _, r := range []*release{ds, lws} {
			r.uninstall(ctx)
		}
	})
})
