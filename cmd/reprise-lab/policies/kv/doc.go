// Package kv has the policies of prefix caches, one file each: WA (papers/001), which ranks KV blocks by the category of the request that
// used them last, LPC (papers/004), which ranks them by the predicted probability that their conversation goes on, and both together.
//
// Their items are blocks: Item.Offset is the position in the chain, Item.Category and Item.Prob are those of the request, Tick.Seq is its
// number. All blocks of a request have its time, and the caller touches them deepest first, so that among equals the deepest goes first.
//
// A file has the spec, the type, the constructor, Insert, Hit, HitIn, Victim, Remove, Pin, Unpin and helpers, in that order. What they
// learn comes from shadow.go, the formulas are those of package hint and of mixture.go. A block that is inserted may be the next victim.
package kv
