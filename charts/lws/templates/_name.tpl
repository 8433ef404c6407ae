{{/* The manager's name, and its program's. */}}
{{- define "manager.name" -}}
lws
{{- end }}

{{- define "manager.program" -}}
lws-manager
{{- end }}
