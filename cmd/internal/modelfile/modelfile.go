// Package modelfile reads the files of trained models, for the proxy and the laboratory: regular files of bounded size, so that reading one
// neither waits for ever nor fills the memory.
package modelfile

import (
	"errors"
	"fmt"
	"io"
	"os"

	"reprise/proxy/upstream/continues"
)

// Most is the bytes of a model at most: that of two windows of 384 dimensions has half a megabyte.
const Most = 64 << 20

// Continues reads a file of `reprise-lab train lpc`. An error names the path only where opening fails.
func Continues(path string) (*continues.Model, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, errors.New("it is a pipe or a device, for which reading could wait for ever; want a regular file")
	} else if err == nil && info.Size() > Most {
		return nil, fmt.Errorf("it has %d bytes, and a model at most %d", info.Size(), Most)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, Most))
	if err != nil {
		return nil, err
	}
	return continues.Load(b)
}
