package proxy

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"net/http"
	"sync"

	"reprise/proxy/api"
	"reprise/proxy/canon"
	"reprise/proxy/internal/budget"
	"reprise/proxy/internal/header"
)

// reading is what a request was read as: it follows from the request's bytes alone.
type reading struct {
	tenant  string
	request *canon.Request // must not be changed
	print   fingerprint    // zero: of a request that is not remembered
	young   bool           // it is among the newest of those that are remembered
}

// fingerprint is a digest of all that a reading follows from, under a salt: equal ones are of equal requests.
type fingerprint [sha256.Size]byte

// readings remembers how requests were read that had exact hits. A client that asks again usually sends the same bytes: a digest of
// them then takes the place of the parse, and of the tenant's digest.
//
// Two generations hold up to maxReadings bytes each, a fixed amount that is not charged. What is found in the old one, and hits again,
// moves to the young one; when that is full it becomes the old one. A purge empties both, because they hold prompts.
type readings struct {
	salt   [16]byte
	hashes sync.Pool // of *hasher

	mu         sync.RWMutex // protects what follows
	young, old map[fingerprint]*reading
	size       int // bytes of the young ones
}

// maxReadings is how many bytes one generation holds.
const maxReadings = 2 << 20

// readingBytes is the size of a reading beside its texts and turns.
const readingBytes = 512

func newReadings() *readings {
	m := &readings{hashes: sync.Pool{New: func() any { return &hasher{Hash: sha256.New()} }}, young: map[fingerprint]*reading{}}
	rand.Read(m.salt[:])
	return m
}

// of reads a request of family with this body, which is charged to mem. A short one that is remembered is not parsed again.
func (m *readings) of(i *identifier, r *http.Request, d *Directives, family *api.Family, body []byte, mem *budget.Lease) (read reading, err error) {
	if len(body) <= firstBuffer {
		print := m.fingerprint(i, r, d, family, body)
		if known, ok := m.find(print, body); ok {
			return known, nil
		}
		read.print = print
	}
	identity := i.identity(r, d)
	read.tenant = identity.Tenant
	read.request, err = parse(family, body, identity, mem)
	return read, err
}

// fingerprint digests a request of family with this body. Every text goes in with its length.
func (m *readings) fingerprint(i *identifier, r *http.Request, d *Directives, family *api.Family, body []byte) (print fingerprint) {
	h := m.hashes.Get().(*hasher)
	b := append(append(h.buf[:0], m.salt[:]...), family.Requests.Code)
	b = appendText(appendText(appendText(b, r.URL.Path), r.URL.RawQuery), d.Namespace)
	team, credentials, scope := i.counted(r.Header, new(few))
	b = appendFields(appendText(b, team), r.Header, credentials)
	b = appendFields(b, r.Header, scope)
	if team != "" {
		b = appendFields(b, r.Header, []string{team})
	}
	h.Reset()
	h.Write(b)
	h.Write(body)
	h.buf = h.Sum(b[:0])
	copy(print[:], h.buf)
	h.returned(&m.hashes)
	return print
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

// find returns the reading of an equal request, with the body given now.
func (m *readings) find(print fingerprint, body []byte) (r reading, ok bool) {
	m.mu.RLock()
	known, young := m.young[print], true
	if known == nil {
		known, young = m.old[print], false
	}
	m.mu.RUnlock()
	if known == nil {
		return reading{}, false
	}
	request := *known.request
	request.Body = body
	return reading{known.tenant, &request, print, young}, true
}

// keep remembers r, of a request that had an exact hit, unless purged reports that a purge has begun since it came: clear, which follows
// that, must not be followed by what it is to remove.
func (m *readings) keep(r reading, purged func() bool) {
	if r.young || r.print == (fingerprint{}) {
		return
	}
	request := *r.request
	request.Body = nil
	size := readingBytes + int(request.Kept())
	m.mu.Lock()
	defer m.mu.Unlock()
	if purged() {
		return
	}
	if m.size += size; m.size > maxReadings {
		m.old, m.young, m.size = m.young, map[fingerprint]*reading{}, size
	}
	m.young[r.print] = &reading{tenant: r.tenant, request: &request}
}

// clear forgets all.
func (m *readings) clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.young, m.old, m.size = map[fingerprint]*reading{}, nil, 0
}
