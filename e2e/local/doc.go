// Command local is what make up and make down run: a cluster on this machine with
// the managers of this checkout and samples of both kinds.
package main
