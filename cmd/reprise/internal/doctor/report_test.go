package doctor

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"reprise/cmd/internal/cli"
	"reprise/cmd/internal/cli/clitest"
	"reprise/cmd/reprise/internal/config"
)

// sample has a result of every kind.
func sample() []Result {
	all := []Result{
		{ID: "settings.values", State: stateOK, Found: "89 settings, 4 of them set"},
		{ID: "settings.unknown", State: stateError, Found: "REPRISE_HIT_TRESHOLD (environment): there is no such setting; did you mean REPRISE_HIT_THRESHOLD?", Repair: "Correct the name, or remove it."},
		{ID: "certificate.chain", Subject: "the API", State: stateOK, Found: `2 certificates, up to "our own authority"`},
		{ID: "certificate.expiry", Subject: "the API", State: stateWarning, Found: `"api.example" expires on 2026-03-01, in 5 days`, Repair: "Renew the certificate; SIGHUP makes a running proxy read it."},
		{ID: "upstream.name", Subject: "a", State: stateOK, Found: "llm.example is 10.0.0.7"},
		{ID: "upstream.connection", Subject: "a", State: stateError, Found: "llm.example: dial tcp 10.0.0.7:8000: connect: connection refused", Repair: "See whether the upstream runs."},
		{ID: "upstream.tls", Subject: "a", State: stateSkipped, Found: "because upstream.connection failed"},
		{ID: "upstream.answer", Subject: "a", State: stateSkipped, Found: "because upstream.connection failed"},
		{ID: "upstream.name", Subject: "b", State: stateOK, Found: "127.0.0.1"},
		{ID: "upstream.credential", Subject: "b", State: stateSkipped, Found: "clients bring their own credential"},
		{ID: "embedder.sense", State: stateOK, Found: "same 0.95 to 0.99, different up to 0.02; a hit from 0.9"},
		{ID: "store.writable", State: stateOK, Found: "./cache/reprise.db", Fixed: "made the folder ./cache"},
		{ID: "redis.connection", State: stateSkipped, Found: "REPRISE_STORE is not a Redis"},
		{ID: "redis.version", State: stateSkipped, Found: "REPRISE_STORE is not a Redis"},
	}
	for i := range all {
		all[i].Why = reasons[all[i].ID]
	}
	return all
}

func TestText(t *testing.T) {
	var b bytes.Buffer
	if err := newReport(sample(), 1234*time.Millisecond).text(&b); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if line = strings.TrimSuffix(line, "\n"); utf8.RuneCountInString(line) > width || strings.HasSuffix(line, " ") {
			t.Errorf("%d characters: %q", utf8.RuneCountInString(line), line)
		}
	}
	clitest.Golden(t, "report.golden", b.String())
}

func TestJSON(t *testing.T) {
	b, err := json.MarshalIndent(newReport(sample()[:2], 1234*time.Millisecond), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	clitest.Golden(t, "report.json.golden", string(b)+"\n")
}

func TestVerdict(t *testing.T) {
	for v, want := range map[Verdict]struct {
		code int
		text string
	}{
		{Warnings: 2}:            {1, "2 warnings"},
		{Errors: 1}:              {2, "1 error"},
		{Errors: 2, Warnings: 1}: {2, "2 errors, 1 warning"},
	} {
		if v.Code() != want.code || v.Error() != want.text {
			t.Errorf("%+v: %d, %s", v, v.Code(), v.Error())
		}
	}
}

// TestSecretsAreHidden: no credential is in the output, wherever it comes from, and nothing that a terminal interprets.
func TestSecretsAreHidden(t *testing.T) {
	secrets := []string{"sk-upstream-1", "token-of-admin", "client-key-one", "embedder-key-1", "redis-password", "sixteen-or-more-1"}
	var out, talk bytes.Buffer
	environ := []string{"REPRISE_UPSTREAM_KEY=" + secrets[0], "REPRISE_ADMIN_TOKEN=" + secrets[1], "REPRISE_CLIENT_KEYS=" + secrets[2], "REPRISE_EMBEDDER_KEY=" + secrets[3],
		"REPRISE_STORE=redis://:" + secrets[4] + "@" + refusing(t), "REPRISE_SECRET=" + secrets[5], "REPRISE_UPSTREAM=http://" + refusing(t) + "/v1",
		"REPRISE_EMBEDDER=openai:http://" + refusing(t) + "/v1", "REPRISE_HIT_THRESHOLD=0.1", "REPRISE_UNKNOWN=x"}
	_ = run(cli.Terminal{Out: &out, Err: &talk, Environ: environ}, nil, newPatient(t).machine)
	for _, s := range secrets {
		if strings.Contains(out.String()+talk.String(), s) {
			t.Errorf("%s is in the output: %s", s, out.String())
		}
	}
	x := newExam(config.NewLoader(false), environ, newPatient(t).machine, true)
	if got := shown("an upstream says sk-upstream-1 \x1b[31m\u202eevil\x7f", x.secrets()); got != "an upstream says ********  [31m evil " {
		t.Errorf("%q", got)
	}
}
