package proxy

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"reprise/internal/enginesim"
	"reprise/proxy/observe"
	"reprise/proxy/observe/learn"
	"reprise/store"
)

// elsewhereHeld are the types of what an observer only asks: what the metrics collect from others, and the server and the cache of the learner.
var elsewhereHeld = []reflect.Type{reflect.TypeFor[[]prometheus.Collector](), reflect.TypeFor[learn.Options]()}

// holdsText reports whether values of a type can have or refer to a text. Others are not read: a goroutine of the history writes numbers meanwhile.
func holdsText(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return t == reflect.TypeFor[[]byte]() || holdsText(t.Elem())
	case reflect.Struct:
		for f := range t.Fields() {
			if holdsText(f.Type) {
				return true
			}
		}
		return false
	}
	return t.Kind() > reflect.Complex128
}

// holding looks for a text in all that a value refers to, in fields that are not exported too, and returns where it is; "": nowhere.
func holding(v reflect.Value, text string, seen map[[2]uintptr]bool) string {
	if v.IsValid() && (slices.Contains(elsewhereHeld, v.Type()) || !holdsText(v.Type())) {
		return ""
	}
	switch v.Kind() {
	case reflect.String:
		if strings.Contains(v.String(), text) {
			return fmt.Sprintf(" = %.80q", v.String())
		}
	case reflect.Pointer:
		at := [2]uintptr{v.Pointer(), reflect.ValueOf(v.Type()).Pointer()}
		if v.IsNil() || seen[at] {
			return ""
		}
		seen[at] = true
		return holding(v.Elem(), text, seen)
	case reflect.Interface:
		if !v.IsNil() {
			return holding(v.Elem(), text, seen)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if where := holding(v.Field(i), text, seen); where != "" {
				return "." + v.Type().Field(i).Name + where
			}
		}
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
			if strings.Contains(string(v.Bytes()), text) {
				return fmt.Sprintf(" = %.80q", v.Bytes())
			}
			return ""
		}
		for i := range v.Len() {
			if where := holding(v.Index(i), text, seen); where != "" {
				return fmt.Sprintf("[%d]%s", i, where)
			}
		}
	case reflect.Map:
		for all := v.MapRange(); all.Next(); {
			for _, part := range []reflect.Value{all.Key(), all.Value()} {
				if where := holding(part, text, seen); where != "" {
					return "[]" + where
				}
			}
		}
	}
	return ""
}

// remembering is all that a purge of a server reaches beside its cache.
func (r *rig) remembering() (all []observe.Memory) {
	for _, one := range r.watchers() {
		all = append(all, one)
	}
	return append(all, r.memories()...)
}

// holders are the memories of a server that hold a text, with the place.
func (r *rig) holders(text string) (all []string) {
	for _, m := range r.remembering() {
		if where := holding(reflect.ValueOf(m), text, map[[2]uintptr]bool{}); where != "" {
			all = append(all, fmt.Sprintf("%T%s", m, where))
		}
	}
	return all
}

const (
	secretText  = "zanzibar" // in prompts, system prompts, names of tools and of fields
	secretSpace = "nsmark"   // the namespace
)

// TestPurgeReachesEveryMemory: whatever a purge names a request by, nothing that the server keeps beside the cache holds a text of the request
// after it, and nothing that it shows has one. A request that is at the upstream meanwhile leaves nothing either.
func TestPurgeReachesEveryMemory(t *testing.T) {
	for name, filter := range map[string]func(e *store.Entry) store.Filter{
		"all":       func(*store.Entry) store.Filter { return store.Filter{} },
		"entry":     func(e *store.Entry) store.Filter { return store.Filter{Entry: e.ID} },
		"topic":     func(e *store.Entry) store.Filter { return store.Filter{Topic: e.Topic} },
		"model":     func(e *store.Entry) store.Filter { return store.Filter{Model: e.Model} },
		"namespace": func(e *store.Entry) store.Filter { return store.Filter{Namespace: secretSpace} },
		"tenant":    func(e *store.Entry) store.Filter { return store.Filter{Tenant: e.Tenant} },
	} {
		t.Run(name, func(t *testing.T) {
			engine := enginesim.New(enginesim.Options{})
			var during atomic.Pointer[func()]
			r := newRigAt(t, engine, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				if f := during.Swap(nil); f != nil {
					(*f)()
				}
				engine.ServeHTTP(w, req)
			}), logging)
			send := func(prompt string, more ...string) reply {
				body := fmt.Sprintf(`{"model":"gpt-4o","%s_field":1,"tools":[{"type":"function","function":{"name":"%s_tool","parameters":{}}}],`+
					`"messages":[{"role":"system","content":"You know %s. %s"},{"role":"user","content":%q}]%s}`, secretText, secretText, secretText, strings.Repeat("Be brief. ", 100), prompt, joined(more))
				return r.ask(t, "/v1/chat/completions", body, "X-Reprise-Namespace: "+secretSpace)
			}
			first := send("How do I open the zanzibar account?")
			send("How do I open the zanzibar account?") // read, and remembered as that
			if by := send("Hello, how do I open the zanzibar account?").cache(); by != "semantic" {
				t.Fatalf("the same in other words: %s", by)
			}
			send("How do I open the zanzibar account?", `"user":"zanzibar"`) // another scope
			e, ok := r.store.Get(entryOf(t, first))
			if !ok {
				t.Fatal("no entry")
			}
			r.countedMisses(t, 2)
			if held := r.holders(secretText); len(held) != 4 {
				t.Errorf("before the purge the text is in %d memories, want misses, alignment, pairs and readings:\n%s", len(held), strings.Join(held, "\n"))
			}
			tenant, f := e.Tenant, filter(e)
			purge := func() {
				if _, _, err := r.Purge(t.Context(), f); err != nil {
					t.Error(err)
				}
			}
			forgotten := func(when string) {
				t.Helper()
				texts := []string{secretText}
				if f.Entry == 0 { // figures of applications stay otherwise, under their names
					texts = append(texts, secretSpace)
				}
				for _, text := range texts {
					if held := r.holders(text); len(held) > 0 {
						t.Errorf("%s, %s is in\n%s", when, text, strings.Join(held, "\n"))
					}
					for _, path := range []string{"/metrics", "/admin/misses", "/admin/alignment", "/admin/reviews", "/admin/stats", "/admin/shadow"} {
						if got := r.get(t, path).body; strings.Contains(got, text) {
							t.Errorf("%s, %s is shown by GET %s", when, text, path)
						}
					}
				}
				if f.Tenant != "" { // what it has spent stays
					for _, m := range []observe.Memory{r.Server.misses, r.alignment, r.learner, r.watch} {
						if where := holding(reflect.ValueOf(m), tenant, map[[2]uintptr]bool{}); where != "" {
							t.Errorf("%s, the tenant is in %T%s", when, m, where)
						}
					}
				}
			}
			purge()
			forgotten("after the purge")
			during.Store(&purge)
			if by := send("What is known of zanzibar beside that?").cache(); by != "miss" || during.Load() != nil {
				t.Errorf("a new request: %s", by)
			}
			r.countedMisses(t, map[bool]int64{true: 3, false: 1}[f.Entry != 0])
			forgotten("after a request that began before the purge")
		})
	}
}

// TestEveryMemoryIsInTheList: what a server has that can forget is reached by a purge.
func TestEveryMemoryIsInTheList(t *testing.T) {
	r := newRig(t)
	listed := map[reflect.Type]bool{}
	for _, m := range r.remembering() {
		listed[reflect.TypeOf(m)] = true
	}
	memory, server, found := reflect.TypeFor[observe.Memory](), reflect.TypeFor[Server](), 0
	for i := range server.NumField() {
		f := server.Field(i)
		if f.Type != reflect.TypeFor[*observe.List]() && f.Type.Implements(memory) {
			if found++; !listed[f.Type] {
				t.Errorf("Server.%s can forget, and is not among those that do", f.Name)
			}
		}
	}
	if found < 8 {
		t.Errorf("%d fields of the server can forget; have the methods another name?", found)
	}
}
