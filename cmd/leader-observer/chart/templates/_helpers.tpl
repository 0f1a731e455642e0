{{- define "leader-observer.name" -}}
{{- if contains "leader-observer" .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-leader-observer" .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "leader-observer.labels" -}}
app.kubernetes.io/name: leader-observer
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* What a schema cannot say and the observer would refuse when it starts. */}}
{{- define "leader-observer.check" -}}
{{- $v := .Values -}}
{{- if not (or $v.kubernetes.enabled $v.etcd $v.postgres $v.redis $v.nats $v.zookeeper) -}}
{{- fail "nothing is watched: set kubernetes.enabled, or add etcd, postgres, redis, nats or zookeeper" -}}
{{- end -}}
{{- if and $v.kubernetes.enabled (ne (len $v.kubernetes.namespaces) 1) (not $v.kubernetes.names) (not (contains "{namespace}" $v.kubernetes.lockName)) -}}
{{- fail (printf "kubernetes.lockName: %q lacks {namespace}, so that leases of one name would be one lock: add it, or name one namespace" $v.kubernetes.lockName) -}}
{{- end -}}
{{- end -}}

{{- define "leader-observer.config" -}}
{{- include "leader-observer.check" . -}}
listen: ":9713"
forgetAfter: {{ .Values.forgetAfter }}
maxLocks: {{ int64 .Values.maxLocks }}
redaction:
  policy: {{ .Values.redaction.policy }}
{{- if eq .Values.redaction.policy "hash" }}
  keyID: {{ .Values.redaction.keyID | quote }}
  keyFile: /etc/leader-observer-key/key
{{- end }}
{{- with .Values.kubernetes }}
{{- if .enabled }}
kubernetes:
  - lockName: {{ .lockName | quote }}
    {{- with .namespaces }}
    namespaces: {{ toJson . }}
    {{- end }}
    {{- with .labelSelector }}
    labelSelector: {{ . | quote }}
    {{- end }}
    {{- with .names }}
    names: {{ toJson . }}
    {{- end }}
    {{- if .withSystemLeases }}
    withSystemLeases: true
    {{- end }}
{{- end }}
{{- end }}
{{- range $backend := list "etcd" "postgres" "redis" "nats" "zookeeper" }}
{{- with index $.Values $backend }}
{{ $backend }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end -}}
