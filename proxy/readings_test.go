package proxy

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"reprise/proxy/api/registry"
	"reprise/proxy/canon"
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

// TestFingerprints: requests with equal fingerprints are read in the same way, whatever names tenants; those that differ in what is
// harmless have equal ones.
func TestFingerprints(t *testing.T) {
	for _, from := range []TenantSource{"authorization", "header:X-Team", "none"} {
		ids, m, equal := newIdentifier(&Options{TenantFrom: from}, [32]byte{}), newReadings(), 0
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
						now := read{ids.identity(r, &d), body, f.Requests.Code}
						print := m.fingerprint(&ids, r, &d, f, []byte(body))
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
		if _, ok := seen[newReadings().fingerprint(&ids, r, &Directives{}, f, nil)]; ok {
			t.Errorf("%s: two processes have one salt", from)
		}
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
	never := func() bool { return false }
	print := fingerprint{1}
	if _, ok := m.find(print, nil); ok {
		t.Error("found before it was kept")
	}
	m.keep(reading{tenant: "t", request: parsed}, never) // without a fingerprint
	m.keep(reading{tenant: "t", request: parsed, print: fingerprint{2}}, func() bool { return true })
	m.keep(reading{tenant: "t", request: parsed, print: print}, never)
	if len(m.young) != 1 {
		t.Errorf("%d are remembered", len(m.young))
	}
	other := []byte(body)
	got, ok := m.find(print, other)
	if !ok || got.tenant != "t" || &got.request.Body[0] != &other[0] {
		t.Fatalf("%+v, %v", got, ok)
	}
	if got.request.Body = parsed.Body; !reflect.DeepEqual(got.request, parsed) {
		t.Errorf("%+v, want %+v", got.request, parsed)
	}
	m.clear()
	if _, ok := m.find(print, nil); ok {
		t.Error("found after a purge")
	}
}

// TestReadingsAreBounded: both generations together hold twice their bound at most, and what is used again stays.
func TestReadingsAreBounded(t *testing.T) {
	m, request, never := newReadings(), &canon.Request{Prompt: strings.Repeat("x", 1000)}, func() bool { return false }
	hot := reading{request: request, print: fingerprint{255, 255}}
	for i := range 20_000 {
		m.keep(reading{request: request, print: fingerprint{byte(i), byte(i >> 8)}}, never)
		if found, ok := m.find(hot.print, nil); i > 0 && !ok {
			t.Fatalf("lost after %d others", i)
		} else if ok {
			hot.young = found.young
		}
		m.keep(hot, never)
	}
	if n := len(m.young) + len(m.old); n < 1000 || n*1512 > 2*maxReadings+3024 {
		t.Errorf("%d are remembered", n)
	}
}
