package binaries

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// WritePin pins the sources of a Kubernetes version ("1.36.3") in dir. It is
// for developers: the result is reviewed and committed.
func WritePin(ctx context.Context, dir, version string) error {
	version = strings.TrimPrefix(version, "v")
	parts := strings.Split(version, ".")
	if len(parts) != 3 || parts[0] != "1" {
		return fmt.Errorf("%q is not a full Kubernetes version, as 1.36.3", version)
	}
	minor := parts[0] + "." + parts[1]
	work, err := os.MkdirTemp("", "pin-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	staging, err := stagingModules(ctx, work, "v"+version)
	if err != nil {
		return err
	}
	if err := errors.Join(
		os.WriteFile(filepath.Join(work, "go.mod"), pinModule(minor, version, staging), 0o600),
		os.WriteFile(filepath.Join(work, "programs.go"), pinImports(minor), 0o600),
	); err != nil {
		return err
	}
	if _, err := goCommand(ctx, work, "mod", "tidy"); err != nil {
		return err
	}
	pins, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = pins.Close() }()
	return errors.Join(
		copyFile(pins, filepath.Join(work, "go.mod"), minor+".mod"),
		copyFile(pins, filepath.Join(work, "go.sum"), minor+".sum"),
	)
}

// stagingModules are the modules that Kubernetes publishes beside itself: its
// own go.mod replaces them by directories that a consumer does not have.
func stagingModules(ctx context.Context, work, version string) ([]string, error) {
	out, err := goCommand(ctx, work, "mod", "download", "-json", kubernetesModule+"@"+version)
	if err != nil {
		return nil, err
	}
	var download struct{ GoMod string }
	if err := json.Unmarshal(out, &download); err != nil {
		return nil, err
	}
	out, err = goCommand(ctx, work, "mod", "edit", "-json", download.GoMod)
	if err != nil {
		return nil, err
	}
	var module struct {
		Replace []struct{ Old, New struct{ Path string } }
	}
	if err := json.Unmarshal(out, &module); err != nil {
		return nil, err
	}
	var staging []string
	for _, replace := range module.Replace {
		if strings.HasPrefix(replace.New.Path, "./staging/") {
			staging = append(staging, replace.Old.Path)
		}
	}
	return staging, nil
}

func pinModule(minor, version string, staging []string) []byte {
	var mod bytes.Buffer
	fmt.Fprintf(&mod, "module sigs.k8s.io/lws/e2e/cluster/components/%s\n\ngo 1.26.0\n\nrequire (\n", minor)
	fmt.Fprintf(&mod, "\t%s v%s\n", kubernetesModule, version)
	if minor == Newest {
		newest, err := loadPin(Newest)
		if err == nil {
			fmt.Fprintf(&mod, "\t%s %s\n\t%s %s\n", etcdModule, newest.version(etcdModule), kwokModule, newest.version(kwokModule))
		}
	}
	mod.WriteString(")\n\nreplace (\n")
	for _, path := range staging {
		fmt.Fprintf(&mod, "\t%s => %s v0%s\n", path, path, strings.TrimPrefix(version, "1"))
	}
	mod.WriteString(")\n")
	return mod.Bytes()
}

func pinImports(minor string) []byte {
	var file bytes.Buffer
	file.WriteString("package components\n\nimport (\n")
	all, err := programs(pin{minor: minor}, All())
	if err == nil {
		for _, p := range all {
			if p.pin.minor == minor {
				fmt.Fprintf(&file, "\t_ %q\n", p.pkg)
			}
		}
	}
	file.WriteString(")\n")
	return file.Bytes()
}

func goCommand(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w: %s", strings.Join(args, " "), err, lastLines(stderr.String(), 5))
	}
	return out, nil
}

func copyFile(pins *os.Root, from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return pins.WriteFile(to, data, 0o644)
}
