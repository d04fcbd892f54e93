// Package redis keeps a store that several processes share in a Redis or Valkey server: single, watched by sentinels, or a cluster.
//
// It holds the answers, a record of each entry for processes that start, and the log of what changed, as a stream. All keys begin with
// {PREFIX}, so that they are in one slot of a cluster and a script can change several of them at once:
//
//	{p}:head      hash: schema, space of the first process, check of the secret, number of the log, purges, batches, id of the last; s<process>: last serial
//	{p}:mark      string: number of the log and purges, beside the head so that one MGET reads it with an answer
//	{p}:log       stream: a batch of events, or a purge, in each message
//	{p}:a:<key>   string: an answer, until it may not be served any more; half a key, in bytes
//	{p}:r:<n>     hash: records of the entries whose id is n modulo 1024; {p}:s:<n> the same for small records that change often
//	{p}:x         hash: alias -> id of its entry
//	{p}:members   hash: process -> what it has applied, its last beat and its name
//	{p}:keeper    string: the process that decides evictions
//	{p}:purges    hash: purges of the mark after one -> its filter, until all that it names has left
//	{p}:process   string: the last number that a process got
//	{p}:f:<key>   string: the lease of a flight
//
// Each batch is appended by one script, which also changes answers and records: these are always the state at the end of the log. Every
// method may be repeated after an error; a batch whose serial the log has already is not appended again. Commands beyond plain ones and Lua
// are not used, and no more rights are needed than
//
//	~{PREFIX}:* +@read +@write +@scripting +@connection +@transaction +info +time +cluster|slots +cluster|shards
//
// A value under these keys that this package did not write, or a damaged one, is ignored and counted.
package redis

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Options of a shared store.
type Options struct {
	// URL says where the servers are; required:
	//
	//	redis://[USER:PASSWORD@]HOST[:PORT][/DB]
	//	redis-cluster://[USER:PASSWORD@]HOST[:PORT],HOST[:PORT],...
	//	redis-sentinel://[USER:PASSWORD@]HOST[:PORT],HOST[:PORT],.../MASTER[/DB]
	//
	// and the same with rediss for TLS. Ports are 6379 and, of sentinels, 26379.
	URL string
	// Password is used where the URL has none.
	Password string
	// SentinelPassword is that of the sentinels; "" is none.
	SentinelPassword string
	// CA is a PEM file of authorities; "" is those of the system. Cert and Key are PEM files of a certificate of this client, "" is none.
	CA, Cert, Key string
	// Prefix begins every key; "" is "reprise". Processes with the same one share their entries.
	Prefix string
	// Space names the vector space of the embedder, as in store.Options. Processes may have different ones: each takes only vectors of its own.
	// "" is that of none: until SetSpace no vector is taken, and none may be appended.
	Space string
	// Secret is text of which the secret of the store is derived; "" makes the first process draw one, which the server then keeps.
	Secret string
	// Name is this process in the list of members; "" is its host and process id.
	Name string
	// LogBytes is about how many bytes the log keeps at most; 0 is 64 MiB. What all members have applied is dropped earlier. A process that lacks
	// what was dropped loads the records again.
	LogBytes int
	// MaxAliases is how many aliases the record of an entry has, as in store.Options; 0 is 16.
	MaxAliases int
}

// logLength is about how many batches the log keeps at most.
const logLength = 16384

// Shared is a store that several processes share. Its methods may be called at any time, by several goroutines; Read has one connection,
// so that only one call of it runs at a time. A call whose context has no deadline ends after some seconds.
type Shared struct {
	link  *link
	opt   Options
	token string                 // of this process, drawn at its start
	seal  atomic.Pointer[seal]   // by the secret
	space atomic.Pointer[string] // of vectors

	mu      sync.RWMutex // protects the rest
	agreed  bool
	process uint16
	secret  [32]byte
	shared  bool // the secret is drawn, not derived from Options.Secret, so that the server keeps it
}

// Open connects, and agrees with the processes that share the store on schema and secret. Where the server cannot be reached, or
// cannot be used at the moment, the error is ErrUnreachable, and the Shared is usable all the same: process and secret are temporary
// then, until Agree succeeds. After another error there is no Shared: store.ErrVersion, store.ErrSecret, or
// store.ErrRefused with what is allowed.
func Open(ctx context.Context, o Options) (*Shared, error) {
	s, err := New(o)
	if err != nil {
		return nil, fmt.Errorf("open shared store: %w", err)
	}
	err = s.Agree(ctx)
	if err != nil && !isTemporary(err) {
		s.Close()
		return nil, fmt.Errorf("open shared store: %w", err)
	}
	return s, err
}

// New connects at the first call, and agrees on nothing: see Agree. The error is store.ErrRefused: the options cannot be used.
func New(o Options) (*Shared, error) {
	to, err := parseURL(o.URL)
	if err != nil {
		return nil, err
	}
	if to.password == "" {
		to.password = o.Password
	}
	if to.secure, err = secureConfig(&o, to); err != nil {
		return nil, err
	}
	o.fill()
	s := &Shared{link: newLink(to, o.SentinelPassword, o.Prefix), opt: o, process: randomProcess(), token: random(8)}
	s.secret, s.shared = firstSecret(o.Secret)
	s.seal.Store(newSeal(s.secret))
	s.space.Store(&o.Space)
	return s, nil
}

// SetSpace names the space of vectors in what is read and appended from now on, for an embedder that has answered after Open.
func (s *Shared) SetSpace(name string) { s.space.Store(&name) }

func (o *Options) fill() {
	if o.Prefix == "" {
		o.Prefix = "reprise"
	}
	if o.LogBytes <= 0 {
		o.LogBytes = 64 << 20
	}
	if o.MaxAliases <= 0 {
		o.MaxAliases = 16
	}
	if o.Name == "" {
		host, _ := os.Hostname()
		o.Name = fmt.Sprintf("%s:%d", host, os.Getpid())
	}
	o.Name = strings.Map(func(r rune) rune {
		if r < ' ' {
			return '_'
		}
		return r
	}, o.Name)
}

// random is so many random bytes in hexadecimal digits.
func random(n int) string {
	b := make([]byte, n)
	rand.Read(b)
	return hex.EncodeToString(b)
}

// Process is the number of this process, 1 to 65535. It is temporary until Agree has succeeded.
func (s *Shared) Process() uint16 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.process
}

// Secret is the secret of the store. It is temporary until Agree has succeeded, unless it is derived from Options.Secret.
func (s *Shared) Secret() [32]byte {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.secret
}

// Agreed reports whether Agree has succeeded.
func (s *Shared) Agreed() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.agreed
}

// Name is where the store is, for messages: the URL without credentials, and the prefix.
func (s *Shared) Name() string { return s.link.to.name() + ", prefix " + s.opt.Prefix }

// Foreign counts the values under the keys of the store that were ignored: they were damaged, or not written by this package.
func (s *Shared) Foreign() int64 { return s.link.foreign.Load() }

// Close leaves the list of members, where that takes no longer than a second, and closes the connections.
func (s *Shared) Close() error {
	if s.Agreed() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		s.link.run(ctx, leaveScript, []string{s.link.keys.members, s.link.keys.keeper}, s.processArg(), s.token)
	}
	return s.link.close()
}
