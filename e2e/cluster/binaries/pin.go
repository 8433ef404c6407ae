package binaries

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"
)

//go:embed pins
var pinFiles embed.FS

// Newest is the minor version whose pin also provides etcd and kwok: older
// Kubernetes libraries cannot build them.
const Newest = "1.37"

const (
	kubernetesModule = "k8s.io/kubernetes"
	etcdModule       = "go.etcd.io/etcd/server/v3"
	kwokModule       = "sigs.k8s.io/kwok"
)

// pin is one pinned set of sources.
type pin struct {
	minor string
	mod   []byte
	sum   []byte
}

// Minors lists the Kubernetes minor versions that have a pin, oldest first.
func Minors() []string {
	entries, err := pinFiles.ReadDir("pins")
	if err != nil {
		return nil
	}
	var minors []string
	for _, entry := range entries {
		if minor, ok := strings.CutSuffix(entry.Name(), ".mod"); ok {
			minors = append(minors, minor)
		}
	}
	slices.Sort(minors)
	return minors
}

// Resolve turns what a user writes ("", "1.36", "v1.36.3") into the pinned
// version, and refuses a version that no pin provides.
func Resolve(version string) (string, error) {
	p, err := findPin(version)
	if err != nil {
		return "", err
	}
	return p.version(kubernetesModule), nil
}

func findPin(version string) (pin, error) {
	version = strings.TrimPrefix(version, "v")
	if version == "" {
		version = Newest
	}
	parts := strings.Split(version, ".")
	if len(parts) < 2 {
		return pin{}, fmt.Errorf("%q is not a Kubernetes version; have %s", version, strings.Join(Minors(), ", "))
	}
	p, err := loadPin(parts[0] + "." + parts[1])
	if err != nil {
		return pin{}, err
	}
	if pinned := strings.TrimPrefix(p.version(kubernetesModule), "v"); len(parts) > 2 && version != pinned {
		return pin{}, fmt.Errorf("of Kubernetes %s the pinned version is %s, not %s", p.minor, pinned, version)
	}
	return p, nil
}

func loadPin(minor string) (pin, error) {
	mod, err := pinFiles.ReadFile(path.Join("pins", minor+".mod"))
	if err != nil {
		return pin{}, fmt.Errorf("no pin of Kubernetes %s; have %s", minor, strings.Join(Minors(), ", "))
	}
	sum, err := pinFiles.ReadFile(path.Join("pins", minor+".sum"))
	if err != nil {
		return pin{}, fmt.Errorf("pin of Kubernetes %s: %w", minor, err)
	}
	return pin{minor: minor, mod: mod, sum: sum}, nil
}

// version is the required version of a module, "" if the pin lacks it.
func (p pin) version(module string) string {
	for line := range strings.Lines(string(p.mod)) {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(fields) >= 2 && fields[0] == module && strings.HasPrefix(fields[1], "v") {
			return fields[1]
		}
	}
	return ""
}

// key names the directory of the store that holds the pin's programs.
func (p pin) key() string {
	hash := sha256.Sum256(slices.Concat(p.mod, p.sum))
	return fmt.Sprintf("%s-%s-%s-%s", p.version(kubernetesModule), hex.EncodeToString(hash[:])[:12], runtime.GOOS, runtime.GOARCH)
}
