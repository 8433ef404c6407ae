// Command kubectl-lws is a plugin of kubectl, found as "kubectl lws": it says how far the
// groups of a set are, what they wait for, and what a changed manifest would do to them.
//
// It decides nothing itself. It reads what lws-manager reads, by the user's own rights
// and for one set only, and asks the manager's own reconcilers what they make of it
// (Explainer of package leaderworkerset), as a manager that starts now and writes
// nothing. So it never says anything else than the manager does. Only drain writes: it
// asks the manager to let go of what it holds, or, where there is none any more, does.
//
// # Vocabulary
//
//   - snapshot: what the manager's cache would hold of a set, read once.
//   - explanation, preview: what the reconcilers make of it.
//   - verb: a command of the plugin, each in the file of its name: status, why, preview,
//     history, drain.
package main
