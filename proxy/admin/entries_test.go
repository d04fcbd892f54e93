package admin

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"reprise/policy"
	"reprise/store"
	"reprise/topics"
)

// withPrompts is a proxy whose prompts may be shown.
func withPrompts(o *Options) { o.Overview = func(v *Overview) { v.Prompts = true } }

// keep stores n entries, entry i in topic 1+i%3, and uses them: entry i i·7%n times.
func (r *rig) keep(t *testing.T, n int) {
	t.Helper()
	for i := range n {
		e := &store.Entry{Key: store.Key{1 + byte(i)}, Labels: &store.Labels{Model: "m", Tenant: fmt.Sprint("tenant", i%2)}, Prompt: fmt.Sprint("Prompt NUMBER ", i, " Ärger"),
			Topic: policy.TopicID(1 + i%3), InputTokens: int64(10 * (i % 4)), OutputTokens: 5, Answer: make([]byte, 10+i*11%n), Created: time.Unix(1_700_000_000+int64(i), 0)}
		r.store.Put(e, r.store.Tick())
		if _, _, err := r.topics.Add(topics.Member{ID: topics.EntryID(e.ID), Vector: []float32{float32(i % 3 % 2), float32((1 + i%3) % 2)}, Topic: topics.TopicID(e.Topic)}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		for range i * 7 % n {
			r.store.Hit(policy.ID(1+i), 0, r.store.Tick())
		}
	}
}

func ids(body string) (all string) { return gjson.Get(body, "entries.#.id").String() }

// TestEntriesInEachOrder: each order is that of its figure, then the newest first, and pages put together are the list.
func TestEntriesInEachOrder(t *testing.T) {
	r := newRig(t, "lru")
	r.keep(t, 12)
	for sort, figure := range map[string]string{"": "id", "newest": "id", "hits": "hits", "tokens_saved": "tokens_saved", "last_used": "last_used", "size": "bytes"} {
		whole := r.get("/admin/entries?sort=" + sort).Body.String()
		all := gjson.Get(whole, "entries").Array()
		if len(all) != 12 || gjson.Get(whole, "next").Exists() || gjson.Get(whole, "total").Int() != 12 {
			t.Fatalf("sort=%s: %s", sort, whole)
		}
		value := func(e gjson.Result) float64 {
			if figure == "last_used" {
				return float64(e.Get(figure).Time().Unix())
			}
			return e.Get(figure).Float()
		}
		for i := 1; i < len(all); i++ {
			a, b := value(all[i-1]), value(all[i])
			if a < b || a == b && all[i-1].Get("id").Int() < all[i].Get("id").Int() {
				t.Errorf("sort=%s: %v before %v", sort, all[i-1], all[i])
			}
		}
		pages, before := "", ""
		for range 9 {
			page := r.get("/admin/entries?limit=5&sort=" + sort + "&before=" + before).Body.String()
			if gjson.Get(page, "total").Int() != 12 {
				t.Fatalf("sort=%s: a page of %s", sort, page)
			}
			pages += strings.Trim(ids(page), "[]") + ","
			if before = gjson.Get(page, "next").String(); before == "" {
				break
			}
		}
		if want := strings.Trim(ids(whole), "[]") + ","; pages != want {
			t.Errorf("sort=%s: pages %s, want %s", sort, pages, want)
		}
	}
}

// TestEntryUses: hits, the last one, and the tokens saved.
func TestEntryUses(t *testing.T) {
	settled := 0
	r := newRig(t, "lru", func(o *Options) { o.Settle = func() { settled++ } })
	r.keep(t, 12)
	all := r.get("/admin/entries").Body.String()
	for _, e := range gjson.Get(all, "entries").Array() {
		i := e.Get("id").Int() - 1
		hits := i * 7 % 12
		if e.Get("hits").Int() != hits || e.Get("tokens_saved").Int() != hits*(10*(i%4)+5) || (e.Get("last_used").Type == gjson.Null) != (hits == 0) || hits > 0 && time.Since(e.Get("last_used").Time()) > time.Hour {
			t.Errorf("entry %d: %s", i, e)
		}
	}
	if words := gjson.Get(all, "how_it_is_counted.hits").String(); !strings.Contains(words, "by this proxy") || settled != 1 {
		t.Errorf("%s; settled %d times", words, settled)
	}
	shared := newRig(t, "lru", func(o *Options) { o.Shared = func() Shared { return Shared{} } })
	if words := gjson.Get(shared.get("/admin/entries").Body.String(), "how_it_is_counted.hits").String(); !strings.Contains(words, "by all proxies that share the store") {
		t.Error(words)
	}
}

// TestSearchInPrompts: in any case, and only where prompts may be shown.
func TestSearchInPrompts(t *testing.T) {
	r := newRig(t, "lru", withPrompts)
	r.keep(t, 12)
	for q, want := range map[string]string{"number 3 ": "[4]", "NUMBER 1 ÄRGER": "[2]", "nothing": "[]", "number 1": "[12,11,2]"} {
		if got := ids(r.get("/admin/entries?q=" + url.QueryEscape(q)).Body.String()); got != want {
			t.Errorf("q=%s: %s, want %s", q, got, want)
		}
	}
	if got := ids(r.get("/admin/entries?q=number&tenant=tenant1&limit=2").Body.String()); got != "[12,10]" {
		t.Errorf("with a tenant: %s", got)
	}
	hidden := newRig(t, "lru")
	if got := hidden.get("/admin/entries?q=number"); got.Code != 403 || !strings.Contains(got.Body.String(), "REPRISE_LOG_PROMPTS") {
		t.Errorf("hidden: %d %s", got.Code, got.Body)
	}
}

// TestListsSayWhatIsAllowed: errors name the parameter, its value, and what is allowed.
func TestListsSayWhatIsAllowed(t *testing.T) {
	r := newRig(t, "lru")
	for path, words := range map[string]string{
		"entries?sort=size2":                 `sort is "size2"; allowed are newest, hits, tokens_saved, last_used, size and evicts-next.`,
		"entries?sort=hits&before=7":         `before is "7"; allowed with sort=hits is the next of the page before, VALUE-ID.`,
		"entries?sort=hits&before=7-0":       `VALUE-ID`,
		"entries?sort=hits&before=x-7":       `VALUE-ID`,
		"entries?before=x":                   `allowed with sort=newest is a whole number from 1, the id of an entry.`,
		"entries?before=0":                   `a whole number from 1`,
		"entries?sort=evicts-next&before=-1": `a place in that order`,
		"entries?limit=0":                    `limit is "0"; allowed is a whole number from 1.`,
		"topics?sort=age":                    `sort is "age"; allowed are entries, prevalence, hits, tokens_saved.`,
		"topics?limit=x":                     `limit is "x"`,
	} {
		got := r.get("/admin/" + path)
		if message := gjson.Get(got.Body.String(), "error.message").String(); got.Code != 400 || !strings.Contains(message, words) {
			t.Errorf("%s: %d %s", path, got.Code, message)
		}
	}
}

// TestEvictsNext: in the order of the policy, with why, in pages, and by a filter.
func TestEvictsNext(t *testing.T) {
	r := newRig(t, "lru")
	r.keep(t, 12)
	all := r.get("/admin/entries?sort=evicts-next").Body.String()
	if got := ids(all); got != "[1,2,3,4,5,6,7,8,9,10,11,12]" || gjson.Get(all, "entries.#.evicts_next").String() != got || gjson.Get(all, "entries.3.why").String() == "" || gjson.Get(all, "next").Exists() {
		t.Errorf("all: %s", all)
	}
	page := r.get("/admin/entries?sort=evicts-next&topic=2&limit=2&before=2").Body.String()
	if ids(page) != "[5,8]" || gjson.Get(page, "next").String() != "8" || gjson.Get(page, "total").Int() != 4 {
		t.Errorf("a page: %s", page)
	}
	if last := r.get("/admin/entries?sort=evicts-next&topic=2&limit=2&before=8").Body.String(); ids(last) != "[11]" || gjson.Get(last, "next").Exists() {
		t.Errorf("the last page: %s", last)
	}
	for i := range 20 {
		victim := gjson.Get(r.get("/admin/entries?sort=evicts-next&limit=1").Body.String(), "entries.0.id").Uint()
		evs := r.store.Put(&store.Entry{Key: store.Key{100, byte(i)}}, r.store.Tick())
		for _, ev := range evs {
			if ev.Kind == store.EventEvict && uint64(ev.ID) != victim {
				t.Errorf("evicted %d, foreseen %d", ev.ID, victim)
			}
		}
	}
	silent := newRig(t, "w-tinylfu")
	silent.keep(t, 3)
	if got := silent.get("/admin/entries?sort=evicts-next").Body.String(); ids(got) != "[]" || !strings.Contains(gjson.Get(got, "in_words").String(), "w-tinylfu does not say") {
		t.Errorf("w-tinylfu: %s", got)
	}
	follower := newRig(t, "lru", func(o *Options) { o.Shared = func() Shared { return Shared{} } })
	if got := gjson.Get(follower.get("/admin/entries?sort=evicts-next").Body.String(), "in_words").String(); !strings.Contains(got, "Another process decides") {
		t.Errorf("follower: %s", got)
	}
}

// TestTopicsInEachOrder: their figures are the sums of their members'; the rest has those that are left out.
func TestTopicsInEachOrder(t *testing.T) {
	for _, spec := range []string{"rac", "lru"} {
		r := newRig(t, spec)
		r.keep(t, 14)
		whole := r.get("/admin/topics").Body.String()
		sum := map[string]float64{}
		for _, x := range gjson.Get(whole, "topics").Array() {
			members := r.get("/admin/entries?topic=" + x.Get("topic").String()).Body.String()
			for _, figure := range []string{"hits", "tokens_saved", "bytes"} {
				want := int64(0)
				for _, v := range gjson.Get(members, "entries.#."+figure).Array() {
					want += v.Int()
				}
				if got := x.Get(figure).Int(); got != want {
					t.Errorf("%s: topic %v: %s %d, want %d", spec, x.Get("topic"), figure, got, want)
				}
				sum[figure] += x.Get(figure).Float()
			}
			sum["entries"] += x.Get("entries").Float()
			sum["prevalence"] += x.Get("prevalence").Float()
			first, last := gjson.Get(members, "entries.@reverse.0.created"), gjson.Get(members, "entries.0.created")
			anchor := topicOfEntry(members, x.Get("anchor").Int())
			if x.Get("oldest").String() != first.String() || x.Get("newest").String() != last.String() || !anchor || x.Get("anchor_prompt").Exists() {
				t.Errorf("%s: %s", spec, x)
			}
		}
		if sum["entries"] != 14 || sum["prevalence"] < 0.999 || sum["prevalence"] > 1.001 {
			t.Errorf("%s: sums %v", spec, sum)
		}
		for _, sort := range []string{"entries", "prevalence", "hits", "tokens_saved"} {
			all := r.get("/admin/topics?sort=" + sort).Body.String()
			values := gjson.Get(all, "topics.#."+sort).Array()
			for i := 1; i < len(values); i++ {
				if values[i-1].Float() < values[i].Float() {
					t.Errorf("%s: sort=%s: %v", spec, sort, values)
				}
			}
			one := r.get("/admin/topics?limit=1&sort=" + sort).Body.String()
			rest := sum[sort] - values[0].Float()
			if got := gjson.Get(one, "rest."+sort).Float(); got < rest-1e-9 || got > rest+1e-9 || gjson.Get(one, "rest.topics").Int() != 2 || gjson.Get(one, "topics.#").Int() != 1 || gjson.Get(one, "total").Int() != 3 {
				t.Errorf("%s: sort=%s: one of %s", spec, sort, one)
			}
		}
		for topic, rest := range map[string]string{"2": "[2]2", "99": "[]3"} {
			one := r.get("/admin/topics?topic=" + topic).Body.String()
			if got := gjson.Get(one, "topics.#.topic").String() + gjson.Get(one, "rest.topics").String(); got != rest {
				t.Errorf("%s: topic %s: %s", spec, topic, one)
			}
		}
		if got := gjson.Get(whole, "how_it_is_counted.prevalence").String(); strings.Contains(got, "by the counts of the policy") != (spec == "rac") {
			t.Errorf("%s: %s", spec, got)
		}
	}
}

func topicOfEntry(members string, id int64) bool {
	for _, e := range gjson.Get(members, "entries.#.id").Array() {
		if e.Int() == id {
			return true
		}
	}
	return false
}

// TestPrevalenceIsRecent: a topic with few entries and the last requests is more prevalent than a large one without, and nothing is known of
// no topic.
func TestPrevalenceIsRecent(t *testing.T) {
	for _, spec := range []string{"rac", "rac+", "haz", "lru"} {
		r := newRig(t, spec, withPrompts)
		if got := r.get("/admin/topics").Body.String(); gjson.Get(got, "rest.prevalence").Type != gjson.Null || gjson.Get(got, "topics").Raw != "[]" {
			t.Errorf("%s: no topics: %s", spec, got)
		}
		for i := range 9 {
			r.store.Put(&store.Entry{Key: store.Key{1 + byte(i)}, Prompt: "p", Topic: policy.TopicID(1 + i/8), Created: time.Now()}, r.store.Tick())
		}
		for range 40 {
			r.store.Hit(9, 0, r.store.Tick())
		}
		got := r.get("/admin/topics?sort=prevalence").Body.String()
		if gjson.Get(got, "topics.0.topic").Int() != 2 || gjson.Get(got, "topics.0.prevalence").Float() < 0.6 {
			t.Errorf("%s: %s", spec, got)
		}
	}
}

// TestAnchorPrompt: it is shown where prompts may be.
func TestAnchorPrompt(t *testing.T) {
	r := newRig(t, "lru", withPrompts)
	r.keep(t, 3)
	for _, x := range gjson.Get(r.get("/admin/topics").Body.String(), "topics").Array() {
		if want := fmt.Sprint("Prompt NUMBER ", x.Get("anchor").Int()-1, " Ärger"); x.Get("anchor_prompt").String() != want {
			t.Errorf("%s, want %s", x, want)
		}
	}
}
