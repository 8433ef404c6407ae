package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"sigs.k8s.io/lws/e2e/cluster/sim"
)

// Cluster is a cluster that runs.
type Cluster struct{ state *state }

// Open finds the running cluster of a name below dir.
func Open(dir, name string) (*Cluster, error) {
	o, err := Options{Dir: dir, Name: name}.complete()
	if err != nil {
		return nil, err
	}
	s, err := loadState(o.stateDir())
	if err != nil {
		return nil, err
	}
	if s == nil || !s.Ready {
		return nil, fmt.Errorf("cluster %s is not up", o.Name)
	}
	if _, dead := s.alive(); len(dead) > 0 {
		return nil, fmt.Errorf("cluster %s is dead: %s", o.Name, gone(dead))
	}
	return &Cluster{state: s}, nil
}

// Options are what the cluster was started with.
func (c *Cluster) Options() Options { return c.state.Options }

// Dir is the cluster's state directory.
func (c *Cluster) Dir() string { return c.state.dir }

// BinDir holds kubectl and the programs of the control plane.
func (c *Cluster) BinDir() string { return c.state.BinDir }

// Kubeconfig is the administrator's kubeconfig file.
func (c *Cluster) Kubeconfig() string { return c.state.path(adminConfig) }

// AuditLog is the audit log's file; without an audit policy there is none.
func (c *Cluster) AuditLog() string { return c.state.path(auditLogFile) }

// LogFile is the log of a component.
func (c *Cluster) LogFile(component string) string { return c.state.logFile(component) }

// Processes are the process IDs by component.
func (c *Cluster) Processes() map[string]int {
	ids := map[string]int{}
	for _, p := range c.state.processes {
		ids[p.Name] = p.PID
	}
	return ids
}

// RESTConfig is the administrator's, without client-side rate limits.
func (c *Cluster) RESTConfig() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig())
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	return config, nil
}

// Client is the administrator's.
func (c *Cluster) Client() (kubernetes.Interface, error) {
	config, err := c.RESTConfig()
	if err != nil {
		return nil, err
	}
	return kubernetes.NewForConfig(config)
}

// ServiceAccountKubeconfig writes a kubeconfig with a token of a
// ServiceAccount, for a manager that runs as a process on this machine.
func (c *Cluster) ServiceAccountKubeconfig(ctx context.Context, namespace, name, file string) error {
	client, err := c.Client()
	if err != nil {
		return err
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(24 * 60 * 60))}}
	answer, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name, request, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("token of service account %s/%s: %w", namespace, name, err)
	}
	return c.state.writeKubeconfig(file, name, &clientcmdapi.AuthInfo{Token: answer.Status.Token})
}

// AddNodes adds nodes and waits until they are ready.
func (c *Cluster) AddNodes(ctx context.Context, nodes ...sim.Node) error {
	client, err := c.Client()
	if err != nil {
		return err
	}
	for _, node := range nodes {
		if err := sim.AddNode(ctx, client, node); err != nil {
			return err
		}
	}
	return c.await(ctx, func(ctx context.Context) error {
		for _, node := range nodes {
			object, err := client.CoreV1().Nodes().Get(ctx, node.Name, metav1.GetOptions{ResourceVersion: "0"})
			if err != nil {
				return err
			}
			if !isReady(object) {
				return fmt.Errorf("node %s is not ready", node.Name)
			}
		}
		return nil
	})
}

func isReady(node *corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// installPolicies restrains the simulated kubelet, before there is one.
func (c *Cluster) installPolicies(ctx context.Context) error {
	client, err := c.Client()
	if err != nil {
		return err
	}
	policies, bindings := sim.Policies()
	admission := client.AdmissionregistrationV1()
	return c.await(ctx, func(ctx context.Context) error {
		for _, policy := range policies {
			if _, err := admission.ValidatingAdmissionPolicies().Create(ctx, policy, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
				return err
			}
		}
		for _, binding := range bindings {
			if _, err := admission.ValidatingAdmissionPolicyBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
				return err
			}
		}
		_, err := client.CoreV1().ConfigMaps(sim.DeadNodesNamespace).Create(ctx, sim.DeadNodes(), metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
}

// awaitUsable waits until pods can be created in the default namespace.
func (c *Cluster) awaitUsable(ctx context.Context) error {
	client, err := c.Client()
	if err != nil {
		return err
	}
	return c.await(ctx, func(ctx context.Context) error {
		_, err := client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
}

// await repeats a step until it succeeds, a component ends, or patience does.
func (c *Cluster) await(ctx context.Context, step func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	for {
		last := step(ctx)
		if last == nil {
			return nil
		}
		if err := c.state.ended(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return fmt.Errorf("after %s: %w", startPatience, last)
			}
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// ended says which of the components started by this program is gone.
func (s *state) ended() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.started {
		select {
		case <-r.exited:
			return r.failure()
		default:
		}
	}
	return nil
}

// Down ends the cluster and removes its state directory.
func (c *Cluster) Down() error {
	return Down(c.state.Options.Dir, c.state.Options.Name)
}

// Down ends the cluster of a name below dir, whatever is left of it, and
// removes its state directory. It is no error if there is none.
func Down(dir, name string) error {
	o, err := Options{Dir: dir, Name: name}.complete()
	if err != nil {
		return err
	}
	unlock, err := o.lock()
	if err != nil {
		return err
	}
	defer unlock()
	s, err := loadState(o.stateDir())
	if err != nil {
		return err
	}
	if s != nil {
		if err := stop(s.dir, s.processes); err != nil {
			return err
		}
	}
	return errors.Join(os.RemoveAll(o.stateDir()), os.Remove(filepath.Clean(o.stateDir()+".lock")))
}
