{{/* Labels that select the pods of one component of a release. */}}
{{- define "relay.selector" -}}
app.kubernetes.io/name: relay
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* Pod fields shared by all pods, for the Pod Security Standard "restricted". */}}
{{- define "relay.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile:
    type: RuntimeDefault
volumes:
  - name: tmp
    emptyDir:
      sizeLimit: 64Mi
  - name: spool
    emptyDir:
      sizeLimit: 512Mi
{{- end }}

{{/* Container fields shared by all pods, except arguments and environment. */}}
{{- define "relay.container" -}}
name: relay
image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}"
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
volumeMounts:
  - name: tmp
    mountPath: /tmp
  - name: spool
    mountPath: /var/lib/relay
{{- end }}
