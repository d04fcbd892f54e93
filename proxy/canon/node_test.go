package canon_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"testing"

	"reprise/internal/needs"
	"reprise/proxy/canon"
)

// TestNodeReadsAlike compares our reading with JSON.parse over mutated bodies: servers in JavaScript, and Python ones in
// the same way, would read anything else than what we keyed.
func TestNodeReadsAlike(t *testing.T) {
	node := needs.Program(t, "node")
	bodies := mutations(seeds(t), 20_000)
	accepted := 0
	eachDump(t, node, bodies, func(body []byte, theirs string) {
		ours, ok := canon.DumpBody(known, body)
		if ok {
			accepted++
		}
		if ok && ours != theirs {
			t.Fatalf("%q\nours %q\nnode %q", body, ours, theirs)
		}
	})
	if accepted < len(bodies)/20 {
		t.Errorf("only %d of %d mutated bodies were accepted: the comparison is empty", accepted, len(bodies))
	}
	t.Logf("%d bodies, %d accepted and read alike", len(bodies), accepted)
}

// eachDump sends bodies to one node process, each behind its length, and calls f with its answers, in order.
func eachDump(t *testing.T, node string, bodies [][]byte, f func(body []byte, dump string)) {
	var in []byte
	for _, body := range bodies {
		in = append(binary.BigEndian.AppendUint32(in, uint32(len(body))), body...)
	}
	cmd := exec.Command(node, "testdata/dump.js")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for i, body := range bodies {
		if len(out) < 4 || uint32(len(out)-4) < binary.BigEndian.Uint32(out) {
			t.Fatalf("node ends before answer %d", i)
		}
		end := 4 + binary.BigEndian.Uint32(out)
		f(body, string(out[4:end]))
		out = out[end:]
	}
}

// scraps are what mutations put in: the places where readers of JSON disagree.
var scraps = []string{
	`"`, `\`, `\u006d`, `\ud83d`, `\ude00`, `\u0000`, `\u017f`, "\u212a", "ſ", "\xff", "\xc3", "\xed\xa0\xbd", "\xef\xbb\xbf", "\u2028", "é", "😀",
	`{`, `}`, `[`, `]`, `,`, `:`, ` `, "\n", "\x00", "\x0b", "\u00a0", `/**/`, `//`, `0`, `-`, `.`, `e`, `E+9`, `1e308`, `1e309`, `01`, `-0`, `.5`, `NaN`, `Infinity`,
	`null`, `true`, `True`, `'a'`, `"a":1,`, `"model":"x",`, `"Model":"x",`, `"__proto__":1,`, `,"a"`, `"\u0061":2,`, `[[[[`, `]]]]`,
}

// mutations are the seeds and count bodies made of them by one to three small changes each.
func mutations(seeds [][]byte, count int) [][]byte {
	rng := rand.New(rand.NewPCG(7, 7))
	list := slices.Clone(seeds)
	for range count {
		body := slices.Clone(seeds[rng.IntN(len(seeds))])
		for range 1 + rng.IntN(3) {
			body = mutate(rng, body)
		}
		list = append(list, body)
	}
	return list
}

func mutate(rng *rand.Rand, body []byte) []byte {
	at := rng.IntN(len(body) + 1)
	end := min(at+rng.IntN(4), len(body))
	scrap := []byte(scraps[rng.IntN(len(scraps))])
	switch rng.IntN(5) {
	case 0: // cut a few bytes
		return slices.Delete(body, at, end)
	case 1: // repeat a stretch
		from := rng.IntN(at + 1)
		return slices.Insert(body, at, slices.Clone(body[from:at])...)
	case 2: // change one byte
		if at < len(body) {
			body[at] = byte(rng.IntN(256))
		}
		return body
	case 3: // put a scrap where a member may begin
		if i := slices.Index(body[at:], ','); i >= 0 {
			at += i + 1
		}
		return slices.Insert(body, at, scrap...)
	}
	return slices.Replace(body, at, end, scrap...)
}
