package replay

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// Progress shows how far a replay is.
type Progress struct {
	Out  io.Writer
	Live bool // Out is a terminal: one line is written again and again; else a line now and then

	done, total atomic.Int64
	began       float64 // when it was last seen reading: what comes after is playing
}

const (
	liveEvery  = 250 * time.Millisecond
	plainEvery = 5 * time.Second
)

// Note is told how many requests have been played, and how many there are; 0 is not known yet.
func (p *Progress) Note(done, total int64) {
	p.done.Store(done)
	p.total.Store(total)
}

// Show begins to show the replay of a trace. The function that it returns ends that.
func (p *Progress) Show(name string) (hide func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { p.run(ctx, name); close(ended) }()
	return func() { cancel(); <-ended }
}

func (p *Progress) run(ctx context.Context, name string) {
	p.began = 0
	every := plainEvery
	if p.Live {
		every = liveEvery
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for start := time.Now(); ; {
		select {
		case <-ctx.Done():
			if p.Live {
				io.WriteString(p.Out, "\r\x1b[2K")
			}
			return
		case <-tick.C:
			p.draw(name, time.Since(start))
		}
	}
}

func (p *Progress) draw(name string, since time.Duration) {
	line := name + ": " + p.state(since.Seconds())
	if p.Live {
		fmt.Fprint(p.Out, "\r\x1b[2K"+line)
		return
	}
	fmt.Fprintln(p.Out, line)
}

// state is how far it is, at what pace, and how long the rest takes at that pace.
func (p *Progress) state(seconds float64) string {
	done, total := p.done.Load(), p.total.Load()
	if total == 0 {
		p.began = seconds
		return thousands(done) + " requests read"
	}
	rate := float64(done) / max(seconds-p.began, 1e-3)
	text := fmt.Sprintf("%3.0f %%, %s requests/s", 100*float64(done)/float64(total), thousands(int64(rate)))
	if done > 0 {
		text += fmt.Sprintf(", %s left", time.Duration(float64(total-done)/rate*float64(time.Second)).Round(time.Second))
	}
	return text
}
