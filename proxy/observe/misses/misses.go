// Package misses finds why requests were not answered from the cache.
//
// A [Watch] remembers, of the answers that were kept, what was asked (by a digest), in which scope, and what that scope is made of (by
// digests of its parts and the texts of its system prompt). [Watch.Why] looks what a request asks up. Where it is kept in another scope, the
// parts in which the nearest one differs are the reason; where it was kept in the same scope, what became of that answer is. What the
// cache itself has found out (an answer that a guard vetoed, one below the gate) is passed in as [Facts].
//
// Two views are kept apart. A client is shown the reason among the answers of its own tenant and namespace alone: no other answer is named,
// counted, or can take the place of one in what is looked through. The operator, by [Watch.Report], also sees that the same is kept for
// another tenant or in another namespace.
//
// A reason follows from what is remembered, which is bounded ([Options]) and begins with the process: an answer that was evicted before, or
// is forgotten here, counts as never asked. A purge empties it, and the examples of misses that Report has; one of a single entry leaves the
// figures of Report, which have no texts.
package misses

import (
	"strconv"
	"strings"
	"time"
)

// Request is what identifies a request that missed.
type Request struct {
	Tenant, Namespace string
	Scope             [32]byte
	Asks              uint64 // a digest of what it asks, whatever its scope; 0: it is not remembered
	Behind            uint64 // a digest of what else is in its prompt: a frame, a document; 0: nothing
	Talk              uint64 // a digest of the conversation before that; 0: there is none
	// Parts are those of the scope, except Tenant and Namespace; nil: they are not known.
	Parts []Part
	// System returns the texts of the system prompt. It is called for a scope that is new, and where system prompts differ. nil: none.
	System func() []Text
	// Short is what has made the life of a kept answer to it another one than that of the settings: ByClient, ByRule, or "".
	Short string
}

// What decides the life of an answer, where it is not the setting for all.
const (
	ByClient = "client" // the request that it answered wanted a shorter one
	ByRule   = "rule"   // a rule has its own
)

// Part is a part of a scope. Equal digests are of equal parts.
type Part struct {
	Name   string
	Digest uint32
}

// Text is a text of the system prompt, of the part in which it counts. The texts of one part are in their order.
type Text struct {
	Part, Text string
	Holes      []Hole // what was taken out of the text because it is no part of the scope, in order
}

// Hole is a place of a Text from which bytes of the original were taken.
type Hole struct{ At, Bytes int }

// place is the place of a byte in the original.
func (t *Text) place(at int) int {
	n := at
	for _, h := range t.Holes {
		if h.At <= at {
			n += h.Bytes
		}
	}
	return n
}

// The names of parts that this package has words for, beside the members of the body.
const (
	partTenant    = "tenant"
	partNamespace = "namespace"
	PartSystem    = "system"       // the messages before the first user's
	partTurns     = "turns"        // the conversation before the prompt, which is no part of a scope
	partContext   = "context"      // what else is in the prompt, which is none either
	PartMessage   = "last-message" // what the last message holds beside its text
	PartRest      = "other-fields" // members beyond the first ones
	PartEndpoint  = "endpoint"     // the path of the request
	PartQuery     = "query"        // of the URL
	PartHeader    = "header:"      // with the name of a header behind it
	partIgnored   = "ignored"      // what the settings and rules ignore
)

// ownParts are names that do not come from clients, without PartRest.
var ownParts = []string{partTenant, partNamespace, PartSystem, partTurns, partContext, PartMessage, PartEndpoint, PartQuery, partIgnored}

// Facts are what the cache has found out about a request that missed.
type Facts struct {
	Now time.Time
	// Request: the client wanted no stored answer, or a younger one; Fresh: there was one under its key.
	Request, Fresh bool
	Form           bool   // an answer to this very request cannot be put into the form that the client asks for
	Expired        bool   // an answer that would have served is too old
	Short          string // what has decided the life of that answer, as in Request.Short
	Away           bool   // an answer that would have served is kept, and the shared store could not give it
	Refused        bool   // a verdict of before keeps an answer from serving
	Shadow         bool   // an answer would have been served without the shadow mode
	Explored       bool   // an answer would have been served, and is compared with a new one
	Exact          bool   // nothing was compared by meaning
	Raised         bool   // the client has raised the gate, so that equal forms do not count
	Near           bool   // an answer in the same scope is over the gate of its topic, and below that of hits
	Veto           string // why the nearest answer over the gate was not served; "": there was none
	Degraded       string // the step of the cache that failed; "": none
	Nearest        uint64 // the entry of the owner that was found, and not served; 0: none is known
}

// Why is the kind of a reason.
type Why string

// The reasons, in the order in which they are looked for.
const (
	whyForm      Why = "form"       // the stored answer cannot be put into the form that the client asks for
	whyRequest   Why = "request"    // the client wanted a new answer
	whyShadow    Why = "shadow"     // the mode is shadow
	whyExplored  Why = "explore"    // the stored answer is compared with a new one
	whyRefused   Why = "refused"    // a verdict said that the stored answer is wrong
	whyExpired   Why = "expired"    // the answer was too old
	whyNotStored Why = "not-stored" // an answer was given before, and not kept
	whyEvicted   Why = "evicted"    // the answer has left to make room
	whyExactOnly Why = "exact-only" // the same is kept in other words or another form, and only equal requests were looked for
	whyScope     Why = "scope"      // the same is kept in another scope
	whyContext   Why = "context"    // the same question is kept behind another document, or in another template
	whyChain     Why = "chain"      // the same is kept in another conversation
	whyVeto      Why = "veto"       // a guard refused the nearest answer
	whyDegraded  Why = "degraded"   // a step of the cache failed
	whyBelow     Why = "below"      // the nearest answer is below the gate
	whyNew       Why = "new"        // nothing of the kind is known
)

// difference is a part in which a request differs from the nearest one that is kept.
type difference struct {
	Part  string
	Index int    // of the message, among those of a system prompt of several; from 0
	Byte  int    // of its text, where the word begins in which it differs; -1: not known
	Looks string // what differs there: date, time, id, uuid, number, name, space, order, text; "": not known
	shape string // the expression that takes it out; "": there is none
}

// String is the difference as in Cache-Status: user, system@212:date.
func (d difference) String() string {
	s := plain(d.Part)
	if d.Index > 0 {
		s += "-" + strconv.Itoa(d.Index+1)
	}
	if d.Byte >= 0 {
		s += "@" + strconv.Itoa(d.Byte)
	}
	if d.Looks != "" {
		s += ":" + d.Looks
	}
	return s
}

// longestName is how many bytes of a name are shown. The longest names of headers that libraries send have some 40.
const longestName = 64

// plain is a name of a client's own as it may be in a header.
func plain(name string) string {
	name = name[:min(len(name), longestName)]
	return strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '_' || r == '-' || r == '.' || r == ':' || '0' <= r && r <= '9' || 'a' <= r|0x20 && r|0x20 <= 'z') {
			return r
		}
		return '?'
	}, name)
}

// Diagnosis is why a request missed.
type Diagnosis struct {
	Why     Why
	What    string       // which veto, which reason not to store, which step, what has decided a life
	Differs []difference // from the nearest one that is kept; the system prompt first
	Scopes  int          // other scopes in which the same is kept, as far as they were looked through
	Alike   bool         // all of these differ in the same parts

	hit     bool              // it would have been a hit without this reason
	nearest uint64            // the entry that nearly served the request, of another tenant only in what Operator returns; 0: none is known
	all     func() *Diagnosis // with the answers of other tenants and namespaces; nil, and a result of nil: the same
}

// mostShown is how many differences a header names.
const mostShown = 8

// Status is the reason as in Cache-Status. It never has a similarity.
func (d *Diagnosis) Status() string {
	s := "why=" + d.Reason()
	for i, one := range d.Differs {
		switch {
		case i == 0:
			s += ";differs="
		case i == mostShown:
			return s + "+more"
		default:
			s += "+"
		}
		s += one.String()
	}
	return s
}

// Reason is the kind with what it concerns.
func (d *Diagnosis) Reason() string {
	if d.What == "" {
		return string(d.Why)
	}
	return string(d.Why) + ":" + plain(d.What)
}

// Operator is the diagnosis with the answers of all tenants. It is found only now, so that the time in which a client gets its answer does not
// depend on them.
func (d *Diagnosis) Operator() *Diagnosis {
	if d.all == nil {
		return d
	}
	if all := d.all(); all != nil {
		return all
	}
	own := *d
	own.all = nil // it has the request, with its body
	return &own
}
