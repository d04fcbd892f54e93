package misses

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Settings are values in force, from which those of repairs are made.
type Settings struct {
	TTL, MaxTTL    time.Duration
	Capacity       string // the variable of the capacity that is reached, with twice its value; "": it cannot be larger
	MaxEntryBytes  int64
	IgnoreFields   []string
	IgnoreHeaders  []string
	IgnorePatterns []string
}

// larger makes room for more answers.
func (s *Settings) larger() string { return s.Capacity }

func (s *Settings) longerLife() string {
	if longer := min(2*s.TTL, s.MaxTTL); longer > s.TTL && s.TTL > 0 {
		return "REPRISE_TTL=" + shortly(longer)
	}
	return ""
}

func (s *Settings) largerEntries() string {
	if s.MaxEntryBytes <= 0 {
		return ""
	}
	return "REPRISE_MAX_ENTRY_BYTES=" + strconv.FormatInt(2*s.MaxEntryBytes, 10)
}

// ignored is the settings by which no answer depends on the parts that differ, of those that are repaired so.
func (d *Diagnosis) ignored(s *Settings) (all []string) {
	fields, headers := slices.Clone(s.IgnoreFields), slices.Clone(s.IgnoreHeaders)
	for _, one := range d.Differs {
		switch header, isHeader := strings.CutPrefix(one.Part, PartHeader); {
		case isHeader && plain(header) == header && !slices.Contains(headers, header):
			headers = append(headers, header)
		case ignorable(one.Part) && !slices.Contains(fields, one.Part):
			fields = append(fields, one.Part)
		}
	}
	if len(fields) > len(s.IgnoreFields) {
		all = append(all, "REPRISE_IGNORE_FIELDS="+strings.Join(fields, ","))
	}
	if len(headers) > len(s.IgnoreHeaders) {
		all = append(all, "REPRISE_IGNORE_HEADERS="+strings.Join(headers, ","))
	}
	if patterns := d.patterns(s); patterns != "" {
		all = append(all, patterns)
	}
	return all
}

// ignorable reports whether a field of the body names a client or a request, and is not read by models.
func ignorable(field string) bool {
	return slices.Contains([]string{"user", "metadata", "safety_identifier", "prompt_cache_key"}, field)
}

// shortly is a duration as settings have it: 48h, not 48h0m0s.
func shortly(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
