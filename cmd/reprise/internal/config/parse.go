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
)

// errNotAllowed is the error where Setting.Allowed explains enough.
var errNotAllowed = errors.New("not allowed")

// errUse is the reason why a value is not allowed, beyond Setting.Allowed.
type errUse string

func (e errUse) Error() string { return string(e) }

func text(to *string) func(string) error {
	return func(v string) error { *to = v; return nil }
}

func secret(to *string, least int) func(string) error {
	return func(v string) error {
		if len(v) < least || strings.ContainsFunc(v, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
			return errNotAllowed
		}
		*to = v
		return nil
	}
}

// address checks the form only; a listener is opened later.
func address(to *string) func(string) error {
	return func(v string) error {
		_, port, err := net.SplitHostPort(v)
		if err != nil {
			return errNotAllowed
		}
		if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
			return errNotAllowed
		}
		*to = v
		return nil
	}
}

func readable(to *string) func(string) error {
	return func(v string) error {
		f, err := os.Open(v)
		if err != nil {
			return errUse(err.Error())
		}
		*to = v
		return f.Close()
	}
}

func oneOf(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

func choice(to *string, names []string) func(string) error {
	return func(v string) error {
		if !slices.Contains(names, v) {
			return errNotAllowed
		}
		*to = v
		return nil
	}
}

// openAI is the base URL of the embedder openai where it is given none.
const openAI = "https://api.openai.com/v1"

// embedderChoice takes builtin, openai, openai:URL, or model2vec:DIR.
func embedderChoice(name, dir, base *string) func(string) error {
	return func(v string) error {
		kind, where, given := strings.Cut(v, ":")
		switch {
		case kind == "model2vec" && where != "":
			*name, *dir = kind, where
		case kind == "openai" && given:
			*name, *base = kind, where
			_, err := parseBase(where)
			return err
		case v == "builtin" || v == "openai":
			*name, *base = v, openAI
		default:
			return errNotAllowed
		}
		return nil
	}
}

func boolean(to *bool) func(string) error {
	return func(v string) error {
		b, err := strconv.ParseBool(v)
		if err != nil {
			return errNotAllowed
		}
		*to = b
		return nil
	}
}

// toolCalls takes exact or off.
func toolCalls(to *bool) func(string) error {
	return func(v string) error {
		if v != "exact" && v != "off" {
			return errNotAllowed
		}
		*to = v == "exact"
		return nil
	}
}

func whole(to *int, least, most int) func(string) error {
	return func(v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < least || n > most {
			return errNotAllowed
		}
		*to = n
		return nil
	}
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
	return func(v string) error {
		f, err := strconv.ParseFloat(v, 64)
		if err != nil || !ok(f) {
			return errNotAllowed
		}
		*to = f
		return nil
	}
}

// priceTable reads a file of prices.
func priceTable(to **prices.Table) func(string) error {
	return func(v string) (err error) {
		if *to, err = prices.Read(v); err != nil {
			return errUse(strings.ReplaceAll(err.Error(), "\n", "\n    "))
		}
		return nil
	}
}

func fraction(to *float64) func(string) error {
	return number(to, func(f float64) bool { return f > 0 && f <= 1 })
}

// duration takes one from least to most.
func duration(to *time.Duration, least, most time.Duration) func(string) error {
	return func(v string) error {
		d, ok := parseDuration(v)
		if !ok || d < least || d > most {
			return errNotAllowed
		}
		*to = d
		return nil
	}
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
	return func(v string) error {
		n, ok := parseSize(v)
		if !ok || n < least {
			return errNotAllowed
		}
		*to = n
		return nil
	}
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

func level(to *slog.Level) func(string) error {
	levels := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}
	return func(v string) error {
		l, ok := levels[v]
		if !ok {
			return errNotAllowed
		}
		*to = l
		return nil
	}
}

func tenant(to *string) func(string) error {
	return func(v string) error {
		name, isHeader := strings.CutPrefix(v, "header:")
		if v != "authorization" && v != "none" && (!isHeader || name == "" || strings.ContainsAny(name, " \t:,\r\n")) {
			return errNotAllowed
		}
		*to = v
		return nil
	}
}

// headerNames is a list of headers without credentials; package proxy has the reason for each name that may not be in it.
func headerNames(to *[]string) func(string) error {
	return func(v string) error {
		var names []string
		for name := range strings.SplitSeq(v, ",") {
			name = strings.TrimSpace(name)
			if err := proxy.CheckHeader(name); err != nil {
				return errUse(err.Error())
			}
			names = append(names, name)
		}
		*to = names
		return nil
	}
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

func storePlace(to *Place) func(string) error {
	return func(v string) error {
		p, ok := ParsePlace(v)
		if !ok {
			return errNotAllowed
		}
		*to = p
		return nil
	}
}
