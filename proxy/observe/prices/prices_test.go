package prices

import (
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"reprise/proxy/observe"
	"reprise/proxy/upstream/usage"
	"reprise/store"
)

func table(t testing.TB, text string) *Table {
	t.Helper()
	p, err := Parse("prices.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const small = `
currency: EUR
prices:
  - {model: gpt-4.1-mini*, input: 0.40, cached_input: 0.10, output: 1.60}
  - {model: gpt-4.1*, input: 2, output: 8}
  - {model: "*/llama", input: 1, cached_input: 0.5, cache_write: 1.25, output: 2, date: 2026-06-21, source: "https://example.com"}
`

func TestOf(t *testing.T) {
	p := table(t, small)
	all := Tokens{1e6, 1e6, 1e6, 1e6}
	for model, want := range map[string]float64{"gpt-4.1-mini": 0.4 + 0.1 + 0.4 + 1.6, "gpt-4.1-mini-2025-04-14": 2.5, "gpt-4.1": 2 + 2 + 2 + 8, "meta/llama": 4.75, "gpt-4": -1, "": -1, "GPT-4.1": -1} {
		switch price := p.Of(model); {
		case price == nil && want >= 0, price != nil && math.Abs(price.of(all)-want) > 1e-12:
			t.Errorf("%q: %+v, not %v", model, price, want)
		}
	}
	if (*Table)(nil).Of("m") != nil || p.Currency() != "EUR" || table(t, "prices: []").Currency() != "USD" {
		t.Error("the currency, or no table")
	}
}

// TestExample: the file in deploy can be read, each of its prices has a date and a source, and none is out of proportion.
func TestExample(t *testing.T) {
	const path = "../../../deploy/prices.example.yaml"
	p, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(path)
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "  - ") && (!strings.Contains(line, ", date: 2026-") || !strings.Contains(line, `, source: "https://`)) {
			t.Errorf("no date, or no source: %s", line)
		}
	}
	for _, r := range p.rows {
		if x := r.price; x.Cached > x.Input || x.Written < x.Input || x.Output != 0 && x.Output < x.Input || x.Input <= 0 {
			t.Errorf("%s: %+v", r.model, x)
		}
	}
	for _, model := range []string{"gpt-4o-mini", "gpt-4.1", "claude-opus-5-20260724", "text-embedding-3-small"} {
		if p.Of(model) == nil {
			t.Errorf("%s has no price", model)
		}
	}
}

func TestWrongFiles(t *testing.T) {
	row := func(fields string) string { return "prices:\n  - {model: m, " + fields + "}\n" }
	for _, tc := range []struct{ text, want string }{
		{"", "the file is empty"},
		{"prices: 7", "want a list of prices"},
		{"prices:\n  - gpt-4", "want fields: model, input"},
		{row("input: 1"), "p.yaml:2:5: prices[0]: the field output is missing"},
		{row("output: 1"), "the field input is missing"},
		{"prices:\n  - {input: 1, output: 1}", "the field model is missing"},
		{"prices:\n  - {model: '', input: 1, output: 1}", "want the name of a model"},
		{row("input: -1, output: 1"), "p.yaml:2:23: prices[0].input: want a price of a million tokens"},
		{row("input: 1, output: 1000001"), "prices[0].output: want a price of a million tokens: a number from 0 to 1000000"},
		{row("input: NaN, output: 1"), "want a price"},
		{row("input: .inf, output: 1"), "want a price"},
		{row("input: $2, output: 1"), "want a price"},
		{row("input: '0,15', output: 1"), "want a price"},
		{row("input: 1, output: 1, cached: 1"), `there is no field "cached"`},
		{row("input: 1, output: 1, date: June"), "allowed is a date such as 2026-06-21"},
		{row("input: 1, output: 1, source: [a]"), "prices[0].source: want where the price is from"},
		{"currency: dollar\nprices: []", "p.yaml:1:11: currency: allowed is a code of three capital letters"},
		{row("input: 1, output: 1") + "  - {model: m, input: 2, output: 2}", "p.yaml:3:13: prices[1].model: never used: prices[0] comes first"},
		{"prices:\n  - {model: gpt-4*, input: 1, output: 1}\n  - {model: gpt-4o*, input: 1, output: 1}", "put the narrower pattern before the wider one"},
		{"price:\n  - {}", `there is no field "price"; did you mean prices?`},
	} {
		_, err := Parse("p.yaml", []byte(tc.text))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q: %v; want %q", tc.text, err, tc.want)
		}
	}
	if _, err := Read("/does/not/exist"); err == nil {
		t.Error("a file that is not there")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(small)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse("p", []byte(text))
		if err != nil {
			return
		}
		for i := range p.rows {
			if cost := p.rows[i].price.of(Tokens{1, 1, 1, 1}); !(cost >= 0 && cost <= 4) {
				t.Errorf("a token costs %v", cost)
			}
		}
	})
}

func spend(l *Ledger, tenant, model string, t Tokens) {
	l.Ended(&observe.Outcome{Tenant: tenant, Call: observe.Call{Status: 200, Model: model,
		Used: usage.Usage{Prompt: int(t.Input + t.Cached + t.Written), Cached: int(t.Cached), Written: int(t.Written), Output: int(t.Output)}}})
}

func save(l *Ledger, tenant, model string, t Tokens) {
	l.Ended(&observe.Outcome{Tenant: tenant, Model: model, Entry: &store.Entry{InputTokens: t.Input, OutputTokens: t.Output}})
}

// TestLedger compares with a sum over all additions, and with what the metrics have.
func TestLedger(t *testing.T) {
	p := table(t, small)
	l := NewLedger(p)
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for range 1000 {
				spend(l, fmt.Sprint("t", n%2), "gpt-4.1", Tokens{100, 50, 20, 10})
				save(l, "t0", "gpt-4.1-mini", Tokens{Input: 10, Output: 5})
				spend(l, "t0", "unpriced", Tokens{Input: 1})
			}
		})
	}
	all.Wait()
	l.Ended(&observe.Outcome{Call: observe.Call{Status: 200}})
	r := l.Report()
	spent := Side{Tokens{100*8000 + 8000, 50 * 8000, 20 * 8000, 10 * 8000}, 8000 * (170*2 + 10*8) / 1e6}
	saved := Side{Tokens{Input: 10 * 8000, Output: 5 * 8000}, 8000 * (10*0.4 + 5*1.6) / 1e6}
	near := func(a, b Side) bool { return a.Tokens == b.Tokens && math.Abs(a.Cost-b.Cost) < 1e-9 }
	if !near(r.Spent, spent) || !near(r.Saved, saved) || r.Unpriced != 1 || r.Unreported != 1 || len(r.Accounts) != 4 || r.Currency != "EUR" {
		t.Errorf("%+v\nwant %+v and %+v", r, spent, saved)
	}
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(l)
	got, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]float64{}
	for _, family := range got {
		for _, m := range family.Metric {
			sums[family.GetName()] += m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	for name, want := range map[string]float64{"reprise_tenant_tokens_spent_total": float64(spent.Tokens.Sum()), "reprise_tenant_tokens_saved_total": float64(saved.Tokens.Sum()),
		"reprise_tenant_cost_spent_total": spent.Cost, "reprise_tenant_cost_saved_total": saved.Cost, "reprise_unpriced_models": 1, "reprise_answers_without_usage_total": 1} {
		if math.Abs(sums[name]-want) > 1e-9 {
			t.Errorf("%s is %v, not %v", name, sums[name], want)
		}
	}
}

// TestNewPrices: other prices count from then on, and what was counted before stays.
func TestNewPrices(t *testing.T) {
	l := NewLedger(nil)
	add := func() { spend(l, "t", "m", Tokens{Input: 1e6}) }
	for _, step := range []struct {
		prices   string
		want     float64
		unpriced int
	}{{"", 0, 0}, {"prices: [{model: m, input: 2, output: 0}]", 2, 0}, {"prices: [{model: m, input: 3, output: 0}]", 5, 0}, {"prices: []", 5, 1}, {"", 5, 0}} {
		if step.prices == "" {
			l.SetTable(nil)
		} else {
			l.SetTable(table(t, step.prices))
		}
		add()
		if r := l.Report(); r.Spent.Cost != step.want || r.Unpriced != step.unpriced {
			t.Errorf("%q: %+v", step.prices, r)
		}
	}
}

// TestBounds: a thousand tenants with a thousand models each, with names that no label may have among them, make a bounded number of accounts,
// and no token is lost.
func TestBounds(t *testing.T) {
	l := NewLedger(table(t, "prices: [{model: '*', input: 1, output: 1}]"))
	hostile := []string{"", "a b", "a\nb", "é", "\xff", strings.Repeat("m", 129), strings.Repeat("\x00", 1<<20), other}
	n := 0
	for tenant := range 1000 {
		for model := range 20 {
			spend(l, fmt.Sprint("t", tenant), fmt.Sprint("m", tenant*20+model), Tokens{Input: 1})
			n++
		}
		for _, name := range hostile {
			spend(l, fmt.Sprint("t", tenant), name, Tokens{Input: 1})
			save(l, name, "m1", Tokens{Output: 1})
			n++
		}
	}
	r := l.Report()
	tenants, models := map[string]bool{}, map[string]bool{}
	for _, a := range r.Accounts {
		tenants[a.Tenant], models[a.Model] = true, true
		if a.Tenant != other && !isLabel(a.Tenant) || a.Model != other && !isLabel(a.Model) {
			t.Fatalf("%q %q", a.Tenant, a.Model)
		}
	}
	if len(r.Accounts) > mostPairs || len(tenants) > mostTenants+1 || len(models) > mostModels+1 || len(l.models) > mostModels || len(l.tenants) > mostTenants {
		t.Errorf("%d accounts, %d tenants, %d models", len(r.Accounts), len(tenants), len(models))
	}
	if r.Spent.Tokens.Input != int64(n) || math.Abs(r.Spent.Cost-float64(n)/1e6) > 1e-9 {
		t.Errorf("%+v of %d", r.Spent, n)
	}
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(l)
	if _, err := reg.Gather(); err != nil {
		t.Error(err)
	}
}
