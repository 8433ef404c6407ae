// Package rollout plans how the roles of one slice move from their old
// revisions to the new one. It is pure: counts in, steps out, nothing kept.
//
// # Words
//
//   - new side: the LeaderWorkerSets of the revision that the spec describes.
//   - old side: all others, newest first. Only the newest one that still runs
//     (the draining revision) gives replicas away.
//   - active role: a role of the new revision whose target is above zero. A
//     role whose target is zero is absent by wish, one that the new revision
//     lacks is removed.
//   - keep: the fewest replicas that availability leaves in the draining
//     revision.
//   - room: the most replicas that surge allows on the new side.
//   - level: how far the new side has come, as a fraction of every target.
//
// # What holds
//
//  1. Surge: growth never takes old + new above target + maxSurge, but for the
//     loan below.
//  2. Availability: a drain never lowers the ready replicas of a role below
//     target - maxUnavailable. While the target is above the baseline, no old
//     ready replica goes before old + new has reached the target.
//  3. No orphan role: a revision has all its roles or none. The last replicas
//     of a revision go in one plan, its first ones come in one plan.
//  4. Ratio: every new side is ceil(level × target), so that no role leads by a
//     whole replica of the smallest one.
//  5. Pipelining: at most maxSurge + maxUnavailable replicas of a rollout are
//     on their way at once, and that many are.
//  6. Monotonic: an old revision never grows, and an older one waits until the
//     newer one is gone.
//  7. Scaling: a new target applies at once and never reverses the rollout.
//  8. Progress: once the new replicas are ready, something moves.
//  9. Removed roles drain with their revision, added ones grow with the new.
//
// Where they collide 3 goes before 2, 2 before 8 and 8 before 1.
//
// # The loan
//
// Guarantee 3 keeps the last replica of a role in place as long as another role
// of its revision cannot let go. With maxSurge 0 that replica occupies the
// place of the one that the new side needs next. So when nothing could move
// even if every new replica were ready, the roles that hold the others back
// borrow one replica beyond their surge. With one old revision that happens
// only to a role without surge whose old side is at 1, beside a role that must
// not lose its last ready replica; with several, also to roles whose older
// revision may not be touched yet.
//
// # One exception to 6
//
// When a lowered target leaves a role above target + maxSurge and the draining
// revision is down to its last replica, the excess is taken from the older ones.
package rollout
