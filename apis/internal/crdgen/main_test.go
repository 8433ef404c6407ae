package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const fat = `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec:
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        description: the kind
        properties:
          spec:
            description: the spec
            properties:
              replicas:
                default: 1
                description: how many
                type: integer
              roles:
                items:
                  properties:
                    maxSurge:
                      default: 0
                      description: how many more
                      x-kubernetes-int-or-string: true
                    replicas:
                      default: 1
                      type: integer
                  type: object
                type: array
              maxSurge:
                default: 0
                x-kubernetes-int-or-string: true
              workerTemplate:
                description: the pods
                properties:
                  spec:
                    description: of Kubernetes
                    properties:
                      description:
                        type: string
                        description: a field of that name
                      containers:
                        description: of Kubernetes
                        items:
                          description: of Kubernetes
                          additionalProperties:
                            anyOf:
                            - type: integer
                            - description: of Kubernetes
                              type: string
                            description: of Kubernetes
                            x-kubernetes-int-or-string: true
                          type: object
                        type: array
                    type: object
                type: object
              volumeClaimTemplates:
                items:
                  properties:
                    storage:
                      description: of Kubernetes
                      x-kubernetes-int-or-string: true
                  type: object
                type: array
            type: object
        type: object
    served: true
`

const slim = `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec:
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        description: the kind
        properties:
          spec:
            description: the spec
            properties:
              replicas:
                default: 1
                description: how many
                type: integer
              roles:
                items:
                  properties:
                    maxSurge:
                      description: how many more
                      x-kubernetes-int-or-string: true
                    replicas:
                      default: 1
                      type: integer
                  type: object
                type: array
              maxSurge:
                default: 0
                x-kubernetes-int-or-string: true
              workerTemplate:
                description: the pods
                properties:
                  spec:
                    properties:
                      description:
                        type: string
                      containers:
                        items:
                          additionalProperties:
                            anyOf:
                            - type: integer
                            - type: string
                            x-kubernetes-int-or-string: true
                          type: object
                        type: array
                    type: object
                type: object
              volumeClaimTemplates:
                items:
                  properties:
                    storage:
                      x-kubernetes-int-or-string: true
                      maxLength: 64
                  type: object
                type: array
            type: object
        type: object
    served: true
`

func TestRewriteAll(t *testing.T) {
	directory := t.TempDir()
	file := filepath.Join(directory, "definition.yaml")
	other := filepath.Join(directory, "README.md")
	for name, content := range map[string]string{file: fat, other: "not ours"} {
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, run := range []string{"first", "second"} {
		if err := rewriteAll(directory); err != nil {
			t.Fatalf("%s run: %v", run, err)
		}
		for name, want := range map[string]string{file: slim, other: "not ours"} {
			got, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, string(got)); diff != "" {
				t.Errorf("%s after the %s run differs (-want +got):\n%s", filepath.Base(name), run, diff)
			}
		}
	}
}

func TestRewriteAllReports(t *testing.T) {
	if err := rewriteAll(filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Error("accepts a directory that does not exist")
	}
	for name, content := range map[string]string{"no yaml": "a: [", "empty": "", "no definition": "kind: Pod\n"} {
		t.Run(name, func(t *testing.T) {
			directory := t.TempDir()
			if err := os.WriteFile(filepath.Join(directory, "d.yaml"), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := rewriteAll(directory); err == nil {
				t.Errorf("accepts %q", content)
			}
		})
	}
}
