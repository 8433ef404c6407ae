// Program sbom writes what a Go program is made of as an SPDX document. It believes
// nothing but the program: the linker wrote its modules, their versions and their sums
// into it.
package main
