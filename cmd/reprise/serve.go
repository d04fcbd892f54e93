package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"reprise/cmd/internal/cli"
	"reprise/cmd/reprise/internal/config"
	"reprise/proxy/observe/accesslog"
)

func serve(t cli.Terminal, args []string) error {
	hangups := make(chan os.Signal, 1) // more signals while one is handled ask for nothing more
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	loader := config.NewLoader(false)
	fs := cli.NewFlagSet("reprise serve")
	loader.Register(fs)
	if err := cli.ParseFlags(t, fs, args, func(w io.Writer) { serveHelp(w, loader) }); err != nil {
		return err
	}
	if loader.HelpAll {
		serveHelp(t.Out, loader)
		return flag.ErrHelp
	}
	cfg, err := loader.Load(t.Environ)
	if err != nil {
		return err
	}
	if err := cfg.FitMemory(config.AvailableMemory()); err != nil {
		return err
	}
	limitRuntime(cfg.MemoryLimit, t.Environ)
	signal.Ignore(syscall.SIGPIPE) // else a log to a pipe whose reader has gone would end the process
	lines := accesslog.NewWriter(t.Err, cfg.LogFormat == "json")
	log, level := newLogger(cfg, lines)
	again := &reloader{cfg: cfg, level: level, log: log, lines: lines, load: func() (*config.Config, error) { return loader.Load(t.Environ) }, read: loader.FileRead}
	err = serveWith(again, hangups)
	_ = lines.Close(logTimeout) // the only place to report an error to is the log
	return err
}

// logTimeout is how long the end of the process waits for what takes its log.
const logTimeout = 2 * time.Second

// sampleEvery is how many bytes are allocated between two samples of the heap profile. Go's own 512 KiB costs a miss more than 1 % of its
// CPU time, and a profile of hundreds of megabytes needs no more samples.
const sampleEvery = 8 << 20

// limitRuntime makes the collector keep the heap, garbage included, below nine tenths of the memory limit, unless GOMEMLIMIT says
// otherwise.
func limitRuntime(limit int64, environ []string) {
	runtime.MemProfileRate = sampleEvery
	own := slices.ContainsFunc(environ, func(v string) bool { return strings.HasPrefix(v, "GOMEMLIMIT=") })
	if limit > 0 && !own {
		debug.SetMemoryLimit(limit / 10 * 9)
	}
}

func serveHelp(w io.Writer, l *config.Loader) {
	io.WriteString(w, `reprise serve is the proxy: point an OpenAI client's base URL at it.

  reprise serve
  REPRISE_UPSTREAM=http://127.0.0.1:8000/v1 reprise serve --listen 127.0.0.1:9000
  curl http://127.0.0.1:8081/metrics

Every setting is a flag and an environment variable, and can be a line of the YAML file that REPRISE_CONFIG names, which can also have rules
for some models, paths, tenants and namespaces. The flag wins, then the environment, then the file. SIGTERM drains: open answers and
websockets may finish. SIGHUP, and a change of the file, reads the file, those of secrets and the certificate again; what cannot change while
the program runs waits for a restart. Durations are written 90s, 24h or 30d; sizes 512MiB or 4GiB.

`)
	l.Help(w)
}

// serveWith runs the proxy until it receives a signal or a server fails.
func serveWith(r *reloader, hangups <-chan os.Signal) error {
	cfg, log := r.cfg, r.log
	catchStandardLog(log)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	f, err := openFront(cfg)
	if err != nil {
		return err
	}
	f.answerProbes(cfg, log)
	r.reloads.used()
	s, err := newService(context.Background(), cfg, log, r.lines, &r.reloads)
	if err != nil {
		f.close()
		return err
	}
	for _, u := range cfg.Upstreams {
		if strings.Trim(u.Base.Path, "/") == "" {
			log.Warn("the upstream has no path; most APIs have one, as in https://api.openai.com/v1", "upstream", u.Base.Redacted())
		}
	}
	pace(cfg.MemoryLimit)
	f.serve(cfg, s.proxy.Handler(), &s.admin, log)
	log.Info("reprise is ready", "api", address(cfg, f.apiSocket), "admin", "http://"+f.adminSocket.Addr().String(),
		"upstream", inWords(cfg.Upstreams), "mode", cfg.Mode, "rules", len(cfg.Rules), "policy", cfg.Policy, "entries", s.store.Stats().Entries)
	r.front, r.service = f, s
	changes, stopWatching := r.watch()
	defer stopWatching()
	var done <-chan struct{} // while the settings are read
	for asked := false; ; {
		if asked && done == nil {
			done, asked = r.begin(), false
		}
		select {
		case <-hangups:
			asked = true
		case <-changes:
			asked = true
		case <-done:
			cfg, done = r.cfg, nil
		case sig := <-signals:
			return drain(cfg, f, s, signals, sig, log)
		case err := <-f.failed:
			f.close()
			return fmt.Errorf("serve: %w", errors.Join(err, s.close(0)))
		}
	}
}

// inWords lists upstreams with their names where there are several.
func inWords(all []config.Upstream) string {
	var words []string
	for _, u := range all {
		word := u.Base.Redacted()
		if u.Name != "" {
			word = u.Name + "=" + word
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

// address returns the URL of the API.
func address(cfg *config.Config, l net.Listener) string {
	if cfg.TLSCert != "" {
		return "https://" + l.Addr().String()
	}
	return "http://" + l.Addr().String()
}

// drain shuts the proxy down after the first signal. During the delay requests are taken as before: a load balancer that sent one at the moment
// at which its connection is closed would have to fail it, because it cannot see whether the request was read. A second signal ends it at once.
func drain(cfg *config.Config, f *front, s *service, signals <-chan os.Signal, first os.Signal, log *slog.Logger) error {
	log.Info("draining", "signal", first.String(), "at_most", (cfg.DrainDelay + cfg.Drain).String())
	ended := make(chan error, 1)
	until := time.Now().Add(cfg.DrainDelay + cfg.Drain)
	s.proxy.Drain()
	go func() {
		time.Sleep(cfg.DrainDelay)
		if f.shutdown(s, cfg.Drain) != nil {
			log.Warn("answers were still under way and are cut", "limit", cfg.Drain.String())
		}
		ended <- s.close(max(time.Until(until), time.Second))
	}()
	select {
	case <-signals:
		log.Warn("second signal: ending at once")
		return cli.ErrInterrupted
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("stop: %w", err)
		}
	}
	log.Info("stopped")
	return nil
}
