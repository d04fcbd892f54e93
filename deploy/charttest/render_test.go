// Package charttest renders the Helm chart with Helm's own library and checks what comes out against the types of the Kubernetes API,
// against rules that no schema has, and against the program: no cluster is needed. The compose files are loaded by the library of compose.
package charttest

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/releaseutil"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

const chartDir = "../helm/reprise"

// release is what the chart makes of some values.
type release struct {
	files   map[string]string // by template
	objects []runtime.Object
}

// strict decodes manifests into the types of the API versions that they name: it refuses unknown kinds, unknown fields, wrong types and
// names given twice.
var strict = func() *json.Serializer {
	types := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, monitoring.AddToScheme} {
		if err := add(types); err != nil {
			panic(err)
		}
	}
	return json.NewSerializerWithOptions(json.DefaultMetaFactory, types, types, json.SerializerOptions{Yaml: true, Strict: true})
}()

// render makes the manifests as `helm template NAME` does, the schema of the values included.
func render(name string, values map[string]any) (*release, error) {
	loaded, err := loader.Load(chartDir)
	if err != nil {
		return nil, err
	}
	all, err := chartutil.ToRenderValues(loaded, values, chartutil.ReleaseOptions{Name: name, Namespace: "llm", Revision: 1, IsInstall: true}, nil)
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(loaded, all)
	if err != nil {
		return nil, err
	}
	r := &release{files: files}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if !strings.HasSuffix(path, ".yaml") {
			continue
		}
		for _, manifest := range releaseutil.SplitManifests(files[path]) {
			object, _, err := strict.Decode([]byte(manifest), nil, nil)
			if err != nil {
				return r, &manifestError{path, manifest, err}
			}
			r.objects = append(r.objects, object)
		}
	}
	return r, nil
}

type manifestError struct {
	path, text string
	err        error
}

func (e *manifestError) Error() string { return e.path + ": " + e.err.Error() + "\n" + e.text }

// of returns the objects of one type.
func of[T runtime.Object](r *release) (found []T) {
	for _, o := range r.objects {
		if o, ok := o.(T); ok {
			found = append(found, o)
		}
	}
	return found
}

// only returns the one object of a type.
func only[T runtime.Object](t *testing.T, r *release) T {
	t.Helper()
	found := of[T](r)
	if len(found) != 1 {
		t.Fatalf("%d objects of type %T, not 1", len(found), *new(T))
	}
	return found[0]
}

// examples are the values that the checks render: the files of the chart, and what they leave out.
func examples(t *testing.T) map[string]map[string]any {
	all := map[string]map[string]any{
		"least":   parse(t, least),
		"monitor": parse(t, least+"metrics: {serviceMonitor: {enabled: true, labels: {team: llm}}}\nserviceAccount: {name: other}\n"),
		"hpa": parse(t, least+shared+`
autoscaling:
  enabled: true
  metrics:
    - type: Pods
      pods: {metric: {name: reprise_upstream_calls}, target: {type: AverageValue, averageValue: "50"}}
affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: arch, operator: Exists}]}]}}}
tolerations: [{key: llm, operator: Exists}]
nodeSelector: {disk: ssd}
podLabels: {team: llm}
podAnnotations: {note: x}
priorityClassName: high
topologySpreadConstraints: [{maxSkew: 2, topologyKey: rack, whenUnsatisfiable: DoNotSchedule}]
drain: {preStopSeconds: 0}
podDisruptionBudget: {enabled: false}
image: {pullSecrets: [mirror]}
service: {type: LoadBalancer, annotations: {a: b}, admin: {annotations: {c: d}}}
`),
		"fallback": parse(t, `
secrets: {adminToken: {existingSecret: a}, upstreamKey: {existingSecret: a}, clientKeys: {existingSecret: a}, upstreamKeys: {hosted: {existingSecret: b, key: api-key}}}
upstream: {url: "a=http://vllm:8000/v1,hosted=https://api.openai.com/v1;fallback;key-file=/etc/reprise/secrets/upstream-key-hosted"}
`),
		"traces": parse(t, least+`
traces: {endpoint: "https://otlp.example.com/v1", share: "1", headers: {existingSecret: collector}}
settings: {OTEL_SERVICE_NAME: cache-eu}
networkPolicy: {collector: [{to: [{ipBlock: {cidr: 192.0.2.0/24}}], ports: [{protocol: TCP, port: 443}]}]}
`),
		"open": parse(t, least+"networkPolicy: {enabled: false}\nstore: {type: file, file: {existingClaim: answers}}\n"),
	}
	paths, err := filepath.Glob(chartDir + "/examples/*.yaml")
	if err != nil || len(paths) != 3 {
		t.Fatalf("%d example files, not 3: %v", len(paths), err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(path), ".yaml")] = parse(t, string(text))
	}
	return all
}

// least are the values that have no default; shared makes the store of many replicas.
const (
	least  = "secrets: {adminToken: {existingSecret: reprise}}\n"
	shared = `
store: {type: redis, redis: {url: "redis://redis:6379"}}
networkPolicy: {redis: [{to: [{podSelector: {}}], ports: [{port: 6379}]}]}
`
)

func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	values := map[string]any{}
	if err := yaml.UnmarshalStrict([]byte(text), &values); err != nil {
		t.Fatal(err)
	}
	return values
}

// eachRelease runs a check on every example.
func eachRelease(t *testing.T, check func(*testing.T, *release)) {
	for name, values := range examples(t) {
		t.Run(name, func(t *testing.T) {
			r, err := render("llm", values)
			if err != nil {
				t.Fatal(err)
			}
			check(t, r)
		})
	}
}

func TestExamplesHaveTheirObjects(t *testing.T) {
	kinds := map[string]string{
		"least":       "ConfigMap Deployment NetworkPolicy Pod Service Service ServiceAccount",
		"fallback":    "ConfigMap Deployment NetworkPolicy Pod Service Service ServiceAccount",
		"monitor":     "ConfigMap Deployment NetworkPolicy Pod Service Service ServiceAccount ServiceMonitor",
		"hpa":         "ConfigMap Deployment HorizontalPodAutoscaler NetworkPolicy Pod Service Service ServiceAccount",
		"traces":      "ConfigMap Deployment NetworkPolicy Pod Service Service ServiceAccount",
		"open":        "ConfigMap Deployment Pod Service Service ServiceAccount",
		"one-replica": "ConfigMap Deployment NetworkPolicy PersistentVolumeClaim Pod Service Service ServiceAccount",
		"sentinel":    "ConfigMap ConfigMap Deployment HorizontalPodAutoscaler NetworkPolicy Pod PodDisruptionBudget PodMonitor PrometheusRule Service Service ServiceAccount",
		"air-gapped":  "ConfigMap Deployment NetworkPolicy Pod PodDisruptionBudget Service Service",
	}
	for name, values := range examples(t) {
		r, err := render("llm", values)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, o := range r.objects {
			got = append(got, o.GetObjectKind().GroupVersionKind().Kind)
		}
		slices.Sort(got)
		if s := strings.Join(got, " "); s != kinds[name] {
			t.Errorf("%s: %s, want %s", name, s, kinds[name])
		}
	}
}

// TestStrictDecoding: a field that the API does not have, or a name given twice, is found.
func TestStrictDecoding(t *testing.T) {
	for _, manifest := range []string{
		"apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {port: 80}",
		"apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {type: ClusterIP, type: NodePort}",
		"apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: \"80\"}]}",
		"apiVersion: autoscaling/v2beta2\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}",
		"apiVersion: monitoring.coreos.com/v1\nkind: PodMonitor\nmetadata: {name: a}\nspec: {endpoints: []}",
	} {
		if _, _, err := strict.Decode([]byte(manifest), nil, nil); err == nil {
			t.Errorf("no error:\n%s", manifest)
		}
	}
}
