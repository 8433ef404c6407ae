//go:build integration

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// Directories of the repository.
const (
	root       = "../.."
	configDir  = root + "/config"
	homeOfTest = "disaggregatedset-system"
)

var (
	environment *envtest.Environment
	admin       *rest.Config
	cluster     client.Client
	kube        kubernetes.Interface
	program     string
)

func TestManagerIntegration(t *testing.T) {
	RegisterFailHandler(Fail)
	ctrl.SetLogger(GinkgoLogr)
	SetDefaultEventuallyTimeout(30 * time.Second)
	SetDefaultEventuallyPollingInterval(100 * time.Millisecond)
	RunSpecs(t, "disaggregatedset-manager as a process against a kube-apiserver")
}

var _ = BeforeSuite(func(ctx context.Context) {
	program = filepath.Join(GinkgoT().TempDir(), "disaggregatedset-manager")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, ".")
	build.Stderr = GinkgoWriter
	Expect(build.Run()).To(Succeed(), "go build")

	environment = &envtest.Environment{
		// Other suites may run beside this one.
		ControlPlaneStartTimeout: 3 * time.Minute,
		ControlPlaneStopTimeout:  time.Minute,
	}
	var err error
	admin, err = environment.Start()
	Expect(err).NotTo(HaveOccurred(), "KUBEBUILDER_ASSETS has to name a directory with etcd and kube-apiserver")
	DeferCleanup(func() { Expect(environment.Stop()).To(Succeed()) })

	scheme := newScheme()
	Expect(rbacv1.AddToScheme(scheme)).To(Succeed())
	Expect(apiextensionsv1.AddToScheme(scheme)).To(Succeed())
	cluster, err = client.New(admin, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	kube, err = kubernetes.NewForConfig(admin)
	Expect(err).NotTo(HaveOccurred())

	home := &corev1.Namespace{}
	home.Name = homeOfTest
	Expect(cluster.Create(ctx, home)).To(Succeed())
	for _, file := range []string{
		"service_account.yaml", "role.yaml", "role_binding.yaml",
		"metrics_reader_role.yaml", "user_roles.yaml", "secret.yaml",
	} {
		for _, object := range readManifests(filepath.Join(configDir, "disaggregatedset", file)) {
			Expect(applyObject(ctx, object)).To(Succeed(), file)
		}
	}
}, NodeTimeout(10*time.Minute))

// definitionOfTest is a shipped CustomResourceDefinition.
func definitionOfTest(name string) client.Object {
	return readManifests(filepath.Join(configDir, "crd/bases", name+".yaml"))[0]
}

func rootFiles(pattern string) []string {
	files, err := filepath.Glob(filepath.Join(configDir, pattern))
	Expect(err).NotTo(HaveOccurred())
	Expect(files).NotTo(BeEmpty(), pattern)
	return files
}

func readFile(file string) []byte {
	data, err := os.ReadFile(file)
	Expect(err).NotTo(HaveOccurred())
	return data
}
