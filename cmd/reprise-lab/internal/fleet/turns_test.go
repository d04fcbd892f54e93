package fleet

import "testing"

// TestTurns: the first turns of conversations find nothing, and the later ones all blocks of those before them.
func TestTurns(t *testing.T) {
	e := Default()
	e.Tokens = 4096
	trace := Turns("t", []Turn{{0, 1, 320, 640, 8}, {10, 2, 320, 640, 8}, {20, 1, 320, 960, 8}, {30, 2, 320, 641, 8}})
	r, err := Play(t.Context(), trace, Options{Engines: []Engine{e}, Block: trace.Block(0), Chooser: "prefix", Proxies: 1, Rate: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	if r.Requests != 4 || r.Tokens.Cached != 640+640 || r.Tokens.Prefilled != 640+640+320+1 {
		t.Errorf("%+v", r)
	}
}
