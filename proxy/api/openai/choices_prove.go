package openai

import (
	"slices"
	"strconv"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
	"reprise/proxy/answer/rawjson"
)

// proof holds chunks against an answer. It implements [answer.Merger].
type proof struct {
	choices
	object gjson.Result
	claim  *rawjson.Claim
	list   *rawjson.Claim              // of the choices
	latest [len(changing)]gjson.Result // of the members that change from chunk to chunk
	failed bool
	repeats
}

// changing are the members that change from chunk to chunk: the usage and the time so far, and what a first chunk may have empty.
var changing = [...]string{"id", "created", "usage", "timings"}

// Prover returns what holds chunks against an answer.
func (c choices) Prover(object gjson.Result) answer.Merger {
	p := &proof{choices: c, object: object, claim: rawjson.NewClaim(object)}
	p.list = p.claim.Member("choices")
	return p
}

// Add holds a chunk against the answer.
func (p *proof) Add(chunk gjson.Result) (last bool, err error) {
	p.grown = rawjson.Growth{}
	chunk.ForEach(func(k, v gjson.Result) bool {
		switch at := slices.Index(changing[:], k.Str); {
		case k.Str == "choices":
			for _, choice := range rawjson.Elements(v) {
				index, ok := rawjson.Place(choice.Get("index"))
				p.failed = p.failed || !ok || !p.holds(p.choice(index), choice)
			}
		case k.Str == "object" || k.Str == "obfuscation":
		case at < 0:
			p.failed = p.failed || !p.claim.Member(k.Str).Holds(v)
		case rawjson.Given(v) && v.Raw != `""` && v.Raw != "{}":
			p.latest[at] = v
		}
		return !p.failed
	})
	if p.failed {
		err = answer.ErrMalformed
	}
	return false, err
}

// mostChoices bounds for how many choices the one with an index is looked for.
const mostChoices = 64

// choice returns the claim of the choice with an index, nil where there is none. The first one may have none, as chunks may.
func (p *proof) choice(index int64) *rawjson.Claim {
	number := gjson.Result{Type: gjson.Number, Raw: strconv.FormatInt(index, 10)}
	if c := p.list.Elem(int(index)); c != nil && (c.Member("index").Is(number) || index == 0 && c.Member("index") == nil) {
		return c
	}
	for i := range mostChoices {
		if c := p.list.Elem(i); c != nil && c.Member("index").Is(number) {
			return c
		}
	}
	return nil
}

// holds reports whether a choice of the answer holds a fragment of it.
func (p *proof) holds(claim *rawjson.Claim, fragment gjson.Result) (ok bool) {
	ok = exists(claim)
	fragment.ForEach(func(k, v gjson.Result) bool {
		switch {
		case !ok:
		case k.Str == "index":
		case k.Str == "delta" && p.deltas:
			ok = claim.Member("message").Joins(v, &p.grown)
		case k.Str == "text" || k.Str == "logprobs" || k.Str == "token_ids":
			ok = claim.Member(k.Str).Joins(v, &p.grown)
		case k.Str == "message" || k.Str == "delta":
			ok = v.Type == gjson.Null
		default:
			ok = claim.Member(k.Str).Holds(v)
		}
		return ok
	})
	return ok
}

// exists reports whether there is a claim, and takes it as said that there is.
func exists(c *rawjson.Claim) bool { return c.Holds(gjson.Result{Type: gjson.JSON, Raw: "{}"}) }

// Object returns the answer, if the chunks have said all of it. What the API itself puts into every answer need not be said.
func (p *proof) Object() (gjson.Result, error) {
	kind := p.claim.Member("object")
	ok := !p.failed && (kind == nil || kind.Is(gjson.Result{Type: gjson.String, Raw: p.choices.object}))
	for i, v := range p.latest {
		ok = ok && (!v.Exists() || p.claim.Member(changing[i]).Is(v))
	}
	for i := 0; p.deltas; i++ {
		choice := p.list.Elem(i)
		if choice == nil {
			break
		}
		choice.Member("message").Member("role").Is(gjson.Result{Type: gjson.String, Raw: `"assistant"`})
	}
	if !ok || !p.claim.Whole() {
		return gjson.Result{}, answer.ErrMalformed
	}
	return p.object, nil
}
