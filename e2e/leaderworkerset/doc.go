// Package leaderworkerset holds the end-to-end suite of LeaderWorkerSets: a real
// control plane, lws-manager as a process with the permissions that we ship, and what
// a user sees.
//
//	make e2e         the files of specs that pass, E2E_FILES of the Makefile
//	make e2e-all     all of them
//
// Some specs of bringup, conflict, deletion, disturbed, drift, failure, rollout,
// status and storage do not pass yet, and cost was not run: whether the spec or the manager is
// wrong is open for each. A file belongs into E2E_FILES once all its specs pass.
//
// Vocabulary:
//
//   - scenario: a namespace of its own for one spec, and all that was recorded in
//     it. When it ends, every status and event that its sets ever had is judged.
//   - course: how a condition or a number went, without repetitions.
//   - disturbed: with a manager that is killed at random moments.
package leaderworkerset
