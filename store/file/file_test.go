package file

import (
	"path/filepath"
	"testing"

	"reprise/store"
	"reprise/store/storetest"
)

func TestFile(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Open {
		path := filepath.Join(t.TempDir(), "r.db")
		return func() (store.Backing, error) { return Open(path) }
	})
}
