package store

import (
	"math"
	"reflect"
	"testing"
	"time"
)

// TestResidentKeepsTheEntry: an entry that the store made compact is what it was, with what it cannot hold brought to the nearest value.
func TestResidentKeepsTheEntry(t *testing.T) {
	e := sample()
	back := func() *Entry {
		r := compact(&e)
		got := r.entry(r.more)
		if got.stored != r {
			t.Error("an entry does not know of what it was made")
		}
		got.stored = nil
		return got
	}
	if got := back(); !reflect.DeepEqual(*got, e) {
		t.Errorf("%+v\nis not\n%+v", *got, e)
	}
	e.Labels, e.Chain, e.StaleUntil = nil, [32]byte{}, time.Time{}
	if got := back(); *got.Labels != (Labels{}) || got.Chain != e.Chain || !got.StaleUntil.IsZero() {
		t.Errorf("%+v", got)
	}
	if r := compact(&e); r.more != nil {
		t.Error("an entry without chain and aliases takes room for them")
	}
	e.InputTokens, e.OutputTokens = -1, math.MaxInt64
	e.Created, e.Expires = time.Unix(-1<<40, 0), time.Unix(1<<40, 0)
	if got := back(); got.InputTokens != 0 || got.OutputTokens != math.MaxUint32 || got.Created.Year() > 1678 || got.Expires.Year() < 2262 {
		t.Errorf("%+v", got)
	}
}

// TestResidentFitsItsClass: Go's allocator has a class of 208 bytes and next one of 224.
func TestResidentFitsItsClass(t *testing.T) {
	if size := reflect.TypeFor[resident]().Size(); size > 208 {
		t.Errorf("a resident takes %d bytes", size)
	}
}
