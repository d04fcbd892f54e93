package api

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer/rawjson"
)

// strangeVectors rejects embeddings unless there is a vector for each input of the request, all of one length, which is the one that the request
// asks for, each with its index or none with any. request may be nil.
func strangeVectors(data gjson.Result, request []byte) bool {
	count, length := 0, 0
	var places []int64
	for _, d := range rawjson.Elements(data) {
		var of [2]gjson.Result
		rawjson.Members(d, of[:], "index", "embedding")
		if of[0].Type == gjson.Number {
			places = append(places, of[0].Int())
		}
		n := lengthOf(of[1])
		if n == 0 || count > 0 && n != length {
			return true
		}
		length = n
		count++
	}
	slices.Sort(places)
	for i, at := range places {
		if at != int64(i) {
			return true
		}
	}
	if len(places) > 0 && len(places) != count {
		return true
	}
	var of [3]gjson.Result
	rawjson.Members(gjson.Parse(rawjson.View(request)), of[:], "input", "dimensions", "encoding_format")
	if asked := inputs(of[0]); asked > 0 && asked != count {
		return true
	}
	format := of[2].String()
	return of[1].Type == gjson.Number && (format == "" || format == "float" || format == "base64") && of[1].Int() != int64(length)
}

// inputs returns how many vectors an input asks for: one for a text or a list of tokens, and one for each element of another list; 0 where it is
// not known.
func inputs(input gjson.Result) (n int) {
	switch {
	case input.Type == gjson.String:
		return 1
	case !input.IsArray():
		return 0
	}
	for _, e := range rawjson.Elements(input) {
		if e.Type == gjson.Number {
			return 1
		}
		n++
	}
	return n
}

// lengthOf returns the length of a vector, a list of numbers or the base64 of float32; 0 for one that no client can use: another value in it, a
// number that is not finite as float32, or nothing but zeros.
func lengthOf(v gjson.Result) int {
	switch {
	case v.Type == gjson.String:
		return lengthOfBase64(v.Str)
	case !v.IsArray():
		return 0
	}
	rest := v.Raw[1 : len(v.Raw)-1]
	for _, other := range []byte(`ntf"[{`) { // with which all begin that are no numbers
		if strings.IndexByte(rest, other) >= 0 {
			return 0
		}
	}
	exponents := strings.IndexByte(rest, 'e') >= 0 || strings.IndexByte(rest, 'E') >= 0
	n, zero := 0, true
	for more := true; more; n++ {
		var number string
		if number, rest, more = strings.Cut(rest, ","); zero || exponents || len(number) > 30 { // all others are in range
			f, err := strconv.ParseFloat(strings.TrimSpace(number), 32)
			if err != nil {
				return 0
			}
			zero = zero && f == 0
		}
	}
	if zero {
		return 0
	}
	return n
}

func lengthOfBase64(text string) int {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(raw)%4 != 0 {
		return 0
	}
	zero := true
	for at := 0; at < len(raw); at += 4 {
		f := float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[at:])))
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return 0
		}
		zero = zero && f == 0
	}
	if zero {
		return 0
	}
	return len(raw) / 4
}
