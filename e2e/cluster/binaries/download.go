package binaries

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path"
	"runtime"
	"strings"
	"time"
)

// releases says where projects publish programs. Only what comes with a
// checksum is taken.
type releases struct {
	kubernetes string
	etcd       string
	// patience bounds the first answer of a server, so that a machine
	// without network goes on to build at once.
	patience time.Duration
}

var publicReleases = releases{
	kubernetes: "https://dl.k8s.io/release",
	etcd:       "https://github.com/etcd-io/etcd/releases/download",
	patience:   5 * time.Second,
}

// unavailableError is the reason why a program cannot be downloaded and is
// built instead. A wrong checksum is not such a reason: it ends the command.
type unavailableError struct{ reason string }

func (e unavailableError) Error() string { return e.reason }

// fetch downloads a program into file.
func (r releases) fetch(ctx context.Context, p program, file string) error {
	version := p.version()
	switch p.module {
	case kubernetesModule:
		url := fmt.Sprintf("%s/%s/bin/%s/%s/%s", r.kubernetes, version, runtime.GOOS, runtime.GOARCH, p.name)
		sum, err := r.checksum(ctx, url+".sha256", "")
		if err != nil {
			return err
		}
		return r.save(ctx, url, sum, func(body io.Reader) error { return writeProgram(file, body) })
	case etcdModule:
		archive := fmt.Sprintf("etcd-%s-%s-%s.tar.gz", version, runtime.GOOS, runtime.GOARCH)
		sum, err := r.checksum(ctx, fmt.Sprintf("%s/%s/SHA256SUMS", r.etcd, version), archive)
		if err != nil {
			return err
		}
		return r.save(ctx, fmt.Sprintf("%s/%s/%s", r.etcd, version, archive), sum,
			func(body io.Reader) error { return extractProgram(file, "etcd", body) })
	}
	return unavailableError{"it is not published with a checksum"}
}

// checksum reads the checksum of a file from a list, or the only one there is.
func (r releases) checksum(ctx context.Context, url, name string) (string, error) {
	body, err := r.get(ctx, url)
	if err != nil {
		return "", err
	}
	defer func() { _ = body.Close() }()
	text, err := io.ReadAll(io.LimitReader(body, 1<<20))
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) > 0 && (name == "" || fields[len(fields)-1] == name) {
			return fields[0], nil
		}
	}
	return "", unavailableError{fmt.Sprintf("%s does not list %s", url, name)}
}

// save passes the file at url through use and checks what was read.
func (r releases) save(ctx context.Context, url, sum string, use func(io.Reader) error) error {
	body, err := r.get(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	hash := sha256.New()
	content := io.TeeReader(body, hash)
	if err := use(content); err != nil {
		return unavailableError{fmt.Sprintf("the download broke off (%v)", err)}
	}
	if _, err := io.Copy(io.Discard, content); err != nil {
		return unavailableError{fmt.Sprintf("the download broke off (%v)", err)}
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != sum {
		return fmt.Errorf("%s has checksum %s, published is %s", url, got, sum)
	}
	return nil
}

func (r releases) get(ctx context.Context, url string) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	client := &http.Client{Transport: &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: r.patience}).DialContext,
		TLSHandshakeTimeout:   r.patience,
		ResponseHeaderTimeout: r.patience,
		DisableKeepAlives:     true,
	}}
	response, err := client.Do(request)
	if err != nil {
		return nil, unavailableError{fmt.Sprintf("no download can be had (%v)", err)}
	}
	if response.StatusCode != http.StatusOK {
		_ = response.Body.Close()
		return nil, unavailableError{fmt.Sprintf("%s answers %s", url, response.Status)}
	}
	return response.Body, nil
}

func writeProgram(file string, content io.Reader) error {
	out, err := os.OpenFile(file, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, copyErr := io.Copy(out, content)
	if err := errors.Join(copyErr, out.Close()); err != nil {
		return err
	}
	return makeExecutable(file)
}

func makeExecutable(file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	return os.Chmod(file, info.Mode()|0o100)
}

func extractProgram(file, name string, archive io.Reader) error {
	unzipped, err := gzip.NewReader(archive)
	if err != nil {
		return err
	}
	entries := tar.NewReader(unzipped)
	for {
		header, err := entries.Next()
		if err == io.EOF {
			return fmt.Errorf("the archive holds no %s", name)
		}
		if err != nil {
			return err
		}
		if header.Typeflag == tar.TypeReg && path.Base(header.Name) == name {
			return writeProgram(file, entries)
		}
	}
}
