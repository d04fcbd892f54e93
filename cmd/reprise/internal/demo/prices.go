package demo

import (
	_ "embed"

	"reprise/proxy/observe/prices"
)

//go:embed prices.yaml
var priceRows []byte

// Prices are what the models of the built-in workload would cost at their makers. The built-in engine costs nothing.
func Prices() (*prices.Table, error) { return prices.Parse("prices.yaml", priceRows) }

// PricesNote says where Prices come from.
const PricesNote = "what gpt-4o-mini and gpt-4o would cost, by deploy/prices.example.yaml; the built-in engines cost nothing"
