package demo

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"reprise/cmd/internal/cli"
	"reprise/proxy"
	"reprise/proxy/observe/prices"
)

// Summary is the result of a play. Its JSON is the one object of --json.
type Summary struct {
	Requests             int64   `json:"requests"` // the sum of the next six and of the errors
	Exact                int64   `json:"exact"`
	Semantic             int64   `json:"semantic"`
	Shared               int64   `json:"shared"`
	Stale                int64   `json:"stale"`
	Bypass               int64   `json:"bypass"`
	Misses               int64   `json:"misses"`
	Stored               int64   `json:"stored"`
	Evictions            int64   `json:"evictions"`
	Topics               int64   `json:"topics"`
	Vetoes               int64   `json:"vetoes"`
	TokensSaved          int64   `json:"tokens_saved"`
	UpstreamSecondsSaved float64 `json:"upstream_seconds_saved"`
	Seconds              float64 `json:"seconds"`

	// Of the play, so that it can be made again.
	Policy          string `json:"policy"`
	CapacityEntries int    `json:"capacity_entries"`
	CapacityBytes   int64  `json:"capacity_bytes"`
	Seed            uint64 `json:"seed"` // of the built-in workload

	Currency  string  `json:"currency,omitempty"` // of the next two; "": there are no prices
	CostSpent float64 `json:"cost_spent,omitempty"`
	CostSaved float64 `json:"cost_saved,omitempty"`

	errors, gone, entries, bytes int64
	spent                        prices.Tokens
}

// Summarise makes the summary of a play of the given length from the proxy's counters.
func Summarise(st proxy.Stats, took time.Duration) Summary {
	return Summary{
		Requests: st.Requests, Exact: st.Exact, Semantic: st.Semantic, Shared: st.Shared, Stale: st.Stale, Bypass: st.Bypass,
		Misses: st.Misses, Stored: st.Stored, Evictions: st.Evictions, Topics: st.Topics, Vetoes: st.Vetoes,
		Currency: st.Costs.Currency, CostSpent: st.Costs.Spent.Cost, CostSaved: st.Costs.Saved.Cost, spent: st.Costs.Spent.Tokens,
		TokensSaved: st.TokensSaved, UpstreamSecondsSaved: st.UpstreamSaved.Seconds(), Seconds: took.Seconds(),
		errors: st.Errors - st.Gone, gone: st.Gone, entries: st.Entries, bytes: st.Bytes,
	}
}

// Medians are the times from a request to the end of its answer, of hits and of misses; 0 where there was none.
// They sort all of them.
func (p *Player) Medians() (hit, miss time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return median(p.latency[true]), median(p.latency[false])
}

func median(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(all))[len(all)/2]
}

// JSON writes the summary as one object and a newline.
func (s Summary) JSON(w io.Writer) error { return json.NewEncoder(w).Encode(s) }

// says is the width that a summary with explanations takes.
const says = 76

// Text writes the summary for people; hit and miss are the player's medians. A terminal of so many columns, 0 for any, has explanations
// where there is room.
func (s Summary) Text(w io.Writer, hit, miss time.Duration, columns int) {
	fmt.Fprintf(w, "\n%s requests in %s, %s/s\n\n", cli.Thousands(s.Requests), clock(s.Seconds), cli.Thousands(int64(s.rate())))
	for _, row := range s.outcomes() {
		if columns > 0 && columns < says {
			row.says = ""
		}
		if row.n > 0 || row.always {
			fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("  %-10s %10s  %5.1f %%   %s", row.name, cli.Thousands(row.n), share(row.n, s.Requests), row.says), " "))
		}
	}
	fmt.Fprintf(w, "\n  kept       %s answers in %s, %s topics; %s stored, %s evicted\n",
		cli.Thousands(s.entries), cli.Bytes(s.bytes), cli.Thousands(s.Topics), cli.Thousands(s.Stored), cli.Thousands(s.Evictions))
	fmt.Fprintf(w, "  refused    %s look-alikes, by a difference that is not listed as safe\n", cli.Thousands(s.Vetoes))
	fmt.Fprintf(w, "  saved      %s tokens%s, %s of upstream time\n", cli.Thousands(s.TokensSaved), s.money(s.CostSaved), clock(s.UpstreamSecondsSaved))
	fmt.Fprintf(w, "  spent      %s tokens%s, %s of them read from the engine's cache\n", cli.Thousands(s.spent.Sum()), s.money(s.CostSpent), cli.Thousands(s.spent.Cached))
	if hit > 0 && miss > 0 {
		fmt.Fprintf(w, "  median     %s out of the cache, %s from the engine\n", brief(hit), brief(miss))
	}
}

// rate is the number of requests per second.
func (s Summary) rate() float64 { return float64(s.Requests) / max(s.Seconds, 1e-3) }

// money is an amount in brackets, "" where there are no prices.
func (s Summary) money(amount float64) string {
	if s.Currency == "" {
		return ""
	}
	digits := 4
	if amount >= 10 {
		digits = 2
	}
	return fmt.Sprintf(" (%.*f %s)", digits, amount, s.Currency)
}

type outcome struct {
	name   string
	n      int64
	says   string
	always bool // shown even at 0
}

func (s Summary) outcomes() []outcome {
	return []outcome{
		{"exact", s.Exact, "asked before in the same words", true},
		{"semantic", s.Semantic, "asked before in other words", true},
		{"shared", s.Shared, "asked while the same answer was on its way", true},
		{"stale", s.Stale, "expired, served because the upstream failed", false},
		{"miss", s.Misses, "asked of the engine", true},
		{"bypass", s.Bypass, "not a matter for the cache", false},
		{"error", s.errors, "refused or failed", false},
		{"gone", s.gone, "the client left before the answer, as when the demo is interrupted", false},
	}
}

func share(n, of int64) float64 { return 100 * float64(n) / float64(max(of, 1)) }

// clock is a length of time for people: 4.2 s, 3m12s, 26h5m.
func clock(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", seconds)
	case d < time.Hour:
		return d.Round(time.Second).String()
	}
	return fmt.Sprintf("%dh%dm", int(d.Hours()), int(d.Minutes())%60)
}

// brief is a short time with two digits.
func brief(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	if ms < 10 {
		return fmt.Sprintf("%.2f ms", ms)
	}
	return fmt.Sprintf("%.0f ms", ms)
}

//go:embed prices.yaml
var priceRows []byte

// Prices are what the models of the built-in workload would cost at their makers. The built-in engine costs nothing.
func Prices() (*prices.Table, error) { return prices.Parse("prices.yaml", priceRows) }

// PricesNote says where Prices come from.
const PricesNote = "what gpt-4o-mini and gpt-4o would cost, by deploy/prices.example.yaml; the built-in engines cost nothing"
