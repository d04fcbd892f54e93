package toy

import (
	"path/filepath"
	"testing"

	"reprise/store"
	"reprise/store/storetest"
)

func TestToy(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Open {
		path := filepath.Join(t.TempDir(), "toy")
		return func() (store.Backing, error) { return Open(path) }
	})
}
