package managers

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"
)

// bufferSize is how much of a manifest is looked at to tell YAML from JSON.
const bufferSize = 4096

// localManifests turns rendered manifests into those of a manager that runs on this
// machine: without its Deployment, with webhooks that are called at a port here.
func localManifests(rendered []byte, webhookPort int) ([]byte, error) {
	return callManifests(rendered, webhookPort, func(kind string) bool { return kind != "Deployment" })
}

// CallHere is rendered manifests with webhooks that are called at a port of this
// machine. A Deployment stays: its pods are simulated.
func CallHere(rendered []byte, webhookPort int) ([]byte, error) {
	return callManifests(rendered, webhookPort, func(string) bool { return true })
}

// callManifests are the manifests of some kinds, with webhooks called at a port here.
func callManifests(rendered []byte, webhookPort int, isWanted func(kind string) bool) ([]byte, error) {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(rendered), bufferSize)
	var local bytes.Buffer
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(object)
		if errors.Is(err, io.EOF) {
			return local.Bytes(), nil
		}
		if err != nil {
			return nil, fmt.Errorf("rendered manifests: %w", err)
		}
		kind := object.GetKind()
		if kind == "" || !isWanted(kind) {
			continue
		}
		switch kind {
		case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
			if err := callHere(object, webhookPort); err != nil {
				return nil, fmt.Errorf("%s %s: %w", kind, object.GetName(), err)
			}
		}
		document, err := sigsyaml.Marshal(object.Object)
		if err != nil {
			return nil, err
		}
		local.WriteString("---\n")
		local.Write(document)
	}
}

// callHere replaces the Service of webhooks with a URL.
func callHere(configuration *unstructured.Unstructured, port int) error {
	webhooks, _, err := unstructured.NestedSlice(configuration.Object, "webhooks")
	if err != nil {
		return err
	}
	for i, entry := range webhooks {
		webhook, ok := entry.(map[string]any)
		if !ok {
			return fmt.Errorf("webhook %d is no object", i)
		}
		path, _, err := unstructured.NestedString(webhook, "clientConfig", "service", "path")
		if err != nil {
			return err
		}
		webhook["clientConfig"] = map[string]any{"url": "https://" + net.JoinHostPort(listenHost, strconv.Itoa(port)) + path}
	}
	return unstructured.SetNestedSlice(configuration.Object, webhooks, "webhooks")
}
