package managers

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
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

// ServeHere is rendered manifests with the Service of the webhooks as another name of
// this machine. The API server finds, calls and verifies them by that Service, as it
// does in a cluster.
func ServeHere(rendered []byte, webhookPort int) ([]byte, error) {
	return changeManifests(rendered, func(object *unstructured.Unstructured) (bool, error) {
		switch {
		case object.GetKind() == "Service" && isOfWebhooks(object):
			object.Object["spec"] = map[string]any{"type": "ExternalName", "externalName": listenHost}
		case isWebhookConfiguration(object):
			return true, changeWebhooks(object, func(called map[string]any) error {
				return unstructured.SetNestedField(called, int64(webhookPort), "service", "port")
			})
		}
		return true, nil
	})
}

// isOfWebhooks tells a Service of webhooks from that of metrics.
func isOfWebhooks(service *unstructured.Unstructured) bool {
	ports, _, err := unstructured.NestedSlice(service.Object, "spec", "ports")
	return err == nil && slices.ContainsFunc(ports, func(entry any) bool {
		port, isObject := entry.(map[string]any)
		return isObject && port["targetPort"] == "webhook"
	})
}

// callManifests are the manifests of some kinds, with webhooks called at a port here.
func callManifests(rendered []byte, webhookPort int, isWanted func(kind string) bool) ([]byte, error) {
	return changeManifests(rendered, func(object *unstructured.Unstructured) (bool, error) {
		if !isWebhookConfiguration(object) {
			return isWanted(object.GetKind()), nil
		}
		return true, callHere(object, webhookPort)
	})
}

func isWebhookConfiguration(object *unstructured.Unstructured) bool {
	kind := object.GetKind()
	return kind == "MutatingWebhookConfiguration" || kind == "ValidatingWebhookConfiguration"
}

// changeManifests are the manifests that change wants, as it leaves them.
func changeManifests(rendered []byte, change func(*unstructured.Unstructured) (isWanted bool, err error)) ([]byte, error) {
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
		if object.GetKind() == "" {
			continue
		}
		isWanted, err := change(object)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
		if !isWanted {
			continue
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
	return changeWebhooks(configuration, func(called map[string]any) error {
		path, _, err := unstructured.NestedString(called, "service", "path")
		if err != nil {
			return err
		}
		delete(called, "service")
		called["url"] = "https://" + net.JoinHostPort(listenHost, strconv.Itoa(port)) + path
		return nil
	})
}

// changeWebhooks changes how each webhook is called.
func changeWebhooks(configuration *unstructured.Unstructured, change func(called map[string]any) error) error {
	webhooks, _, err := unstructured.NestedSlice(configuration.Object, "webhooks")
	if err != nil {
		return err
	}
	for i, entry := range webhooks {
		webhook, ok := entry.(map[string]any)
		if !ok {
			return fmt.Errorf("webhook %d is no object", i)
		}
		called, ok := webhook["clientConfig"].(map[string]any)
		if !ok {
			return fmt.Errorf("webhook %d does not say how it is called", i)
		}
		if err := change(called); err != nil {
			return err
		}
	}
	return unstructured.SetNestedSlice(configuration.Object, webhooks, "webhooks")
}
