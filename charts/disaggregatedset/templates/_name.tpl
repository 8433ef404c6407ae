{{/* The manager's name, and its program's. */}}
{{- define "manager.name" -}}
disaggregatedset
{{- end }}

{{- define "manager.program" -}}
disaggregatedset-manager
{{- end }}
