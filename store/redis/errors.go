package redis

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"

	redis "github.com/redis/go-redis/v9"

	"reprise/store"
)

// ErrUnreachable: no server answers, or it cannot be used at the moment: it loads its data, is full or read-only. Later it may.
var ErrUnreachable = errors.New("the server cannot be used now")

func isTemporary(err error) bool { return errors.Is(err, ErrUnreachable) }

// temporary are parts of what servers answer in a state that passes. A script adds words before and behind.
var temporary = []string{"LOADING", "OOM", "READONLY", "MISCONF", "CLUSTERDOWN", "MASTERDOWN", "TRYAGAIN", "BUSY", "NOREPLICAS", "max number of clients"}

// refusal is a part of what a server answers to a configuration that it refuses, and what to do then.
type refusal struct{ answer, advice string }

func adviceOf(all []refusal, text string) string {
	for _, r := range all {
		if strings.Contains(text, r.answer) {
			return r.advice
		}
	}
	return ""
}

// allSentinels is in an error of the client where no sentinel has named the primary; what they answered follows.
const allSentinels = "all sentinels specified"

var sentinelRefusals = []refusal{
	{"WRONGPASS", "check REPRISE_REDIS_SENTINEL_PASSWORD"},
	{"NOAUTH", "the sentinels require a password: set REPRISE_REDIS_SENTINEL_PASSWORD"},
	{"NOPERM", "the sentinels do not allow SENTINEL GET-MASTER-ADDR-BY-NAME and SUBSCRIBE"},
	{"redis: nil", "the sentinels have no master of the name in REPRISE_STORE"},
	{"IDONTKNOW", "the sentinels have no master of the name in REPRISE_STORE"},
	{"unknown command", "the servers in REPRISE_STORE are no sentinels"},
}

var refusals = []refusal{
	{"WRONGPASS", "check the user in REPRISE_STORE and the password in REPRISE_REDIS_PASSWORD"},
	{"invalid username-password", "check the user in REPRISE_STORE and the password in REPRISE_REDIS_PASSWORD"},
	{"NOAUTH", "the server requires a password: set REPRISE_REDIS_PASSWORD"},
	{"NOPERM", "the user needs the rights ~{PREFIX}:* +@read +@write +@scripting +@connection +@transaction +info +time, and +cluster|slots +cluster|shards for a cluster"},
	{"DB index is out of range", "the database in REPRISE_STORE does not exist: 0 always does"},
	{"cluster support disabled", "the server is no node of a cluster: use redis:// in REPRISE_STORE"},
	{"SELECT is not allowed in cluster", "a cluster has no database but 0: use redis-cluster:// in REPRISE_STORE"},
	{"MOVED", "the server is a node of a cluster: use redis-cluster:// in REPRISE_STORE"},
	{"unknown command", "a Redis server of version 6.2 or later is required, or Valkey"},
}

// classify makes an error of the start one that says whether waiting may help: ErrUnreachable, or store.ErrRefused with advice.
func classify(err error) error {
	for _, known := range []error{store.ErrRefused, store.ErrSecret, store.ErrVersion} {
		if errors.Is(err, known) {
			return err
		}
	}
	refused := func(advice string) error { return fmt.Errorf("%w: %w: %s", store.ErrRefused, err, advice) }
	text := err.Error()
	table := refusals
	if strings.Contains(text, allSentinels) {
		table = sentinelRefusals
	}
	if advice := cmp.Or(adviceOf(table, text), secureAdvice(err)); advice != "" {
		return refused(advice)
	}
	if strings.HasPrefix(text, "redis: can't parse") || strings.HasPrefix(text, "redis: invalid reply") {
		return refused("this is no Redis server, or it requires TLS: then begin REPRISE_STORE with rediss")
	}
	var answered redis.Error
	if errors.As(err, &answered) && !passes(text) {
		return refused("a Redis server of version 6.2 or later is required, or Valkey")
	}
	return fmt.Errorf("%w: %w", ErrUnreachable, err)
}

// orUnreachable is err, as ErrUnreachable where waiting may help.
func orUnreachable(err error) error {
	if classified := classify(err); isTemporary(classified) {
		return classified
	}
	return err
}

// passes reports whether an answer of a server is one of a state that passes.
func passes(answer string) bool {
	for _, t := range temporary {
		if strings.Contains(answer, t) {
			return true
		}
	}
	return false
}

// secureAdvice is what to do after an error of TLS, "" after another one.
func secureAdvice(err error) string {
	if err == nil {
		return ""
	}
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var header tls.RecordHeaderError
	var alert tls.AlertError
	switch {
	case errors.As(err, &unknown):
		return "put the authority of the server into ca.crt of REPRISE_REDIS_TLS"
	case errors.As(err, &name):
		return "name the server in REPRISE_STORE as its certificate does"
	case errors.As(err, &invalid):
		return "the certificate of the server is not valid"
	case errors.As(err, &header):
		return "the server does not use TLS: begin REPRISE_STORE with redis instead of rediss"
	case errors.As(err, &alert) || strings.Contains(err.Error(), "remote error: tls:"):
		return "the server refuses the certificate of this client: check tls.crt and tls.key of REPRISE_REDIS_TLS"
	}
	return ""
}
