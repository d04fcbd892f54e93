package continuation

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
)

// errModel is wrapped by every error about the content of a model.
var errModel = errors.New("bad model")

// errEmbedder is wrapped by the error of Suits.
var errEmbedder = errors.New("model of another embedder")

// magic is the first line of a model's file, with the version of its form.
const magic = "reprise continues 1\n"

// mostHeader bounds the header of a file, in bytes.
const mostHeader = 1 << 20

// Marshal is the model as Load reads it: a line with the version, a line with the form in JSON, the weights as little-endian float32, and the
// CRC-32 of all before.
func (m *Model) Marshal() ([]byte, error) {
	header, err := json.Marshal(m.form)
	if err != nil {
		return nil, fmt.Errorf("write model: %w", err)
	}
	b := append([]byte(magic), header...)
	b = append(b, '\n')
	for _, w := range m.weights {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(w))
	}
	return binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b)), nil
}

// mostBytes bounds the file of a model: one of two windows of 384 dimensions has half a megabyte.
const mostBytes = 64 << 20

// Open reads the file of a model. It refuses what is no regular file or too large before it reads: a pipe would make the start wait for ever.
// An error names the path only where opening fails.
func Open(path string) (*Model, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, errors.New("it is a pipe or a device, for which reading could wait for ever; want a regular file")
	} else if err == nil && info.Size() > mostBytes {
		return nil, fmt.Errorf("it has %d bytes, and a model at most %d", info.Size(), mostBytes)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, mostBytes))
	if err != nil {
		return nil, err
	}
	return Load(b)
}

// Load reads what Marshal wrote. Every error wraps ErrModel. The model shares no memory with data.
func Load(data []byte) (*Model, error) {
	left, ok := bytes.CutPrefix(data, []byte(magic))
	if !ok {
		return nil, fmt.Errorf("%w: it begins with %q, want %q: a file that reprise-lab train lpc wrote", errModel, data[:min(len(data), len(magic))], magic)
	}
	at := bytes.IndexByte(left[:min(len(left), mostHeader)], '\n')
	if at < 0 {
		return nil, fmt.Errorf("%w: line 2 does not end, want a JSON object: the file is cut", errModel)
	}
	var f Form
	if err := json.Unmarshal(left[:at], &f); err != nil {
		return nil, fmt.Errorf("%w: line 2: %w, want the form in JSON", errModel, err)
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	if left = left[at+1:]; len(left) != 4*f.size()+4 {
		return nil, fmt.Errorf("%w: %d bytes behind line 2, want %d for layers of %v: the file is cut, or another one is behind it",
			errModel, len(left), 4*f.size()+4, f.Layers)
	}
	end := len(data) - 4
	if sum, want := crc32.ChecksumIEEE(data[:end]), binary.LittleEndian.Uint32(data[end:]); sum != want {
		return nil, fmt.Errorf("%w: its checksum is %08x, want %08x: the file is damaged", errModel, sum, want)
	}
	weights := make([]float32, f.size())
	for i := range weights {
		weights[i] = math.Float32frombits(binary.LittleEndian.Uint32(left[4*i:]))
	}
	return NewModel(f, weights)
}

// The limits of a form. They bound what a damaged file can ask of memory.
const (
	mostDim     = 1 << 14
	mostWindows = 4
	mostWindow  = 64
	mostTokens  = 1 << 16
	mostLayers  = 8
	mostTurns   = 256
)

// check returns an error that names the first field that is not allowed.
func (f *Form) check() error {
	within := func(name string, v, from, to int) error {
		if v < from || v > to {
			return fmt.Errorf("%w: %s %d, want %d to %d", errModel, name, v, from, to)
		}
		return nil
	}
	errs := []error{within("dim", f.Dim, 1, mostDim), within("number of windows", len(f.Windows), 1, mostWindows), within("tokens", f.Tokens, 1, mostTokens),
		within("number of layers", len(f.Layers), 2, mostLayers), within("number of turns", len(f.Turns), 0, mostTurns)}
	for _, w := range f.Windows {
		errs = append(errs, within("window", w, 1, mostWindow))
	}
	for i, n := range f.Layers {
		switch {
		case i == 0:
			want := f.Dim*len(f.Windows) + 1
			errs = append(errs, within("layer 1", n, want, want))
		case i == len(f.Layers)-1:
			errs = append(errs, within("the last layer", n, 1, 1))
		default:
			errs = append(errs, within(fmt.Sprintf("layer %d", i+1), n, 1, mostWidth))
		}
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return f.checkScale()
}

func (f *Form) checkScale() error {
	if f.Embedder == "" {
		return fmt.Errorf("%w: embedder is empty, want the space of its vectors", errModel)
	}
	type bounded struct {
		name        string
		v, from, to float64
	}
	all := []bounded{{"slope", f.Slope, 0, 1e6}, {"turn_slope", f.TurnSlope, 0, 1e6}, {"intercept", f.Intercept, -1e6, 1e6}, {"threshold", f.Threshold, 0, 1}}
	for _, v := range f.Turns {
		all = append(all, bounded{"turns", v, -1e3, 1e3})
	}
	for _, n := range all {
		if !(n.v >= n.from && n.v <= n.to) {
			return fmt.Errorf("%w: %s %v, want %v to %v", errModel, n.name, n.v, n.from, n.to)
		}
	}
	return nil
}

// size is the number of weights.
func (f *Form) size() (n int) {
	for l := 1; l < len(f.Layers); l++ {
		n += f.Layers[l] * (f.Layers[l-1] + 1)
	}
	return n
}
