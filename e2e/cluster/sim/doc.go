// Package sim describes the simulated nodes of the local cluster and lets a
// test make them misbehave. The nodes are played by kwok with the Stages of
// stages.yaml; there is no container behind a pod, only its status.
//
// Vocabulary:
//
//   - node: a Node object with the label type=kwok. Taking the label off (Kill)
//     stops its heartbeats, as a crash would; Revive puts it back.
//   - request: an annotation below sim.lws.x-k8s.io/ on a pod, from its
//     template or put there later. It holds as long as it is there; the empty
//     value is the same as none.
//   - nonce: the part of a restart request that makes it another request.
//
// # Requests
//
//	start-delay     "3s", "500ms" or "1s-10s" (uniformly random): time from being
//	                placed until the containers run. Read once, when the pod is placed.
//	hang            "unready": containers run, the pod is never ready;
//	                "image": the image is never pulled, the pod stays Pending.
//	crash-loop      "<container>" or "<container>/<seconds>": the container, an init
//	                container or sidecar too, ends again and again, after that many
//	                seconds (1), each time with one more restart.
//	restart         "<container>/<nonce>": one restart of a running container.
//	fail            "<reason>": phase Failed with that reason.
//	succeed         any value: phase Succeeded.
//	exit-code       what crash-loop, restart and fail end containers with (1).
//	stop-after      "2s": a deleted pod's containers end that long after the signal,
//	                but never later than the grace period. Without it they use up
//	                the whole grace period.
//
// # What a pod does unasked
//
// A placed pod runs and is ready at once; with init containers or a start
// delay it is seen Pending first. Ready follows readiness gates in both
// directions. A deleted pod keeps running until its grace period is over, is
// then seen in a terminal phase (Succeeded if its containers ended before the
// grace period, else Failed), and goes; a pod with a finalizer stays in the
// terminal phase until its owner takes the finalizer off.
//
// # The kubelet's identity
//
// kwok deletes and patches pods by name. It has a user of its own, User, and
// Policies keeps that user from deleting a pod that nobody else deleted (a
// successor under the same name) and from touching what is on a dead node.
package sim
