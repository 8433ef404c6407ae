// Package controllers holds the controllers of both managers. They share nothing but
// the API packages; boundaries_test.go checks who imports whom.
package controllers
