package reuse

import (
	"slices"
	"strings"
)

// diff is the differences of two prompts.
type diff struct {
	x, y []token // the prompts without the tokens that they begin and end with alike
	a, b []token // the surplus of either side, in its order
	keys []key   // by id
	head int     // how many tokens the prompts begin with alike
}

// key is what one key of x and y has in common with the others.
type key struct {
	more  int   // how much more often it is in the first prompt
	a, b  int   // how often it is in each prompt; counted only where more is not 0
	alias int32 // the id that an inflection is taken for, or 0
}

// difference gives an id to every key that one prompt has more often than the other. Such a key is surplus each time that it
// occurs there, also where the prompts are alike. All other tokens keep the id 0.
func difference(a, b []token) *diff {
	head, tail := ends(a, b)
	d := &diff{x: a[head : len(a)-tail], y: b[head : len(b)-tail], head: head}
	ids := d.index()
	var mask uint64 // of the keys that are surplus
	for k, id := range ids {
		if d.keys[id].more != 0 {
			mask |= 1 << trait(k)
		}
	}
	if mask == 0 {
		return d
	}
	for i := range a {
		if k := identify(&a[i], ids, mask, d.keys); k != nil {
			if k.a++; k.more > 0 {
				d.a = append(d.a, a[i])
			}
		}
	}
	for i := range b {
		if k := identify(&b[i], ids, mask, d.keys); k != nil {
			if k.b++; k.more < 0 {
				d.b = append(d.b, b[i])
			}
		}
	}
	return d
}

// ends counts the tokens that two prompts begin with alike, and those that they end with alike.
func ends(a, b []token) (head, tail int) {
	n := min(len(a), len(b))
	for head < n && a[head].same(&b[head]) {
		head++
	}
	for tail < n-head && a[len(a)-1-tail].same(&b[len(b)-1-tail]) {
		tail++
	}
	return head, tail
}

// same compares all that sequences and skeletons depend on.
func (t *token) same(o *token) bool {
	return t.class == o.class && t.quoted == o.quoted && t.key == o.key
}

// index counts the keys of x and y and returns their ids. Where the prompts are alike again between two differences, equal tokens
// cancel each other out and are not counted; which ones are paired makes no difference to the counts.
func (d *diff) index() map[string]int32 {
	ids := make(map[string]int32)
	d.keys = make([]key, 1, 16)
	x, y := d.x, d.y
	for len(x) > 0 && len(y) > 0 && len(ids) < 2*most {
		i, j := meeting(x, y)
		d.count(x[:i], ids, 1)
		d.count(y[:j], ids, -1)
		for x, y = x[i:], y[j:]; len(x) > 0 && len(y) > 0 && x[0].key == y[0].key; {
			x, y = x[1:], y[1:]
		}
	}
	d.count(x, ids, 1)
	d.count(y, ids, -1)
	return ids
}

// farthest bounds the search for the end of a difference, in tokens.
const farthest = 8

// meeting finds the first tokens of x and y with one key, near their heads; without one it is behind the heads.
func meeting(x, y []token) (i, j int) {
	for far := range farthest {
		for near := range far + 1 {
			switch {
			case far < len(x) && near < len(y) && x[far].key == y[near].key:
				return far, near
			case near < len(x) && far < len(y) && x[near].key == y[far].key:
				return near, far
			}
		}
	}
	return 1, 1
}

func (d *diff) count(tokens []token, ids map[string]int32, n int) {
	for i := range tokens {
		id := ids[tokens[i].key]
		if id == 0 {
			id = int32(len(d.keys))
			ids[tokens[i].key] = id
			d.keys = append(d.keys, key{})
		}
		d.keys[id].more += n
	}
}

const traits = 64

// trait is a number that few other keys have.
func trait(k string) uint8 { return (k[0]*7 ^ k[len(k)-1]*3 ^ byte(len(k))) % traits }

// identify sets the id of a token whose key is surplus and returns the key, otherwise nil.
func identify(t *token, ids map[string]int32, mask uint64, keys []key) *key {
	if mask>>trait(t.key)&1 == 0 {
		return nil
	}
	id := ids[t.key]
	if id == 0 || keys[id].more == 0 {
		return nil
	}
	t.id = id
	return &keys[id]
}

func (d *diff) any(is func(token) bool) bool {
	return slices.ContainsFunc(d.a, is) || slices.ContainsFunc(d.b, is)
}

func (d *diff) has(k kind) bool { return d.any(func(t token) bool { return t.kind == k }) }

// cancelInflections takes pairs such as file and files out of the surplus, each word once. In the order they stay, as one
// word: "who killed Hamlet" is not "who did Hamlet kill".
func (d *diff) cancelInflections() {
	d.pair(func(x, y token) bool { return inflected(x.key, y.key) })
}

// cancel takes what means the same out of the surplus: inflections, synonyms, words written in one or in two, slips of the pen.
func (d *diff) cancel() {
	d.cancelInflections()
	d.pair(func(x, y token) bool { return alike(x.key, y.key) })
	d.cancelJoined()
	d.pair(func(x, y token) bool { return slip(x.key, y.key) })
}

// pair takes pairs of words out of the surplus. In the order they stay, as one word.
func (d *diff) pair(same func(x, y token) bool) {
	d.a = slices.DeleteFunc(d.a, func(x token) bool {
		at := slices.IndexFunc(d.b, func(y token) bool { return !x.quoted && !y.quoted && x.kind == word && y.kind == word && same(x, y) })
		if at < 0 {
			return false
		}
		d.keys[x.id].alias, d.keys[d.b[at].id].alias = x.id, x.id
		d.b = slices.Delete(d.b, at, at+1)
		return true
	})
}

// cancelJoined takes "left over" and "leftover" out of the surplus.
func (d *diff) cancelJoined() {
	d.a, d.b = joinedIn(d.a, d.b)
	d.b, d.a = joinedIn(d.b, d.a)
}

func joinedIn(two, one []token) (rest, others []token) {
	for i := 0; i+1 < len(two); i++ {
		x, y := two[i], two[i+1]
		if y.hyphen && x.key == "re" {
			continue // to re-sign is not to resign
		}
		at := slices.IndexFunc(one, func(t token) bool {
			return !t.quoted && !x.quoted && len(t.key) == len(x.key)+len(y.key) && strings.HasPrefix(t.key, x.key) && strings.HasSuffix(t.key, y.key)
		})
		if at >= 0 {
			two, one = slices.Delete(two, i, i+2), slices.Delete(one, at, at+1)
			i--
		}
	}
	return two, one
}

// inflected reports whether two words differ by a regular ending only, or by one doubled letter, the commonest slip.
func inflected(x, y string) bool {
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	if n < 3 {
		return false
	}
	x, y = x[n:], y[n:]
	if len(x) > len(y) {
		x, y = y, x
	}
	switch x {
	case "":
		return y == "s" || y == "es" || y == "d" || y == "ed" || y == "ing" || len(y) == 4 && strings.HasSuffix(y, "ing")
	case "e":
		return y == "ing"
	case "s", "d":
		return y == "ing"
	case "y":
		return y == "ies" || y == "ied"
	case "ed", "es":
		return y == "ing"
	}
	return false
}

// content reports whether a word carries content, and not only grammar.
func content(t token) bool { return t.class&function == 0 }
