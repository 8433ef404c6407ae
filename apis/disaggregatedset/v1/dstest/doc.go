// Package dstest builds DisaggregatedSets for tests. A builder starts with a set of
// two roles, prefill and decode, that every rule of the API accepts; each call
// changes one thing; Obj returns a copy.
package dstest
