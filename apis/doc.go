// Package apis holds the API packages and what is generated from them.
//
// go generate writes, with the tools that go.tools.mod pins, deep copies, apply
// configurations and typed clients beside the types, and the
// CustomResourceDefinitions to config/crd/bases.
package apis
