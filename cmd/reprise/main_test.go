package main

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"reprise/cmd/internal/cli"
	"reprise/cmd/internal/cli/clitest"
	"reprise/cmd/reprise/internal/config"
)

// run runs the program in this process.
func run(environ []string, args ...string) (out, talk string, code int) {
	return clitest.Run(program(), environ, args...)
}

func TestHelp(t *testing.T) {
	for name, args := range map[string][]string{
		"help.golden":        {"help"},
		"help-serve.golden":  {"serve", "--help"},
		"help-all.golden":    {"serve", "--help-all"},
		"help-demo.golden":   {"help", "demo"},
		"help-doctor.golden": {"doctor", "--help"},
		"help-health.golden": {"health", "--help"},
	} {
		out, talk, code := run(nil, args...)
		if code != cli.ExitOK || talk != "" {
			t.Errorf("%v: exit %d, %q", args, code, talk)
		}
		clitest.Golden(t, name, out)
	}
	if out, _, code := run(nil, "--help"); code != cli.ExitOK || !strings.HasPrefix(out, "reprise answers") {
		t.Errorf("--help: exit %d, %q", code, out)
	}
}

// TestStartErrors shows the errors of command lines and settings that cannot work.
func TestStartErrors(t *testing.T) {
	clitest.Golden(t, "errors.golden", clitest.Session(program(), config.Prefix,
		"",
		"srve",
		"serve --hit-treshold 0.9",
		"serve now",
		"serve --listen",
		"demo --concurrency 0",
		"demo --requests x",
		"demo --input testdata/none.jsonl",
		"demo --input testdata/help.golden",
		"demo --store redis://localhost",
		"replay",
		"replay --trace my*.log --policy lru",
		"health 8081",
		"health --url http://127.0.0.1:8081",
		"health http://127.0.0.1:1/readyz http://127.0.0.1:1/readyz",
		"REPRISE_HIT_TRESHOLD=0.9 serve",
		"REPRISE_EMBEDDER=model2vec:testdata/none serve --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0",
		"REPRISE_EMBEDDER=model2vec serve",
		"REPRISE_MODE=fast REPRISE_CAPACITY_BYTES=1k serve --ttl soon --policy lruu",
		"serve --policy rac:alhpa=1/C",
		"serve --policy arc",
		"REPRISE_TOPIC_HALF_LIFE=500 REPRISE_SETTINGS=/etc/reprise/settings serve --chooser random",
		"REPRISE_MAX_ERROR_RATE=0.5 serve",
		"REPRISE_UPSTREAM=a=http://h1:8000/v1,b=http://h2:8000/v1 REPRISE_JUDGE_MODEL=gpt-4o-mini serve",
		"REPRISE_TTL=600d serve",
		"REPRISE_MEMORY_LIMIT=32MiB serve",
		"REPRISE_MEMORY_LIMIT=1GiB serve --capacity-bytes 768MiB",
		"REPRISE_ADMIN_LISTEN=0.0.0.0:8081 serve",
		"REPRISE_UPSTREAM_KEY=sk-operator REPRISE_LISTEN=0.0.0.0:8080 serve",
		"REPRISE_CLIENT_KEYS=client-key-1 REPRISE_API_PATHS=files serve",
		"REPRISE_CLIENT_KEYS=client-key-1 serve",
		"REPRISE_STORE=redis://:sesame@localhost:6379 REPRISE_REDIS_TLS=testdata/none serve",
		"REPRISE_STORE=redis+tls://localhost REPRISE_SECRET=sesame serve",
		"REPRISE_UPSTREAM=a=http://h1:8000/v1;dialct=vllm,b=http://h2:8000/v1 serve",
		"REPRISE_UPSTREAM=a=http://h1:8000/v1,b=https://api.example.com/v1;fallback serve",
		"REPRISE_ADMIN_TOKEN=sesame-open REPRISE_ADMIN_TOKEN_FILE=/run/token serve",
	))
}

func TestPortInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	taken := l.Addr().String()
	for setting, args := range map[string][]string{
		"REPRISE_LISTEN (--listen)":             {"--listen", taken, "--admin-listen", "127.0.0.1:0"},
		"REPRISE_ADMIN_LISTEN (--admin-listen)": {"--listen", "127.0.0.1:0", "--admin-listen", taken},
	} {
		_, talk, code := run(nil, slices.Concat([]string{"serve", "--store", "memory"}, args)...)
		want := fmt.Sprintf("reprise: listen on %s: the port is in use by another process; change %s\n", taken, setting)
		if code != cli.ExitFailed || talk != want {
			t.Errorf("exit %d, %q; want %q", code, talk, want)
		}
	}
}

func TestVersion(t *testing.T) {
	if out, _, code := run(nil, "version"); code != cli.ExitOK || !strings.HasPrefix(out, "reprise ") || !strings.Contains(out, "go1.") {
		t.Errorf("exit %d, %q", code, out)
	}
}
