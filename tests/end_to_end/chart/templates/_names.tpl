{{- define "lighthouse.labels" -}}
app.kubernetes.io/name: lighthouse
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}
