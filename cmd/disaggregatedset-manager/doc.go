// Command disaggregatedset-manager runs the controller and webhooks of
// DisaggregatedSets. It needs nothing of lws-manager but that the API of
// LeaderWorkerSets is served, and waits for that.
//
// Vocabulary:
//
//   - options: the command line. A flag that is given overrides the file.
//   - configuration: the file of group config.lws.x-k8s.io, defaults filled in.
//   - definition: a CustomResourceDefinition of the API server; schema: its fields.
//   - gate: something that has to be true before the manager is ready, with the
//     reason why it is not yet.
//   - authority: the key pair that signs the certificates of the webhooks, kept in
//     a Secret together with the certificate that is served. Trust is the list of
//     authorities that the API server is told to believe.
//   - succession: which certificate is served while somebody else issues them.
package main

//go:generate go tool -modfile=../../go.tools.mod controller-gen rbac:roleName=disaggregatedset-manager-role webhook paths=./... paths=../../controllers/disaggregatedset/... output:rbac:dir=../../config/disaggregatedset output:webhook:dir=../../config/disaggregatedset
