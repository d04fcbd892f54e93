{{- define "reprise.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{/* Short enough for every suffix of the chart within the 63 characters of a name. */}}
{{- define "reprise.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else if contains (include "reprise.name" .) .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "reprise.name" .) | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "reprise.instance" -}}
app.kubernetes.io/name: {{ include "reprise.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "reprise.selector" -}}
{{ include "reprise.instance" . }}
app.kubernetes.io/component: proxy
{{- end -}}

{{- define "reprise.labels" -}}
{{ include "reprise.instance" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end -}}

{{- define "reprise.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{- define "reprise.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "reprise.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/* The largest number of replicas that there can be. */}}
{{- define "reprise.replicas" -}}
{{- if .Values.autoscaling.enabled }}{{ .Values.autoscaling.maxReplicas }}{{ else }}{{ .Values.replicaCount }}{{ end -}}
{{- end -}}

{{/* The strict context of every pod: what the standard "restricted" asks for, and a root that cannot be written. */}}
{{- define "reprise.podSecurityContext" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "reprise.securityContext" -}}
allowPrivilegeEscalation: false
privileged: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities:
  drop: [ALL]
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{/* What the schema cannot compare. */}}
{{- define "reprise.check" -}}
{{- $v := .Values -}}
{{- if le (int $v.terminationGracePeriodSeconds) (add (int $v.drain.preStopSeconds) (int $v.drain.timeoutSeconds) | int) -}}
{{- fail (printf "terminationGracePeriodSeconds (%d) must be more than drain.preStopSeconds and drain.timeoutSeconds together (%d), or open answers are cut" (int $v.terminationGracePeriodSeconds) (add (int $v.drain.preStopSeconds) (int $v.drain.timeoutSeconds))) -}}
{{- end -}}
{{- if and $v.autoscaling.enabled (gt (int $v.autoscaling.minReplicas) (int $v.autoscaling.maxReplicas)) -}}
{{- fail "autoscaling.minReplicas must be at most autoscaling.maxReplicas" -}}
{{- end -}}
{{- if and $v.secrets.upstreamKey.existingSecret (not $v.secrets.clientKeys.existingSecret) -}}
{{- fail "secrets.upstreamKey needs secrets.clientKeys: every client in the cluster could otherwise spend that credential" -}}
{{- end -}}
{{- $least := int (ternary $v.autoscaling.minReplicas $v.replicaCount $v.autoscaling.enabled) -}}
{{- if and $v.podDisruptionBudget.enabled (gt $least 1) (ge (int $v.podDisruptionBudget.maxUnavailable) $least) -}}
{{- fail (printf "podDisruptionBudget.maxUnavailable must be less than the %d replicas, or an eviction can take all of them" $least) -}}
{{- end -}}
{{- end -}}
