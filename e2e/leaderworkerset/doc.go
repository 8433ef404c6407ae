// Package leaderworkerset holds the end-to-end suite of LeaderWorkerSets: a real
// control plane, lws-manager as a process with the permissions that we ship, and what
// a user sees.
//
//	cd e2e && go tool ginkgo -procs=3 ./leaderworkerset
//	cd e2e && go test ./leaderworkerset -ginkgo.focus-file=rollout_test
//
// DELETION_BATCHES=10 tries the deletion orders on 500 groups instead of 100.
//
// Vocabulary:
//
//   - scenario: a namespace of its own for one spec, and all that was recorded in
//     it. When it ends, every status and event that its sets ever had is judged.
//   - course: how a condition or a number went, without repetitions.
//   - disturbed: with a manager that is killed at random moments.
package leaderworkerset
