package demo

import (
	"testing"

	"reprise/proxy/observe/prices"
)

// TestPrices: the prices of the demo are those of the example in deploy.
func TestPrices(t *testing.T) {
	own, err := Prices()
	if err != nil {
		t.Fatal(err)
	}
	example, err := prices.Read("../../../../deploy/prices.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, model := range append(Models(), "gpt-4o-mini") {
		if a, b := own.Of(model), example.Of(model); a == nil || b == nil || *a != *b {
			t.Errorf("%s: %v, in the example %v", model, a, b)
		}
	}
	if own.Currency() != example.Currency() {
		t.Error("another currency")
	}
}
