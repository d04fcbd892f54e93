package model2vec

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// tensor is an array of a safetensors file.
type tensor struct {
	kind  string
	shape []int
	data  []byte
}

// sizes are the bytes of a number by its type.
var sizes = map[string]int{"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I8": 1, "I32": 4, "I64": 8}

// maxHeader is the longest header of a safetensors file that the format allows.
const maxHeader = 100_000_000

// tensors reads a safetensors file: the length of the header as 64 bits little-endian, the header in JSON, then the data. Every offset is
// checked. The tensors share b.
func tensors(b []byte) (map[string]tensor, error) {
	if len(b) < 8 {
		return nil, errors.New("it is shorter than its header")
	}
	n := binary.LittleEndian.Uint64(b)
	if n > maxHeader || n > uint64(len(b)-8) {
		return nil, fmt.Errorf("its header should have %d bytes, and it has %d", n, len(b)-8)
	}
	var header map[string]json.RawMessage
	if err := json.Unmarshal(b[8:8+n], &header); err != nil {
		return nil, fmt.Errorf("its header: %w", err)
	}
	data, all := b[8+n:], map[string]tensor{}
	for name, raw := range header {
		if name == "__metadata__" {
			continue
		}
		t, err := read(raw, data)
		if err != nil {
			return nil, fmt.Errorf("tensor %.40q: %w", name, err)
		}
		all[name] = t
	}
	return all, nil
}

func read(raw json.RawMessage, data []byte) (t tensor, err error) {
	var h struct {
		Kind    string  `json:"dtype"`
		Shape   []int64 `json:"shape"`
		Offsets []int64 `json:"data_offsets"`
	}
	if err := json.Unmarshal(raw, &h); err != nil {
		return t, err
	}
	if len(h.Offsets) != 2 || h.Offsets[0] < 0 || h.Offsets[1] < h.Offsets[0] || h.Offsets[1] > int64(len(data)) {
		return t, fmt.Errorf("data_offsets %v are outside of the %d bytes of data", h.Offsets, len(data))
	}
	t = tensor{kind: h.Kind, data: data[h.Offsets[0]:h.Offsets[1]]}
	count := int64(1)
	for _, d := range h.Shape {
		if d < 0 || d > int64(len(data)) || count > int64(len(data)) {
			return t, fmt.Errorf("shape %v does not fit", h.Shape)
		}
		count *= d
		t.shape = append(t.shape, int(d))
	}
	size, ok := sizes[h.Kind]
	if !ok {
		return t, nil // of no use here, and no fault of the file
	}
	if count*int64(size) != int64(len(t.data)) {
		return t, fmt.Errorf("shape %v of %s takes %d bytes, and it has %d", h.Shape, h.Kind, count*int64(size), len(t.data))
	}
	return t, nil
}

// at is the number i of a tensor.
func (t *tensor) at(i int) float64 {
	switch t.kind {
	case "F64":
		return math.Float64frombits(binary.LittleEndian.Uint64(t.data[8*i:]))
	case "F32":
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(t.data[4*i:])))
	case "F16":
		return half(binary.LittleEndian.Uint16(t.data[2*i:]))
	case "BF16":
		return float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(t.data[2*i:])) << 16))
	case "I32":
		return float64(int32(binary.LittleEndian.Uint32(t.data[4*i:])))
	case "I64":
		return float64(int64(binary.LittleEndian.Uint64(t.data[8*i:])))
	}
	return float64(int8(t.data[i]))
}

// half is a number of IEEE 754 with 16 bits.
func half(h uint16) float64 {
	sign, exponent, fraction := 1-2*float64(h>>15), int(h>>10&31), float64(h&1023)
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 31:
		if fraction == 0 {
			return math.Inf(int(sign))
		}
		return math.NaN()
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// table has the vectors of the tokens.
type table struct {
	vectors tensor // rows × dim
	weights []float64
	mapping []int // from a token to its row; nil: the same number
	dim     int
}

// newTable reads the tensors embeddings (or embedding.weight), weights and mapping.
func newTable(b []byte) (*table, error) {
	all, err := tensors(b)
	if err != nil {
		return nil, err
	}
	v, ok := all["embeddings"]
	if !ok {
		v, ok = all["embedding.weight"]
	}
	switch {
	case !ok:
		return nil, errors.New("it has no tensor embeddings, nor embedding.weight")
	case len(v.shape) != 2 || v.shape[0] < 1 || v.shape[1] < 2 || v.shape[1] > 8192:
		return nil, fmt.Errorf("embeddings have the shape %v: want rows of 2 to 8192 numbers", v.shape)
	case sizes[v.kind] == 0 || v.kind == "I32" || v.kind == "I64":
		return nil, fmt.Errorf("embeddings are of type %.20s: want F64, F32, F16, BF16 or I8", v.kind)
	}
	t := &table{vectors: v, dim: v.shape[1]}
	if err := t.readWeights(all); err != nil {
		return nil, err
	}
	return t, t.readMapping(all)
}

func (t *table) readWeights(all map[string]tensor) error {
	w, ok := all["weights"]
	if !ok {
		return nil
	}
	if len(w.shape) != 1 || sizes[w.kind] == 0 {
		return fmt.Errorf("weights have the type %.20s and the shape %v: want one number a token", w.kind, w.shape)
	}
	for i := range w.shape[0] {
		x := w.at(i)
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("weight %d is %v", i, x)
		}
		t.weights = append(t.weights, x)
	}
	return nil
}

func (t *table) readMapping(all map[string]tensor) error {
	m, ok := all["mapping"]
	if !ok {
		if t.weights != nil && len(t.weights) != t.vectors.shape[0] {
			return fmt.Errorf("there are %d weights for %d vectors", len(t.weights), t.vectors.shape[0])
		}
		return nil
	}
	if len(m.shape) != 1 || m.kind != "I32" && m.kind != "I64" {
		return fmt.Errorf("mapping has the type %.20s and the shape %v: want one row number a token", m.kind, m.shape)
	}
	for i := range m.shape[0] {
		row := m.at(i)
		if !(row >= 0 && row < float64(t.vectors.shape[0])) {
			return fmt.Errorf("mapping of token %d is row %v, and there are %d", i, row, t.vectors.shape[0])
		}
		t.mapping = append(t.mapping, int(row))
	}
	if t.weights != nil && len(t.weights) != len(t.mapping) {
		return fmt.Errorf("there are %d weights for %d tokens", len(t.weights), len(t.mapping))
	}
	return nil
}

// tokens is how many tokens have a vector.
func (t *table) tokens() int {
	if t.mapping != nil {
		return len(t.mapping)
	}
	return t.vectors.shape[0]
}

// add adds the vector of a token, with its weight, to sum.
func (t *table) add(sum []float64, id int) {
	row, weight := id, 1.0
	if t.mapping != nil {
		row = t.mapping[id]
	}
	if t.weights != nil {
		weight = t.weights[id]
	}
	from := row * t.dim
	if t.vectors.kind == "F32" { // the usual one
		data := t.vectors.data[4*from : 4*(from+t.dim)]
		for i := range sum {
			sum[i] += weight * float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
		}
		return
	}
	for i := range sum {
		sum[i] += weight * t.vectors.at(from+i)
	}
}
