// Package client holds the typed clients of the API groups, generated from the
// types: clientset, informers and listers. Programs that use controller-runtime
// need only the types and, for server-side apply, the apply configurations beside
// this package.
package client
