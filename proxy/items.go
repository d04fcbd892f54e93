package proxy

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
	"reprise/proxy/answer/rawjson"
	"reprise/proxy/cache"
	"reprise/store"
)

// A request for the embeddings of a list has an answer for each of its items, and each of these is kept as the answer to a request for that item
// alone, so that any other list finds it:
//
//	exact: the key of the list ─► the keys of its items ─► all known: their answers, joined
//	                                   │
//	                                   └► some: the client's bytes without these items go upstream; what comes is split,
//	                                      kept item by item, and joined with what is known
//
// split and join (vectors.go) are inverse: the parts of an answer, joined, are that answer, member by member. An answer for which that is not known, because it
// has a member that is not listed here, is kept whole under the key of the list, as every other answer is. Where only some items were asked for,
// such an answer is not kept, and it is no answer to the client either: the upstream is asked again, for all items, and for a while asked for all at once.
//
// The upstream counts tokens for a list. Each item gets a share by its length, in tokens where the client has sent tokens and in bytes of JSON
// otherwise: whole numbers that add up to the upstream's. The usage of a joined answer is the sum of the shares.

// known is what is known of the items of a request. It does not change once made.
type known struct {
	hits, stale []*cache.Hit // by item; nil where there is none
	found       int          // of hits
	away        bool         // the shared store did not answer, and was not asked again
	vectors     []*vectors   // of hits, with asked; nil: the answers to all items are asked for
	asked       []byte       // the body of the request for the items that are not known
}

// errItems: the answer to a part of the items cannot be joined with the others. Nothing has been written yet.
var errItems = errors.New("the answer to some items does not fit those that are stored")

// restRefused is for how long a part of the items is not asked for where it was asked for in vain.
const restRefused = 10 * time.Minute

// inVain notes that the answer to a part of the items was of no use, and returns errItems. An error is about this list; an answer that does not fit is
// about all of its kind: the upstream answers in another way than before. Those who waited for it look again together, and nobody joins them there.
func (x *work) inVain() error {
	of := x.r.Scope
	if x.o.rec.Status != http.StatusOK {
		of = x.r.Key
	}
	x.s.whole.add(store.Key(of), x.s.opts.Now())
	x.o.Seal()
	return errItems
}

// wasInVain reports whether a part of the items, or of another list of the kind, was asked for in vain lately.
func (x *work) wasInVain() bool {
	after := x.s.opts.Now().Add(-restRefused)
	return x.s.whole.since(store.Key(x.r.Key), after) || x.s.whole.since(store.Key(x.r.Scope), after)
}

// lookItems looks up the items of a request; nil: it has none, or takes no stored answer. A shared store is asked only for items of which it is
// known that it has them, and no more once it does not answer: a request waits once for it, and not for each item.
func (q *request) lookItems(ctx context.Context) *known {
	if len(q.Items) == 0 || q.d.NoCache {
		return nil
	}
	k := &known{hits: make([]*cache.Hit, len(q.Items)), stale: make([]*cache.Hit, len(q.Items))}
	keys, ahead := make([]store.Key, len(q.Items)), 0 // the answers of items before ahead were asked for
	for i, key := range q.Items {
		keys[i] = store.Key(key)
	}
	for i := range q.Items {
		if ctx.Err() != nil || k.away {
			break
		}
		r := q.item(i)
		if i >= ahead {
			r.Next = keys[i+1 : min(i+fetched, len(keys))]
		}
		hit, stale, err := q.s.cache.Lookup(ctx, r)
		q.s.faults.degraded(err)
		if i >= ahead && r.Next == nil {
			ahead = i + fetched
		}
		if k.away = r.Unfetched; k.away {
			q.req.Unfetched = true
		}
		k.hits[i], k.stale[i] = hit, stale
		if hit != nil {
			k.found++
		}
	}
	return k
}

// fetched is how many answers the shared store is asked for at once.
const fetched = 64

// item is the request for item i alone.
func (q *request) item(i int) *cache.Request {
	r := q.req
	r.Key, r.Asked, r.Probe = store.Key(q.Items[i]), true, nil
	return &r
}

// joined is the answer of stored ones, one for each item; nil where one of them cannot be read, or they do not fit each other.
func (q *request) joined(hits []*cache.Hit, result Result) *served {
	parts, sum := make([]*vectors, len(hits)), store.Entry{}
	h := &served{hits: hits, found: hits[0], result: result, status: cacheStatus{result: result, entry: hits[0].Entry.ID}}
	for i, hit := range hits {
		one := q.serve(hit, result)
		if one == nil || one.failed != nil {
			return one
		}
		if parts[i] = readVectors(one.frozen.Body); parts[i] == nil {
			return nil
		}
		if h.status.age = max(h.status.age, one.status.age); i == 0 || one.status.ttl < h.status.ttl {
			h.status.ttl = one.status.ttl
		}
		sum.InputTokens += one.entry.InputTokens
		sum.UpstreamTime += one.entry.UpstreamTime
	}
	body := join(parts[0], parts)
	z, err := answer.Freeze(q.family.Answers, "application/json", body)
	if body == nil || err != nil {
		return nil
	}
	first := hits[0].Entry
	sum.ID, sum.Key, sum.Labels, sum.Topic, sum.Created, sum.Expires = first.ID, first.Key, first.Labels, first.Topic, first.Created, first.Expires
	h.entry, h.frozen = &sum, z
	return h
}

// staleItems is the answer to all items, where each is stored, if only as an expired answer that may be served in place of an error.
func (x *work) staleItems() *served {
	if x.known == nil {
		return nil
	}
	hits := slices.Clone(x.known.hits)
	for i := range hits {
		if hits[i] == nil {
			hits[i] = x.s.cache.Stale(x.r.http.Context(), x.r.item(i), x.known.stale[i])
		}
		if hits[i] == nil {
			return nil
		}
	}
	return x.r.joined(hits, Stale)
}

// mostValues is of how many values an answer is expected for the rest of the items, at most: a longer one would not be kept (see canon.Parse), and
// so could not be joined.
const mostValues = 1_900_000

// askRest makes the request one for the items that are not known, where some are whose answers can be joined.
func (x *work) askRest() {
	k := x.known
	if k == nil || k.found == 0 || k.found == len(k.hits) || x.wasInVain() {
		return
	}
	known := *k
	known.vectors = make([]*vectors, len(k.hits))
	var first *vectors
	for i, hit := range k.hits {
		if hit == nil {
			continue
		}
		h := x.r.serve(hit, Exact)
		if h == nil || h.failed != nil {
			return
		}
		v := readVectors(h.frozen.Body)
		if v == nil || first != nil && !first.fits(v) {
			return
		}
		first, known.vectors[i] = v, v
	}
	if first == nil || (len(k.hits)-k.found)*strings.Count(first.json, ",") > mostValues {
		return
	}
	input := gjson.GetBytes(x.r.body, x.r.family.Requests.Field)
	rest := make([]byte, 0, len(x.r.body))
	rest = append(append(rest, x.r.body[:input.Index]...), '[')
	n := 0
	for i, e := range rawjson.Elements(input) {
		if n++; i < len(k.hits) && k.hits[i] == nil {
			if len(rest) > input.Index+1 {
				rest = append(rest, ',')
			}
			rest = append(rest, e.Raw...)
		}
	}
	if input.Index == 0 || n != len(k.hits) {
		return
	}
	known.asked = append(append(rest, ']'), x.r.body[input.Index+len(input.Raw):]...)
	x.known = &known
	x.detail = append(x.detail, "partial="+strconv.Itoa(k.found)+"/"+strconv.Itoa(len(k.hits)))
}

// partial reports whether only a part of the items is asked for.
func (k *known) partial() bool { return k != nil && k.asked != nil }

// body is the request that goes upstream.
func (k *known) body(client []byte) []byte {
	if k.partial() {
		return k.asked
	}
	return client
}

// open are the items that are asked for.
func (q *request) open(k *known) (all []int) {
	for i := range q.Items {
		if !k.partial() || k.hits[i] == nil {
			all = append(all, i)
		}
	}
	return all
}

// keepItems keeps an answer item by item; false where it cannot be split, and nothing was kept.
func (o *outcome) keepItems(k *keptInfo, z *answer.Frozen, took time.Duration) bool {
	q := &o.x.r
	if len(q.Items) == 0 {
		return false
	}
	open := q.open(o.known)
	items := o.split(z.Body)
	if k.split = len(items) == len(open); !k.split {
		return false
	}
	if q.d.NoStore {
		return true
	}
	var first *store.Entry
	for n, i := range open {
		one := items[n]
		frozen, err := answer.Freeze(z.Form, z.ContentType, rawjson.Bytes(one.json))
		if err != nil || int64(len(one.json)) > q.s.opts.MaxEntryBytes {
			k.reason = "size"
			continue
		}
		frozen.Origin = z.Origin
		e := q.entry(o.x.found, frozen, answer.Verdict{Usage: answer.Usage{Input: one.tokens()}}, took/time.Duration(len(open)))
		if kept := o.store(k, q.item(i), e); first == nil {
			first = kept
		}
	}
	k.entry = first
	return true
}

// split returns the answers to the items that were asked for.
func (o *outcome) split(body []byte) []*vectors {
	q := &o.x.r
	return split(body, gjson.GetBytes(o.known.body(q.body), q.family.Requests.Field))
}

// wholeItems is the answer to all items, of which the upstream was asked for a part and has answered body.
func (x *work) wholeItems(body []byte) ([]byte, error) {
	o := x.o
	switch status := o.rec.Status; {
	case !o.known.partial():
		return body, nil
	case o.kept.split:
	case status <= http.StatusBadRequest, status == http.StatusRequestEntityTooLarge, status == http.StatusUnprocessableEntity:
		return nil, x.inVain() // an error about the request may name an item by its place
	default:
		return body, nil
	}
	if !x.r.chargeHit(4 * len(body)) { // with its parts, their list and the answer
		return nil, errNoMemory
	}
	parts, items := slices.Clone(o.known.vectors), o.split(body)
	for n, i := range o.x.r.open(o.known) {
		parts[i] = items[n]
	}
	joined := join(items[0], parts)
	if joined == nil {
		return nil, x.inVain()
	}
	if !x.r.chargeHit(2 * len(joined)) { // with the stored parts, which last as long
		return nil, errNoMemory
	}
	for _, hit := range o.known.hits {
		if hit != nil && !x.mayServe(hit) {
			return nil, errPurged
		}
	}
	return joined, nil
}

// touchItems is touch for what was stored of an answer that was written.
func (x *work) touchItems(hits []*cache.Hit) {
	full := false
	for _, hit := range hits {
		full = hit != nil && x.s.cache.Touch(&x.r.req, hit.Entry, nil) || full
	}
	if full {
		x.flush()
		x.s.faults.degraded(x.s.cache.Settle())
	}
}
