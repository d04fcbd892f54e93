package cache

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sync"

	"reprise/policy"
	"reprise/store"
	"reprise/topics/reuse/evidence"
)

// mostRecent is how many answers by meaning, and how many wrong pairs, are kept in mind.
const mostRecent = 4096

// recent are the answers that were found by meaning of late, one for each key and entry.
type recent struct {
	mu     sync.Mutex // protects what follows
	all    map[pair]*answered
	newest map[policy.ID]*answered // by entry
	order  queues[*answered]
}

// pair is a key and an entry that answers it.
type pair struct {
	key store.Key
	id  policy.ID
}

// answered is an answer that was found by meaning.
type answered struct {
	pair
	evidence.Case
	entry     store.Key // of the entry
	labels    *store.Labels
	times     int
	checked   [32]byte // digest of the text of the answer that was looked through for quotations; zero: none was
	confirmed bool     // by a comparison
	judged    bool     // by a verdict from outside
}

func newRecent() recent {
	return recent{all: map[pair]*answered{}, newest: map[policy.ID]*answered{}}
}

// served notes that e answers k, and reports whether it was right before: it answered k already, or a comparison said so.
func (r *recent) served(k store.Key, e *store.Entry, c evidence.Case) (before bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.noteLocked(k, e, c)
	r.newest[e.ID] = one
	one.times++
	return one.times > 1 || one.confirmed
}

// quotes reports whether the answer of e must not serve k, by look, which is called once for each answer.
func (r *recent) quotes(k store.Key, e *store.Entry, c evidence.Case, look func() bool) bool {
	r.mu.Lock()
	known := e.AnswerHash != [32]byte{} && r.noteLocked(k, e, c).checked == e.AnswerHash
	r.mu.Unlock()
	if known {
		return false
	}
	if look() {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.noteLocked(k, e, c).checked = e.AnswerHash
	return false
}

// confirmed notes that the answer of e was right for k.
func (r *recent) confirmed(k store.Key, e *store.Entry, c evidence.Case) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.noteLocked(k, e, c).confirmed = true
}

func (r *recent) noteLocked(k store.Key, e *store.Entry, c evidence.Case) *answered {
	p := pair{k, e.ID}
	one := r.all[p]
	if one != nil && one.entry == e.Key {
		return one
	}
	one = &answered{pair: p, Case: c, entry: e.Key, labels: e.Labels}
	r.all[p] = one
	if old, full := r.order.add(c.Tenant, one); full && r.all[old.pair] == old {
		delete(r.all, old.pair)
		if r.newest[old.id] == old {
			delete(r.newest, old.id)
		}
	}
	return one
}

// judged returns the last answer of an entry, on which there was no verdict before.
func (r *recent) judged(of func(*store.Labels) bool, id policy.ID) (answered, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.newest[id]
	switch {
	case one == nil || !of(one.labels):
		return answered{}, ErrUnknownHit
	case one.judged:
		return answered{}, ErrCounted
	}
	one.judged = true
	return *one, nil
}

// review notes a verdict on an answer of an entry, which has a key of its own, and reports whether there was none before.
func (r *recent) review(p pair, entry store.Key) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.all[p]
	if one == nil || one.entry != entry { // it was never served, or is long ago
		return true
	}
	before := one.judged
	one.judged = true
	return !before
}

// origins are the keys of the entries whose answers came word for word again, for another prompt of the same form: by the key of that one.
type origins struct {
	mu    sync.RWMutex // protects what follows
	all   map[store.Key]store.Key
	order queues[store.Key]
}

// of is the origin of a key, which may be the key itself.
func (o *origins) of(k store.Key) store.Key {
	o.mu.RLock()
	defer o.mu.RUnlock()
	if first, ok := o.all[k]; ok {
		return first
	}
	return k
}

func (o *origins) add(tenant uint64, k, first store.Key) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, known := o.all[k]; !known {
		if old, full := o.order.add(tenant, k); full {
			delete(o.all, old)
		}
	}
	o.all[k] = first
}

// pairs are those of keys whose requests do not have one answer, whichever came first.
type pairs struct {
	mu    sync.RWMutex // protects what follows
	all   map[[2]store.Key]struct{}
	order queues[[2]store.Key]
}

func newPairs() pairs { return pairs{all: map[[2]store.Key]struct{}{}} }

func pairOf(a, b store.Key) [2]store.Key {
	if bytes.Compare(a[:], b[:]) > 0 {
		a, b = b, a
	}
	return [2]store.Key{a, b}
}

func (p *pairs) has(a, b store.Key) bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if len(p.all) == 0 {
		return false
	}
	_, ok := p.all[pairOf(a, b)]
	return ok
}

func (p *pairs) add(tenant uint64, a, b store.Key) {
	one := pairOf(a, b)
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.all[one]; ok {
		return
	}
	p.all[one] = struct{}{}
	if old, full := p.order.add(tenant, one); full {
		delete(p.all, old)
	}
}

func (p *pairs) remove(tenant uint64, a, b store.Key) {
	one := pairOf(a, b)
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.all, one)
	p.order.remove(tenant, func(x [2]store.Key) bool { return x == one })
}

// given are digests of the last answers of the upstream in each scope of the evidence. Where many questions get one answer, two equal ones say
// little: a label of a few would come out the same by chance.
type given struct {
	mu    sync.Mutex // protects what follows
	all   map[[2]uint64]*scopeAnswers
	order queues[[2]uint64]
}

// scopeAnswers are the last answers of a scope, each with its question.
type scopeAnswers struct {
	question, answer [32]uint32
	n                int
}

// leastTold is the probability with which a comparison counts whose answer other questions have, too. A classifier of a few labels has to come out
// the same 200 times, by which time a property of the wording that matters for one text in fifty has shown.
const leastTold = 1.0 / 40

// echoTold is the same of an answer that has most of the words of its prompt, of which a wording may change some.
const echoTold = 1.0 / 4

func answerOf(e *store.Entry) uint32 { return binary.LittleEndian.Uint32(e.AnswerHash[:]) }

func (g *given) add(c evidence.Case, e *store.Entry) {
	at := [2]uint64{c.Tenant, c.Scope}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.all == nil {
		g.all = map[[2]uint64]*scopeAnswers{}
	}
	one := g.all[at]
	if one == nil {
		one = &scopeAnswers{}
		g.all[at] = one
		if old, full := g.order.add(c.Tenant, at); full {
			delete(g.all, old)
		}
	}
	i := one.n % len(one.answer)
	one.question[i], one.answer[i] = uint32(c.Question), answerOf(e)
	one.n++
}

// tells reports whether a comparison counts that came out the same with the answer of e.
func (g *given) tells(c evidence.Case, e *store.Entry, echo bool, draw float64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	one := g.all[[2]uint64{c.Tenant, c.Scope}]
	for i := 0; one != nil && i < min(one.n, len(one.answer)); i++ {
		if one.question[i] != uint32(c.Question) && one.answer[i] == answerOf(e) {
			return draw < leastTold
		}
	}
	return !echo || draw < echoTold
}

// queues have the last mostRecent of what was added. A tenant that adds many drops its own: it takes no place from one that has fewer.
type queues[T any] struct {
	of map[uint64][]T // by tenant, the oldest first
	n  int
}

// mostLooked is how many tenants are looked at for the one that has most.
const mostLooked = 64

// add adds v, and returns what it took the place of.
func (q *queues[T]) add(tenant uint64, v T) (old T, full bool) {
	if q.of == nil {
		q.of = map[uint64][]T{}
	}
	if q.n++; q.n > mostRecent {
		full, old = true, q.drop(q.crowded(tenant))
	}
	q.of[tenant] = append(q.of[tenant], v)
	return old, full
}

// remove removes what a tenant has added. It costs a pass over all that this tenant has.
func (q *queues[T]) remove(tenant uint64, is func(T) bool) {
	has := q.of[tenant]
	rest := slices.DeleteFunc(has, is)
	if q.n -= len(has) - len(rest); len(rest) == 0 {
		delete(q.of, tenant)
	} else {
		q.of[tenant] = rest
	}
}

// crowded is the tenant that has most, of the one that adds and some others.
func (q *queues[T]) crowded(adds uint64) (crowded uint64) {
	crowded, looked := adds, 0
	for tenant, has := range q.of {
		if len(has) > len(q.of[crowded]) {
			crowded = tenant
		}
		if looked++; looked == mostLooked {
			break
		}
	}
	return crowded
}

// drop removes the oldest of a tenant that has some.
func (q *queues[T]) drop(tenant uint64) (old T) {
	var none T
	has := q.of[tenant]
	old, has[0] = has[0], none
	q.n--
	if has = has[1:]; len(has) == 0 {
		delete(q.of, tenant)
		return old
	}
	q.of[tenant] = has
	return old
}
