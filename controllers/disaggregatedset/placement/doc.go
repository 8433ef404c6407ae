// Package placement makes the pod affinity by which the roles of a slice share a
// domain of a node label and slices keep apart.
//
// # Words
//
//   - domain: the nodes with the same value of the topology label.
//   - term: one required pod affinity or anti-affinity term. The terms made here
//     are known by their selectors, which are about the labels of this API, so
//     that a user's own terms on the same topology label are never mistaken for
//     them.
package placement
