package apis

// Deep copies.
//go:generate go tool -modfile=../go.tools.mod controller-gen object paths=./...

// Apply configurations and typed clients.
//go:generate go tool -modfile=../go.tools.mod applyconfiguration-gen --output-dir applyconfiguration --output-pkg sigs.k8s.io/lws/apis/applyconfiguration --external-applyconfigurations k8s.io/api/core/v1.PodTemplateSpec:k8s.io/client-go/applyconfigurations/core/v1,k8s.io/api/core/v1.PersistentVolumeClaim:k8s.io/client-go/applyconfigurations/core/v1,k8s.io/api/apps/v1.StatefulSetPersistentVolumeClaimRetentionPolicy:k8s.io/client-go/applyconfigurations/apps/v1 ./leaderworkerset/v1 ./disaggregatedset/v1
//go:generate go tool -modfile=../go.tools.mod client-gen --clientset-name versioned --input-base sigs.k8s.io/lws/apis --input leaderworkerset/v1,disaggregatedset/v1 --apply-configuration-package sigs.k8s.io/lws/apis/applyconfiguration --output-dir client/clientset --output-pkg sigs.k8s.io/lws/apis/client/clientset
//go:generate go tool -modfile=../go.tools.mod lister-gen --output-dir client/listers --output-pkg sigs.k8s.io/lws/apis/client/listers ./leaderworkerset/v1 ./disaggregatedset/v1
//go:generate go tool -modfile=../go.tools.mod informer-gen --output-dir client/informers --output-pkg sigs.k8s.io/lws/apis/client/informers --versioned-clientset-package sigs.k8s.io/lws/apis/client/clientset/versioned --listers-package sigs.k8s.io/lws/apis/client/listers ./leaderworkerset/v1 ./disaggregatedset/v1

// CustomResourceDefinitions, without the descriptions of foreign types.
//go:generate go tool -modfile=../go.tools.mod controller-gen crd:generateEmbeddedObjectMeta=true paths=./leaderworkerset/... paths=./disaggregatedset/... output:crd:artifacts:config=../config/crd/bases
//go:generate go run ./internal/crdgen ../config/crd/bases
