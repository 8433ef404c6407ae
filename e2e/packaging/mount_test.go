package packaging

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// mount keeps the files of a Secret in a directory as a kubelet does: the files are
// links through a link to the directory of the newest version, which is swapped at
// once, and what was before is removed. A Secret that goes leaves its files.
type mount struct {
	dir     string
	version string
}

// mountSecret follows a Secret until the specs end.
func mountSecret(ctx context.Context, namespace, name, dir string) {
	GinkgoHelper()
	Expect(os.MkdirAll(dir, 0o700)).To(Succeed())
	options := &client.ListOptions{Namespace: namespace, Raw: &metav1.ListOptions{FieldSelector: "metadata.name=" + name}}
	watcher, err := env.Client.Watch(context.WithoutCancel(ctx), &corev1.SecretList{}, options)
	Expect(err).NotTo(HaveOccurred())
	ended := make(chan struct{})
	DeferCleanup(func() {
		watcher.Stop()
		<-ended
	})
	m := &mount{dir: dir}
	go func() {
		defer GinkgoRecover()
		defer close(ended)
		for event := range watcher.ResultChan() {
			if secret, ok := event.Object.(*corev1.Secret); ok && event.Type != watch.Deleted {
				Expect(m.write(secret)).To(Succeed())
			}
		}
	}()
}

func (m *mount) write(secret *corev1.Secret) error {
	before := m.version
	m.version = "..version_" + secret.ResourceVersion
	if err := os.Mkdir(filepath.Join(m.dir, m.version), 0o700); err != nil {
		return err
	}
	for name, content := range secret.Data {
		if err := os.WriteFile(filepath.Join(m.dir, m.version, name), content, 0o600); err != nil {
			return err
		}
	}
	next := filepath.Join(m.dir, "..data_tmp")
	if err := os.Symlink(m.version, next); err != nil {
		return err
	}
	if err := os.Rename(next, filepath.Join(m.dir, "..data")); err != nil {
		return err
	}
	for name := range secret.Data {
		err := os.Symlink(filepath.Join("..data", name), filepath.Join(m.dir, name))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	if before == "" {
		return nil
	}
	return os.RemoveAll(filepath.Join(m.dir, before))
}
