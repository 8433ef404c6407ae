package scaler

import (
	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
)

// IgnoredAnnotationKey on a LeaderWorkerSet holds the replicas in the spec of its
// role while, or since, the role is external.
const IgnoredAnnotationKey = dsv1.KeyPrefix + "ignored-replicas"
