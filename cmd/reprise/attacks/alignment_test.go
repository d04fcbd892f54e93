package attacks_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// alignment is the report of GET /admin/alignment.
type alignment struct {
	Applications []struct {
		Tenant, Model, Path string
		Requests, Again     int
		Places              []struct {
			Segment    string
			Line, Byte int
			Looks      string `json:"looks_like"`
			Share      float64
			Words      string `json:"in_words"`
		}
	}
}

// clocked is a request whose system prompt has a time in its second line and a word that no report may show.
func clocked(i int) string {
	return fmt.Sprintf(`{"model":"m","messages":[{"role":"system","content":"You are the clerk of Hushcorp.\nNow: 12:%02d:07\n%s"},{"role":"user","content":"Order %d?"}]}`,
		i, strings.Repeat(`Be polite to customers of Hushcorp.\n`, 80), i)
}

// TestAlignmentShowsNoPrompt: what keeps prompts from sharing a prefix is reported by place and class, to the operator alone.
// This is for line 3 of the list in SECURITY.md: what the admin listener shows.
func TestAlignmentShowsNoPrompt(t *testing.T) {
	t.Parallel()
	up := &witness{}
	p := start(t, upstream(t, up.ServeHTTP), "REPRISE_ADMIN_TOKEN=open-sesame-1234")
	token := []string{"Authorization", "Bearer open-sesame-1234"}
	for i := range 20 {
		p.Do(http.MethodPost, p.API+"/v1/chat/completions", clocked(i), "Authorization", "Bearer sk-hush")
	}
	for i, sent := range up.take() {
		if sent.body != clocked(i) {
			t.Fatalf("without a canonical level the body is sent as %s", sent.body)
		}
	}
	if r := p.Do(http.MethodGet, p.Admin+"/admin/alignment", ""); r.Status != http.StatusUnauthorized {
		t.Errorf("without the token: %d", r.Status)
	}
	r := p.Do(http.MethodGet, p.Admin+"/admin/alignment", "", token...)
	var got alignment
	if err := json.Unmarshal([]byte(r.Body), &got); err != nil || len(got.Applications) != 1 || len(got.Applications[0].Places) != 1 {
		t.Fatalf("%v: %d %s", err, r.Status, r.Body)
	}
	if a := got.Applications[0]; a.Requests != 20 || a.Again < 19*600 || a.Path != "/v1/chat/completions" || a.Places[0].Segment != "system" || a.Places[0].Line != 2 ||
		a.Places[0].Byte != 36 || a.Places[0].Looks != "timestamp" || a.Places[0].Share != 1 || !strings.HasPrefix(a.Places[0].Words, "system, line 2, byte 36 differs in every request: looks like a timestamp; costs about 7") {
		t.Errorf("got %s", r.Body)
	}
	for _, secret := range []string{"Hushcorp", "sk-hush", "Order", "12:"} {
		if strings.Contains(r.Body, secret) {
			t.Errorf("the report has %q: %s", secret, r.Body)
		}
	}
	if n, _ := p.Metric(`reprise_prefix_parted_total{class="timestamp"}`); n != 19 {
		t.Errorf("the metric has %v requests", n)
	}
	p.Do(http.MethodPost, p.Admin+"/admin/purge", `{"all":true,"dry_run":false}`, token...)
	if r := p.Do(http.MethodGet, p.Admin+"/admin/alignment", "", token...); strings.Contains(r.Body, "timestamp") || r.Status != http.StatusOK {
		t.Errorf("after a purge: %d %s", r.Status, r.Body)
	}
}

// TestCanonicalFormIsKeyedAndSent: with C3 the upstream gets the form that is keyed, and the report has nothing left to say.
func TestCanonicalFormIsKeyedAndSent(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "volatile")
	if err := os.WriteFile(file, []byte("# the time\n\n^Now: \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	up := &witness{}
	p := start(t, upstream(t, up.ServeHTTP), "REPRISE_CANONICAL=chat=C3:"+file)
	for i := range 20 {
		p.Do(http.MethodPost, p.API+"/v1/chat/completions", clocked(i))
	}
	moved := func(i int) string { // the line behind the others, before the line feed at the end
		line := fmt.Sprintf(`Now: 12:%02d:07\n`, i)
		return strings.Replace(strings.Replace(clocked(i), line, "", 1), `"},{"role":"user"`, line+`"},{"role":"user"`, 1)
	}
	for i, sent := range up.take() {
		if sent.body != moved(i) {
			t.Fatalf("sent %s\nwant %s", sent.body, moved(i))
		}
	}
	for _, body := range []string{clocked(3), moved(3)} {
		if r := p.Do(http.MethodPost, p.API+"/v1/chat/completions", body); r.Cache() != "exact" {
			t.Errorf("%s for %s", r.Cache(), body)
		}
	}
	r := p.Do(http.MethodGet, p.Admin+"/admin/alignment", "")
	var got alignment
	if err := json.Unmarshal([]byte(r.Body), &got); err != nil || len(got.Applications) != 1 || len(got.Applications[0].Places) != 0 {
		t.Errorf("%v: %s", err, r.Body)
	}
}
