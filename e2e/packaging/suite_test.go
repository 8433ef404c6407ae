package packaging

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/e2e/harness"
	"sigs.k8s.io/lws/e2e/managers"
)

// patience is how long a spec waits for what takes seconds on an idle machine.
const patience = 4 * time.Minute

// postRender is the port of webhooks, in the environment of Helm's post-renderer. That
// is this program: webhooks of a release are called on this machine, by their Service
// if postRenderService is there too.
const (
	postRender        = "LWS_WEBHOOK_PORT"
	postRenderService = "LWS_WEBHOOK_SERVICE"
)

func TestMain(m *testing.M) {
	port, isPostRenderer := os.LookupEnv(postRender)
	if !isPostRenderer {
		os.Exit(m.Run())
	}
	if err := renderOn(port, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func renderOn(port string, in io.Reader, out io.Writer) error {
	number, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	rendered, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	change := managers.CallHere
	if _, byService := os.LookupEnv(postRenderService); byService {
		change = managers.ServeHere
	}
	here, err := change(rendered, number)
	if err != nil {
		return err
	}
	_, err = out.Write(here)
	return err
}

func TestPackaging(t *testing.T) {
	RegisterFailHandler(Fail)
	log.SetLogger(GinkgoLogr)
	SetDefaultEventuallyTimeout(patience)
	SetDefaultEventuallyPollingInterval(200 * time.Millisecond)
	RunSpecs(t, "Packaging")
}

// env is the cluster of the specs that run: one without any of our objects until they
// install them.
var env *harness.Environment

// startEnvironment starts it for the specs of a container, which also want to know what
// some others ask for.
func startEnvironment(ctx context.Context, others ...managers.Shipped) {
	GinkgoHelper()
	started, err := harness.Start(ctx, harness.Options{
		Suite: "packaging", Shipped: managers.LWS(), Beside: others, Bare: true, Log: GinkgoWriter,
	})
	Expect(err).NotTo(HaveOccurred())
	env = started
	DeferCleanup(func() { Expect(started.Stop()).To(Succeed()) })
}

// namespaceFor makes a namespace for a release whose pods have to be restricted.
func namespaceFor(ctx context.Context, name string) {
	GinkgoHelper()
	Expect(env.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}})).To(Succeed())
}

// available is the condition of a set, with what it says if it is not True for what
// was last asked for.
func available(ctx context.Context, name string) (string, error) {
	return availableAt(ctx, client.ObjectKey{Namespace: "default", Name: name})
}

// availableAt is available for a set in another namespace.
func availableAt(ctx context.Context, key client.ObjectKey) (string, error) {
	set := &lwsv1.LeaderWorkerSet{}
	if err := env.Client.Get(ctx, key, set); err != nil {
		return "", err
	}
	c := meta.FindStatusCondition(set.Status.Conditions, lwsv1.ConditionAvailable)
	switch {
	case c == nil || c.ObservedGeneration != set.Generation:
		return "not looked at", nil
	case c.Status != metav1.ConditionTrue:
		return c.Message, nil
	}
	return "True", nil
}

// podsOf are the UIDs of a set's pods, by name.
func podsOf(ctx context.Context, name string) map[string]string {
	GinkgoHelper()
	var pods corev1.PodList
	Expect(env.Client.List(ctx, &pods, client.InNamespace("default"), client.MatchingLabels{lwsv1.SetNameLabelKey: name})).To(Succeed())
	uids := map[string]string{}
	for i := range pods.Items {
		uids[pods.Items[i].Name] = string(pods.Items[i].UID)
	}
	return uids
}
