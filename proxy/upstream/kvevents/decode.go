package kvevents

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/tinylib/msgp/msgp"
)

// hash names a block of an engine. Engines use integers or digests; a digest is folded into one.
type hash uint64

// eventKind is what an event says.
type eventKind uint8

// The kinds of events.
const (
	kindUnknown eventKind = iota // a kind that this package has no use for
	kindStored
	kindRemoved
	kindCleared
)

// event is a change of the blocks of one engine.
type event struct {
	Kind      eventKind
	Hashes    []hash
	Parent    hash // of the first of Hashes, where HasParent is set
	HasParent bool
	BlockSize int    // tokens
	Medium    string // "": the memory of the accelerator
	Group     int    // of layers with caches of their own; 0: the first or only one
}

// onDevice reports whether the event is about the first group of blocks in the accelerator's memory. What another medium or group holds
// would be counted twice.
func (e *event) onDevice() bool {
	return e.Group == 0 && (e.Medium == "" || strings.EqualFold(e.Medium, "GPU"))
}

// mostEvents and mostHashes bound a batch: an engine's step has some hundred requests.
const (
	mostEvents = 100_000
	mostHashes = 1_000_000
)

// decodeBatch reads a batch of events in the encodings of vLLM and SGLang: a batch is an array of time and events, or a map; so is each event,
// an array that begins with its kind or a map with its kind as "type". vLLM went from arrays to maps in 2026 (its change 42892).
func decodeBatch(p []byte) ([]event, error) {
	var list []byte
	err := members(p, []string{"ts", "events"}, 0, func(name string, value []byte) error {
		if name == "events" {
			list = value
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("a batch of events cannot be read: %w", err)
	}
	if list == nil {
		return nil, fmt.Errorf("a batch has no events")
	}
	n, rest, err := msgp.ReadArrayHeaderBytes(list)
	if err != nil || n > mostEvents || int(n) > len(rest) {
		return nil, fmt.Errorf("the events of a batch are no list: %d, %v", n, err)
	}
	events := make([]event, 0, n)
	for i := range n {
		var e event
		after, err := msgp.Skip(rest)
		if err == nil {
			e, err = decode(rest[:len(rest)-len(after)])
		}
		if err != nil {
			return nil, fmt.Errorf("event %d of a batch cannot be read: %w", i, err)
		}
		events, rest = append(events, e), after
	}
	return events, nil
}

// The members of events in the order in which arrays have them.
var (
	storedOrder  = []string{"type", "block_hashes", "parent_block_hash", "token_ids", "block_size", "lora_id", "medium", "lora_name", "extra_keys", "group_idx"}
	removedOrder = []string{"type", "block_hashes", "medium", "group_idx"}
)

func decode(p []byte) (e event, err error) {
	var kind string
	err = members(p, storedOrder[:1], 1, func(name string, value []byte) error {
		if name == "type" {
			kind, _, err = msgp.ReadStringBytes(value)
		}
		return err
	})
	if err != nil {
		return e, err
	}
	order := storedOrder
	switch kind {
	case "BlockStored":
		e.Kind = kindStored
	case "BlockRemoved":
		e.Kind, order = kindRemoved, removedOrder
	case "AllBlocksCleared":
		e.Kind = kindCleared
		return e, nil
	case "":
		return e, fmt.Errorf("it has no type")
	default:
		return e, nil
	}
	if err = members(p, order, 0, func(name string, value []byte) error { return e.set(name, value) }); err != nil {
		return e, err
	}
	if e.Hashes == nil || e.Kind == kindStored && e.BlockSize <= 0 {
		return e, fmt.Errorf("%s has no block_hashes or block_size", kind)
	}
	return e, nil
}

// members calls f with the members of a map, or of an array whose elements have the names of order; further elements are left out. Of
// the elements, only so many are read; 0: all.
func members(p []byte, order []string, most int, f func(name string, value []byte) error) error {
	isMap := msgp.NextType(p) == msgp.MapType
	var n uint32
	var err error
	if isMap {
		n, p, err = msgp.ReadMapHeaderBytes(p)
	} else {
		n, p, err = msgp.ReadArrayHeaderBytes(p)
		if most > 0 {
			n = min(n, uint32(most))
		}
	}
	for i := uint32(0); i < n && err == nil; i++ {
		name := ""
		if isMap {
			name, p, err = msgp.ReadStringBytes(p)
		} else if int(i) < len(order) {
			name = order[i]
		}
		if err != nil {
			break
		}
		var rest []byte
		if rest, err = msgp.Skip(p); err == nil {
			err = f(name, p[:len(p)-len(rest)])
		}
		p = rest
	}
	return err
}

// set sets a member of e. nil means that it is absent.
func (e *event) set(name string, value []byte) (err error) {
	if msgp.IsNil(value) {
		return nil
	}
	switch name {
	case "block_hashes":
		e.Hashes, err = readHashes(value)
	case "parent_block_hash":
		e.Parent, _, err = readHash(value)
		e.HasParent = true
	case "block_size":
		e.BlockSize, _, err = msgp.ReadIntBytes(value)
	case "medium":
		e.Medium, _, err = msgp.ReadStringBytes(value)
	case "group_idx":
		e.Group, _, err = msgp.ReadIntBytes(value)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return err
}

func readHashes(p []byte) ([]hash, error) {
	n, p, err := msgp.ReadArrayHeaderBytes(p)
	if err != nil || n > mostHashes || int(n) > len(p) {
		return nil, fmt.Errorf("%d hashes: %v", n, err)
	}
	hashes := make([]hash, n)
	for i := range hashes {
		if hashes[i], p, err = readHash(p); err != nil {
			return nil, err
		}
	}
	return hashes, nil
}

func readHash(p []byte) (h hash, rest []byte, err error) {
	switch msgp.NextType(p) {
	case msgp.UintType:
		n, rest, err := msgp.ReadUint64Bytes(p)
		return hash(n), rest, err
	case msgp.IntType:
		n, rest, err := msgp.ReadInt64Bytes(p)
		return hash(n), rest, err
	case msgp.StrType:
		digest, rest, err := msgp.ReadStringZC(p)
		return fold(digest), rest, err
	default:
		digest, rest, err := msgp.ReadBytesZC(p)
		return fold(digest), rest, err
	}
}

func fold(digest []byte) hash {
	if len(digest) == 8 {
		return hash(binary.BigEndian.Uint64(digest))
	}
	h := fnv.New64a()
	h.Write(digest)
	return hash(h.Sum64())
}
