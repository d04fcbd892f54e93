package kvevents

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tinylib/msgp/msgp"

	"reprise/internal/enginesim"
	"reprise/proxy/upstream/prefix"
)

// sink remembers what it gets.
type sink struct {
	mu      sync.Mutex
	removed []prefix.Block
	cleared int
}

func (s *sink) Removed(b []prefix.Block) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removed = append(s.removed, b...)
}

func (s *sink) Cleared() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cleared++
}

func (s *sink) got() (removed []prefix.Block, cleared int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.removed), s.cleared
}

func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

// TestDecode reads both encodings, with integers and digests, and leaves out what it has no use for. The bytes are
// written by hand, from the specification.
func TestDecode(t *testing.T) {
	stored := []event{{Kind: kindStored, Hashes: []hash{11, 12}, Parent: 10, HasParent: true, BlockSize: 16, Medium: "GPU"}, {Kind: kindRemoved, Hashes: []hash{5}, Medium: "GPU"}, {Kind: kindCleared}}
	for _, tc := range []struct {
		name, hex string
		want      []event
	}{
		{"arrays", "92cb3ff800000000000093" + "97ab426c6f636b53746f726564920b0c0a93010203" + "10c0a3475055" + "93ac426c6f636b52656d6f7665649105a3475055" + "91b0416c6c426c6f636b73436c6561726564", stored},
		{"maps", "82a27473cb3ff8000000000000a66576656e747393" +
			"86a474797065ab426c6f636b53746f726564ac626c6f636b5f686173686573920b0cb1706172656e745f626c6f636b5f686173680aa9746f6b656e5f69647390aa626c6f636b5f73697a6510a66d656469756da3475055" +
			"83a474797065ac426c6f636b52656d6f766564ac626c6f636b5f6861736865739105a66d656469756da3475055" + "81a474797065b0416c6c426c6f636b73436c6561726564", stored},
		{"a rank after the events", "93c0" + "90" + "03", []event{}},
		{"a kind of the future", "92c091" + "92a85265706f72746564" + "01", []event{{}}},
		{"no parent, a negative hash", "92c091" + "95ab426c6f636b53746f72656491ff" + "c090" + "20", []event{{Kind: kindStored, Hashes: []hash{^hash(0)}, BlockSize: 32}}},
	} {
		p, err := hex.DecodeString(tc.hex)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := decodeBatch(p); err != nil || !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s: %+v, %v\nwant %+v", tc.name, got, err, tc.want)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"nothing": "", "a number": "01", "an array without events": "91c0", "a list that is cut": "92c0dd00ffffff", "no type": "92c09190",
		"a type that is a number": "92c0919101", "no hashes": "92c09191ab426c6f636b53746f726564", "a cut event": "92c09193ac426c6f636b52656d",
		"hashes that are a map": "92c09192ac426c6f636b52656d6f76656481", "more hashes than bytes": "92c09192ac426c6f636b52656d6f766564dd7fffffff",
	} {
		p, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := decodeBatch(p); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func FuzzDecode(f *testing.F) {
	p, _ := hex.DecodeString("92cb3ff80000000000009397ab426c6f636b53746f726564920b0c0a9301020310c0a347505593ac426c6f636b52656d6f7665649105a347505591b0416c6c426c6f636b73436c6561726564")
	f.Add(p)
	f.Add([]byte("\x82\xa2ts\x00\xa6events\x90"))
	f.Fuzz(func(t *testing.T, p []byte) {
		events, err := decodeBatch(p)
		if err == nil && len(events) > len(p) {
			t.Errorf("%d events in %d bytes", len(events), len(p))
		}
		b := newBlocks(&sink{})
		b.apply(events)
	})
}

func chainOf(text string) *prefix.Chain {
	c := &prefix.Chain{}
	c.Begin(1)
	c.Add(prefix.Message, []byte(text))
	return c
}

// store is an event of n blocks from number first on, each the parent of the next, after parent (0: none).
func store(first, n int, parent hash) event {
	e := event{Kind: kindStored, BlockSize: 16, Parent: parent, HasParent: parent != 0}
	for i := range n {
		e.Hashes = append(e.Hashes, hash(first+i))
	}
	return e
}

// TestMatching: 40 blocks of 16 tokens are the prompt of 2,560 bytes, so that each of ours is four of the engine's. What the engine then
// removes is removed in ours.
func TestMatching(t *testing.T) {
	s := &sink{}
	b := newBlocks(s)
	c := chainOf(strings.Repeat("0123456789", 256))
	mark := b.sent()
	b.apply([]event{store(101, 40, 0)})
	b.apply([]event{store(900, 1, 140)}) // decoded
	b.answered(mark, c, 645)
	b.apply([]event{{Kind: kindRemoved, Hashes: []hash{140, 137}}, {Kind: kindRemoved, Hashes: []hash{900, 7777}}})
	if got, _ := s.got(); len(got) != 2 || got[0] != c.Blocks[8] && got[0] != c.Blocks[9] || got[1] != c.Blocks[8] {
		t.Errorf("removed %v of %v", got, c.Blocks)
	}
	// The next turn has the first one's blocks as its head.
	next := chainOf(strings.Repeat("0123456789", 512))
	mark = b.sent()
	b.apply([]event{store(201, 40, 136)})
	b.answered(mark, next, 76*16)
	b.apply([]event{{Kind: kindRemoved, Hashes: []hash{240}}})
	if got, _ := s.got(); len(got) != 3 || got[2] != next.Blocks[len(next.Blocks)-1] {
		t.Errorf("removed %v, want the last of %v", got, next.Blocks)
	}
}

// TestAmbiguousChainsAreNotMatched: two chains of one length since the request was sent, other media and groups, and chains whose
// beginning is unknown.
func TestAmbiguousChainsAreNotMatched(t *testing.T) {
	c := chainOf(strings.Repeat("0123456789", 256))
	for name, events := range map[string][]event{
		"two chains":           {store(101, 40, 0), store(301, 40, 0)},
		"an unknown beginning": {store(101, 40, 99)},
		"on the host":          {func() event { e := store(101, 40, 0); e.Medium = "CPU"; return e }()},
		"another group":        {func() event { e := store(101, 40, 0); e.Group = 1; return e }()},
		"another length":       {store(101, 39, 0)},
	} {
		b := newBlocks(&sink{})
		mark := b.sent()
		b.apply(events)
		b.answered(mark, c, 645)
		if b.matched != 0 {
			t.Errorf("%s: matched", name)
		}
	}
	b := newBlocks(&sink{})
	b.apply([]event{store(101, 40, 0)})
	b.answered(b.sent(), c, 645)
	if b.matched != 0 {
		t.Error("blocks from before the request were matched")
	}
}

func TestMemoryIsBounded(t *testing.T) {
	b := newBlocks(&sink{})
	for i := range 60 {
		b.apply([]event{store(1+i*10_000, 10_000, 0)})
	}
	if len(b.known) > mostBlocks || len(b.order) > mostFresh {
		t.Errorf("%d blocks, %d of them fresh", len(b.known), len(b.order))
	}
}

// engine is a simulated engine with events.
type engine struct {
	*httptest.Server
	sim            *enginesim.Engine
	events         *enginesim.Events
	address, again string
}

func newEngine(t *testing.T, form enginesim.EventForm, blocks int) *engine {
	t.Helper()
	l, again := listen(t, "127.0.0.1:0"), listen(t, "127.0.0.1:0")
	e := &engine{events: enginesim.NewEvents(l, again, form), address: "tcp://" + l.Addr().String(), again: "tcp://" + again.Addr().String()}
	e.sim = enginesim.New(enginesim.Options{Models: []string{enginesim.AnyModel}, Blocks: blocks, Events: e.events})
	e.Server = httptest.NewServer(e.sim)
	t.Cleanup(func() { e.Server.Close(); e.events.Close() })
	return e
}

func listen(t *testing.T, address string) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// ask sends a prompt and returns how many tokens the engine has counted.
func (e *engine) ask(t *testing.T, prompt string) int {
	t.Helper()
	before := e.sim.Stats().PromptTokens
	resp, err := http.Post(e.URL+"/v1/chat/completions", "application/json", strings.NewReader(fmt.Sprintf(`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":%q}]}`, prompt)))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 200 {
		t.Fatal(resp.Status)
	}
	return int(e.sim.Stats().PromptTokens - before)
}

func start(t *testing.T, o Options) *Follower {
	t.Helper()
	f, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); f.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return f
}

// TestEngine follows a simulated engine in both encodings: its blocks are matched, what it evicts is removed, its restart clears.
func TestEngine(t *testing.T) {
	for _, form := range []enginesim.EventForm{enginesim.EventArrays, enginesim.EventMaps} {
		e := newEngine(t, form, 400)
		s := &sink{}
		f := start(t, Options{Events: e.address, Replay: e.again, Sink: s})
		until(t, "a subscription", func() bool { return e.events.Subscribers() == 1 })
		prompt := strings.Repeat("a prompt of many words ", 200)
		c := chainOf(prompt)
		mark := f.Sent()
		tokens := e.ask(t, prompt)
		until(t, "the batch of the prompt", func() bool { return f.Stats().Batches > 0 })
		f.Answered(mark, c, tokens)
		if f.Stats().Matched != 1 {
			t.Fatalf("%+v of %d tokens", f.Stats(), tokens)
		}
		for i := range 8 { // more than fits
			e.ask(t, strings.Repeat(fmt.Sprint("another prompt ", i, " "), 200))
		}
		until(t, "the eviction of all its blocks", func() bool {
			removed, _ := s.got()
			return slices.Contains(removed, c.Blocks[0]) && slices.Contains(removed, c.Blocks[len(c.Blocks)-2])
		})
		e.sim.Reset()
		until(t, "the restart", func() bool { _, cleared := s.got(); return cleared == 1 })
	}
}

// TestMissedBatchesAreReplayed: what was published while the connection was broken is followed from the replay, and where there is none the
// replica's blocks are forgotten.
func TestMissedBatchesAreReplayed(t *testing.T) {
	for _, replay := range []bool{true, false} {
		e := newEngine(t, enginesim.EventMaps, 4000)
		s := &sink{}
		o := Options{Events: e.address, Sink: s}
		if replay {
			o.Replay = e.again
		}
		f := start(t, o)
		until(t, "a subscription", func() bool { return e.events.Subscribers() == 1 })
		e.ask(t, strings.Repeat("one ", 100))
		until(t, "a batch", func() bool { return f.Stats().Batches > 0 })
		known := f.Stats().Batches
		e.events.Drop()
		until(t, "the end of the connection", func() bool { return e.events.Subscribers() == 0 })
		e.ask(t, strings.Repeat("two ", 100))
		until(t, "another subscription", func() bool { return e.events.Subscribers() == 1 })
		e.ask(t, strings.Repeat("three ", 100))
		if replay {
			until(t, "the missed batches", func() bool { return f.Stats().Batches >= known+2 })
			if _, cleared := s.got(); cleared != 0 || f.Stats().Lost != 0 {
				t.Errorf("cleared %d times, %+v", cleared, f.Stats())
			}
			continue
		}
		until(t, "a loss", func() bool { _, cleared := s.got(); return cleared == 1 && f.Stats().Lost == 1 })
	}
}

// batch is a batch of one event, which removes a block.
func batch(hash int) []byte {
	p := msgp.AppendArrayHeader(msgp.AppendFloat64(msgp.AppendArrayHeader(nil, 2), 1), 1)
	p = msgp.AppendString(msgp.AppendArrayHeader(p, 2), "BlockRemoved")
	return msgp.AppendInt(msgp.AppendArrayHeader(p, 1), hash)
}

func numbered(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// TestNumbers: repeated batches are left out, those of an engine that began again clear, and an unknown form ends the events without
// touching more than the model of the replica.
func TestNumbers(t *testing.T) {
	l := listen(t, "127.0.0.1:0")
	p := enginesim.Publish(l)
	s := &sink{}
	f, err := New(Options{Events: "tcp://" + l.Addr().String(), Sink: s})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); f.Run(t.Context()) }()
	until(t, "a subscription", func() bool { return p.Subscribers() == 1 })
	for _, n := range []uint64{41, 42, 42, 41, 43} {
		p.Send(nil, numbered(n), batch(1))
	}
	until(t, "three batches", func() bool { return f.Stats().Batches == 3 })
	address := l.Addr().String()
	p.Close()
	p = enginesim.Publish(listen(t, address))
	defer p.Close()
	until(t, "a subscription", func() bool { return p.Subscribers() == 1 })
	p.Send(nil, numbered(0), batch(1))
	until(t, "the restart", func() bool { _, cleared := s.got(); return cleared == 1 && f.Stats().Batches == 4 })
	p.Send(nil, numbered(1), []byte{0xc1})
	<-ended
	if st := f.Stats(); st.Unreadable != 1 || st.Connected {
		t.Errorf("%+v", st)
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{{}, {Events: "h:5557"}, {Events: "tcp://h:5557", Replay: "tcp://h"}} {
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), "tcp://host:5557") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestCapacity(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       int
	}{
		{"vLLM", "# TYPE vllm:cache_config_info gauge\nvllm:cache_config_info{block_size=\"16\",cache_dtype=\"auto\",engine=\"0\",num_gpu_blocks=\"27000\",sliding_window=\"None\"} 1.0\n", 432_000},
		{"vLLM with two ranks", "vllm:cache_config_info{block_size=\"16\",num_gpu_blocks=\"10\"} 1.0\r\nvllm:cache_config_info{num_gpu_blocks=\"20\",block_size=\"16\"} 1.0", 480},
		{"SGLang", "sglang:max_total_num_tokens{model_name=\"m\"} 1.05e+05\n", 105_000},
		{"a number that is not known yet", "vllm:cache_config_info{block_size=\"16\",num_gpu_blocks=\"None\"} 1.0\n", 0},
		{"another server", "process_cpu_seconds_total 3\nsglang:max_total_num_tokens\nvllm:cache_config_info{\n", 0},
		{"absurd", "sglang:max_total_num_tokens{} 1e300\nsglang:max_total_num_tokens{} NaN\nsglang:max_total_num_tokens{} -5\n", 0},
	} {
		if got, ok := Capacity([]byte(tc.text)); got != tc.want || ok != (tc.want > 0) {
			t.Errorf("%s: %d, %v", tc.name, got, ok)
		}
	}
}
