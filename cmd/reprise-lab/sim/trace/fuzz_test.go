package trace

import (
	"bufio"
	"bytes"
	"math"
	"reflect"
	"testing"

	"reprise/cmd/reprise-lab/sim"
	"reprise/internal/traffic"
)

// fuzz: for any content the parser ends, what it yields is in range, and a log of it is read as the same requests.
func fuzz(f *testing.F, format Format) {
	for _, c := range cases {
		f.Add([]byte(c.in))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		n := 0
		parsers[format](bufio.NewReader(bytes.NewReader(in)), func(q sim.Request) bool {
			if n++; n > len(in) {
				t.Fatal("more requests than bytes")
			}
			checkRequest(t, q)
			return true
		})
	})
}

// checkRequest: the fields of q are in range, and q can be written to a log and read again.
func checkRequest(t *testing.T, q sim.Request) {
	if q.ID == 0 || q.Turn < 0 || q.Size < 0 || !(q.Cost >= 0) || math.IsInf(q.Cost, 0) || math.IsNaN(q.At) || math.IsInf(q.At, 0) {
		t.Fatalf("yields %+v", q)
	}
	checkLog(t, q)
}

func checkLog(t *testing.T, q sim.Request) {
	var line bytes.Buffer
	if err := traffic.NewWriter(&line).Append(RecordOf(q)); err != nil {
		t.Fatalf("encode %+v: %v", q, err)
	}
	r, err := traffic.Decode(line.Bytes())
	if err != nil {
		t.Fatalf("decode %s: %v", &line, err)
	}
	got, err := RequestOf(&r)
	if err != nil {
		t.Fatalf("%s: %v", &line, err)
	}
	if q.Content != nil && got.Content != nil { // JSON replaces bad UTF-8, and a length may be off by a rounding error
		got.Content, q.Content = nil, nil
	}
	if !reflect.DeepEqual(got, q) {
		t.Fatalf("%s reads as %+v, want %+v", &line, got, q)
	}
}

func FuzzIDs(f *testing.F)           { fuzz(f, IDs) }
func FuzzRequests(f *testing.F)      { fuzz(f, Requests) }
func FuzzOracleGeneral(f *testing.F) { fuzz(f, OracleGeneral) }

// FuzzDetect: any content gives a known format or none.
func FuzzDetect(f *testing.F) {
	for _, c := range cases {
		f.Add([]byte(c.in))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if format, ok := detect(in); ok && parsers[format] == nil {
			t.Fatalf("detects %q", format)
		}
	})
}
