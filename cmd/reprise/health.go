package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"reprise/cmd/internal/cli"
	"reprise/cmd/reprise/internal/config"
)

// healthTimeout is less than the timeouts that container runtimes and Helm have for a check.
const healthTimeout = 4 * time.Second

const healthHelp = `reprise health asks a running proxy whether it takes requests, and fails if it does not. It is the health check of a
container: the image has no shell and no other program.

  reprise health
  reprise health http://10.0.0.7:8081/readyz

Without a URL it asks for /readyz at the address in REPRISE_ADMIN_LISTEN (default 127.0.0.1:8081). It waits for up to 4 seconds.
`

// health is a command without flags, so that a flag in its arguments is an error of usage.
func health(t cli.Terminal, args []string) error {
	if slices.ContainsFunc(args, func(a string) bool { return a == "-h" || a == "-help" || a == "--help" }) {
		_, err := io.WriteString(t.Out, healthHelp)
		return err
	}
	target := readyURL(t.Environ)
	switch {
	case len(args) > 1:
		return cli.Usage("reprise health", "`reprise health --help` explains it.", "%q is too much: it takes one URL", args[1])
	case len(args) == 1:
		target = args[0]
	}
	if u, err := url.Parse(target); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return cli.Usage("reprise health", "`reprise health --help` explains it.", "%q is no URL such as http://127.0.0.1:8081/readyz", target)
	}
	return ask(t.Out, target)
}

// readyURL returns the readiness URL of the proxy with this environment. A listener on all addresses is asked on loopback.
func readyURL(environ []string) string {
	address := "127.0.0.1:8081"
	for _, v := range environ {
		if set, ok := strings.CutPrefix(v, config.Prefix+"ADMIN_LISTEN="); ok && set != "" {
			address = set
		}
	}
	return "http://" + config.Local(address) + "/readyz"
}

// ask prints what target answers. A proxy named in the environment plays no part, nor does a redirect count as an answer.
func ask(out io.Writer, target string) error {
	ctx, cancel := context.WithTimeout(context.Background(), healthTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return err
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		return fmt.Errorf("ask %s: %w", target, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 16<<10))
	if err != nil {
		return fmt.Errorf("read %s: %w", target, err)
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: status %d: %s", target, resp.StatusCode, strings.TrimSpace(cli.Plain(string(text))))
	}
	_, err = io.WriteString(out, cli.Plain(string(text)))
	return err
}
