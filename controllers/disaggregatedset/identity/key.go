package identity

import (
	"strconv"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
)

// Key tells one LeaderWorkerSet of a set, and its Service, from the others.
type Key struct {
	Slice     int
	Revision  string
	Role      string
	Sliceless bool
}

// KeyOf reads the key from the labels of a LeaderWorkerSet or Service; false means
// that they are no key.
func KeyOf(labels map[string]string) (Key, bool) {
	key := Key{Revision: labels[dsv1.RevisionLabelKey], Role: labels[dsv1.RoleLabelKey]}
	if key.Revision == "" || key.Role == "" {
		return Key{}, false
	}
	written, sliced := labels[dsv1.SliceLabelKey]
	if !sliced {
		key.Sliceless = true
		return key, true
	}
	slice, err := strconv.Atoi(written)
	if err != nil || slice < 0 || strconv.Itoa(slice) != written {
		return Key{}, false
	}
	key.Slice = slice
	return key, true
}

// SetOf is the name of the set in an object's labels.
func SetOf(labels map[string]string) string { return labels[dsv1.SetNameLabelKey] }

// Labels select exactly the pods of one role in one slice and revision.
func Labels(set string, key Key) map[string]string {
	labels := map[string]string{
		dsv1.SetNameLabelKey:  set,
		dsv1.RoleLabelKey:     key.Role,
		dsv1.RevisionLabelKey: key.Revision,
	}
	if !key.Sliceless {
		labels[dsv1.SliceLabelKey] = strconv.Itoa(key.Slice)
	}
	return labels
}

// LeaderWorkerSetLabels are those of a LeaderWorkerSet and of its pod templates.
func LeaderWorkerSetLabels(set string, key Key) map[string]string {
	labels := Labels(set, key)
	labels[dsv1.AppLabelKey] = set + "-" + strconv.Itoa(key.Slice) + "-" + key.Role
	return labels
}

// ScalerLabels are those of the scaler of a role.
func ScalerLabels(set, role string) map[string]string {
	return map[string]string{dsv1.SetNameLabelKey: set, dsv1.RoleLabelKey: role}
}

// IsInjected says whether a pod label is written by the manager, whatever the user
// says.
func IsInjected(label string) bool {
	switch label {
	case dsv1.SetNameLabelKey, dsv1.RoleLabelKey, dsv1.SliceLabelKey, dsv1.RevisionLabelKey, dsv1.AppLabelKey:
		return true
	}
	return false
}

// Variables are the environment variables of every container, in order.
func Variables(set string, key Key) [][2]string {
	return [][2]string{
		{dsv1.SetNameEnvVar, set},
		{dsv1.RoleEnvVar, key.Role},
		{dsv1.SliceEnvVar, strconv.Itoa(key.Slice)},
		{dsv1.RevisionEnvVar, key.Revision},
	}
}

// IsVariable says whether an environment variable is written by the manager.
func IsVariable(name string) bool {
	switch name {
	case dsv1.SetNameEnvVar, dsv1.RoleEnvVar, dsv1.SliceEnvVar, dsv1.RevisionEnvVar:
		return true
	}
	return false
}

// Has says whether labels contain all that is wanted.
func Has(labels, wanted map[string]string) bool {
	for name, value := range wanted {
		if found, ok := labels[name]; !ok || found != value {
			return false
		}
	}
	return true
}
