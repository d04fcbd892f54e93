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
func strangeVectors(r gjson.Result, request []byte) bool {
	count, length := 0, 0
	var places []int64
	for _, d := range rawjson.Elements(r.Get("data")) {
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
func lengthOf(v gjson.Result) (n int) {
	zero := true
	if v.Type == gjson.String {
		raw, err := base64.StdEncoding.DecodeString(v.Str)
		if err != nil || len(raw)%4 != 0 {
			return 0
		}
		for ; len(raw) > 0; raw = raw[4:] {
			f := float64(math.Float32frombits(binary.LittleEndian.Uint32(raw)))
			if math.IsNaN(f) || math.IsInf(f, 0) {
				return 0
			}
			zero = zero && f == 0
			n++
		}
	} else if v.IsArray() {
		for number := range strings.SplitSeq(v.Raw[1:len(v.Raw)-1], ",") {
			if number = strings.TrimSpace(number); number == "" || number[0] != '-' && (number[0] < '0' || number[0] > '9') {
				return 0
			}
			// Only an exponent, or very many digits, can be out of range.
			if zero || len(number) > 30 || strings.IndexByte(number, 'e') > 0 || strings.IndexByte(number, 'E') > 0 {
				f, err := strconv.ParseFloat(number, 32)
				if err != nil {
					return 0
				}
				zero = zero && f == 0
			}
			n++
		}
	}
	if zero {
		return 0
	}
	return n
}
