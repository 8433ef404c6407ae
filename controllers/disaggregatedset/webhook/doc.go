// Package webhook is the admission of DisaggregatedSets. The schema and the rules in
// it validate; here is only what they cannot say.
//
// # Words
//
//   - name check: refuses a set whose objects would have names that are too long,
//     with the exact numbers. It is called before the schema is checked, so that
//     its answer comes instead of the rule's static one, which holds without it.
//   - warning: what is accepted but likely not meant.
package webhook
