// Package harness is what the end-to-end suites share: a local cluster with
// managers that run as processes with the permissions that we ship, and a record of
// all that happened, which is judged afterwards. It knows nothing of a test
// framework: it returns errors and lists of violations.
//
// Vocabulary:
//
//   - environment: a cluster of its own with its manager. One process starts it,
//     others may join it.
//   - observer: records every state of the sets, pods and StatefulSets of one
//     namespace, and every event, in the order of their watches.
//   - mark: a moment of a recording, from which on something is judged.
//   - violation: a promise that a recording breaks, as a sentence.
//   - extremes: the fewest ready and the most existing groups ever seen.
//   - watch: the extremes of every role of a DisaggregatedSet, and its revisions that
//     had some of their roles only.
//   - further kinds: what a suite wants to be recorded besides.
//   - request: a line of the audit log, of the manager alone.
//   - life: what a manager does from its start to its end. One log has all its lives.
//   - finding: what a manager did in any of its lives and should not have, as a
//     sentence. An exception is what looks like a finding and is none.
package harness
