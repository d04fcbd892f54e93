// Package prices has what the tokens of models cost, from a file of the operator, and counts what was spent at the upstreams and what the
// cache has saved, by tenant and model.
//
//	currency: USD
//	prices:                     # of a million tokens; the first row that fits a model counts
//	  - model: gpt-4.1-mini*    # * is any text
//	    input: 0.40
//	    cached_input: 0.10      # read from the upstream's cache; default: as input
//	    cache_write: 0.40       # written to it; default: as input
//	    output: 1.60
//	    date: 2026-06-21        # when the price was looked up, and where: for people
//	    source: https://example.com/pricing
//
// Money is an estimate by these prices: discounts for batches, service tiers, prices that depend on the length of a prompt or on the hour,
// taxes and fees for tools are not in it. Without a file tokens are counted all the same.
package prices

import (
	"math"
	"regexp"
	"slices"
	"time"

	"reprise/internal/yamlfile"
	"reprise/proxy/rules"
)

// Tokens are counts of tokens, each in one of the fields.
type Tokens struct {
	Input   int64 `json:"input"`                  // read by the model, without those of the next two
	Cached  int64 `json:"cached_input,omitempty"` // read from a cache
	Written int64 `json:"cache_write,omitempty"`  // read, and written to a cache
	Output  int64 `json:"output"`                 // made
}

// Sum is the number of all.
func (t Tokens) Sum() int64 { return t.Input + t.Cached + t.Written + t.Output }

// Price is what a million tokens of a model cost.
type Price struct{ Input, Cached, Written, Output float64 }

// of returns what t costs.
func (p *Price) of(t Tokens) float64 {
	return (float64(t.Input)*p.Input + float64(t.Cached)*p.Cached + float64(t.Written)*p.Written + float64(t.Output)*p.Output) / 1e6
}

// Table has the prices of models. It does not change.
type Table struct {
	currency string
	rows     []row
}

type row struct {
	model string // a pattern
	price Price
}

// defaultCurrency is that of a file that names none.
const defaultCurrency = "USD"

// Of returns the price of a model, nil where the table has none. Where t is nil it has none of any.
func (t *Table) Of(model string) *Price {
	if t == nil {
		return nil
	}
	for i := range t.rows {
		if rules.Glob(t.rows[i].model, model) {
			return &t.rows[i].price
		}
	}
	return nil
}

// Equal reports whether two tables have the same prices in the same order. Either may be nil.
func (t *Table) Equal(o *Table) bool {
	if t == nil || o == nil {
		return t == o
	}
	return t.currency == o.currency && slices.Equal(t.rows, o.rows)
}

// Currency is the code of the currency of all prices.
func (t *Table) Currency() string { return t.currency }

// Read reads the file of a path. The error has a line for each problem, with its place.
func Read(path string) (*Table, error) {
	d, err := yamlfile.Read(path)
	if err != nil {
		return nil, err
	}
	return read(d)
}

// Parse reads the text of a file.
func Parse(name string, text []byte) (*Table, error) {
	d, err := yamlfile.Parse(name, text)
	if err != nil {
		return nil, err
	}
	return read(d)
}

var currencyCode = regexp.MustCompile(`^[A-Z]{3}$`)

func read(d *yamlfile.Document) (*Table, error) {
	t, root := &Table{currency: defaultCurrency}, d.Root().Fields("currency", "prices")
	if v, ok := root.Get("currency"); ok {
		if t.currency, ok = v.Text("a currency, such as USD"); ok && !currencyCode.MatchString(t.currency) {
			v.Bad("allowed is a code of three capital letters, such as USD")
		}
	}
	list, _ := root.Need("prices")
	for item := range list.List("a list of prices, each with model, input and output") {
		if r, ok := t.readRow(item); ok {
			t.rows = append(t.rows, r)
		}
	}
	if err := d.Err(); err != nil {
		return nil, err
	}
	return t, nil
}

// mostPrice is the largest price of a million tokens: a larger number is one in another unit.
const mostPrice = 1e6

// readRow reads a row after those of t.
func (t *Table) readRow(item yamlfile.Value) (r row, ok bool) {
	const number = "a price of a million tokens: a number from 0 to 1000000"
	price := func(v yamlfile.Value, otherwise float64) float64 {
		if !v.Given() {
			return otherwise
		}
		n, _ := v.Number(number, func(n float64) bool { return n >= 0 && n <= mostPrice && !math.IsNaN(n) })
		return n
	}
	f := item.Fields("model", "input", "cached_input", "cache_write", "output", "date", "source")
	model, ok := f.Need("model")
	if r.model, _ = model.Text("the name of a model, or a pattern such as gpt-4.1*"); ok && r.model == "" {
		model.Bad("want the name of a model, or a pattern such as gpt-4.1*")
	}
	for i, before := range t.rows {
		if ok && rules.Glob(before.model, r.model) {
			model.Bad("never used: prices[%d] comes first and fits the same models; put the narrower pattern before the wider one", i)
			break
		}
	}
	input, _ := f.Need("input")
	output, _ := f.Need("output")
	cached, _ := f.Get("cached_input")
	written, _ := f.Get("cache_write")
	r.price = Price{Input: price(input, 0), Output: price(output, 0)}
	r.price.Cached, r.price.Written = price(cached, r.price.Input), price(written, r.price.Input)
	if v, given := f.Get("date"); given {
		text, isText := v.Text("a date such as 2026-06-21")
		if _, err := time.Parse(time.DateOnly, text); isText && err != nil {
			v.Bad("allowed is a date such as 2026-06-21")
		}
	}
	source, _ := f.Get("source")
	_, _ = source.Text("where the price is from")
	return r, ok
}
