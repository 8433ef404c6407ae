// Package identity is the only place that makes or reads names, keys, indexes
// and label sets of the objects of a set. Everything in it is pure.
//
// Vocabulary:
//
//   - group: one leader and its workers. Group is also the queue key of the
//     reconciler of groups.
//   - index: what tells the groups of a set apart, the value of the label
//     group-index. With Ordinal identity it is a number from 0, with Hash identity
//     the group's key.
//   - key: 40 hexadecimal digits, the value of the label group-key, unique among
//     the groups of all sets.
//   - group name: the leader's host name, and the name of the worker StatefulSet
//     and of the group's own Service: <set>-<ordinal>, or <set>-<first 8 of the key>.
//   - worker index: the place of a pod in its group, 0 for the leader.
//   - subgroup: a fixed division of a group, numbered from 0.
//
// Who needs to know how a group is called asks Group.Name; nothing outside this
// package takes a name apart.
package identity
