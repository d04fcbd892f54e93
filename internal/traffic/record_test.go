package traffic

import (
	"bytes"
	"math"
	"testing"
)

func TestWriter(t *testing.T) {
	var log bytes.Buffer
	w := NewWriter(&log)
	for _, r := range []Record{
		{ID: "7", At: 1.5, Topic: "travel", Size: 10},
		{ID: "9007199254740993", Conversation: "0", Text: "hi\n"},
		{Vector: vector{3, 4}},
	} {
		if err := w.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	const want = `{"id":7,"at":1.5,"topic":"travel","size":10}
{"id":"9007199254740993","conversation":"0","text":"hi\n"}
{"vector":"AABAQAAAgEA="}
`
	if log.String() != want {
		t.Errorf("got\n%swant\n%s", log.String(), want)
	}
	for _, r := range []Record{{}, {ID: "1", Size: -1}, {ID: "1", Cost: math.NaN()}, {ID: "1", At: math.Inf(1)}} {
		if w.Append(r) == nil || log.String() != want {
			t.Errorf("%+v was written", r)
		}
	}
}
