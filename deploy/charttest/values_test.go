package charttest

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
)

// TestWrongValues: the schema and the checks of the templates refuse what could not work, and name it.
func TestWrongValues(t *testing.T) {
	for name, c := range map[string]struct{ values, want string }{
		"no admin token":         {"replicaCount: 1", "secrets"},
		"no name of a secret":    {"secrets: {adminToken: {existingSecret: ''}}", "/secrets/adminToken/existingSecret"},
		"a secret in plain":      {least + "store: {redis: {password: sesame}}", "/store/redis/password"},
		"another secret":         {"secrets: {adminToken: {existingSecret: a, value: sesame}}", "value"},
		"unknown name":           {least + "replicas: 2", "replicas"},
		"unknown name below":     {least + "service: {admin: {prot: 1}}", "prot"},
		"wrong type":             {least + "replicaCount: two", "/replicaCount"},
		"none":                   {least + "replicaCount: 0", "/replicaCount"},
		"two without Redis":      {least + "replicaCount: 2", "/replicaCount"},
		"two with a file":        {least + "replicaCount: 2\nstore: {type: file}", "/replicaCount"},
		"scaled without Redis":   {least + "autoscaling: {enabled: true}", "/autoscaling/enabled"},
		"Redis without address":  {least + "store: {type: redis}", "/store/redis/url"},
		"credential in the URL":  {least + "store: {redis: {url: 'redis://u:p@redis:6379'}}", "/store/redis/url"},
		"no such store":          {least + "store: {type: memcached}", "/store/type"},
		"credential in upstream": {least + "upstream: {url: 'https://u:p@api'}", "/upstream/url"},
		"setting of the chart":   {least + "settings: {REPRISE_STORE: memory}", "/settings"},
		"delay of the drain":     {least + "settings: {REPRISE_DRAIN_DELAY: 30s}", "/settings/REPRISE_DRAIN_DELAY"}, // drain.preStopSeconds counts in the grace
		"secret as a setting":    {least + "settings: {REPRISE_UPSTREAM_KEY: sk-1}", "/settings"},
		"password as a setting":  {least + "settings: {REPRISE_REDIS_PASSWORD: sesame}", "/settings"},
		"number as a setting":    {least + "settings: {REPRISE_MAX_CONCURRENT: 64}", "/settings/REPRISE_MAX_CONCURRENT"},
		"no setting":             {least + "settings: {GOGC: '50'}", "/settings"},
		"no memory limit":        {least + "resources: {limits: {memory: null}}", "/resources/limits"},
		"memory without a unit":  {least + "resources: {limits: {memory: 2GB}}", "/resources/limits/memory"},
		"two monitors":           {least + "metrics: {podMonitor: {enabled: true}, serviceMonitor: {enabled: true}}", "/metrics"},
		"label of the chart":     {least + "podLabels: {app.kubernetes.io/component: other}", "/podLabels"},
		"checksum":               {least + "podAnnotations: {checksum/config: x}", "/podAnnotations"},
		"all may use the API":    {least + "networkPolicy: {clients: []}", "/networkPolicy/clients"},
		"all upstreams":          {least + "networkPolicy: {upstream: []}", "/networkPolicy/upstream"},
		"digest":                 {least + "image: {digest: latest}", "/image/digest"},
		"Redis out of reach":     {least + "store: {type: redis, redis: {url: 'redis://redis'}}", "networkPolicy.redis"},
		"sampler as a setting":   {least + "settings: {OTEL_TRACES_SAMPLER: always_on}", "/settings/OTEL_TRACES_SAMPLER"},
		"credential of traces":   {least + "traces: {endpoint: 'http://u:p@collector:4318'}", "/traces/endpoint"},
		"endpoint of gRPC":       {least + "traces: {endpoint: 'collector:4317'}", "/traces/endpoint"},
		"share of traces":        {least + "traces: {share: '1%'}", "/traces/share"},
		"collector out of reach": {least + "traces: {endpoint: 'http://collector:4318'}", "networkPolicy.collector"},
		"drain too long":         {least + "drain: {timeoutSeconds: 110}", "terminationGracePeriodSeconds"},
		"budget of all":          {least + shared + "replicaCount: 3\npodDisruptionBudget: {maxUnavailable: 3}", "podDisruptionBudget"},
		"more than most":         {least + shared + "autoscaling: {enabled: true, minReplicas: 9, maxReplicas: 8}", "minReplicas"},
		"name of an upstream":    {"secrets: {adminToken: {existingSecret: a}, upstreamKeys: {a/b: {existingSecret: a, key: k}}}", "/secrets/upstreamKeys"},
		"upstream key for all":   {"secrets: {adminToken: {existingSecret: a}, upstreamKey: {existingSecret: a}}", "clientKeys"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := render("llm", parse(t, c.values)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want an error that names %q", err, c.want)
			}
		})
	}
}

// TestLint runs Helm's own checks of a chart.
func TestLint(t *testing.T) {
	result := lint.AllWithKubeVersion(chartDir, examples(t)["sentinel"], "llm", nil)
	for _, m := range result.Messages {
		if m.Severity > support.InfoSev {
			t.Error(m)
		}
	}
	if len(result.Messages) > 1 { // no icon
		t.Errorf("%d messages: %v", len(result.Messages), result.Messages)
	}
}

// TestFilesArePlain: Helm warns of links at each use of a chart, and YAML has no tabs.
func TestFilesArePlain(t *testing.T) {
	err := filepath.WalkDir(chartDir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if !d.Type().IsRegular() {
			t.Errorf("%s is no plain file: helm would warn of it", path)
		}
		text, err := os.ReadFile(path)
		if strings.ContainsAny(string(text), "\t\r\x00") {
			t.Errorf("%s has a tab, a carriage return or a zero byte", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
