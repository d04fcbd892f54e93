package proxy

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"net/http"
	"sync"

	"reprise/proxy/api"
	"reprise/proxy/canon"
	"reprise/proxy/internal/clientio"
	"reprise/proxy/internal/header"
	"reprise/proxy/rules"
	"reprise/store"
)

// reading is what a request was read as: it follows from the request's bytes alone.
type reading struct {
	tenant         string
	*canon.Request             // must not be changed; its Body is that of the request, or nil where that is remembered
	rule           *rules.Rule // by which it was read and is handled; nil: of a request of the proxy's own
	set            *rules.Set  // that has the rule: another set may have another
	print          fingerprint // zero: of a request that is not remembered
	young          bool        // it is among the newest of those that are remembered
}

// fingerprint is a digest of all that a reading follows from, under a salt: equal ones are of equal requests.
type fingerprint [sha256.Size]byte

// readings remembers how requests were read that had exact hits. A client that asks again usually sends the same bytes: a digest of
// them then takes the place of the parse, and of the tenant's digest.
//
// Two generations hold up to maxReadings bytes each, a fixed amount that is not charged. What is found in the old one, and hits again,
// moves to the young one; when that is full it becomes the old one. A purge empties both, because they hold prompts.
type readings struct {
	salt    [16]byte
	buffers bufferLender

	mu         sync.RWMutex // protects what follows
	young, old map[fingerprint]*reading
	size       int // bytes of the young ones
}

// maxReadings is how many bytes one generation holds.
const maxReadings = 2 << 20

// readingBytes is the size of a reading beside its texts and turns.
const readingBytes = 768

func newReadings() *readings {
	m := &readings{young: map[fingerprint]*reading{}}
	rand.Read(m.salt[:])
	return m
}

// of reads a request of family with this body by the rules of set; the body is charged to mem, and c is what count has found in its header. A
// short one that is remembered is not parsed again.
func (m *readings) of(i *identifier, r *http.Request, c *counted, d *Directives, family *api.Family, body []byte, set *rules.Set, mem *clientio.Lease) (read reading, err error) {
	if len(body) <= firstBuffer {
		print := m.fingerprint(i.secret(), r, c, d, family, body)
		if known, ok := m.find(print); ok && known.set == set {
			return known, nil
		}
		read.print = print
	}
	identity := i.identity(r, c, d)
	read.tenant = identity.Tenant
	read.set = set
	read.Request, read.rule, err = parse(family, body, identity, c.name(r.Header), set, mem)
	return read, err
}

// fingerprint digests a request of family with this body, and the secret by which its tenant is named. Every text goes in with its length.
func (m *readings) fingerprint(secret [32]byte, r *http.Request, c *counted, d *Directives, family *api.Family, body []byte) fingerprint {
	buf := m.buffers.get()
	defer m.buffers.put(buf)
	b := append(append(append((*buf)[:0], m.salt[:]...), secret[:]...), family.Requests.Code)
	b = appendText(appendText(appendText(b, r.URL.Path), r.URL.RawQuery), d.Namespace)
	b = appendFields(appendText(b, c.team), r.Header, c.credentials)
	b = appendFields(b, r.Header, c.scope)
	if c.team != "" {
		b = appendFields(b, r.Header, []string{c.team})
	}
	b = append(b, body...)
	*buf = b
	return sha256.Sum256(b)
}

// appendFields appends the named fields, with their number and that of their values.
func appendFields(b []byte, h http.Header, names []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(names)))
	for _, name := range names {
		values := h[name]
		b = binary.AppendUvarint(appendText(b, name), uint64(len(values)))
		for _, v := range values {
			part, counts := header.Part(name, v)
			if !counts {
				part = ""
			}
			b = appendText(append(b, boolByte(counts)), part)
		}
	}
	return b
}

func boolByte(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// find returns the reading of an equal request.
func (m *readings) find(print fingerprint) (r reading, ok bool) {
	m.mu.RLock()
	known, young := m.young[print], true
	if known == nil {
		known, young = m.old[print], false
	}
	m.mu.RUnlock()
	if known == nil {
		return reading{}, false
	}
	return reading{known.tenant, known.Request, known.rule, known.set, print, young}, true
}

// keep remembers r, of a request that had an exact hit, unless a purge has begun since it came, which changes now: clear, which follows
// that, must not be followed by what it is to remove.
func (m *readings) keep(r reading, came uint64, now func() uint64) {
	if r.young || r.print == (fingerprint{}) {
		return
	}
	request := *r.Request
	request.Body = nil
	size := readingBytes + int(request.Kept())
	m.mu.Lock()
	defer m.mu.Unlock()
	if now() != came {
		return
	}
	if m.size += size; m.size > maxReadings {
		m.old, m.young, m.size = m.young, map[fingerprint]*reading{}, size
	}
	m.young[r.print] = &reading{tenant: r.tenant, Request: &request, rule: r.rule, set: r.set}
}

// Forget forgets all: it holds prompts.
func (m *readings) Forget(store.Filter) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.young, m.old, m.size = map[fingerprint]*reading{}, nil, 0
}
