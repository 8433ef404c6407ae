// Command lws-manager runs the controllers and webhooks of LeaderWorkerSets.
//
// Vocabulary:
//
//   - options: the command line. A flag that is given overrides the file.
//   - configuration: the file of group config.lws.x-k8s.io, defaults filled in.
//   - schema: the fields that the CustomResourceDefinition of the API server has.
//   - gate: something that has to be true before the manager is ready, with the
//     reason why it is not yet.
//   - authority: the key pair that signs the certificates of the webhooks, kept in
//     a Secret together with the certificate that is served. Trust is the list of
//     authorities that the API server is told to believe.
//   - succession: which certificate is served while somebody else issues them.
package main

//go:generate go tool -modfile=../../go.tools.mod controller-gen rbac:roleName=lws-manager-role webhook paths=./... paths=../../controllers/leaderworkerset/... output:rbac:dir=../../config/rbac output:webhook:dir=../../config/webhook
