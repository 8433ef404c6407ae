// Package packaging tests what users install: the charts against the kustomizations,
// by rendering both, and the charts by Helm itself, on a local cluster with sets that
// live on.
//
// Vocabulary:
//
//   - chart, kustomization, release: as Helm and kustomize have them.
//   - rendered: objects by kind and name, as they would be sent to the API server.
package packaging
