package prices

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"reprise/proxy/observe"
	"reprise/store"
)

// Ledger counts tokens and money by tenant and model. It is safe for concurrent use.
//
// It has a bounded number of names: the first 100 tenants, the first 100 models and the first 1,000 pairs of them since the start. What comes
// after these is counted under [other], with its own price.
type Ledger struct {
	table   atomic.Pointer[Table] // nil: no prices
	missing atomic.Int64          // answers without a report of their tokens

	mu      sync.RWMutex // protects what follows, but not the counts in an account
	tenants map[string]bool
	models  map[string]bool // whether the model has no price
	pairs   map[pair]*account
}

// Bounds of a Ledger.
const (
	mostTenants = 100
	mostModels  = 100
	mostPairs   = 1000
	mostName    = 128 // bytes
)

// other is the tenant and the model of what has no room under its own names.
const other = "other"

type pair struct{ tenant, model string }

// account is what is counted of one pair.
type account struct {
	model        string // may be other
	known        atomic.Pointer[known]
	spent, saved side
}

// known is the price of a model in a table, which takes a look at each row to find.
type known struct {
	table *Table
	price *Price
}

type side struct {
	input, cached, written, output atomic.Int64
	money                          atomic.Uint64 // the bits of a float64
}

// NewLedger returns an empty ledger with the prices of t; nil: none.
func NewLedger(t *Table) *Ledger {
	l := &Ledger{tenants: map[string]bool{}, models: map[string]bool{}, pairs: map[pair]*account{}}
	l.table.Store(t)
	return l
}

// SetTable makes t the prices of what is counted from now on; nil: none.
func (l *Ledger) SetTable(t *Table) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.table.Store(t)
	for model := range l.models {
		l.models[model] = t.Of(model) == nil
	}
}

// Ended counts the tokens of an upstream's answer, or of a stored one that was served. The input of a stored answer is counted at the full
// price, although an upstream may have had a part of it in a cache.
func (l *Ledger) Ended(o *observe.Outcome) {
	if e := o.Entry; e != nil {
		a := l.of(o.Tenant, o.Model)
		a.saved.add(Tokens{Input: e.InputTokens, Output: e.OutputTokens}, l.price(a, o.Model))
	}
	call := &o.Call
	if call.Status/100 != 2 {
		return
	}
	u := &call.Used
	if u.Prompt == 0 && u.Output == 0 {
		l.missing.Add(1)
		return
	}
	a := l.of(o.Tenant, call.Model)
	a.spent.add(Tokens{Input: int64(max(0, u.Prompt-u.Cached-u.Written)), Cached: int64(u.Cached), Written: int64(u.Written), Output: int64(u.Output)}, l.price(a, call.Model))
}

// Forget does nothing: accounts have digests of tenants and names of models, and no prompt.
func (l *Ledger) Forget(store.Filter) {}

// price returns the price of a model that is counted in a.
func (l *Ledger) price(a *account, model string) *Price {
	t := l.table.Load()
	if t == nil || a.model != model {
		return t.Of(model)
	}
	k := a.known.Load()
	if k == nil || k.table != t {
		k = &known{t, t.Of(model)}
		a.known.Store(k)
	}
	return k.price
}

func (s *side) add(t Tokens, p *Price) {
	s.input.Add(t.Input)
	s.cached.Add(t.Cached)
	s.written.Add(t.Written)
	s.output.Add(t.Output)
	if p == nil {
		return
	}
	for cost := p.of(t); ; {
		old := s.money.Load()
		if s.money.CompareAndSwap(old, math.Float64bits(math.Float64frombits(old)+cost)) {
			return
		}
	}
}

func (s *side) tokens() Tokens {
	return Tokens{Input: s.input.Load(), Cached: s.cached.Load(), Written: s.written.Load(), Output: s.output.Load()}
}

func (s *side) cost() float64 { return math.Float64frombits(s.money.Load()) }

// of returns the account of a pair, and makes it where there is room.
func (l *Ledger) of(tenant, model string) *account {
	l.mu.RLock()
	a := l.pairs[pair{tenant, model}] // most of all
	if a == nil {
		a = l.pairs[l.pairLocked(tenant, model)]
	}
	l.mu.RUnlock()
	if a != nil {
		return a
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.pairLocked(tenant, model)
	if a = l.pairs[p]; a != nil {
		return a
	}
	a = &account{model: p.model}
	l.pairs[p] = a
	if p.tenant != other {
		l.tenants[p.tenant] = true
	}
	if p.model != other {
		l.models[p.model] = l.table.Load().Of(p.model) == nil
	}
	return a
}

// pairLocked is the pair under which one is counted: itself where its names are among the first.
func (l *Ledger) pairLocked(tenant, model string) pair {
	p := pair{admitted(l.tenants, tenant, mostTenants), admitted(l.models, model, mostModels)}
	if l.pairs[p] == nil && len(l.pairs) >= mostPairs-1 { // one is that of all others
		p = pair{other, other}
	}
	return p
}

// admitted is the name under which one is counted: itself where it is there or there is room, and it can be a label.
func admitted(names map[string]bool, name string, most int) string {
	if _, known := names[name]; known || len(names) < most && isLabel(name) {
		return name
	}
	return other
}

// isLabel reports whether a name that a client may have chosen can be shown as it is.
func isLabel(name string) bool {
	if name == "" || len(name) > mostName {
		return false
	}
	for i := range len(name) {
		if name[i] <= ' ' || name[i] > '~' {
			return false
		}
	}
	return true
}

// Side is what was spent or saved.
type Side struct {
	Tokens Tokens  `json:"tokens"`
	Cost   float64 `json:"cost,omitempty"` // of those with a price
}

func (s *Side) plus(o Side) {
	s.Tokens.Input += o.Tokens.Input
	s.Tokens.Cached += o.Tokens.Cached
	s.Tokens.Written += o.Tokens.Written
	s.Tokens.Output += o.Tokens.Output
	s.Cost += o.Cost
}

// Account is what was counted of one tenant and model.
type Account struct {
	Tenant string `json:"tenant"`
	Model  string `json:"model"`
	Spent  Side   `json:"spent"`
	Saved  Side   `json:"saved"`
}

// Report is what a Ledger has counted.
type Report struct {
	Currency   string    `json:"currency,omitempty"` // "": there are no prices
	Spent      Side      `json:"spent"`
	Saved      Side      `json:"saved"`
	Unpriced   int       `json:"unpriced_models"`       // models without a price, where there are prices
	Unreported int64     `json:"answers_without_usage"` // of upstreams, which do not say how many tokens they took
	Accounts   []Account `json:"accounts"`
}

// Report returns what was counted so far. Accounts are in the order of their tenants and models.
func (l *Ledger) Report() Report {
	r := Report{Unreported: l.missing.Load(), Accounts: []Account{}}
	l.mu.RLock()
	if t := l.table.Load(); t != nil {
		r.Currency = t.currency
		for _, without := range l.models {
			if without {
				r.Unpriced++
			}
		}
	}
	for p, a := range l.pairs {
		one := Account{p.tenant, p.model, Side{a.spent.tokens(), a.spent.cost()}, Side{a.saved.tokens(), a.saved.cost()}}
		r.Accounts = append(r.Accounts, one)
	}
	l.mu.RUnlock()
	slices.SortFunc(r.Accounts, func(a, b Account) int {
		return cmp.Or(cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Model, b.Model))
	})
	for _, a := range r.Accounts {
		r.Spent.plus(a.Spent)
		r.Saved.plus(a.Saved)
	}
	return r
}

// Describe names no metric: which there are depends on the prices in force.
func (l *Ledger) Describe(chan<- *prometheus.Desc) {}

// Collect reads the metrics.
func (l *Ledger) Collect(ch chan<- prometheus.Metric) {
	p, r := observe.Page(ch), l.Report()
	for _, a := range r.Accounts {
		of := []string{"tenant", a.Tenant, "model", a.Model}
		spent := func(kind string, tokens int64) {
			p.Count("tenant_tokens_spent_total", "Tokens of the upstreams' answers to requests of cached endpoints, by tenant (a digest) and model; of more than 100 of either, the rest is \"other\".",
				float64(tokens), append(of, "kind", kind)...)
		}
		saved := func(kind string, tokens int64) {
			p.Count("tenant_tokens_saved_total", "Tokens of stored answers that were served, and that no upstream had to read or make again.", float64(tokens), append(of, "kind", kind)...)
		}
		spent("input", a.Spent.Tokens.Input)
		spent("cached_input", a.Spent.Tokens.Cached)
		spent("cache_write", a.Spent.Tokens.Written)
		spent("output", a.Spent.Tokens.Output)
		saved("input", a.Saved.Tokens.Input)
		saved("output", a.Saved.Tokens.Output)
		if r.Currency != "" {
			of = append(of, "currency", r.Currency)
			p.Count("tenant_cost_spent_total", "Estimate of what these answers cost, by the operator's prices.", a.Spent.Cost, of...)
			p.Count("tenant_cost_saved_total", "Estimate of what the stored answers would have cost again, with no input at the price of cached input.", a.Saved.Cost, of...)
		}
	}
	p.Count("answers_without_usage_total", "Answers of upstreams that do not say how many tokens they took: these are missing in what was spent.", float64(r.Unreported))
	if r.Currency != "" {
		p.Gauge("unpriced_models", "Models without a price, where there are prices: their tokens are counted, and cost nothing.", float64(r.Unpriced))
	}
}
