{{/*
The secrets that are set, as a dictionary from the name of a file to the secret's reference and the setting that names the file,
"" where an option of an upstream does.
*/}}
{{- define "reprise.secrets" -}}
{{- $all := list
  (dict "file" "admin-token" "setting" "REPRISE_ADMIN_TOKEN_FILE" "ref" .Values.secrets.adminToken)
  (dict "file" "upstream-key" "setting" "REPRISE_UPSTREAM_KEY_FILE" "ref" .Values.secrets.upstreamKey)
  (dict "file" "client-keys" "setting" "REPRISE_CLIENT_KEYS_FILE" "ref" .Values.secrets.clientKeys)
  (dict "file" "embedder-key" "setting" "REPRISE_EMBEDDER_KEY_FILE" "ref" .Values.secrets.embedderKey)
-}}
{{- if eq .Values.store.type "redis" -}}
{{- $all = concat $all (list
  (dict "file" "shared-secret" "setting" "REPRISE_SECRET_FILE" "ref" .Values.secrets.sharedSecret)
  (dict "file" "redis-password" "setting" "REPRISE_REDIS_PASSWORD_FILE" "ref" .Values.store.redis.password)
  (dict "file" "sentinel-password" "setting" "REPRISE_REDIS_SENTINEL_PASSWORD_FILE" "ref" .Values.store.redis.sentinelPassword))
-}}
{{- end -}}
{{- range $name, $ref := .Values.secrets.upstreamKeys -}}
{{- $all = append $all (dict "file" (printf "upstream-key-%s" $name) "setting" "" "ref" $ref) -}}
{{- end -}}
{{- $set := dict -}}
{{- range $all -}}
{{- if .ref.existingSecret -}}{{- $_ := set $set .file (dict "setting" .setting "name" .ref.existingSecret "key" .ref.key) -}}{{- end -}}
{{- end -}}
{{- $set | toJson -}}
{{- end -}}
