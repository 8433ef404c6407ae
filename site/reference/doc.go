// Command reference writes the reference pages of the documentation from the source
// of the project: types with their markers, keys, reasons, events, metrics,
// configuration and chart values. It reads source and runs nothing, so that it costs
// a second and needs no dependency of what it documents.
//
//	reference ROOT
//
// Pages are written to ROOT/site/content/docs/reference and are committed; make verify
// fails when they are stale. What the source cannot say, the meaning of a reason, is
// in meanings.go, and a reason without one is an error.
//
// Vocabulary:
//
//   - source: a package as parsed: its types and its constants.
//   - marker: a line of a comment that starts with +, for tools.
//   - key: a label, annotation, gate, finalizer or variable.
//   - page: a Markdown file with its front matter.
package main
