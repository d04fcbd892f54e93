package redis

import (
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	mathrand "math/rand/v2"
	"strconv"
	"strings"

	redis "github.com/redis/go-redis/v9"

	"reprise/store"
)

// schema is the number of the form of everything in the server. It is raised where an older program could not read the newer form.
const schema = "2"

func randomProcess() uint16 { return uint16(1 + mathrand.IntN(65535)) }

// firstSecret returns the secret of a store that this process begins: derived from text, or drawn.
func firstSecret(text string) (secret [32]byte, drawn bool) {
	if text == "" {
		rand.Read(secret[:])
		return secret, true
	}
	b, err := hkdf.Key(sha256.New, []byte(text), nil, "reprise shared store", 32)
	if err != nil {
		panic(err) // the length above is allowed
	}
	return [32]byte(b), false
}

// checkOf returns a value by which processes compare their secrets, and from which no secret can be computed.
func checkOf(secret [32]byte) string {
	m := hmac.New(sha256.New, secret[:])
	m.Write([]byte("check"))
	return hex.EncodeToString(m.Sum(nil)[:16])
}

// begin are the keys of a script that begins a head where there is none, and beginArgs its arguments.
func (k *keys) begin() []string {
	return []string{k.head, k.mark, k.log, k.aliases, k.members, k.keeper, k.processes, k.purges}
}

func (s *Shared) processArg() string { return strconv.Itoa(int(s.Process())) }

func (s *Shared) beginArgs() []any {
	s.mu.RLock()
	defer s.mu.RUnlock()
	kept := ""
	if s.shared {
		kept = hex.EncodeToString(s.secret[:])
	}
	return []any{s.link.keys.prefix, schema, *s.space.Load(), checkOf(s.secret), kept, random(8), strconv.Itoa(int(randomProcess()))}
}

// Agree reads what the processes that share the store have agreed on, or begins it, and gets a number for this process. The errors are
// those of Open. After it has succeeded once, another call gets a number that no other process has; usually the same.
func (s *Shared) Agree(ctx context.Context) error {
	err := s.link.checkServer(ctx)
	if err != nil {
		err = s.link.to.diagnose(err)
	} else if err = s.agree(ctx); err != nil {
		err = classify(err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.Name(), err)
	}
	return nil
}

func (s *Shared) agree(ctx context.Context) error {
	v, err := s.link.run(ctx, headScript, s.link.keys.begin(), s.beginArgs()...)
	if err != nil {
		return err
	}
	if err := s.checkHead(v); err != nil {
		return err
	}
	return s.register(ctx)
}

// checkHead compares the head of the store with this process, and takes its secret over.
func (s *Shared) checkHead(v any) error {
	h, err := fields(v, 6)
	if err != nil {
		return err
	}
	other := "use another REPRISE_REDIS_PREFIX, or remove the keys " + s.link.keys.prefix + "*"
	if h[0] != schema {
		return fmt.Errorf("%w: the schema is %.20q, and this program has schema %s; %s", store.ErrVersion, h[0], schema, other)
	}
	return s.checkSecret(h[2], h[3], other)
}

func (s *Shared) checkSecret(check, kept, other string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if check == checkOf(s.secret) {
		return nil
	}
	switch {
	case s.opt.Secret != "" && kept != "":
		return fmt.Errorf("%w: its secret was drawn by the first process; leave out REPRISE_SECRET, or %s", store.ErrSecret, other)
	case s.opt.Secret != "":
		return fmt.Errorf("%w: give all processes the same REPRISE_SECRET, or %s", store.ErrSecret, other)
	case kept == "":
		return fmt.Errorf("%w: it was begun with REPRISE_SECRET; set the same here, or %s", store.ErrSecret, other)
	}
	b, err := hex.DecodeString(kept)
	if err != nil || len(b) != 32 || checkOf([32]byte(b)) != check {
		return fmt.Errorf("%w: the secret of the store is damaged; %s", store.ErrSecret, other)
	}
	s.secret = [32]byte(b)
	s.seal.Store(newSeal(s.secret))
	return nil
}

// register gets a number for this process, and makes it a member.
func (s *Shared) register(ctx context.Context) error {
	now := "0"
	if s.Agreed() {
		now = s.processArg()
	}
	v, err := s.link.run(ctx, processScript, []string{s.link.keys.members, s.link.keys.processes, s.link.keys.head}, now, s.token, s.opt.Name, strconv.Itoa(int(randomProcess())))
	if err != nil {
		return err
	}
	n, err := strconv.ParseUint(fmt.Sprint(v), 10, 16)
	if err != nil || n == 0 {
		return fmt.Errorf("read process number: %w", store.ErrDamaged)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.process, s.agreed = uint16(n), true
	return nil
}

// checkServer refuses a server that is too old, and a node of a cluster that is to be used alone. If the
// ACLs of this user deny INFO, the check is skipped: a command that the server lacks is an error later.
func (l *link) checkServer(ctx context.Context) error {
	info, err := l.info(ctx, "server")
	if err != nil {
		if redis.HasErrorPrefix(err, "NOPERM") {
			return nil
		}
		return l.seen(err)
	}
	return l.fits(info)
}

// fits refuses a server by its section "server" of INFO.
func (l *link) fits(info map[string]string) error {
	if v := info["redis_version"]; olderThan(v, 6, 2) {
		return fmt.Errorf("%w: the server has version %.20s, and 6.2 or later is required", store.ErrRefused, v)
	}
	if l.to.mode == single && info["redis_mode"] == "cluster" {
		return fmt.Errorf("%w: the server is a node of a cluster: use redis-cluster:// in REPRISE_STORE", store.ErrRefused)
	}
	return nil
}

// olderThan compares the beginning of a version; one that cannot be read is not older.
func olderThan(version string, major, minor int) bool {
	first, rest, _ := strings.Cut(version, ".")
	second, _, _ := strings.Cut(rest, ".")
	a, err := strconv.Atoi(first)
	b, _ := strconv.Atoi(second)
	return err == nil && (a < major || a == major && b < minor)
}

// fields are the elements of a script's answer as texts.
func fields(v any, n int) ([]string, error) {
	list, ok := v.([]any)
	if !ok || len(list) < n {
		return nil, fmt.Errorf("read answer of a script: %w", store.ErrDamaged)
	}
	texts := make([]string, len(list))
	for i, one := range list {
		switch one := one.(type) {
		case string:
			texts[i] = one
		case int64:
			texts[i] = strconv.FormatInt(one, 10)
		}
	}
	return texts, nil
}
