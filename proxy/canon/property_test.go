package canon_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"reflect"
	"testing"

	"reprise/proxy/canon"
)

func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// reading is all of a Request but its bytes and the places in them.
func reading(r *canon.Request) canon.Request { return canon.WithoutPlaces(*r) }

func TestSameRequestHasSameKey(t *testing.T) {
	for seed := range uint64(500) {
		rng := source(seed)
		body := chatRequest(rng, conversation(rng, rng.IntN(4)))
		one, two := render(rng, body), render(rng, body)
		a, b := reading(parse(t, chat, one)), reading(parse(t, chat, two))
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("seed %d: two forms of one request are read differently\n%.300s\n%.300s", seed, one, two)
		}
	}
}

// TestAnyChangeChangesKey changes one value, wherever it is, and wants another key, each time a new one.
func TestAnyChangeChangesKey(t *testing.T) {
	for seed := range uint64(60) {
		rng := source(seed)
		body := chatRequest(rng, conversation(rng, rng.IntN(3)))
		seen := map[canon.Hash]string{parse(t, chat, render(rng, body)).Key: "unchanged"}
		eachChange(body, "", func(path string) {
			key := parse(t, chat, render(rng, body)).Key
			if before, ok := seen[key]; ok {
				t.Fatalf("seed %d: change of %s has the key of %s", seed, path, before)
			}
			seen[key] = path
		})
	}
}

// eachChange calls f with each value below v changed in turn, and restores it.
func eachChange(v any, path string, f func(path string)) {
	slot := func(p *any, path string) {
		old := *p
		*p = changed(old)
		f(path)
		*p = old
		eachChange(old, path, f)
	}
	switch v := v.(type) {
	case list:
		for i := range v {
			slot(&v[i], fmt.Sprintf("%s[%d]", path, i))
		}
	case record:
		for i := range v {
			switch v[i].name {
			case "messages": // stays an array
				eachChange(v[i].value, "messages", f)
			default:
				slot(&v[i].value, path+"."+v[i].name)
			}
		}
	}
}

// changed is another value than v that is still read in v's place.
func changed(v any) any {
	switch v := v.(type) {
	case string:
		return v + "!"
	case num:
		return num{v.digits*10 + 1, v.zeros}
	case bool:
		return !v
	case nil:
		return false
	case list:
		return append(list{nil}, v...)
	case record:
		return append(record{{"new", nil}}, v...)
	}
	panic(v)
}

func TestTurnKeyIsKeyOfShorterRequest(t *testing.T) {
	for seed := range uint64(300) {
		rng := source(seed)
		messages := conversation(rng, 1+rng.IntN(5))
		body := chatRequest(rng, messages)
		long := parse(t, chat, render(rng, body))
		var keys []canon.Hash
		for n := range messages {
			if role(messages, n) == "user" {
				body[1].value = messages[:n+1]
				keys = append(keys, parse(t, chat, render(rng, body)).Key)
			}
		}
		if len(keys) != len(long.Turns)+1 {
			t.Fatalf("seed %d: %d turns, want %d", seed, len(long.Turns), len(keys)-1)
		}
		for i, turn := range long.Turns {
			if turn.Key != keys[i] {
				t.Errorf("seed %d: turn %d has not the key of the request that ended there", seed, i)
			}
		}
	}
}

func role(messages list, n int) string { return messages[n].(record)[0].value.(string) }

// TestNumbers compares number forms with exact fractions: keys are equal when, and only when, the numbers are.
func TestNumbers(t *testing.T) {
	rng := source(1)
	value := map[canon.Hash]string{}
	forms := []string{"0", "-0", "0.0e9", "-0.000", "1", "1.0", "10e-1", "0.1e1", "9007199254740993", "9007199254740992", "1e308", "5e-324"}
	for range 3000 {
		forms = append(forms, randomNumber(rng))
	}
	for _, form := range forms {
		exact, _ := new(big.Rat).SetString(form)
		key := parse(t, embs, `{"model":"m","x":`+form+`}`).Key
		if other, ok := value[key]; ok && other != exact.String() {
			t.Errorf("%s has the key of %s", form, other)
		}
		value[key] = exact.String()
	}
	keys := map[string]canon.Hash{}
	for key, exact := range value {
		if other, ok := keys[exact]; ok && other != key {
			t.Errorf("%s has two keys", exact)
		}
		keys[exact] = key
	}
}

func randomNumber(rng *rand.Rand) string {
	s := fmt.Sprint(rng.IntN(21) - 10)
	if rng.IntN(2) == 0 {
		s += fmt.Sprintf(".%0*d", 1+rng.IntN(3), rng.IntN(10))
	}
	if rng.IntN(2) == 0 {
		s += fmt.Sprintf("e%d", rng.IntN(7)-3)
	}
	return s
}
