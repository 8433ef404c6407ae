// Package disaggregatedset holds the end-to-end suite of DisaggregatedSets: a real
// control plane, both managers as processes with the permissions that we ship, and
// what a user sees.
//
// Vocabulary:
//
//   - scenario: a namespace of its own for one spec, and all that was recorded in
//     it. When it ends, every status that its sets ever had is judged.
//   - watch: the lowest ready, the highest existing and wanted of every role, and
//     revisions that had a role missing. Every rollout prints its own.
//   - course: how a role went, old+new, whatever the others did meanwhile.
//   - makespan: how long a rollout takes; of a plan, if nothing but pods took time.
package disaggregatedset
