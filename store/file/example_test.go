package file_test

import (
	"fmt"
	"os"
	"path/filepath"

	"reprise/store"
	"reprise/store/file"
)

// A file keeps records for store.Open, which reads their bodies. Here its methods are called directly.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "reprise.db")
	f, err := file.Open(path)
	if err != nil {
		panic(err)
	}
	if err := f.Write(&store.Batch{Put: []store.Record{{Kind: store.KindEvidence, Body: []byte("counted")}}}); err != nil {
		panic(err)
	}
	if err := f.Close(); err != nil {
		panic(err)
	}
	if f, err = file.Open(path); err != nil {
		panic(err)
	}
	defer f.Close()
	report, err := f.Load(func(r store.Record) error {
		fmt.Println(r.Kind == store.KindEvidence, string(r.Body))
		return nil
	})
	fmt.Println(report.Kept, report.Skipped, err)
	// Output:
	// true counted
	// 1 0 <nil>
}
