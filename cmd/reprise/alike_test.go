package main

import (
	"slices"
	"strings"
	"testing"

	"reprise/cmd/reprise/internal/config"
	"reprise/internal/redistest"
	"reprise/store"
)

// TestDiffering: each setting that differs is named once; members of another version are left out.
func TestDiffering(t *testing.T) {
	name := func(environ ...string) string {
		c, err := config.NewLoader(false).Load(environ)
		if err != nil {
			t.Fatal(err)
		}
		return memberName(c)
	}
	own := name()
	if digits := own[strings.Index(own, alikeMark)+len(alikeMark):]; len(digits) != 2*len(alike) {
		t.Fatalf("%q has not two digits for each of %q", own, alike)
	}
	for _, c := range []struct {
		members []string
		want    []string
	}{
		{nil, nil},
		{[]string{own, name("REPRISE_LISTEN=127.0.0.1:1", "REPRISE_LOG_LEVEL=debug")}, nil},
		{[]string{own, name("REPRISE_UPSTREAM=http://127.0.0.1:1/v1")}, []string{"REPRISE_UPSTREAM"}},
		{[]string{name("REPRISE_CAPACITY_BYTES=20MiB", "REPRISE_TTL=1h"), name("REPRISE_TTL=2h"), own}, []string{"REPRISE_TTL", "REPRISE_CAPACITY_BYTES"}},
		{[]string{"host:1", "host:2" + alikeMark + "00"}, nil},
		{[]string{own, name("REPRISE_CANONICAL=C2")}, []string{"REPRISE_CANONICAL"}},
	} {
		var members []store.Member
		for _, m := range c.members {
			members = append(members, store.Member{Name: m})
		}
		if got := differing(own, members); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.members, got, c.want)
		}
	}
}

// TestOrderOfUpstreams: proxies whose lists of upstreams differ in their order alone are alike.
func TestOrderOfUpstreams(t *testing.T) {
	a, b := "a=http://127.0.0.1:1/v1;dialect=vllm", "b=http://127.0.0.1:2/v1"
	if inOrder("UPSTREAM", a+","+b) != inOrder("UPSTREAM", b+", "+a) || inOrder("UPSTREAM", a) == inOrder("UPSTREAM", b) {
		t.Error("the order of upstreams makes a difference, or they make none")
	}
}

// TestMembersDiffer: the log names the settings in which two proxies of one cache differ.
func TestMembersDiffer(t *testing.T) {
	server, up := redistest.Start(t, redistest.Options{}), newEngine(t)
	a := start(t, "REPRISE_STORE=redis://"+server.Addr, up.setting)
	b := start(t, "REPRISE_STORE=redis://"+server.Addr, up.setting, "REPRISE_CAPACITY_ENTRIES=20")
	if line := a.waitFor(unlike); line["settings"] != "REPRISE_CAPACITY_ENTRIES" {
		t.Errorf("%v", line)
	}
	if !strings.Contains(b.Logs(), unlike) { // it may have come before the start was complete
		b.waitFor(unlike)
	}
	a.stop()
	b.stop()
}
