package policy

import (
	"fmt"
	"testing"
)

func TestReasonsHaveNames(t *testing.T) {
	if got := fmt.Sprint(Evicted, Expired, Purged, Reason(9)); got != "evicted expired purged reason 9" {
		t.Error(got)
	}
}
