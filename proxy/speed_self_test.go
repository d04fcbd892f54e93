package proxy_test

import (
	"slices"
	"strings"
	"testing"

	"reprise/embed"
)

// TestSpeedProcesses: the processes of BenchmarkSpeed do what its figures are taken from. Each load comes to the upstream as often as the client
// says, over as many connections as it has workers, and these stay open from one load to the next; a known question is answered by the map.
func TestSpeedProcesses(t *testing.T) {
	t.Setenv("REPRISE_DATA", "")
	up := startRole(t, "upstream", "")
	bare, mapper, client := startRole(t, "bare", up.addr), startRole(t, "map", ""), startRole(t, "client", "")
	play := func(jobs ...job) (results []result) {
		t.Helper()
		client.call(jobs, &results)
		for _, one := range results {
			if one.Error != "" {
				t.Error(one.Error)
			}
		}
		return results
	}
	var seen tally
	sent := int64(0)
	for _, kind := range []string{"models", "nostore", "chat", "variant", "stream"} {
		got := play(job{Addr: bare.addr, Kind: kind, Conns: 4, N: 40})[0]
		sent += 40
		if up.call("", &seen); got.N != 40 || got.No != 40 || seen.Requests != sent || got.Dialed > 4 || got.P50 < got.First50 || got.First50 <= 0 {
			t.Errorf("%s: %+v, the upstream saw %+v, want %d requests", kind, got, seen, sent)
		}
	}
	if again := play(job{Addr: bare.addr, Kind: "chat", Conns: 4, N: 40})[0]; again.Dialed != 0 {
		t.Errorf("%d new connections, want the open ones", again.Dialed)
	}
	both := play(job{Addr: mapper.addr, Kind: "chat", Conns: 2, N: 10}, job{Addr: bare.addr, Kind: "chat", Conns: 2, N: 1 << 16, Rate: 100, Until: true})
	if both[0].N != 10 || both[1].N == 1<<16 {
		t.Errorf("a load to the end and one until then: %+v", both)
	}
	if before, after := seen.Conns, up.cpu(); before > 40 || after <= 0 {
		t.Errorf("the bare proxy opened %d connections to the upstream, which used %v s of CPU", before, after)
	}
}

// TestSpeedTexts: prompts are the same for the same number, and rarely equal; a variant has the words of its prompt.
func TestSpeedTexts(t *testing.T) {
	t.Setenv("REPRISE_DATA", "")
	one, err := newTexts()
	if err != nil {
		t.Fatal(err)
	}
	other, _ := newTexts()
	for name, text := range prompts {
		seen := map[string]bool{}
		for i := range 2000 {
			p := text(one, i)
			seen[p] = true
			if q := text(other, i); p != q {
				t.Fatalf("%s: prompt %d is %q and %q", name, i, p, q)
			}
			if v := variant(p, i); v == p || strings.Join(strings.Fields(v), " ") != strings.Join(strings.Fields(p), " ") {
				t.Errorf("%s: variant %q of %q", name, v, p)
			}
		}
		if len(seen) < 1990 {
			t.Errorf("%s: %d of 2000 prompts are distinct", name, len(seen))
		}
	}
}

// TestSpeedEqualVectors: the built-in embedder has one vector for all prompts named equal.
func TestSpeedEqualVectors(t *testing.T) {
	var all []string
	for i := range 100 {
		all = append(all, prompts["equal"](nil, i*3571))
	}
	vectors, err := embed.NewBuiltin().Embed(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range vectors {
		if !slices.Equal(v, vectors[0]) {
			t.Fatalf("the vectors of %q and %q differ", all[i], all[0])
		}
	}
}
