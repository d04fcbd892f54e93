package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"reprise/cmd/internal/cli"
	"reprise/cmd/reprise/internal/config"
	"reprise/cmd/reprise/internal/demo"
	"reprise/internal/traffic"
	"reprise/proxy/upstream"
)

// stage has all parts of a demo: engines, proxy and workload.
type stage struct {
	t       cli.Terminal
	o       demoFlags
	cfg     *config.Config
	engines []*http.Server
	front   *front
	*service

	player  *demo.Player
	start   time.Time
	settled sync.RWMutex // read-locked by every request until it is counted
}

func newStage(ctx context.Context, t cli.Terminal, cfg *config.Config, o demoFlags) (s *stage, err error) {
	s = &stage{t: t, o: o, cfg: cfg}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.closeEngines())
		}
	}()
	cfg.Upstreams = nil
	cfg.Routing.Hints = []string{"affinity", "salt"}
	for _, name := range engineNames {
		u, err := s.startEngine(name)
		if err != nil {
			return nil, err
		}
		cfg.Upstreams = append(cfg.Upstreams, u)
	}
	useFreePorts(cfg)
	log, _ := newLogger(cfg, t.Err)
	if s.front, err = openFront(cfg); err != nil {
		return nil, err
	}
	s.front.answerProbes(cfg, log)
	if s.service, err = newService(ctx, cfg, log, nil, nil); err != nil {
		s.front.close()
		return nil, err
	}
	s.front.serve(cfg, s.counted(s.proxy.Handler()), &s.admin, log)
	s.player = demo.NewPlayer(demo.Options{BaseURL: s.apiURL(), Model: demoModel, Concurrency: o.concurrency,
		Requests: o.requests, StreamEvery: o.streamEvery})
	return s, nil
}

// counted lets settle wait for open requests: the proxy counts a request after its answer was sent, when it is already over for
// the client.
func (s *stage) counted(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.settled.RLock()
		defer s.settled.RUnlock()
		h.ServeHTTP(w, r)
	})
}

// settle returns when every earlier request is counted.
func (s *stage) settle() {
	s.settled.Lock()
	defer s.settled.Unlock()
}

// engineNames names the built-in engines: two, so that there is a choice to make.
var engineNames = []string{"engine-a", "engine-b"}

// engineBlocks is the size of the KV cache of an engine in blocks: small enough that it has to drop some of them.
const engineBlocks = 1024

// startEngine serves a built-in engine on a free port. The proxy treats it as vLLM of this version.
func (s *stage) startEngine(name string) (config.Upstream, error) {
	rates := demo.Rates{}
	if s.o.input == "" {
		rates = demo.Rates{Prefill: demoPrefill, Decode: demoDecode}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return config.Upstream{}, fmt.Errorf("start engine: %w", err)
	}
	engine := &http.Server{Handler: demo.NewEngine(append(demo.Models(), demoModel), engineBlocks, rates), ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	s.engines = append(s.engines, engine)
	go engine.Serve(l) // ends when the stage is closed
	return config.Upstream{Target: upstream.Target{Name: name, Base: &url.URL{Scheme: "http", Host: l.Addr().String(), Path: "/v1"},
		Dialect: "vllm", Version: "0.29", Capacity: engineBlocks * demo.BlockTokens}}, nil
}

func (s *stage) closeEngines() (err error) {
	for _, e := range s.engines {
		err = errors.Join(err, e.Close())
	}
	return err
}

// useFreePorts moves listeners whose default address is in use, so that a demo can run beside a proxy.
func useFreePorts(cfg *config.Config) {
	for name, address := range map[string]*string{"LISTEN": &cfg.Listen, "ADMIN_LISTEN": &cfg.AdminListen} {
		if cfg.Source(name) != "default" {
			continue
		}
		l, err := net.Listen("tcp", *address)
		if err != nil {
			*address = "127.0.0.1:0"
			continue
		}
		l.Close()
	}
}

func (s *stage) apiURL() string   { return "http://" + s.front.apiSocket.Addr().String() }
func (s *stage) adminURL() string { return "http://" + s.front.adminSocket.Addr().String() }

func (s *stage) close() error {
	s.front.close()
	return errors.Join(s.service.close(0), s.closeEngines())
}

// play plays the workload and shows the view.
func (s *stage) play(ctx context.Context, next func() (demo.Conversation, error), r *traffic.ConversationReader) error {
	fmt.Fprintf(s.t.Err, "page: %s/\n", s.adminURL())
	fmt.Fprintf(s.t.Err, "reprise demo: clients → proxy %s (%s, %s, %s entries) → two built-in engines\n", s.apiURL(), s.cfg.Mode, s.cfg.Policy,
		fmt.Sprint(s.cfg.CapacityEntries))
	s.start = time.Now()
	shown, hide := context.WithCancel(context.Background())
	view := demo.View{Out: s.t.Err, Live: cli.IsTerminal(s.t.Err), Now: s.summary, Done: s.progress(r),
		Size: func() (columns, rows int) { return cli.Size(s.t.Err) }}
	ended := make(chan struct{})
	go func() { view.Run(shown); close(ended) }()
	err := s.player.Play(ctx, next)
	hide()
	<-ended
	return err
}

func (s *stage) summary() demo.Summary {
	return demo.Summarise(s.proxy.Stats(), time.Since(s.start))
}

// progress returns the share of the work that is done: of the requests if their number is known, else of the file.
func (s *stage) progress(r *traffic.ConversationReader) func() float64 {
	return func() float64 {
		done := -1.0
		if r != nil {
			if read, total := r.Progress(); total > 0 {
				done = float64(read) / float64(total)
			}
		}
		if s.o.requests > 0 {
			done = max(done, float64(s.player.Sent())/float64(s.o.requests))
		}
		return done
	}
}

// report prints the summary, the failures and the skipped records.
func (s *stage) report(r *traffic.ConversationReader) error {
	s.settle()
	sum := s.summary()
	if n, first := s.player.Failures(); n > 0 {
		fmt.Fprintf(s.t.Err, "%d requests were answered with an error; the first: %v\n", n, first)
	}
	if r != nil {
		if n, first := r.Skipped(); n > 0 {
			fmt.Fprintf(s.t.Err, "%d records were left out; the first: %v\n", n, first)
		}
	}
	if s.o.json {
		sum.Policy, sum.CapacityEntries, sum.CapacityBytes, sum.Seed = s.cfg.Policy, s.cfg.CapacityEntries, s.cfg.CapacityBytes, s.o.seed
		return sum.JSON(s.t.Out)
	}
	hit, miss := s.player.Medians()
	columns, _ := cli.Size(s.t.Out)
	sum.Text(s.t.Out, hit, miss, columns)
	if s.o.priced {
		fmt.Fprintf(s.t.Out, "  money      %s\n", demo.PricesNote)
	}
	return nil
}
