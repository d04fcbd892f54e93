package proxy

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"reprise/proxy/api/registry"
	"reprise/proxy/canon"
	"reprise/store"
)

// readingCases are requests of which many differ in one thing.
func readingCases() (all []*http.Request) {
	add := func(target string, fields ...string) {
		r := httptest.NewRequest("POST", target, nil)
		for _, f := range fields {
			name, value, _ := strings.Cut(f, ": ")
			r.Header[http.CanonicalHeaderKey(name)] = append(r.Header[http.CanonicalHeaderKey(name)], value)
		}
		all = append(all, r)
	}
	const path = "/v1/chat/completions"
	for _, fields := range [][]string{nil, {"Authorization: Bearer a"}, {"Authorization: Bearer b"}, {"X-Api-Key: Bearer a"}, {"Authorization: Bearer a", "X-Api-Key: b"},
		{"Authorization: "}, {"Authorization: Bearer a", "Authorization: Bearer a"}, {"X-Team: a"}, {"X-Team: "}, {"X-Team: a", "Authorization: Bearer a"},
		{"X-Team: b", "Authorization: Bearer a"}, {"Authorization: Bearer a", "OpenAI-Organization: o"}, {"Authorization: Bearer a", "OpenAI-Organization: p"},
		{"Authorization: Bearer a", "OpenAI-Organization: o", "OpenAI-Beta: x"}, {"Authorization: Bearer a", "OpenAI-Beta: o"}, {"OpenAI-Beta: o", "OpenAI-Beta: o"},
		{"OpenAI-Beta: o: o"}, {"Authorization: Bearer a", "Content-Type: application/json"}, {"Authorization: Bearer a", "Content-Type: application/vnd.a+json"},
		{"Cookie: a=1"}, {"Cookie: a=1; AWSALB=2"}, {"Cookie: AWSALB=2"}, {"X-Acme-Token: 1"}, {"X-Anything: 1"}, {"X-Anything: "}, {"User-Agent: u"}} {
		add(path, fields...)
	}
	add(path+"?a=b", "Authorization: Bearer a")
	add("/v1/completions", "Authorization: Bearer a")
	return all
}

// identityOf is the identity of a request.
func identityOf(i *identifier, r *http.Request, d *Directives) canon.Identity {
	c := i.count(r.Header, new(few))
	return i.identity(r, &c, d)
}

// TestFingerprints: requests with equal fingerprints are read in the same way, whatever names tenants; those that differ in what is
// harmless have equal ones.
func TestFingerprints(t *testing.T) {
	for _, from := range []TenantSource{"authorization", "header:X-Team", "none"} {
		ids, m, equal := newIdentifier(&Options{TenantFrom: from}, func() (secret [32]byte) { return secret }), newReadings(), 0
		type read struct {
			identity canon.Identity
			body     string
			code     byte
		}
		seen := map[fingerprint]read{}
		for _, r := range readingCases() {
			for _, namespace := range []string{"", "n"} {
				for _, body := range []string{`{"model":"m"}`, `{"model": "m"}`, ""} {
					for _, f := range registry.APIs.Families() {
						d := Directives{Namespace: namespace}
						now := read{identityOf(&ids, r, &d), body, f.Requests.Code}
						c := ids.count(r.Header, new(few))
						print := m.fingerprint(ids.secret(), r, &c, &d, f, []byte(body))
						before, ok := seen[print]
						if ok && !reflect.DeepEqual(before, now) {
							t.Errorf("%s: %+v and %+v have one fingerprint", from, before, now)
						}
						if seen[print] = now; ok {
							equal++
						}
					}
				}
			}
		}
		if equal == 0 {
			t.Errorf("%s: no two fingerprints are equal", from)
		}
		f, r := registry.APIs.Families()[0], readingCases()[0]
		if _, ok := seen[newReadings().fingerprint(ids.secret(), r, new(counted), &Directives{}, f, nil)]; ok {
			t.Errorf("%s: two processes have one salt", from)
		}
	}
}

// TestSecretChanges: with another secret every tenant has another name, and no request is read as it was remembered before.
func TestSecretChanges(t *testing.T) {
	secret := [32]byte{1}
	i, m := newIdentifier(&Options{TenantFrom: "authorization"}, func() [32]byte { return secret }), newReadings()
	f, r := registry.APIs.Families()[0], readingCases()[0]
	h := http.Header{"Authorization": {"Bearer a"}}
	name := func() (string, fingerprint) {
		return i.tenant(h), m.fingerprint(i.secret(), r, new(counted), &Directives{}, f, nil)
	}
	tenant, print := name()
	if again, same := name(); again != tenant || same != print {
		t.Errorf("%s and %s are one tenant", tenant, again)
	}
	secret[31] = 2
	if other, differs := name(); other == tenant || differs == print {
		t.Errorf("%s of the first secret is %s of the second; equal fingerprints: %v", tenant, other, differs == print)
	}
	secret[31] = 0
	if back, same := name(); back != tenant || same != print {
		t.Errorf("%s is %s with the first secret again", tenant, back)
	}
}

// TestReadings: a request with an exact hit is read from memory afterwards, as it was parsed; after a purge it is not, and a purge that
// has begun keeps it from being remembered.
func TestReadings(t *testing.T) {
	m := newReadings()
	const body = `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]}`
	family := registry.APIs.Families()[0]
	parsed, err := family.Parse([]byte(body), canon.Identity{Tenant: "t"})
	if err != nil {
		t.Fatal(err)
	}
	epoch := func() uint64 { return 7 }
	print := fingerprint{1}
	if _, ok := m.find(print); ok {
		t.Error("found before it was kept")
	}
	m.keep(reading{tenant: "t", Request: parsed}, 7, epoch) // without a fingerprint
	m.keep(reading{tenant: "t", Request: parsed, print: fingerprint{2}}, 6, epoch)
	m.keep(reading{tenant: "t", Request: parsed, print: print}, 7, epoch)
	if len(m.young) != 1 {
		t.Errorf("%d are remembered", len(m.young))
	}
	got, ok := m.find(print)
	if !ok || got.tenant != "t" {
		t.Fatalf("%+v, %v", got, ok)
	}
	want := *parsed
	want.Body = nil // not kept
	if !reflect.DeepEqual(got.Request, &want) {
		t.Errorf("%+v, want %+v", got.Request, want)
	}
	m.Forget(store.Filter{})
	if _, ok := m.find(print); ok {
		t.Error("found after a purge")
	}
}

// TestReadingsAreBounded: both generations together hold twice their bound at most, and what is used again stays.
func TestReadingsAreBounded(t *testing.T) {
	m, request, epoch := newReadings(), &canon.Request{Prompt: strings.Repeat("x", 1000)}, func() uint64 { return 0 }
	hot := reading{Request: request, print: fingerprint{255, 255}}
	for i := range 20_000 {
		m.keep(reading{Request: request, print: fingerprint{byte(i), byte(i >> 8)}}, 0, epoch)
		if found, ok := m.find(hot.print); i > 0 && !ok {
			t.Fatalf("lost after %d others", i)
		} else if ok {
			hot.young = found.young
		}
		m.keep(hot, 0, epoch)
	}
	if n := len(m.young) + len(m.old); n < 1000 || n*1512 > 2*maxReadings+3024 {
		t.Errorf("%d are remembered", n)
	}
}

// TestIsDirective: no directive is missed.
func TestIsDirective(t *testing.T) {
	for _, d := range directives {
		if !isDirective(d.header) {
			t.Errorf("%s is none", d.header)
		}
	}
	if isDirective("X-Api-Key") || isDirective("Accept") {
		t.Error("others are")
	}
}
