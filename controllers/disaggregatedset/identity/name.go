package identity

import (
	"strconv"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// serviceSuffix tells the Service of a role from that of its LeaderWorkerSet.
const serviceSuffix = "-prv"

// LeaderWorkerSetName is <set>-<slice>-<revision>-<role>.
func LeaderWorkerSetName(set string, key Key) string {
	if key.Sliceless {
		return set + "-" + key.Revision + "-" + key.Role
	}
	return set + "-" + strconv.Itoa(key.Slice) + "-" + key.Revision + "-" + key.Role
}

// ServiceName is the name of the Service of a role in a slice and revision.
func ServiceName(set string, key Key) string {
	return LeaderWorkerSetName(set, key) + serviceSuffix
}

// ScalerName is <set>-<role>.
func ScalerName(set, role string) string { return set + "-" + role }

// ScalerSelector selects the leaders of a role, of all slices and revisions.
func ScalerSelector(set, role string) string {
	return dsv1.SetNameLabelKey + "=" + set + "," + dsv1.RoleLabelKey + "=" + role + "," +
		lwsv1.WorkerIndexLabelKey + "=0"
}
