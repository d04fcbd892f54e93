package policy

// ValueParam names the objective, in every policy that reads cost and size. What an objective maximises, and what it is judged by:
//
//	value       gain of a hit  room of an entry     judged by
//	hits        1              that of the limit    hit ratio
//	tokens      its cost       that of the limit    tokens saved by the tokens of all requests
//	hits/byte   1              its size             hit ratio, under a limit in bytes
//	tokens/byte its cost       its size             tokens saved, under a limit in bytes
//	auto        hits under a limit in entries, tokens under one in bytes
//
// The room of an entry is 1 under a limit in entries and its size under one in bytes: what fills a fixed room best has the most
// gain by room, which is why a ranking divides by the size although hits or tokens are what counts. So under a limit in bytes
// hits/byte is hits, and tokens/byte is tokens. They differ for a cache with two limits, as the proxy has, of which the one in
// bytes is reached first: Options.Bytes is not set there.
var ValueParam = Param{
	Name:    "value",
	Says:    "the objective: hits, or the tokens that they save; with /byte by size under any limit; auto: hits under a limit in entries, else tokens",
	Default: "auto", Choices: []string{"auto", "hits", "tokens", "hits/byte", "tokens/byte"},
}

// Value is an objective, with auto and the unit of the limit resolved.
type Value byte

// The objectives are what a hit gains, by entry or by byte of room.
const (
	Hits Value = iota
	Tokens
	HitsPerByte
	TokensPerByte
)

// Value resolves ValueParam. A policy that lacks it is judged as by auto.
func (a Args) Value() Value {
	value := a.Choice(ValueParam.Name)
	tokens := value == "tokens" || value == "tokens/byte"
	if value == "" || value == "auto" {
		tokens = a.Bytes
	}
	bytes := a.Bytes || value == "hits/byte" || value == "tokens/byte"
	switch {
	case tokens && bytes:
		return TokensPerByte
	case tokens:
		return Tokens
	case bytes:
		return HitsPerByte
	}
	return Hits
}

// CountsTokens reports whether a hit gains the tokens that it saves, and not 1.
func (v Value) CountsTokens() bool { return v == Tokens || v == TokensPerByte }

// gain is what a hit of an item counts in the measure of v: 1, or its tokens, no cost being 1.
func (v Value) gain(it Item) float64 {
	if v.CountsTokens() && it.Cost > 0 {
		return it.Cost
	}
	return 1
}

// Of is the gain of a hit by the room of the item, by which a ranking multiplies the chance of a hit. It is bounded, so that no entry
// has value 0 or an infinite one.
func (v Value) Of(it Item) float64 {
	w := v.gain(it)
	if v == HitsPerByte || v == TokensPerByte {
		w /= float64(max(it.Size, 1))
	}
	return min(max(w, 1e-30), 1e30)
}
