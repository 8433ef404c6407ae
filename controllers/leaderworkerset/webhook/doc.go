// Package webhook is what lws-manager says while the API server admits sets and
// pods. A rule that schema or CEL can express is on the types, not here.
//
// Vocabulary:
//
//   - pod admission: gives each pod of a set what podspec.AdmitLeader and
//     podspec.AdmitWorker add. Pods that only look like ours pass untouched.
//   - owner chain: the controllers above a pod, up to a set:
//     leader → StatefulSet → set, worker → StatefulSet → leader → StatefulSet → set,
//     or worker → StatefulSet → set where restartPolicy None is. With Hash identity a
//     leader has ReplicaSet → Deployment in place of its StatefulSet. The chain is
//     followed by kind and name; UIDs are checked before the gate of a leader is lifted.
//   - name check: refuses a set whose name is too long, with the number of
//     characters that are left. CEL has the same rule but can only tell the
//     formula. CEL runs before validating webhooks, so this is a mutating one that
//     never mutates.
//   - validation: what CEL cannot see, the annotations of a set, and warnings where
//     a user is likely wrong.
//
// The API server calls, all with admission review v1, sideEffects None and
// failurePolicy Fail:
//
//	path                                               operations      on                      timeout  besides
//	/mutate--v1-pod                                    CREATE          v1 pods                 5 s      objectSelector: the label leaderworkerset.sigs.k8s.io/name exists;
//	                                                                                                    reinvocationPolicy IfNeeded
//	/mutate-leaderworkerset-x-k8s-io-v1-leaderworkerset    CREATE, UPDATE  leaderworkersets v1     10 s
//	/validate-leaderworkerset-x-k8s-io-v1-leaderworkerset  CREATE, UPDATE  leaderworkersets v1     10 s
//
// Without the object selector every pod of the cluster would wait for us. The
// markers in setup.go have all of this but the selector, for which there is no
// marker.
package webhook
