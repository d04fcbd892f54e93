package redis

import (
	"errors"
	"testing"

	"reprise/internal/redistest"
	"reprise/store"
)

// TestView: a look at a store begins none, and finds what the processes that share it would.
func TestView(t *testing.T) {
	server := redistest.Start(t, redistest.Options{AppendOnly: true, MaxMemory: "32mb", ACL: []string{"looker on >sesame " + rights}})
	view := func(o Options) *Shared {
		t.Helper()
		o.URL = "redis://looker@" + server.Addr
		if o.Password == "" {
			o.URL = "redis://" + server.Addr
		}
		v, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { v.Close() })
		return v
	}
	ctx := t.Context()
	v := view(Options{})
	if begun, err := v.Head(ctx); begun || err != nil {
		t.Errorf("nothing there: %v, %v", begun, err)
	}
	if d, err := v.Ping(ctx); d <= 0 || err != nil {
		t.Errorf("ping: %v, %v", d, err)
	}
	if keys := server.Must("DBSIZE"); keys != int64(0) {
		t.Errorf("the look has made %v keys", keys)
	}
	if p, err := v.Persistence(ctx); !p.Log || p.Unknown || p.Failing != "" || err != nil {
		t.Errorf("%+v, %v", p, err)
	}
	if i, err := v.Info(ctx); i.MaxMemory != 32<<20 || i.Policy != "noeviction" || err != nil {
		t.Errorf("%+v, %v", i, err)
	}
	few := view(Options{Password: "sesame"})
	if p, err := few.Persistence(ctx); !p.Log || !p.Unknown || err != nil {
		t.Errorf("with the rights of a proxy: %+v, %v", p, err)
	}
	if _, err := view(Options{Password: "wrong"}).Ping(ctx); !errors.Is(err, store.ErrRefused) {
		t.Errorf("wrong password: %v", err)
	}
	s, err := Open(ctx, Options{URL: "redis://" + server.Addr, Secret: "0123456789abcdef"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if begun, err := v.Head(ctx); !begun || !errors.Is(err, store.ErrSecret) {
		t.Errorf("without its secret: %v, %v", begun, err)
	}
	if begun, err := view(Options{Secret: "0123456789abcdef"}).Head(ctx); !begun || err != nil {
		t.Errorf("with its secret: %v, %v", begun, err)
	}
	server.Must("HSET", "{reprise}:head", "schema", "99")
	if begun, err := v.Head(ctx); !begun || !errors.Is(err, store.ErrVersion) {
		t.Errorf("newer schema: %v, %v", begun, err)
	}
}
