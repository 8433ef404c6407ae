package revision

import (
	corev1 "k8s.io/api/core/v1"
)

const (
	// defaultMode is the mode of files of Secrets, ConfigMaps, projected and
	// downward API volumes: the four constants of the API have this one value.
	defaultMode = corev1.SecretVolumeSourceDefaultMode
	// defaultTokenSeconds is the life of a projected service account token.
	defaultTokenSeconds = 3600
)

func fillVolume(volume *corev1.Volume) {
	source := &volume.VolumeSource
	if *source == (corev1.VolumeSource{}) {
		source.EmptyDir = &corev1.EmptyDirVolumeSource{}
	}
	fillFileVolume(source)
	fillRemoteVolume(source)
	if source.Image != nil {
		fillPullPolicy(&source.Image.PullPolicy, source.Image.Reference)
	}
	if source.Ephemeral != nil && source.Ephemeral.VolumeClaimTemplate != nil {
		fillClaimSpec(&source.Ephemeral.VolumeClaimTemplate.Spec)
	}
}

// fillFileVolume fills sources whose content comes from the node or the API.
func fillFileVolume(source *corev1.VolumeSource) {
	if source.HostPath != nil {
		fillPointer(&source.HostPath.Type, corev1.HostPathUnset)
	}
	if source.Secret != nil {
		fillPointer(&source.Secret.DefaultMode, defaultMode)
	}
	if source.ConfigMap != nil {
		fillPointer(&source.ConfigMap.DefaultMode, defaultMode)
	}
	if source.DownwardAPI != nil {
		fillPointer(&source.DownwardAPI.DefaultMode, defaultMode)
		fillDownwardFiles(source.DownwardAPI.Items)
	}
	if source.Projected != nil {
		fillPointer(&source.Projected.DefaultMode, defaultMode)
		for i := range source.Projected.Sources {
			fillProjection(&source.Projected.Sources[i])
		}
	}
}

func fillProjection(projection *corev1.VolumeProjection) {
	if projection.DownwardAPI != nil {
		fillDownwardFiles(projection.DownwardAPI.Items)
	}
	if projection.ServiceAccountToken != nil {
		fillPointer(&projection.ServiceAccountToken.ExpirationSeconds, defaultTokenSeconds)
	}
}

func fillDownwardFiles(files []corev1.DownwardAPIVolumeFile) {
	for i := range files {
		fillFieldRef(files[i].FieldRef)
	}
}

// fillRemoteVolume fills the deprecated network volumes.
func fillRemoteVolume(source *corev1.VolumeSource) {
	if source.ISCSI != nil {
		fill(&source.ISCSI.ISCSIInterface, "default")
	}
	if source.RBD != nil {
		fill(&source.RBD.RBDPool, "rbd")
		fill(&source.RBD.RadosUser, "admin")
		fill(&source.RBD.Keyring, "/etc/ceph/keyring")
	}
	if source.AzureDisk != nil {
		fillPointer(&source.AzureDisk.CachingMode, corev1.AzureDataDiskCachingReadWrite)
		fillPointer(&source.AzureDisk.FSType, "ext4")
		fillPointer(&source.AzureDisk.ReadOnly, false)
		fillPointer(&source.AzureDisk.Kind, corev1.AzureSharedBlobDisk)
	}
	if source.ScaleIO != nil {
		fill(&source.ScaleIO.StorageMode, "ThinProvisioned")
		fill(&source.ScaleIO.FSType, "xfs")
	}
}

func fillClaimSpec(spec *corev1.PersistentVolumeClaimSpec) {
	fillPointer(&spec.VolumeMode, corev1.PersistentVolumeFilesystem)
}
