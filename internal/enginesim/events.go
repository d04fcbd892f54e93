package enginesim

import (
	"encoding/binary"
	"net"
	"sync"

	"github.com/tinylib/msgp/msgp"
)

// EventForm is an encoding of KV events.
type EventForm uint8

// The encodings: vLLM's before and since its change 42892, which came in 2026.
const (
	EventArrays EventForm = iota // positional arrays, hashes are integers
	EventMaps                    // maps with names, hashes are digests
)

// Events publishes the changes of an engine's blocks over ZeroMQ as vLLM does: [topic, sequence number, batch]. It keeps all batches for
// those who ask for a replay.
type Events struct {
	form   EventForm
	pub    *Publisher
	router *server

	mu      sync.Mutex // guards what follows
	batches [][]byte
}

// NewEvents returns a publisher for subscribers at l, and for requests for a replay at replay, which may be nil. It closes both.
func NewEvents(l, replay net.Listener, form EventForm) *Events {
	e := &Events{form: form, pub: Publish(l)}
	if replay != nil {
		e.router = serveReplays(replay, e.replay)
	}
	return e
}

// Subscribers is how many connections follow the events.
func (e *Events) Subscribers() int { return e.pub.Subscribers() }

// Drop ends the connections of the subscribers, which may connect again.
func (e *Events) Drop() { e.pub.Drop() }

// cleared publishes that all blocks were cleared.
func (e *Events) cleared() { e.publish([][]byte{e.event("AllBlocksCleared", nil)}) }

// Close ends the publisher.
func (e *Events) Close() {
	e.pub.Close()
	if e.router != nil {
		e.router.Close()
	}
}

// changed publishes changes as one batch. Blocks of one chain that were stored together are one event.
func (e *Events) changed(changes []change) {
	var events [][]byte
	for len(changes) > 0 {
		n := 1
		for n < len(changes) && changes[n].removed == changes[0].removed && (changes[0].removed || changes[n].parent == changes[n-1].hash && !changes[n].rooted) {
			n++
		}
		if changes[0].removed {
			events = append(events, e.event("BlockRemoved", []member{{"block_hashes", e.hashes(changes[:n])}, {"medium", msgp.AppendString(nil, "GPU")}}))
		} else {
			events = append(events, e.stored(changes[:n]))
		}
		changes = changes[n:]
	}
	e.publish(events)
}

func (e *Events) stored(run []change) []byte {
	parent := msgp.AppendNil(nil)
	if !run[0].rooted {
		parent = e.hash(nil, run[0].parent)
	}
	tokens := msgp.AppendArrayHeader(nil, uint32(len(run)*BlockTokens))
	for _, c := range run {
		for i := range BlockTokens {
			tokens = msgp.AppendInt(tokens, int(c.hash[i])) // no reader here has a tokenizer
		}
	}
	return e.event("BlockStored", []member{{"block_hashes", e.hashes(run)}, {"parent_block_hash", parent}, {"token_ids", tokens},
		{"block_size", msgp.AppendInt(nil, BlockTokens)}, {"lora_id", msgp.AppendNil(nil)}, {"medium", msgp.AppendString(nil, "GPU")}})
}

func (e *Events) hashes(run []change) []byte {
	p := msgp.AppendArrayHeader(nil, uint32(len(run)))
	for _, c := range run {
		p = e.hash(p, c.hash)
	}
	return p
}

func (e *Events) hash(p []byte, h BlockHash) []byte {
	if e.form == EventMaps {
		return msgp.AppendBytes(p, h[:])
	}
	return msgp.AppendUint64(p, binary.BigEndian.Uint64(h[:]))
}

// member is one member of an event, encoded.
type member struct {
	name  string
	value []byte
}

func (e *Events) event(kind string, members []member) (p []byte) {
	if e.form == EventMaps {
		p = msgp.AppendMapHeader(nil, uint32(len(members)+1))
		p = msgp.AppendString(msgp.AppendString(p, "type"), kind)
	} else {
		p = msgp.AppendString(msgp.AppendArrayHeader(nil, uint32(len(members)+1)), kind)
	}
	for _, m := range members {
		if e.form == EventMaps {
			p = msgp.AppendString(p, m.name)
		}
		p = append(p, m.value...)
	}
	return p
}

func (e *Events) publish(events [][]byte) {
	if len(events) == 0 {
		return
	}
	list := msgp.AppendArrayHeader(nil, uint32(len(events)))
	for _, ev := range events {
		list = append(list, ev...)
	}
	batch := append(msgp.AppendFloat64(msgp.AppendArrayHeader(nil, 2), 0), list...)
	e.mu.Lock()
	defer e.mu.Unlock()
	n := uint64(len(e.batches))
	e.batches = append(e.batches, batch)
	e.pub.Send([]byte("kv-events"), binary.BigEndian.AppendUint64(nil, n), batch)
}

// replay answers with all batches from a number on, and then the number -1.
func (e *Events) replay(request [][]byte, send func(parts ...[]byte) error) {
	if len(request) != 1 || len(request[0]) != 8 {
		return
	}
	e.mu.Lock()
	batches := e.batches
	e.mu.Unlock()
	for n := binary.BigEndian.Uint64(request[0]); n < uint64(len(batches)); n++ {
		if send(binary.BigEndian.AppendUint64(nil, n), batches[n]) != nil {
			return
		}
	}
	_ = send(binary.BigEndian.AppendUint64(nil, ^uint64(0)), nil)
}
