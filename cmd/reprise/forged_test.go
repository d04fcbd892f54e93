package main

import (
	"fmt"
	"slices"
	"testing"

	"reprise/internal/built"
	"reprise/internal/redistest"
)

// recordsIn are the records of entries in a server: the name of the hash, that of the field, the record.
func recordsIn(s *redistest.Server) (all [][3]string) {
	for i := range 1024 {
		hash := fmt.Sprintf("{reprise}:r:%d", i)
		pairs, _ := s.Must("HGETALL", hash).([]any)
		for pair := range slices.Chunk(pairs, 2) {
			if field := pair[0].(string); field[0] == 4 {
				all = append(all, [3]string{hash, field, pair[1].(string)})
			}
		}
	}
	return all
}

// TestForgedRecord: a user who can write to Redis gives the record of an answer the scope of another tenant, so that its requests find it by
// meaning. It does not get the answer.
func TestForgedRecord(t *testing.T) {
	server, up := redistest.Start(t, redistest.Options{}), newEngine(t)
	env := []string{"REPRISE_STORE=redis://" + server.Addr, "REPRISE_SECRET=a-secret-of-this-cache", up.setting}
	a := start(t, env...)
	asked := prompt("Which river flows through the old town of Bern and where does it end?")
	a.cached(asked, "key-of-the-first")
	built.Until(t, "its record", func() bool { return len(recordsIn(server)) == 1 })
	first := recordsIn(server)[0]
	a.cached(prompt("How many bears live there?"), "key-of-the-second")
	built.Until(t, "the other record", func() bool { return len(recordsIn(server)) == 2 })
	all := recordsIn(server)
	second := all[slices.IndexFunc(all, func(r [3]string) bool { return r != first })]
	const scope = 1 + 1 + 32 // its place, behind form, flags and key
	server.Must("HSET", first[0], first[1], first[2][:scope]+second[2][scope:scope+32]+first[2][scope+32:])
	b := start(t, env...)
	if got := b.cached(asked, "key-of-the-second"); got != "miss" {
		t.Errorf("the other tenant: %s", got)
	}
	if got := b.cached(asked, "key-of-the-first"); got != "exact" {
		t.Errorf("the tenant itself: %s", got)
	}
	a.stop()
	b.stop()
}
