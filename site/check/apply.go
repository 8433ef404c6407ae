package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"go.yaml.in/yaml/v3"

	configv1 "sigs.k8s.io/lws/apis/config/v1"
)

const (
	yamlLanguage = "yaml"
	// notApplied marks a block that is no object of a cluster with lws alone: values of
	// a chart, or an object of another project.
	notApplied = "apply=false"
)

// checkBlocks applies every YAML block, without keeping anything of it.
func checkBlocks(ctx context.Context, content string, out io.Writer) error {
	pages, err := pagesBelow(content)
	if err != nil {
		return err
	}
	var findings []string
	checked := 0
	for _, page := range pages {
		blocks, err := blocksOf(page)
		if err != nil {
			return err
		}
		for _, b := range blocks {
			if b.Language != yamlLanguage {
				continue
			}
			checked++
			if err := b.apply(ctx); err != nil {
				findings = append(findings, fmt.Sprintf("%s: %v", b.where(), err))
			}
		}
	}
	return report(out, "YAML blocks", checked, findings)
}

func (b *block) apply(ctx context.Context) error {
	decoder := yaml.NewDecoder(strings.NewReader(b.Text))
	for {
		var document map[string]any
		switch err := decoder.Decode(&document); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if strings.Contains(b.Attributes, notApplied) || document == nil {
			continue
		}
		text, err := yaml.Marshal(document)
		if err != nil {
			return err
		}
		if err := applyDocument(ctx, document, text); err != nil {
			return err
		}
	}
}

func applyDocument(ctx context.Context, document map[string]any, text []byte) error {
	if document["kind"] == configv1.Kind {
		return loadConfiguration(text)
	}
	if document["kind"] == nil {
		return errors.New("no kind: show whole objects, so that a reader can apply them")
	}
	apply := exec.CommandContext(ctx, "kubectl", "apply", "--server-side", "--force-conflicts", "--dry-run=server", "--validate=strict", "-f", "-")
	apply.Stdin = bytes.NewReader(text)
	if output, err := apply.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(output))
	}
	return nil
}
