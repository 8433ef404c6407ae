package binaries

import (
	"fmt"
	"slices"
	"strings"
)

// The names of the programs.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Kwok              = "kwok"
	Kubectl           = "kubectl"
)

// All are the programs of a cluster, in the order in which they are useful:
// the first two are enough for tests against a bare API server.
func All() []string {
	return []string{Etcd, APIServer, ControllerManager, Scheduler, Kwok, Kubectl}
}

// ForAPIServerTests are the programs that controller-runtime's envtest looks for.
func ForAPIServerTests() []string {
	return []string{Etcd, APIServer, Kubectl}
}

// program is one executable of one pin.
type program struct {
	name   string
	module string
	pkg    string
	pin    pin
}

// programs resolves names; etcd and kwok come from the newest pin.
func programs(kube pin, names []string) ([]program, error) {
	newest, err := loadPin(Newest)
	if err != nil {
		return nil, err
	}
	var resolved []program
	for _, name := range names {
		switch name {
		case Etcd:
			resolved = append(resolved, program{name, etcdModule, etcdModule, newest})
		case Kwok:
			resolved = append(resolved, program{name, kwokModule, kwokModule + "/cmd/kwok", newest})
		default:
			if !slices.Contains(All(), name) {
				return nil, fmt.Errorf("no program is called %q", name)
			}
			resolved = append(resolved, program{name, kubernetesModule, kubernetesModule + "/cmd/" + name, kube})
		}
	}
	return resolved, nil
}

func (p program) version() string { return p.pin.version(p.module) }

// ldflags stamps the version, which the sources themselves do not know:
// without it the API server calls itself 0.0.0 and clients misjudge it.
func (p program) ldflags() string {
	flags := []string{"-s", "-w"}
	stamp := func(variable, value string) { flags = append(flags, "-X "+variable+"="+value) }
	switch p.module {
	case kubernetesModule:
		minor := strings.TrimPrefix(p.pin.minor, "1.")
		for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
			stamp(pkg+".gitVersion", p.version())
			stamp(pkg+".gitMajor", "1")
			stamp(pkg+".gitMinor", minor)
		}
	case kwokModule:
		stamp(kwokModule+"/pkg/consts.Version", p.version())
	}
	return strings.Join(flags, " ")
}
