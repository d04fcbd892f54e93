package redis

import (
	"encoding/binary"
	"strconv"

	"reprise/store"
)

// buckets is the number of hashes over which the records are distributed. It is part of the schema.
const buckets = 1024

// keys are the names of the keys in the server.
type keys struct {
	prefix                                                       string // with its braces and a colon
	head, mark, log, aliases, members, keeper, processes, purges string
}

func newKeys(prefix string) keys {
	p := "{" + prefix + "}:"
	return keys{prefix: p, head: p + "head", mark: p + "mark", log: p + "log", aliases: p + "x", members: p + "members", keeper: p + "keeper", processes: p + "process", purges: p + "purges"}
}

// answer is where the answer to a request is. Half of the digest says which request it is; the seal in the value is of all of it.
func (k *keys) answer(key store.Key) string { return k.prefix + "a:" + string(key[:answerKey]) }

const answerKey = 16

func (k *keys) flight(key store.Key) string { return k.prefix + "f:" + string(key[:]) }

// bucket is the hash that a record is in.
func (k *keys) bucket(kind store.Kind, id uint64) string {
	return k.prefix + shelf(kind) + strconv.FormatUint(id%buckets, 10)
}

// shelf is s: for records that are small and change often: a hash of values up to 64 bytes takes half the memory. It is r: for the others.
func shelf(kind store.Kind) string {
	if kind == store.KindState || kind == store.KindTopic {
		return "s:"
	}
	return "r:"
}

// field is the name of a record in its hash.
func field(kind store.Kind, id uint64) string {
	return string(binary.BigEndian.AppendUint64([]byte{byte(kind)}, id))
}

// bytesOf is an id as the scripts have it: its last two bytes name its bucket.
func bytesOf(id uint64) string { return string(binary.BigEndian.AppendUint64(nil, id)) }
