// Package hint computes what the proxy wants of an engine for one request: the key of its prefix, the name of its conversation, the salt
// of its tenant, and how long the prefix is worth keeping. The result is a [dialect.Intent], which each kind of upstream expresses in its
// own fields; [Decide] chooses how long the prefix is kept.
//
// All names are HMACs under the deployment's secret: no text of a client, and no name of a tenant, leaves the proxy in one. They depend on
// the tenant, so that no client can choose a name that another tenant gets, and on a generation, which a purge raises, so that an engine
// shares no prefix from before a purge under them.
//
// [Prefixes] estimates what each prefix is worth to the cache of an engine. The response cache hides traffic from the engine: of the requests
// of a prefix that arrive at a rate λ, of which a share h is answered here, the engine sees λ(1−h) only, and prefixes go cold there because
// the proxy works. That residual rate decides which retention pays; prefixes are ranked by the probability that they return to the engine
// within a life, with the models of KV policies: that of wa, by the category of their last request (papers/001 §4.2), and that of lpc-wa where
// the continuation of the conversation is predicted (papers/004 §3.4).
package hint

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/tidwall/gjson"

	"reprise/proxy/upstream/dialect"
	"reprise/proxy/upstream/prefix"
)

// Options configures Keys.
type Options struct {
	Secret   []byte // equal in all proxies in front of the same upstreams, and after a restart
	Affinity bool   // Intent has Affinity and Conversation
	Salt     bool   // Intent has Salt
}

// Keys computes intents. It is safe for concurrent use.
type Keys struct {
	o          Options
	generation atomic.Uint64
	rates      rates
}

// New returns Keys for o. The secret is copied.
func New(o Options) *Keys {
	o.Secret = append([]byte(nil), o.Secret...)
	return &Keys{o: o}
}

// Generation is the present generation, 0 in the beginning. A purge raises it.
func (k *Keys) Generation() uint64 { return k.generation.Load() }

// SetGeneration replaces the generation: names that are computed under different generations differ.
func (k *Keys) SetGeneration(n uint64) { k.generation.Store(n) }

// Request is what the intent of a request depends on.
type Request struct {
	Tenant, Model string
	Header        http.Header   // the client's
	Body          []byte        // the client's; read only if it contains prompt_cache_key
	Chain         *prefix.Chain // nil: unknown
}

// Intent returns what the proxy wants for r, which it does not keep, at the time now, and counts r in the rate of its scaffold. It does
// not set StreamUsage and Retain.
func (k *Keys) Intent(r Request, now time.Time) (want dialect.Intent) {
	generation := k.generation.Load()
	if k.o.Salt {
		want.Salt = "s1-" + k.sum("salt", generation, r.Tenant).text(saltLength)
	}
	if !k.o.Affinity {
		return want
	}
	id, opening := conversation(r), prefix.Block(0)
	if r.Chain != nil {
		opening = r.Chain.Opening
	}
	var conversation digest
	if id != "" || r.Chain != nil {
		if id != "" {
			opening = 0
		}
		conversation = k.sum("conversation", generation, r.Tenant, r.Model, id, block(opening))
		want.Conversation = "c1-" + conversation.text(nameLength)
	}
	if r.Chain != nil {
		scaffold := k.sum("scaffold", generation, r.Tenant, r.Model, block(r.Chain.Scaffold))
		shard := jump(conversation.number(), k.rates.shards(scaffold.number(), now))
		want.Affinity = "p1-" + scaffold.text(nameLength) + "-" + strconv.Itoa(shard)
	}
	return want
}

// The lengths of the parts of names, in base32: 130 bits name a prefix or a conversation, 255 are a secret of a tenant.
const (
	nameLength = 26
	saltLength = 51
)

// digest is an HMAC-SHA256.
type digest [sha256.Size]byte

// sum is the HMAC of its arguments; each is preceded by its length, so that no two lists of arguments read the same.
func (k *Keys) sum(use string, generation uint64, parts ...string) (d digest) {
	text := binary.LittleEndian.AppendUint64(make([]byte, 0, 256), generation)
	text = appendPart(text, use)
	for _, part := range parts {
		text = appendPart(text, part)
	}
	mac := hmac.New(sha256.New, k.o.Secret)
	mac.Write(text)
	mac.Sum(d[:0])
	return d
}

func appendPart(text []byte, part string) []byte {
	return append(binary.LittleEndian.AppendUint64(text, uint64(len(part))), part...)
}

var letters = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// text is the first n letters of the digest in base32.
func (d digest) text(n int) string { return letters.EncodeToString(d[:])[:n] }

// number is the last 64 bits, which text shows of no name.
func (d digest) number() uint64 { return binary.LittleEndian.Uint64(d[len(d)-8:]) }

// block is the bytes of a block's name.
func block(b prefix.Block) string {
	return string(binary.LittleEndian.AppendUint64(nil, uint64(b)))
}

// jump is the jump consistent hash of a key (Lamping and Veach, 2014): a bucket in [0, buckets). Where the number of buckets changes from
// n to m, only |n-m|/max(n,m) of the keys change theirs.
func jump(key uint64, buckets int) int {
	at, next := int64(-1), int64(0)
	for next < int64(buckets) {
		at = next
		key = key*2862933555777941757 + 1
		next = int64(float64(at+1) * (float64(int64(1)<<31) / float64(key>>33+1)))
	}
	return int(at)
}

// sessionHeaders are where clients name their conversation, the most specific first: coding agents, then what routers and hosts read,
// then general names. The names are in the form of net/http.
var sessionHeaders = []string{"X-Claude-Code-Session-Id", "X-Opencode-Session", "X-Session-Affinity", "X-Grok-Conv-Id",
	"X-Dynamo-Session-Id", "X-Aibrix-Session-Key", "X-Smg-Routing-Key", "Session-Id", "Session_id", "X-Session-Id", "Conversation-Id",
	"Conversation_id", "X-Conversation-Id"}

// conversation is the name that a client gives its conversation, "" if it gives none.
func conversation(r Request) string {
	for _, name := range sessionHeaders {
		if values := r.Header[name]; len(values) > 0 && values[0] != "" {
			return values[0]
		}
	}
	const field = "prompt_cache_key"
	if !bytes.Contains(r.Body, []byte(field)) {
		return ""
	}
	return gjson.GetBytes(r.Body, field).String()
}
