// Command local is what make up, make down and make env run: a cluster on this
// machine with the managers of this checkout and samples of both kinds.
package main
