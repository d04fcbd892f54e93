package storetest_test

import (
	"testing"

	"reprise/store"
	"reprise/store/storetest"
)

func TestMemory(t *testing.T) {
	storetest.Run(t, func(*testing.T) storetest.Open {
		m := &storetest.Memory{}
		return func() (store.Backing, error) { return m.Reopen(), nil }
	})
}
