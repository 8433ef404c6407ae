{{/*
Everything of the manager is named after manager.name, which is in _name.tpl. The
other templates are the same in the charts of both managers.
*/}}
{{- define "manager.labels" -}}
app.kubernetes.io/name: {{ include "manager.name" . }}
app.kubernetes.io/component: {{ include "manager.program" . }}
{{- end }}

{{/* Labels with those of a user, which go before ours. */}}
{{- define "manager.labelsWith" -}}
{{- toYaml (mergeOverwrite (include "manager.labels" .root | fromYaml) (deepCopy .labels)) }}
{{- end }}

{{- define "manager.selector" -}}
app.kubernetes.io/name: {{ include "manager.name" . }}
control-plane: controller-manager
{{- end }}

{{- define "manager.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end }}

{{- define "manager.certificateDir" -}}
/etc/{{ include "manager.name" . }}-certificate
{{- end }}

{{/* The manager's configuration file: what the chart needs, and over it what the
values say. */}}
{{- define "manager.configuration" -}}
{{- $name := include "manager.name" . }}
{{- $own := dict
  "apiVersion" "config.lws.x-k8s.io/v1"
  "kind" "Configuration"
  "leaderElection" (dict "leaderElect" true) }}
{{- if .Values.certManager.enabled }}
{{- $_ := set $own "webhook" (dict "certDir" (include "manager.certificateDir" .)) }}
{{- $_ := set $own "internalCertManagement" (dict "enable" false) }}
{{- else }}
{{- $_ := set $own "internalCertManagement" (dict
  "enable" true
  "webhookServiceName" (printf "%s-webhook-service" $name)
  "webhookSecretName" (printf "%s-webhook-server-cert" $name)) }}
{{- end }}
{{- with .Values.featureGates }}
{{- $_ := set $own "featureGates" . }}
{{- end }}
{{- toYaml (mergeOverwrite $own (deepCopy .Values.configuration)) }}
{{- end }}

{{/* The port of an address like ":8443"; 0 if nothing is served. */}}
{{- define "manager.port" -}}
{{ regexFind "[0-9]+$" . }}
{{- end }}

{{/* An object of files/, which name the namespace that kustomize installs to. */}}
{{- define "manager.object" -}}
{{- $there := printf "namespace: %s-system" (include "manager.name" .root) }}
{{- .content | toString | replace $there (printf "namespace: %s" .root.Release.Namespace) | trim }}
{{- end }}
