package modelfile

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"reprise/proxy/upstream/continues"
)

func TestContinues(t *testing.T) {
	m, err := continues.New(continues.Form{Embedder: "test", Dim: 1, Windows: []int{1}, Tokens: 9, Layers: []int{2, 1}, Slope: 1}, make([]float32, 3))
	if err != nil {
		t.Fatal(err)
	}
	data, err := m.Marshal()
	path := filepath.Join(t.TempDir(), "a.model")
	if err = errors.Join(err, os.WriteFile(path, data, 0o600)); err != nil {
		t.Fatal(err)
	}
	if got, err := Continues(path); err != nil || !reflect.DeepEqual(got, m) {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestRefused: a file that a model cannot be is refused before it is read.
func TestRefused(t *testing.T) {
	large := filepath.Join(t.TempDir(), "large")
	if err := errors.Join(os.WriteFile(large, nil, 0o600), os.Truncate(large, Most+1)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"none":              "no such file",
		os.DevNull:          "it is a pipe or a device",
		large:               "it has 67108865 bytes, and a model at most 67108864",
		t.TempDir():         "is a directory",
		"modelfile_test.go": "bad model: it begins with",
	} {
		if _, err := Continues(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
}
