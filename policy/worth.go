package policy

// worthParam chooses what a hit is worth, in every policy that weighs an entry by its cost and size.
var worthParam = Param{
	Name:    "value",
	Says:    "what a hit is worth: 1, the tokens that it saves, or these per byte; auto: 1 under a limit in entries, else per byte",
	Default: "auto", Choices: []string{"auto", "hits", "tokens", "tokens/byte"},
}

// worthMode is a choice of worthParam, auto resolved.
type worthMode byte

const (
	worthHits worthMode = iota
	worthTokens
	worthTokensPerByte
)

// worthMode resolves the parameter of that name.
func (a args) worthMode() worthMode {
	switch a.choice(worthParam.Name) {
	case "tokens":
		return worthTokens
	case "tokens/byte":
		return worthTokensPerByte
	case "auto":
		if a.Bytes {
			return worthTokensPerByte
		}
	}
	return worthHits
}

// worth is the factor of it in a key. It is bounded, so that no entry is worthless or priceless.
func worth(mode worthMode, it Item) float64 {
	if mode == worthHits {
		return 1
	}
	w := it.Cost
	if !(w > 0) {
		w = 1
	}
	if mode == worthTokensPerByte {
		w /= float64(max(it.Size, 1))
	}
	return min(max(w, 1e-30), 1e30)
}
