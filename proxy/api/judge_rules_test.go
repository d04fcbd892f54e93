package api

import (
	"slices"
	"strings"
	"testing"
)

// TestJudgeRules: each rule of the list is for APIs that exist and has what its kind needs, and no object has more names with rules than are read.
func TestJudgeRules(t *testing.T) {
	known := strings.Fields("chat completions responses embeddings messages ollama-chat ollama-generate")
	for i, r := range judgeRules {
		for _, name := range strings.Fields(r.apis) {
			if !slices.Contains(known, name) {
				t.Errorf("rule %d is for %q", i, name)
			}
		}
		kinds := 0
		for _, is := range []bool{r.says != nil, r.rejects != nil, r.against != nil} {
			if is {
				kinds++
			}
		}
		if kinds != 1 || r.apis == "" || r.paths == "" || (r.says == nil) != (r.reason != "") || (r.says == nil) != (r.source != "") {
			t.Errorf("rule %d: %+v", i, r)
		}
	}
	for _, name := range known {
		var walk func(p *place)
		walk = func(p *place) {
			if len(p.names) > mostNames {
				t.Errorf("%s: the names %q", name, p.names)
			}
			for _, m := range append(p.members, p.each...) {
				walk(m)
			}
		}
		j := Judge(name, nil).(*judge)
		if walk(&j.root); len(j.root.names) == 0 {
			t.Errorf("%s has no rules", name)
		}
	}
}
