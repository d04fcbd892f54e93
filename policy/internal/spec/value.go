package spec

import "reprise/policy"

// ValueParam chooses what a hit is worth, in every policy that reads cost and size.
var ValueParam = policy.Param{
	Name:    "value",
	Says:    "what a hit is worth: 1, the tokens that it saves, or these per byte; auto: 1 under a limit in entries, else per byte",
	Default: "auto", Choices: []string{"auto", "hits", "tokens", "tokens/byte"},
}

// Value is what a hit is worth: a choice of ValueParam, auto resolved.
type Value byte

// The choices.
const (
	Hits          Value = iota // 1
	Tokens                     // the cost of the answer
	TokensPerByte              // the cost by the size
)

// Value resolves ValueParam.
func (a Args) Value() Value {
	switch a.Choice(ValueParam.Name) {
	case "tokens":
		return Tokens
	case "tokens/byte":
		return TokensPerByte
	case "auto":
		if a.Bytes {
			return TokensPerByte
		}
	}
	return Hits
}

// Of is the factor of an item in a key. It is bounded, so that no entry has value 0 or an infinite one.
func (v Value) Of(it policy.Item) float64 {
	if v == Hits {
		return 1
	}
	w := it.Cost
	if !(w > 0) {
		w = 1
	}
	if v == TokensPerByte {
		w /= float64(max(it.Size, 1))
	}
	return min(max(w, 1e-30), 1e30)
}
