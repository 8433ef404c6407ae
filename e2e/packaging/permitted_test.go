package packaging

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"sigs.k8s.io/lws/e2e/managers"
)

// The accounts that cert-manager's chart makes, one for each of its processes that we
// need.
var (
	issuing   = managers.Shipped{Name: "cert-manager", Namespace: "cert-manager", ServiceAccount: "cert-manager"}
	injecting = managers.Shipped{Name: "cert-manager-cainjector", Namespace: "cert-manager", ServiceAccount: "cert-manager-cainjector"}
)

// buildCertManager builds cert-manager's controllers once, from the module that pins
// them.
var buildCertManager = sync.OnceValues(func() (string, error) { return buildPinned("certmanager", ".") })

// certManagerDir is the directory deploy of cert-manager's module.
func certManagerDir() (string, error) {
	checkout, err := managers.Checkout()
	if err != nil {
		return "", err
	}
	list := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/cert-manager/cert-manager")
	list.Dir = filepath.Join(checkout, "e2e", "certmanager")
	out, err := list.Output()
	return filepath.Join(strings.TrimSpace(string(out)), "deploy"), err
}

// installCertManager applies its definitions, and of its chart the accounts with their
// roles. What they belong to are processes of ours.
func installCertManager(ctx context.Context) {
	GinkgoHelper()
	dir, err := certManagerDir()
	Expect(err).NotTo(HaveOccurred())
	render := []string{
		"template", issuing.Name, filepath.Join(dir, "charts", "cert-manager"), "--namespace", issuing.Namespace, "--kube-version", "1.37.0",
	}
	for _, name := range []string{"serviceaccount", "rbac", "cainjector-serviceaccount", "cainjector-rbac"} {
		render = append(render, "--show-only", "templates/"+name+".yaml")
	}
	accounts, err := helm(ctx, GinkgoT().TempDir(), "", render...)
	Expect(err).NotTo(HaveOccurred())
	namespaceFor(ctx, issuing.Namespace)
	for _, apply := range []struct {
		stdin string
		args  []string
	}{
		{args: []string{"apply", "--server-side", "-f", filepath.Join(dir, "crds")}},
		{args: []string{"wait", "--for=condition=Established", "--timeout=1m", "-f", filepath.Join(dir, "crds")}},
		{stdin: accounts, args: []string{"apply", "--server-side", "-f", "-"}},
	} {
		_, err = managers.Kubectl(ctx, env.Cluster, []byte(apply.stdin), apply.args...)
		Expect(err).NotTo(HaveOccurred())
	}
}

// startCertManager starts what issues and what injects, each as its own account, until
// the specs end.
func startCertManager(ctx context.Context, program string) []*managers.Process {
	GinkgoHelper()
	var started []*managers.Process
	for _, part := range []struct {
		account managers.Shipped
		does    string
	}{{issuing, "issue"}, {injecting, "inject"}} {
		process, err := managers.Run(ctx, env.Cluster, part.account, program, part.does)
		Expect(err).NotTo(HaveOccurred())
		started = append(started, process)
	}
	return started
}

// permitted are the writes of an account, each once and without which object, if none of
// its requests was one that it has no right to.
func permitted(account managers.Shipped) []string {
	GinkgoHelper()
	requests, err := env.Audit(account).Next()
	Expect(err).NotTo(HaveOccurred())
	var writes, refused []string
	for _, request := range requests {
		text := request.String()
		if request.Namespace != "" {
			text += " in " + request.Namespace
		}
		if request.IsForbidden() {
			refused = append(refused, text+": "+request.Message)
		}
		if request.IsWrite() && !slices.Contains(writes, text) {
			writes = append(writes, text)
		}
	}
	Expect(refused).To(BeEmpty(), "what %s has no right to", account.Name)
	return writes
}
