package admin

import (
	"bytes"
	"path"
	"regexp"
	"testing"
)

// TestSize: the whole page, compressed, is at most 120 kB.
func TestSize(t *testing.T) {
	size := 0
	for _, a := range assets() {
		size += len(a.small)
	}
	if size > 120_000 {
		t.Errorf("%d bytes", size)
	}
	t.Logf("%d files, %d bytes compressed", len(assets()), size)
}

// forbidden are ways to turn text into HTML or code, styles in the markup, and addresses of other hosts.
var forbidden = regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|\bstyle="|<style|<script>|\bon[a-z]+="|https?://[a-z]|'style'|@import`)

// own are addresses that nothing is loaded from.
var own = regexp.MustCompile(`http://www\.w3\.org/2000/svg|curl http://HOST:PORT`)

func TestFilesHaveNothingForbidden(t *testing.T) {
	for at, a := range assets() {
		if a.kind == "" {
			t.Errorf("%s: no content type for %q", at, path.Ext(at))
		}
		if found := forbidden.Find(own.ReplaceAll(a.plain, nil)); found != nil {
			t.Errorf("%s has %s", at, found)
		}
		if bytes.Contains(a.plain, []byte("\t")) {
			t.Errorf("%s has a tab; it is indented by two spaces", at)
		}
	}
}
