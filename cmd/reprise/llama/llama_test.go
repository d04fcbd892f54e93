// Package llama_test runs the program in front of two real engines: llama.cpp processes with a small model, each of which has slots for four of
// six conversations. What they evaluate is counted where it goes to llama.cpp, and nothing is asserted about times: those are measured by
// cmd/reprise-lab/llama.
package llama_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"reprise/internal/built"
	"reprise/internal/llamatest"
)

func TestMain(m *testing.M) { os.Exit(llamatest.Main(m)) }

// TestConversationsKeepTheirEngine: by prefix, all turns of a conversation are served by one engine, which evaluates its system prompt once and
// then only what is new. By turns, the engines evaluate more than 1/0.6 times as much.
func TestConversationsKeepTheirEngine(t *testing.T) {
	engines := llamatest.StartTwo(t, llamatest.Options{})
	p := llamatest.Serve(t, engines)
	all := llamatest.NewTalk(1).Play(t, engines, llamatest.Turns, llamatest.Always(p.API))
	for i, by := range llamatest.Served(all) {
		if len(by) != 1 || by[0] < 0 {
			t.Errorf("conversation %d was served by engines %v", i, by)
		}
	}
	for i, a := range all {
		if first := i < llamatest.Conversations; first == (a.Cached() > llamatest.Prefix) {
			t.Errorf("turn %d of conversation %d: %+v", i/llamatest.Conversations+1, a.Conversation, a.Usage)
		}
	}
	byPrefix := llamatest.Evaluated(engines)
	if fresh := sum(all, func(a *llamatest.Answer) int { return a.Usage.Prompt - a.Cached() }); fresh != byPrefix {
		t.Errorf("%d tokens were evaluated, and %d are reported to clients", byPrefix, fresh)
	}

	before := llamatest.Evaluated(engines)
	llamatest.NewTalk(2).Play(t, engines, llamatest.Turns, llamatest.ByTurns(engines))
	byTurns := llamatest.Evaluated(engines) - before
	t.Logf("of %d tokens of prompts, %d were evaluated by prefix, %d by turns", sum(all, prompt), byPrefix, byTurns)
	if 10*byPrefix > 6*byTurns {
		t.Errorf("%d tokens were evaluated by prefix, %d by turns: want 0.6 times as many or fewer", byPrefix, byTurns)
	}
}

func prompt(a *llamatest.Answer) int { return a.Usage.Prompt }

func sum(all []*llamatest.Answer, of func(*llamatest.Answer) int) (n int) {
	for _, a := range all {
		n += of(a)
	}
	return n
}

// TestResponseCache: equal requests of other clients cost the engines nothing from the cache, and what they do not hold if their clients want no stored answer.
func TestResponseCache(t *testing.T) {
	const rounds = 2
	for _, cached := range []bool{true, false} {
		t.Run(fmt.Sprint(cached), func(t *testing.T) {
			engines := llamatest.StartTwo(t, llamatest.Options{})
			p := llamatest.Serve(t, engines, "REPRISE_MODE=exact")
			first := llamatest.NewTalk(1).Play(t, engines, rounds, llamatest.Always(p.API))
			before := llamatest.Evaluated(engines)
			talk := llamatest.NewTalk(1)
			for _, c := range talk.Conversations {
				c.NoCache = !cached
			}
			again := talk.Play(t, engines, rounds, llamatest.Always(p.API))
			evaluated := llamatest.Evaluated(engines) - before
			for i, a := range again {
				if (a.Engine < 0) != cached || (a.Cache == "exact") != cached {
					t.Errorf("question %d again: engine %d, X-Cache %q", i, a.Engine, a.Cache)
				}
				if cached && a.Text != first[i].Text {
					t.Errorf("question %d: %q, and again %q", i, first[i].Text, a.Text)
				}
			}
			if cached && evaluated != 0 || !cached && (evaluated == 0 || evaluated > len(again)*llamatest.Prefix/10) {
				t.Errorf("%d tokens were evaluated again", evaluated)
			}
		})
	}
}

// TestEngineRestarts: an engine that comes back with an empty cache costs its conversations one more evaluation of their prompts, and fails
// none. While its share of the requests grows again, a conversation may change to the other engine, which costs one more.
func TestEngineRestarts(t *testing.T) {
	engines := llamatest.StartTwo(t, llamatest.Options{})
	p := llamatest.Serve(t, engines)
	talk := llamatest.NewTalk(1)
	owners := llamatest.Served(talk.Play(t, engines, 2, llamatest.Always(p.API)))
	const lost = 0
	engines[lost].Kill()
	engines[lost].Restart()
	at := map[int]int{} // engines by conversations
	for _, a := range talk.Play(t, engines, 1, llamatest.Always(p.API)) {
		at[a.Conversation] = a.Engine
		if was := owners[a.Conversation][0]; (a.Cached() > llamatest.Prefix) != (was != lost) {
			t.Errorf("conversation %d, before at engine %d, is now at %d: %+v", a.Conversation, was, a.Engine, a.Usage)
		}
	}
	for _, a := range talk.Play(t, engines, 2, llamatest.Always(p.API)) {
		if a.Cached() < llamatest.Prefix && a.Engine == at[a.Conversation] {
			t.Errorf("conversation %d, later, at engine %d: %+v", a.Conversation, a.Engine, a.Usage)
		}
		at[a.Conversation] = a.Engine
	}
}

// TestEngineIsDown: while an engine is down its conversations are served by the other one, and no request fails.
func TestEngineIsDown(t *testing.T) {
	engines := llamatest.StartTwo(t, llamatest.Options{})
	p := llamatest.Serve(t, engines)
	talk := llamatest.NewTalk(1)
	talk.Play(t, engines, 1, llamatest.Always(p.API))
	engines[0].Kill()
	for _, a := range talk.Play(t, engines, 1, llamatest.Always(p.API)) {
		if a.Engine != 1 {
			t.Errorf("conversation %d was served by engine %d, which is down", a.Conversation, a.Engine)
		}
	}
	engines[0].Restart()
	end := time.Now().Add(2 * time.Minute)
	for seed := uint64(2); llamatest.Requests(engines)[0] == 0; seed++ {
		if time.Now().After(end) {
			t.Fatal("the engine that works again gets no request")
		}
		llamatest.NewTalk(seed).Play(t, engines, 1, llamatest.Always(p.API))
	}
}

// TestEngineDiesInMidStream: the client gets a cut stream, and the other engine gets nothing of the request: it may have been worked on. The
// client's next request is served by the other one.
func TestEngineDiesInMidStream(t *testing.T) {
	engines := llamatest.StartTwo(t, llamatest.Options{})
	p := llamatest.Serve(t, engines)
	for _, e := range engines {
		e.Hold(2)
	}
	c := llamatest.NewTalk(1).Round()[0]
	resp, err := c.Open(t.Context(), p.API)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	stream := bufio.NewReader(resp.Body)
	begin, err := stream.ReadString('\n')
	if err != nil || !strings.HasPrefix(begin, "data: {") {
		t.Fatalf("the stream begins with %q, %v", begin, err)
	}
	dies := busy(t, engines)
	engines[dies].Kill()
	a := &llamatest.Answer{}
	if err := a.Read(io.MultiReader(strings.NewReader(begin), stream), time.Now()); err == nil {
		t.Errorf("the stream of an engine that died ends as a complete one: %+v", a)
	}
	other := engines[1-dies]
	if n := other.Stats().Requests; n != 0 {
		t.Errorf("the other engine has had %d requests", n)
	}
	other.Release()
	if a, err := c.Ask(t.Context(), p.API); err != nil || other.Stats().Requests != 1 {
		t.Errorf("the next request: %+v, %v", a, err)
	}
}

// busy is the engine that answers.
func busy(t *testing.T, engines []*llamatest.Engine) int {
	t.Helper()
	for i, e := range engines {
		for _, s := range e.Stats().Slots {
			if s.Busy {
				return i
			}
		}
	}
	t.Fatal("no engine is busy")
	return -1
}

// TestClientLeaves: a client that leaves in the middle of its answer frees the slot of the engine.
func TestClientLeaves(t *testing.T) {
	engines := llamatest.StartTwo(t, llamatest.Options{})
	p := llamatest.Serve(t, engines)
	for _, e := range engines {
		e.Hold(2)
	}
	ctx, leave := context.WithCancel(t.Context())
	c := llamatest.NewTalk(1).Round()[0]
	resp, err := c.Open(ctx, p.API)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	e := engines[busy(t, engines)]
	leave()
	built.Until(t, "the engine to stop", func() bool { s := e.Stats(); return s.Cancelled > 0 && !s.Slots[0].Busy })
	e.Release()
	a, err := c.Ask(t.Context(), p.API)
	if err != nil || a.Cached() < llamatest.Prefix {
		t.Errorf("the same question again: %+v, %v", a, err)
	}
}
