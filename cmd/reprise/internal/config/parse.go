package config

import (
	"errors"
	"log/slog"
	"math"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"reprise/proxy"
	"reprise/proxy/observe/prices"
	"reprise/topics/reuse"
)

// errNotAllowed is the error where setting.Allowed explains enough.
var errNotAllowed = errors.New("not allowed")

// errUse is the reason why a value is not allowed, beyond setting.Allowed.
type errUse string

func (e errUse) Error() string { return string(e) }

// into returns the parser of a setting, which keeps in to what read makes of a value.
func into[T any](to *T, read func(string) (T, error)) func(string) error {
	return func(v string) error {
		got, err := read(v)
		if err == nil {
			*to = got
		}
		return err
	}
}

// valid returns the parser of a text for which ok is true.
func valid(to *string, ok func(string) bool) func(string) error {
	return into(to, func(v string) (string, error) { return v, allowedIf(ok(v)) })
}

// allowedIf is for values of which setting.Allowed says enough.
func allowedIf(ok bool) error {
	if ok {
		return nil
	}
	return errNotAllowed
}

func text(to *string) func(string) error {
	return valid(to, func(string) bool { return true })
}

func choice(to *string, names []string) func(string) error {
	return valid(to, func(v string) bool { return slices.Contains(names, v) })
}

func secret(to *string, least int) func(string) error {
	return valid(to, func(v string) bool { return len(v) >= least && isWord(v) })
}

// isWord reports whether a text has neither white space nor control characters.
func isWord(v string) bool {
	return !strings.ContainsFunc(v, func(r rune) bool { return r <= ' ' || r == 0x7f })
}

// isAddress checks the form only; a listener is opened later.
func isAddress(v string) bool {
	_, port, err := net.SplitHostPort(v)
	n, notNumber := strconv.Atoi(port)
	return err == nil && notNumber == nil && n >= 0 && n <= 65535
}

func isTenant(v string) bool {
	name, isHeader := strings.CutPrefix(v, "header:")
	return v == "authorization" || v == "none" || isHeader && name != "" && !strings.ContainsAny(name, " \t:,\r\n")
}

func readable(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", errUse(err.Error())
	}
	return path, f.Close()
}

func oneOf(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// openAI is the base URL of the embedder openai where it is given none.
const openAI = "https://api.openai.com/v1"

// chooseEmbedder takes builtin, openai, openai:URL, or model2vec:DIR.
func (c *Config) chooseEmbedder(v string) error {
	kind, where, given := strings.Cut(v, ":")
	switch {
	case kind == "model2vec" && where != "":
		c.Embedder, c.EmbedderDir = kind, where
	case kind == "openai" && given:
		c.Embedder, c.EmbedderURL = kind, where
		_, err := parseBase(where)
		return err
	case v == "builtin" || v == "openai":
		c.Embedder, c.EmbedderURL = v, openAI
	default:
		return errNotAllowed
	}
	return nil
}

func boolean(v string) (bool, error) {
	b, err := strconv.ParseBool(v)
	return b, allowedIf(err == nil)
}

// trust takes who says that answers to other prompts are right.
func trust(text string) (reuse.Trust, error) {
	switch text {
	case "earned":
		return reuse.Earned, nil
	case "granted":
		return reuse.Granted, nil
	case "withdrawn":
		return reuse.Withdrawn, nil
	}
	return 0, errNotAllowed
}

// exactOrOff takes exact or off.
func exactOrOff(v string) (bool, error) { return v == "exact", allowedIf(v == "exact" || v == "off") }

func whole(to *int, least, most int) func(string) error {
	return into(to, func(v string) (int, error) {
		n, err := strconv.Atoi(v)
		return n, allowedIf(err == nil && n >= least && n <= most)
	})
}

// offAtZeroInt is whole from 0; 0 is stored as -1, for no limit.
func offAtZeroInt(to *int, most int) func(string) error {
	parse := whole(to, 0, most)
	return func(v string) error {
		err := parse(v)
		if err == nil && *to == 0 {
			*to = -1
		}
		return err
	}
}

// number accepts values for which ok is true; it is false for NaN.
func number(to *float64, ok func(float64) bool) func(string) error {
	return into(to, func(v string) (float64, error) {
		f, err := strconv.ParseFloat(v, 64)
		return f, allowedIf(err == nil && ok(f))
	})
}

func fraction(to *float64) func(string) error {
	return number(to, func(f float64) bool { return f > 0 && f <= 1 })
}

// priceTable reads a file of prices.
func priceTable(path string) (*prices.Table, error) {
	t, err := prices.Read(path)
	if err != nil {
		return nil, errUse(strings.ReplaceAll(err.Error(), "\n", "\n    "))
	}
	return t, nil
}

// duration takes one from least to most.
func duration(to *time.Duration, least, most time.Duration) func(string) error {
	return into(to, func(v string) (time.Duration, error) {
		d, ok := parseDuration(v)
		return d, allowedIf(ok && d >= least && d <= most)
	})
}

// orZero takes 0 as well as what parse takes, and stores it as zero.
func orZero(to *time.Duration, zero time.Duration, parse func(string) error) func(string) error {
	return func(v string) error {
		if d, ok := parseDuration(v); ok && d == 0 {
			*to = zero
			return nil
		}
		return parse(v)
	}
}

// ever is longer than any duration that makes sense, and may be multiplied by 4.
const ever = math.MaxInt64 / 4

// timeout takes any duration; 0 switches it off and is stored as -1, which means no limit to other packages.
func timeout(to *time.Duration) func(string) error { return orZero(to, -1, duration(to, 1, ever)) }

// parseDuration is time.ParseDuration with days: 30d, 1d12h.
func parseDuration(v string) (time.Duration, bool) {
	var days time.Duration
	if head, rest, ok := strings.Cut(v, "d"); ok {
		n, err := strconv.ParseUint(head, 10, 16)
		if err != nil || n > 100_000 {
			return 0, false
		}
		days, v = time.Duration(n)*24*time.Hour, rest
		if v == "" {
			return days, true
		}
	}
	d, err := time.ParseDuration(v)
	return days + d, err == nil
}

var sizeUnits = []struct {
	suffix string
	bytes  float64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}, {"", 1}}

func size(to *int64, least int64) func(string) error {
	return into(to, func(v string) (int64, error) {
		n, ok := parseSize(v)
		return n, allowedIf(ok && n >= least)
	})
}

// parseSize reads 1073741824, 1GiB, 1.5GiB or 1GB.
func parseSize(v string) (int64, bool) {
	for _, u := range sizeUnits {
		if head, ok := strings.CutSuffix(v, u.suffix); ok {
			f, err := strconv.ParseFloat(strings.TrimSpace(head), 64)
			if err != nil || !(f >= 0 && f*u.bytes < 1<<62) {
				return 0, false
			}
			return int64(f * u.bytes), true
		}
	}
	return 0, false
}

var logLevels = map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}

func level(v string) (slog.Level, error) {
	l, ok := logLevels[v]
	return l, allowedIf(ok)
}

// headerNames reads a list of headers without credentials; package proxy has the reason for each name that may not be in it.
func headerNames(v string) (names []string, err error) {
	for name := range strings.SplitSeq(v, ",") {
		name = strings.TrimSpace(name)
		if err := proxy.CheckHeader(name); err != nil {
			return nil, errUse(err.Error())
		}
		names = append(names, name)
	}
	return names, nil
}

func parseBase(v string) (*url.URL, error) {
	u, err := url.Parse(v)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, errUse("not a base URL such as http://127.0.0.1:8000/v1")
	}
	if u.User != nil {
		return nil, errUse("a URL is shown in logs and may hold no credential, there is a setting for it")
	}
	return u, nil
}

// withoutPassword is v as it may be shown, without a password and a query. It does not parse URLs: one with a mistake has its password too, and those of several hosts
// are not URLs to package url.
func withoutPassword(v string) string {
	scheme, rest, isURL := strings.Cut(v, "://")
	if !isURL {
		return v
	}
	at := strings.LastIndexByte(rest, '@')
	if at >= 0 && strings.Contains(rest[:at], "?") {
		return scheme + "://xxxxx" // where the password ends is not known
	}
	shown, _, queried := strings.Cut(rest, "?")
	if queried {
		shown += "?xxxxx" // it may have a key
	}
	if at < 0 {
		return scheme + "://" + shown
	}
	user, _, both := strings.Cut(rest[:at], ":")
	if !both || strings.Contains(user, "@") {
		user = "" // it may be a password
	}
	return scheme + "://" + user + ":xxxxx" + shown[at:]
}

func storePlace(v string) (Place, error) {
	p, ok := parsePlace(v)
	return p, allowedIf(ok)
}
