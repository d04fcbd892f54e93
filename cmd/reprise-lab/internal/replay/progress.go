package replay

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"reprise/cmd/internal/cli"
)

// Progress shows how far a replay is.
type Progress struct {
	out  io.Writer
	live bool // Out is a terminal: one line is redrawn; otherwise a line is written every few seconds

	done, total atomic.Int64
	began       float64 // seconds at which the trace had been read and playing began
}

const (
	liveEvery  = 250 * time.Millisecond
	plainEvery = 5 * time.Second
)

// NewProgress returns one that writes to out.
func NewProgress(out io.Writer) *Progress { return &Progress{out: out, live: cli.IsTerminal(out)} }

// Note sets how many requests have been played, and of how many; a total of 0 is not known yet.
func (p *Progress) Note(done, total int64) {
	p.done.Store(done)
	p.total.Store(total)
}

// Show starts to show the replay of a trace. The caller calls hide at its end.
func (p *Progress) Show(name string) (hide func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { p.run(ctx, name); close(ended) }()
	return func() { cancel(); <-ended }
}

func (p *Progress) run(ctx context.Context, name string) {
	p.began = 0
	every := plainEvery
	if p.live {
		every = liveEvery
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for start := time.Now(); ; {
		select {
		case <-ctx.Done():
			if p.live {
				io.WriteString(p.out, "\r\x1b[2K")
			}
			return
		case <-tick.C:
			p.draw(name, time.Since(start))
		}
	}
}

func (p *Progress) draw(name string, since time.Duration) {
	line := name + ": " + p.state(since.Seconds())
	if p.live {
		fmt.Fprint(p.out, "\r\x1b[2K"+line)
		return
	}
	fmt.Fprintln(p.out, line)
}

// state describes the share that is done, the rate, and the time left at that rate.
func (p *Progress) state(seconds float64) string {
	done, total := p.done.Load(), p.total.Load()
	if total == 0 {
		p.began = seconds
		return cli.Thousands(done) + " requests read"
	}
	rate := float64(done) / max(seconds-p.began, 1e-3)
	text := fmt.Sprintf("%3.0f %%, %s requests/s", 100*float64(done)/float64(total), cli.Thousands(int64(rate)))
	if done > 0 {
		text += fmt.Sprintf(", %s left", time.Duration(float64(total-done)/rate*float64(time.Second)).Round(time.Second))
	}
	return text
}
