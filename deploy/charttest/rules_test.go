package charttest

import (
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	disruption "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/yaml"
)

// pods are the templates of all pods of a release: of the proxy, then of the test.
func pods(t *testing.T, r *release) []core.PodTemplateSpec {
	test := only[*core.Pod](t, r)
	return []core.PodTemplateSpec{only[*apps.Deployment](t, r).Spec.Template, {ObjectMeta: test.ObjectMeta, Spec: test.Spec}}
}

// TestPodsAreRestricted: the pods pass the strictest of the standards for pods, and are stricter in what the standard leaves open.
func TestPodsAreRestricted(t *testing.T) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	eachRelease(t, func(t *testing.T, r *release) {
		for _, pod := range pods(t, r) {
			for _, result := range evaluator.EvaluatePod(restricted, &pod.ObjectMeta, &pod.Spec) {
				if !result.Allowed {
					t.Errorf("%s: %s", result.ForbiddenReason, result.ForbiddenDetail)
				}
			}
			if token := pod.Spec.AutomountServiceAccountToken; token == nil || *token {
				t.Error("a pod gets a token of the API of Kubernetes")
			}
			if links := pod.Spec.EnableServiceLinks; links == nil || *links {
				t.Error("a pod gets variables such as REPRISE_PORT, which are no settings")
			}
			for _, c := range pod.Spec.Containers {
				if root := c.SecurityContext.ReadOnlyRootFilesystem; root == nil || !*root {
					t.Errorf("container %s can write its root", c.Name)
				}
				if c.Resources.Limits.Memory().IsZero() {
					t.Errorf("container %s has no memory limit", c.Name)
				}
			}
		}
	})
}

func selects(t *testing.T, s *meta.LabelSelector, on map[string]string) bool {
	t.Helper()
	selector, err := meta.LabelSelectorAsSelector(s)
	if err != nil {
		t.Fatal(err)
	}
	return !selector.Empty() && selector.Matches(labels.Set(on))
}

// TestSelectorsMatch: whatever selects pods or services of the release finds them, and does not take the pod of the test for a proxy.
func TestSelectorsMatch(t *testing.T) {
	eachRelease(t, func(t *testing.T, r *release) {
		all := pods(t, r)
		proxy, test := all[0].Labels, all[1].Labels
		check := func(what string, s *meta.LabelSelector) {
			t.Helper()
			if !selects(t, s, proxy) || selects(t, s, test) {
				t.Errorf("%s selects %v", what, s)
			}
		}
		deployment := only[*apps.Deployment](t, r)
		check("the deployment", deployment.Spec.Selector)
		for _, s := range of[*core.Service](r) {
			check("service "+s.Name, &meta.LabelSelector{MatchLabels: s.Spec.Selector})
		}
		for _, p := range of[*disruption.PodDisruptionBudget](r) {
			check("the disruption budget", p.Spec.Selector)
		}
		for _, p := range of[*networking.NetworkPolicy](r) {
			check("the network policy", &p.Spec.PodSelector)
			from := p.Spec.Ingress[1].From[0].PodSelector
			if !selects(t, from, test) || selects(t, from, proxy) {
				t.Errorf("the test is let in by %v", from)
			}
		}
		for _, m := range of[*monitoring.PodMonitor](r) {
			check("the monitor", &m.Spec.Selector)
		}
		for _, c := range deployment.Spec.Template.Spec.TopologySpreadConstraints {
			if c.LabelSelector != nil {
				check("the spread over "+c.TopologyKey, c.LabelSelector)
			}
		}
		for _, h := range of[*autoscaling.HorizontalPodAutoscaler](r) {
			if h.Spec.ScaleTargetRef.Name != deployment.Name || deployment.Spec.Replicas != nil {
				t.Errorf("the autoscaler scales %q, and the deployment sets replicas %v", h.Spec.ScaleTargetRef.Name, deployment.Spec.Replicas)
			}
		}
		for _, m := range of[*monitoring.ServiceMonitor](r) {
			admin := slices.DeleteFunc(of[*core.Service](r), func(s *core.Service) bool { return !selects(t, &m.Spec.Selector, s.Labels) })
			if len(admin) != 1 || admin[0].Spec.Ports[0].Name != m.Spec.Endpoints[0].Port {
				t.Errorf("the monitor finds %d services", len(admin))
			}
		}
	})
}

// TestPortsExist: every port that is given by its name is one of the container.
func TestPortsExist(t *testing.T) {
	eachRelease(t, func(t *testing.T, r *release) {
		container := only[*apps.Deployment](t, r).Spec.Template.Spec.Containers[0]
		check := func(what string, port intstr.IntOrString) {
			t.Helper()
			named := func(p core.ContainerPort) bool { return port.Type == intstr.String && p.Name == port.StrVal }
			if !slices.ContainsFunc(container.Ports, named) {
				t.Errorf("%s: the container has no port %v", what, port)
			}
		}
		for name, p := range map[string]*core.Probe{"startup": container.StartupProbe, "liveness": container.LivenessProbe, "readiness": container.ReadinessProbe} {
			check(name+" probe", p.HTTPGet.Port)
		}
		for _, s := range of[*core.Service](r) {
			for _, p := range s.Spec.Ports {
				check("service "+s.Name, p.TargetPort)
			}
		}
		for _, p := range of[*networking.NetworkPolicy](r) {
			for _, rule := range p.Spec.Ingress {
				if len(rule.From) == 0 || len(rule.Ports) == 0 {
					t.Error("a rule lets everything in")
				}
				for _, port := range rule.Ports {
					check("network policy", *port.Port)
				}
			}
			for _, rule := range p.Spec.Egress {
				if len(rule.To) == 0 || len(rule.Ports) == 0 {
					t.Error("a rule lets everything out")
				}
			}
		}
		for _, m := range of[*monitoring.PodMonitor](r) {
			check("monitor", intstr.FromString(*m.Spec.PodMetricsEndpoints[0].Port))
		}
	})
}

var (
	secretName    = regexp.MustCompile(`(TOKEN|PASSWORD|SECRET|_KEYS?)$`)
	passwordInURL = regexp.MustCompile(`//[^/@]*:[^/@]*@`) // a name of a user alone is none
)

// TestNoSecretInPlain: a release makes no secret, and no setting that is one has a value.
func TestNoSecretInPlain(t *testing.T) {
	eachRelease(t, func(t *testing.T, r *release) {
		if n := len(of[*core.Secret](r)); n > 0 {
			t.Errorf("%d secrets are made", n)
		}
		for name, value := range environment(t, r) {
			if secretName.MatchString(name) && !strings.HasPrefix(value, "/etc/reprise/") {
				t.Errorf("%s is in plain: %q", name, value)
			}
			if passwordInURL.MatchString(value) {
				t.Errorf("%s has a password in a URL: %q", name, value)
			}
		}
	})
}

// environment is what the container of the proxy gets.
func environment(t *testing.T, r *release) map[string]string {
	container := only[*apps.Deployment](t, r).Spec.Template.Spec.Containers[0]
	all := map[string]string{}
	for _, from := range container.EnvFrom {
		configs := slices.DeleteFunc(of[*core.ConfigMap](r), func(c *core.ConfigMap) bool { return c.Name != from.ConfigMapRef.Name })
		if len(configs) != 1 {
			t.Fatalf("%d maps of settings have the name %q", len(configs), from.ConfigMapRef.Name)
		}
		maps.Copy(all, configs[0].Data)
	}
	for _, v := range container.Env {
		if _, twice := all[v.Name]; twice {
			t.Errorf("%s is set twice", v.Name)
		}
		all[v.Name] = v.Value
		switch {
		case v.ValueFrom == nil:
		case v.ValueFrom.SecretKeyRef != nil:
			all[v.Name] = "api-key=" + v.ValueFrom.SecretKeyRef.Name
		default:
			all[v.Name] = container.Resources.Limits.Memory().AsDec().String()
		}
	}
	return all
}

// mounted are the files that the container of the proxy finds below the places where volumes are mounted.
func mounted(t *testing.T, r *release) (files []string) {
	spec := only[*apps.Deployment](t, r).Spec.Template.Spec
	used := map[string]bool{}
	for _, m := range spec.Containers[0].VolumeMounts {
		used[m.Name] = true
		if m.ReadOnly == (m.Name == "data") {
			t.Errorf("volume %s is mounted with readOnly %v", m.Name, m.ReadOnly)
		}
	}
	for _, v := range spec.Volumes {
		if !used[v.Name] {
			t.Errorf("volume %s is not mounted", v.Name)
		}
		delete(used, v.Name)
		dir := ""
		for _, m := range spec.Containers[0].VolumeMounts {
			if m.Name == v.Name {
				dir = m.MountPath + "/"
			}
		}
		var items []core.KeyToPath
		switch {
		case v.Projected != nil:
			for _, s := range v.Projected.Sources {
				items = append(items, s.Secret.Items...)
			}
		case v.ConfigMap != nil:
			items = v.ConfigMap.Items
		case v.Secret != nil && len(v.Secret.Items) == 0: // of type kubernetes.io/tls
			items = []core.KeyToPath{{Path: "tls.crt"}, {Path: "tls.key"}}
		case v.Secret != nil:
			items = v.Secret.Items
		}
		for _, item := range items {
			files = append(files, dir+item.Path)
		}
	}
	for name := range used {
		t.Errorf("there is no volume %s", name)
	}
	return files
}

// TestFilesAreMounted: every file that a setting names is in a volume, and nothing is mounted without a setting that names it.
func TestFilesAreMounted(t *testing.T) {
	eachRelease(t, func(t *testing.T, r *release) {
		files := mounted(t, r)
		for _, value := range environment(t, r) {
			if strings.HasPrefix(value, "/etc/") && !slices.ContainsFunc(files, func(f string) bool { return f == value || strings.HasPrefix(f, value+"/") }) {
				t.Errorf("no volume has %s", value)
			}
		}
		for _, f := range files {
			named := func(v string) bool {
				return v == f || v != "" && strings.HasPrefix(f, v+"/") || strings.HasSuffix(v, "key-file="+f)
			}
			if !slices.ContainsFunc(slices.Collect(maps.Values(environment(t, r))), named) {
				t.Errorf("%s is mounted, and no setting names it", f)
			}
		}
	})
}

// TestPodsLeaveInTime: the pause before the stop and the drain fit into the time that the kubelet gives, and a disruption leaves a pod.
func TestPodsLeaveInTime(t *testing.T) {
	eachRelease(t, func(t *testing.T, r *release) {
		deployment := only[*apps.Deployment](t, r)
		spec := deployment.Spec.Template.Spec
		pause := int64(0)
		if l := spec.Containers[0].Lifecycle; l != nil {
			pause = l.PreStop.Sleep.Seconds
		}
		if grace := *spec.TerminationGracePeriodSeconds; grace <= pause+90 || environment(t, r)["REPRISE_DRAIN_TIMEOUT"] != "90s" {
			t.Errorf("a grace of %d s, with a pause of %d s and a drain of %s", grace, pause, environment(t, r)["REPRISE_DRAIN_TIMEOUT"])
		}
		least := int32(0)
		if deployment.Spec.Replicas != nil {
			least = *deployment.Spec.Replicas
		}
		for _, h := range of[*autoscaling.HorizontalPodAutoscaler](r) {
			least = *h.Spec.MinReplicas
			if window := h.Spec.Behavior.ScaleDown.StabilizationWindowSeconds; *window != 300 {
				t.Errorf("the autoscaler waits for %d s before it takes a pod away", *window)
			}
		}
		for _, p := range of[*disruption.PodDisruptionBudget](r) {
			if most := p.Spec.MaxUnavailable.IntVal; most < 1 || most >= least {
				t.Errorf("of %d pods %d may be away", least, most)
			}
		}
		_, file := environment(t, r)["REPRISE_STORE"], strings.HasPrefix(environment(t, r)["REPRISE_STORE"], "file:")
		if file != (deployment.Spec.Strategy.Type == apps.RecreateDeploymentStrategyType) {
			t.Errorf("with a file: %v, the strategy is %s", file, deployment.Spec.Strategy.Type)
		}
	})
}

// TestConfigChecksum: another setting makes other pods, and an equal one the same.
func TestConfigChecksum(t *testing.T) {
	sum := func(text string) string {
		r, err := render("llm", parse(t, least+text))
		if err != nil {
			t.Fatal(err)
		}
		return only[*apps.Deployment](t, r).Spec.Template.Annotations["checksum/config"]
	}
	first := sum("settings: {REPRISE_TTL: 12h}")
	if first == "" || first != sum("settings: {REPRISE_TTL: 12h}") || first == sum("settings: {REPRISE_TTL: 13h}") {
		t.Error("the checksum does not follow the settings")
	}
}

// TestFilesOfTheChart: alerts and dashboard arrive unchanged, except for white space at the end, with the braces of Prometheus and Grafana that are no templates of Helm.
func TestFilesOfTheChart(t *testing.T) {
	r, err := render("llm", examples(t)["sentinel"])
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../prometheus-alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var want monitoring.PrometheusRuleSpec
	if err := yaml.UnmarshalStrict(text, &want); err != nil {
		t.Fatal(err)
	}
	if got := only[*monitoring.PrometheusRule](t, r).Spec; len(got.Groups) == 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("%d groups of rules, want %d, equal in all", len(got.Groups), len(want.Groups))
	}
	dashboard, err := os.ReadFile(chartDir + "/files/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range of[*core.ConfigMap](r) {
		if c.Labels["grafana_dashboard"] == "1" && strings.TrimSpace(c.Data["reprise.json"]) == strings.TrimSpace(string(dashboard)) {
			return
		}
	}
	t.Error("no ConfigMap has the dashboard as it is in the file")
}

// TestRunbookURL: the links of the alerts lead to where the operator has the runbook.
func TestRunbookURL(t *testing.T) {
	values := parse(t, least+"metrics: {prometheusRule: {enabled: true, runbookURL: 'https://wiki.example.com/reprise'}}")
	r, err := render("llm", values)
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range only[*monitoring.PrometheusRule](t, r).Spec.Groups[0].Rules {
		if want := "https://wiki.example.com/reprise#" + strings.ToLower(rule.Alert); rule.Annotations["runbook_url"] != want {
			t.Errorf("%s: %s, want %s", rule.Alert, rule.Annotations["runbook_url"], want)
		}
	}
}

// TestNames: names and labels stay valid for the longest name of a release, and two releases share none.
func TestNames(t *testing.T) {
	for _, name := range []string{"a", "reprise", "my-reprise", strings.Repeat("a", 53)} {
		values := examples(t)["sentinel"]
		r, err := render(name, values)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range r.objects {
			m := o.(meta.Object)
			for _, problem := range validation.IsDNS1035Label(m.GetName()) {
				t.Errorf("%s: %s", m.GetName(), problem)
			}
			for key, value := range m.GetLabels() {
				for _, problem := range append(validation.IsQualifiedName(key), validation.IsValidLabelValue(value)...) {
					t.Errorf("label %s=%s: %s", key, value, problem)
				}
			}
		}
	}
}

func TestNotes(t *testing.T) {
	eachRelease(t, func(t *testing.T, r *release) {
		notes := r.files["reprise/templates/NOTES.txt"]
		if !strings.Contains(notes, "llm-reprise.llm:8080/v1") || strings.Contains(notes, "<no value>") || strings.Contains(notes, "\n\n\n") {
			t.Errorf("%q", notes)
		}
	})
}

// TestTraces: the proxy gets the collector, the share and the header from its secret, and its pods may reach the collector; without an endpoint
// there is nothing of that.
func TestTraces(t *testing.T) {
	eachRelease(t, func(t *testing.T, r *release) {
		env := environment(t, r)
		want := map[string]map[string]string{
			"traces": {"OTEL_EXPORTER_OTLP_ENDPOINT": "https://otlp.example.com/v1", "OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "1",
				"OTEL_EXPORTER_OTLP_HEADERS": "api-key=collector", "OTEL_SERVICE_NAME": "cache-eu"},
			"sentinel": {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://otel-collector.monitoring:4318", "OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.01"},
		}[strings.TrimPrefix(t.Name(), "TestTraces/")]
		maps.DeleteFunc(env, func(name, _ string) bool { return !strings.HasPrefix(name, "OTEL_") })
		if !maps.Equal(env, want) {
			t.Errorf("%v, want %v", env, want)
		}
		port := map[string]int{"https": 443, "http:": 4318}[(env["OTEL_EXPORTER_OTLP_ENDPOINT"] + "     ")[:5]]
		for _, p := range of[*networking.NetworkPolicy](r) {
			open := slices.ContainsFunc(p.Spec.Egress, func(rule networking.NetworkPolicyEgressRule) bool {
				return slices.ContainsFunc(rule.Ports, func(p networking.NetworkPolicyPort) bool { return p.Port.IntValue() == port })
			})
			if port > 0 && !open {
				t.Errorf("port %d is closed", port)
			}
			if port == 0 && slices.ContainsFunc(p.Spec.Egress, func(rule networking.NetworkPolicyEgressRule) bool { return rule.Ports[0].Port.IntValue() == 4318 }) {
				t.Error("port 4318 is open")
			}
		}
	})
}
