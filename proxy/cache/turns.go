package cache

import (
	"crypto/sha256"

	"reprise/policy"
	"reprise/store"
	"reprise/topics"
)

// turns resolves the earlier turns of conversations to the entries that answered them.
type turns struct {
	store   *store.Store
	aliases *Verdicts
}

// chain is the digest of the earlier turns of r: each turn is its key and the reply, and where the key is an alias, the key of the
// entry that answered it, if the reply is that entry's answer. So two conversations that were led by different words to the same
// answers are equivalent, also where the upstream gave one of these again to a prompt of the same form, and no other two are.
func (s turns) chain(r *Request) (chain topics.ChainID) {
	if r.Vector != nil {
		return r.Chain
	}
	for _, t := range r.Turns {
		asked, reply := t.Key, t.AnswerText
		if reply == ([32]byte{}) {
			reply = t.Answer // not one message of text: the digest of its bytes is used
		} else if e := s.answered(r, t); e != nil {
			asked = s.aliases.origin(e)
		}
		var link [3 * 32]byte
		copy(link[:], chain[:])
		copy(link[32:], asked[:])
		copy(link[64:], reply[:])
		chain = sha256.Sum256(link[:])
	}
	return chain
}

// answered is the entry that the answer of a turn of r came from; nil where none has it, or where its key may not lead there any more.
func (s turns) answered(r *Request, t Turn) *store.Entry {
	e, alias, ok := s.store.Lookup(t.Key)
	if !ok || t.AnswerText == ([32]byte{}) || e.AnswerHash != t.AnswerText {
		return nil
	}
	if alias {
		if _, _, holds := s.aliases.holds(r, t.Key, e, max(s.aliases.gate, r.Gate)); !holds {
			return nil
		}
	}
	return e
}

// parent is the entry that r depends on: the one that gave the last answer of the conversation.
func (s turns) parent(r *Request) policy.ID {
	if r.Parent != (store.Key{}) {
		if e, _, ok := s.store.Lookup(r.Parent); ok {
			return e.ID
		}
		return 0
	}
	if len(r.Turns) == 0 {
		return 0
	}
	if e := s.answered(r, r.Turns[len(r.Turns)-1]); e != nil {
		return e.ID
	}
	return 0
}

// parentKey is the identity of a parent of r. Where the parent is not stored it is the request before in the conversation.
func (s turns) parentKey(r *Request, parent policy.ID) uint64 {
	if p, ok := s.store.Get(parent); ok {
		return p.Key.Short()
	}
	if last := len(r.Turns) - 1; last >= 0 {
		before := r.Turns[last].Key
		if _, _, ok := s.store.Lookup(before); !ok { // if it were stored, its answer would be another than the client's
			return before.Short()
		}
	}
	return 0
}
