package proxy

import (
	"cmp"
	"hash/maphash"
	"strings"

	"github.com/tidwall/gjson"

	"reprise/policy"
	"reprise/proxy/api"
	"reprise/proxy/cache"
	"reprise/proxy/canon"
	"reprise/proxy/internal/header"
	"reprise/proxy/observe/misses"
	"reprise/store"
)

// missesShare is the part of the memory limit that what is remembered of misses may take.
const missesShare = 64

func (s *Server) newMisses() *misses.Watch {
	o := misses.Options{Now: s.opts.Now, Requests: s.metrics.lookedFor, Prompts: s.opts.LogPrompts}
	if all := s.opts.APIs.Families(); len(all) > 0 {
		names := all[0].Requests.Names // each has those of all
		o.Known = func(field string) bool { _, known := names[field]; return known }
	}
	o.Stored = func(id uint64) (prompt string, there bool) {
		e, there := s.cache.Get(policy.ID(id))
		if there {
			prompt = e.Prompt
		}
		return prompt, there
	}
	if limit := s.opts.MemoryLimit; limit > 0 {
		o.Bytes = int(min(limit/missesShare, misses.DefaultBytes))
	}
	return misses.NewWatch(o)
}

// Misses is what finds why requests to a server missed, for the admin API.
func (s *Server) Misses() *misses.Watch { return s.misses }

// foundElsewhere makes the watch remember an entry from before the start, or of another process.
func (s *Server) foundElsewhere(e *store.Entry, base store.Scope, asks, behind uint64) {
	family := s.opts.APIs.ByPath(e.Endpoint)
	if family == nil {
		return
	}
	s.misses.Found(&misses.Request{Tenant: e.Tenant, Namespace: e.Namespace, Scope: base, Asks: asksOf(family, asks), Behind: behind}, uint64(e.ID), e.Expires, e.Turn > 0)
}

// missed finds why the request missed, which goes to the upstream next, and adds it to the detail of the response: the header of the answer has
// it, so that it cannot wait for the end of the request.
func (x *work) missed() {
	x.s.faults.guard("misses", func() error {
		asked := x.r.identify(x.found)
		x.miss = &misses.Missed{Request: asked, Diagnosis: x.s.misses.Why(asked, x.r.facts(x.found), x.r.life)}
		x.detail = append(x.detail, x.miss.Status())
		return nil
	})
}

// life is what has become of an entry.
func (q *request) life(id uint64) misses.Life {
	switch fresh, there := q.s.cache.State(&q.req, policy.ID(id)); {
	case fresh:
		return misses.Fresh
	case there:
		return misses.Stale
	}
	return misses.Gone
}

// facts are what the cache has found out.
func (q *request) facts(f *cache.Finding) *misses.Facts {
	x := &misses.Facts{Now: q.s.opts.Now(), Form: q.req.Key != store.Key(q.Key), Shadow: f.Shadow, Explored: f.Fallback, Exact: !f.Compared, Raised: q.s.cache.Raised(&q.req),
		Near: f.Route.Topic != 0, Degraded: f.Degraded, Away: q.req.Unfetched}
	bar, own, there := q.s.cache.KeyBar(&q.req)
	x.Nearest = uint64(cmp.Or(own, f.Nearest()))
	x.Request = q.d.NoCache || cache.BarRequest == bar || cache.BarRequest == f.Bar
	x.Fresh = there && bar != cache.BarExpired && bar != cache.BarRefused
	x.Expired = bar == cache.BarExpired || f.Bar == cache.BarExpired
	if x.Expired {
		if e, there := q.s.cache.Get(policy.ID(x.Nearest)); there {
			x.Short = q.shortened(e)
		}
	}
	x.Refused = bar == cache.BarRefused || f.Bar == cache.BarRefused
	switch {
	case len(f.Vetoes) > 0:
		x.Veto = string(f.Vetoes[0])
	case f.Explore != nil && !f.Shadow && !f.Fallback:
		x.Veto = string(f.Verdict.Refusal())
	}
	return x
}

// shortened is what has decided the life of an answer to q, or to a request like it; "": the setting for all.
func (q *request) shortened(e *store.Entry) string {
	switch {
	case !e.Expires.IsZero() && e.Expires.Sub(e.Created) < q.rule.TTL:
		return misses.ByClient
	case q.rule.TTL != q.set.Rest().TTL:
		return misses.ByRule
	}
	return ""
}

var missSeed = maphash.MakeSeed()

// identify is q as the watch compares it with others.
func (q *request) identify(f *cache.Finding) *misses.Request {
	r := &misses.Request{Tenant: q.tenant, Namespace: q.d.Namespace, Scope: q.Scope, Talk: talkOf(q.Turns), System: q.systemTexts}
	switch asks, behind := q.s.cache.Asks(&q.req, f); {
	case asks != 0:
		r.Asks, r.Behind = asksOf(q.family, asks), behind
	case q.Ask != canon.Hash{}:
		r.Asks = asksOf(q.family, maphash.Bytes(missSeed, q.Ask[:]))
	case r.Talk != 0: // it ends with an answer or the output of a tool
		r.Asks, r.Talk = asksOf(q.family, r.Talk), 0
	}
	r.Parts = q.parts()
	return r
}

// asksOf is a digest of what is asked of an API: the answers of another one are other answers.
func asksOf(family *api.Family, asks uint64) uint64 {
	return max(maphash.Comparable(missSeed, [2]uint64{asks, uint64(family.Requests.Code)}), 1)
}

// talkOf is a digest of the earlier turns, whatever their scope; 0 where there are none.
func talkOf(turns []canon.Turn) uint64 {
	if len(turns) == 0 {
		return 0
	}
	var h maphash.Hash
	h.SetSeed(missSeed)
	for i := range turns {
		h.Write(turns[i].Ask[:])
		h.Write(turns[i].Answer[:])
	}
	return max(h.Sum64(), 1)
}

// parts are those of the scope, and of what else identifies the request; nil where they are not known.
func (q *request) parts() []misses.Part {
	all := make([]misses.Part, 0, 16)
	add := func(name, value string) {
		all = append(all, misses.Part{Name: name, Digest: uint32(maphash.String(missSeed, value))})
	}
	add(misses.PartEndpoint, q.http.URL.Path)
	if q.http.URL.RawQuery != "" {
		add(misses.PartQuery, q.http.URL.RawQuery)
	}
	c := q.s.ids.count(q.http.Header, new(few))
	for _, name := range c.scope {
		for _, v := range q.http.Header[name] {
			if part, counts := header.Part(name, v); counts {
				add(misses.PartHeader+name, part)
			}
		}
	}
	if !q.EachPart(q.body, func(name string, digest uint32) {
		all = append(all, misses.Part{Name: partNames.of(name), Digest: digest})
	}) {
		return nil
	}
	return all
}

// nameTable has the names of parts in package misses by those in package canon.
type nameTable map[string]string

var partNames = nameTable{canon.PartPreamble: misses.PartSystem, canon.PartAsk: misses.PartMessage, canon.PartRest: misses.PartRest}

func (t nameTable) of(name string) string {
	if other, ok := t[name]; ok {
		return other
	}
	return name
}

// systemTexts are the texts of the system prompt: of members of the body such as "instructions", then of messages.
func (q *request) systemTexts() (all []misses.Text) {
	members := q.family.Requests.System
	for _, s := range q.Segments {
		if s.Kind != canon.SegmentSystem {
			continue
		}
		if len(all) == misses.MostTexts {
			break
		}
		value, part := gjson.ParseBytes(s.Of(q.body)), misses.PartSystem
		switch {
		case value.IsObject():
			value = value.Get("content")
		case len(members) > 0:
			part, members = members[0], members[1:]
		}
		all = append(all, q.withoutIgnored(misses.Text{Part: part, Text: textOf(value)}))
	}
	return all
}

// textOf is the text of a content: of a string, or of parts, joined by line feeds.
func textOf(content gjson.Result) string {
	if !content.IsArray() {
		return content.Str
	}
	var text strings.Builder
	first := true
	content.ForEach(func(_, part gjson.Result) bool {
		if !first {
			text.WriteByte('\n')
		}
		text.WriteString(part.Get("text").Str)
		first = false
		return true
	})
	return text.String()
}

// withoutIgnored takes what does not count out of a text.
func (q *request) withoutIgnored(t misses.Text) misses.Text {
	var rest strings.Builder
	last := 0
	for from, to := range q.rule.Ignore.Spans(q.tenant, t.Text) {
		rest.WriteString(t.Text[last:from])
		t.Holes = append(t.Holes, misses.Hole{At: rest.Len(), Bytes: to - from})
		last = to
	}
	if last > 0 {
		rest.WriteString(t.Text[last:])
		t.Text = rest.String()
	}
	return t
}

// explainedMiss is why a request is a miss.
type explainedMiss struct {
	Why     string   `json:"why"`
	Differs []string `json:"differs,omitempty"`
	Scopes  int      `json:"other_scopes,omitempty"` // in which the same prompt is kept, as far as they are remembered
	Words   string   `json:"in_words"`
	Repair  string   `json:"repair,omitempty"`
}

// explain is why q, which would be a miss, is one. Only an operator is shown the answers of other tenants and namespaces.
func (q *request) explainMiss(f *cache.Finding, operator bool) (x *explainedMiss) {
	q.s.faults.guard("misses", func() error {
		d := q.s.misses.Explain(q.identify(f), q.facts(f), q.life)
		if operator {
			d = d.Operator()
		}
		x = &explainedMiss{Why: d.Reason(), Scopes: d.Scopes, Words: d.Words(), Repair: d.Repair()}
		for _, one := range d.Differs {
			x.Differs = append(x.Differs, one.String())
		}
		return nil
	})
	return x
}
