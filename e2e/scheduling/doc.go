// Package scheduling holds the end-to-end suite of gang scheduling: the real scheduler
// with workload-aware scheduling switched on, and lws-manager with its feature gates.
// What needs a cluster where it is switched off starts one of its own.
//
//	go test ./scheduling        in e2e; under four minutes
//
// Volcano is tested on the API server alone: what lws-manager has to create and to
// stamp. Its definition in testdata is made from its Go types, in the main module:
//
//	controller-gen crd:maxDescLen=0 paths=volcano.sh/apis/pkg/apis/scheduling/v1beta1
//
// Vocabulary:
//
//   - pool: the nodes of one spec. A pod takes one CPU, and there are no more CPUs
//     than the spec says.
//   - scenario: a namespace and a pool of its own for one spec, and all that was
//     recorded in it. When it ends, every status that its sets ever had is judged.
//   - generation: the pods of one leader.
package scheduling
