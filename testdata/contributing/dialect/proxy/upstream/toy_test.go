package upstream

import (
	"testing"

	"reprise/proxy/upstream/choose"
)

func TestToyDialect(t *testing.T) {
	toy, other := newEngine(t, false), newEngine(t, false)
	c := newClient(t, Options{Chooser: &choose.RoundRobin{}, Replicas: []Target{toy.target(t, "", "toy"), other.target(t, "", "plain")}})
	ask(t, c)
	ask(t, c)
	if want := `{"stream":true,"toy_usage":true}`; toy.bodies[0] != want {
		t.Errorf("the replica got %s, want %s", toy.bodies[0], want)
	}
	if want := `{"stream":true}`; other.bodies[0] != want {
		t.Errorf("another replica got %s, want %s", other.bodies[0], want)
	}
}
