// Package lwstest builds LeaderWorkerSets for tests. A builder starts with a set
// that every rule of the API accepts; each call changes one thing; Obj returns a
// copy.
package lwstest
