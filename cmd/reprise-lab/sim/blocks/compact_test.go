package blocks

import (
	"reflect"
	"testing"
)

func TestCompact(t *testing.T) {
	given := &Trace{Name: "a", Tokens: 1, Kinds: []string{"k"}, Distinct: 10, Requests: []Request{
		{Prompt: 2, Blocks: []uint32{7, 3}, Filled: []uint32{9}}, {At: 1, Prompt: 2, Blocks: []uint32{7, 9}}}}
	got := Compact(given)
	if err := got.Check(); err != nil || got.Distinct != 3 || !reflect.DeepEqual(got.Requests[0].Blocks, []uint32{0, 1}) ||
		!reflect.DeepEqual(got.Requests[0].Filled, []uint32{2}) || !reflect.DeepEqual(got.Requests[1].Blocks, []uint32{0, 2}) {
		t.Errorf("%+v, %v", got, err)
	}
	if given.Distinct != 10 || given.Requests[0].Blocks[0] != 7 {
		t.Errorf("the given one is now %+v", given)
	}
}
