{{- define "innbound.labels" -}}
app.kubernetes.io/name: innbound
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "innbound.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* The parts that every pod of the chart has. Call with (dict "root" . "args" (list …) "resources" …). */}}
{{- define "innbound.podSpec" -}}
terminationGracePeriodSeconds: 30
automountServiceAccountToken: false
securityContext: { runAsNonRoot: true, runAsUser: 10001, runAsGroup: 10001, fsGroup: 10001, seccompProfile: { type: RuntimeDefault } }
containers:
  - name: innbound
    image: {{ include "innbound.image" .root | quote }}
    imagePullPolicy: {{ .root.Values.image.pullPolicy }}
    args: {{ toJson .args }}
    env:
      - { name: DATABASE_URL, valueFrom: { secretKeyRef: { name: {{ .root.Values.secretName | quote }}, key: database-url } } }
      - { name: INNBOUND_KEY, valueFrom: { secretKeyRef: { name: {{ .root.Values.secretName | quote }}, key: key } } }
    {{- with .root.Values.envFrom }}
    envFrom: {{ toJson . }}
    {{- end }}
    {{- if .probes }}
    ports: [{ name: http, containerPort: 4180 }]
    readinessProbe: { httpGet: { path: /readyz, port: http }, periodSeconds: 5, failureThreshold: 2 }
    # A first start with many brands, or one that migrates a large table, may take minutes.
    startupProbe: { httpGet: { path: /healthz, port: http }, periodSeconds: 5, failureThreshold: 180 }
    livenessProbe: { httpGet: { path: /healthz, port: http }, periodSeconds: 15, failureThreshold: 4 }
    {{- end }}
    resources: {{ toJson .resources }}
    securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: [ALL] } }
    volumeMounts:
      - { name: workspace, mountPath: /workspace }
      - { name: tmp, mountPath: /tmp }
      {{- if .root.Values.documents.connectors }}
      - { name: connectors, mountPath: /workspace/connectors }
      {{- end }}
      {{- if .root.Values.documents.settings }}
      - { name: settings, mountPath: /workspace/innbound.yaml, subPath: innbound.yaml }
      {{- end }}
      {{- if .root.Values.documents.integrations }}
      - { name: integrations, mountPath: /workspace/integrations }
      {{- end }}
      {{- if .root.Values.documents.destinations }}
      - { name: destinations, mountPath: /workspace/destinations }
      {{- end }}
volumes:
  - { name: workspace, emptyDir: {} }
  - { name: tmp, emptyDir: {} }
  {{- if .root.Values.documents.connectors }}
  - { name: connectors, configMap: { name: {{ .root.Values.documents.connectors | quote }} } }
  {{- end }}
  {{- if .root.Values.documents.settings }}
  - { name: settings, configMap: { name: {{ .root.Values.documents.settings | quote }} } }
  {{- end }}
  {{- if .root.Values.documents.integrations }}
  - { name: integrations, configMap: { name: {{ .root.Values.documents.integrations | quote }} } }
  {{- end }}
  {{- if .root.Values.documents.destinations }}
  - { name: destinations, configMap: { name: {{ .root.Values.documents.destinations | quote }} } }
  {{- end }}
{{- end }}
