// Command local is what make up, make down, make env and make earlier run: a cluster
// on this machine with the managers of this checkout and samples of both kinds. As a
// post-renderer of Helm (local webhooks) it has a release call that cluster's manager.
package main
