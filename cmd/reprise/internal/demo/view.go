package demo

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"reprise/cmd/internal/cli"
)

// View shows a play while it runs.
type View struct {
	Out  io.Writer
	Live bool                       // Out is a terminal: a block of lines is drawn again and again; else a line now and then
	Now  func() Summary             // so far
	Done func() float64             // how much of the work is done, 0 to 1; negative: not known
	Size func() (columns, rows int) // of the terminal; 0: not known. nil: neither is

	lines int // of the block on the screen
}

const (
	liveEvery  = 250 * time.Millisecond
	plainEvery = 5 * time.Second
)

// Run shows the play until ctx ends, and then its last state.
func (v *View) Run(ctx context.Context) {
	every := plainEvery
	if v.Live {
		every = liveEvery
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			if v.Live {
				v.draw()
			}
			return
		case <-tick.C:
			v.draw()
		}
	}
}

func (v *View) draw() {
	s := v.Now()
	if !v.Live {
		fmt.Fprintln(v.Out, v.plain(s))
		return
	}
	var b strings.Builder
	if v.lines > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", v.lines) // up to the first line of the block
	}
	block := v.block(s)
	for _, line := range block {
		b.WriteString("\x1b[2K" + line + "\n") // erases a longer line below
	}
	if len(block) < v.lines {
		b.WriteString("\x1b[J") // the rest of a block that had more lines
	}
	v.lines = len(block)
	io.WriteString(v.Out, b.String())
}

// progress says how much is done and, at the rate so far, how long the rest takes; "" if neither is known.
func (v *View) progress(s Summary) string {
	done := v.Done()
	if done < 0 {
		return ""
	}
	text := fmt.Sprintf("%3.0f %%", 100*done)
	if done > 0 {
		text += ", " + clock((1-done)*s.Seconds/done) + " left"
	}
	return text
}

func (v *View) plain(s Summary) string {
	line := fmt.Sprintf("%s: %s requests, %.0f/s; exact %s, semantic %s, shared %s, miss %s; %s entries, %s evicted", clock(s.Seconds),
		cli.Thousands(s.Requests), s.rate(), cli.Thousands(s.Exact), cli.Thousands(s.Semantic), cli.Thousands(s.Shared), cli.Thousands(s.Misses),
		cli.Thousands(s.entries), cli.Thousands(s.Evictions))
	if p := v.progress(s); p != "" {
		line += "; " + strings.TrimSpace(p)
	}
	return line
}

// barWidth is the length of the bar of 100 %, where there is room for it behind barColumn columns.
const (
	barWidth  = 40
	barColumn = 30
)

// block is the state in lines, none of which is wider than the terminal: one that wraps could not be drawn over. Where the terminal has
// fewer rows, the last lines are left out.
func (v *View) block(s Summary) []string {
	columns, rows := 0, 0
	if v.Size != nil {
		columns, rows = v.Size()
	}
	bars := barWidth
	if columns > 0 {
		bars = max(0, min(barWidth, columns-barColumn-1))
	}
	lines := v.all(s, bars, columns)
	if rows > 0 && len(lines) >= rows { // the cursor stands below the last one
		lines = slices.DeleteFunc(lines, func(line string) bool { return line == "" })
		lines = lines[:min(len(lines), max(1, rows-1))]
	}
	for i, line := range lines {
		if r := []rune(line); columns > 1 && len(r) >= columns {
			lines[i] = string(r[:columns-1])
		}
	}
	return lines
}

// all is the state in lines with bars of at most bars columns.
func (v *View) all(s Summary, bars, columns int) []string {
	lines := append(fit(columns, clock(s.Seconds), cli.Thousands(s.Requests)+" requests", fmt.Sprintf("%.0f/s", s.rate()), v.progress(s)), "")
	for _, o := range s.outcomes() {
		if !o.always {
			continue
		}
		part := share(o.n, s.Requests)
		bar := strings.Repeat("█", int(part/100*float64(bars)+0.5))
		lines = append(lines, fmt.Sprintf("  %-9s %8s  %5.1f %%  %s", o.name, cli.Thousands(o.n), part, bar))
	}
	lines = append(append(lines, ""), fit(columns, cli.Thousands(s.entries)+" entries", cli.Thousands(s.Topics)+" topics", cli.Thousands(s.Evictions)+" evicted",
		cli.Thousands(s.Vetoes)+" refused")...)
	return append(lines, fit(columns, "saved: "+cli.Thousands(s.TokensSaved)+" tokens", clock(s.UpstreamSecondsSaved)+" of upstream time")...)
}

// fit puts parts into as few lines as the columns allow; 0 columns are one line.
func fit(columns int, parts ...string) (lines []string) {
	line := " "
	for _, p := range parts {
		if columns > 0 && len(line) > 1 && len([]rune(line))+3+len([]rune(p)) >= columns {
			lines, line = append(lines, line), " "
		}
		if len(line) > 1 {
			line += "  "
		}
		line += " " + p
	}
	return append(lines, strings.TrimRight(line, " "))
}
