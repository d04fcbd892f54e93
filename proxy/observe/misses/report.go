package misses

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"reprise/proxy/observe"
)

// Bounds of what is counted.
const (
	span       = time.Hour
	buckets    = 60
	mostGroups = 256 // in one bucket; the misses of more are in one group
)

// window counts the misses of the last hour, minute by minute.
type window struct {
	buckets [buckets]bucket
	minute  int64 // of the last miss, or of the start
	total   int64 // requests until then
}

// bucket is the misses of one minute.
type bucket struct {
	minute   int64 // since 1970; 0: none
	requests int64 // before these misses
	groups   map[string]*group
}

// group is the misses for one reason.
type group struct {
	diagnosis *Diagnosis // of the last one
	count     int64
	hits      int64     // that would have been hits without this reason
	examples  []Example // of a report
}

// key names the group of a diagnosis: its reason, and in what it differs, without places.
func (d *Diagnosis) key() string {
	var b strings.Builder
	b.WriteString(d.Reason())
	last := ""
	for i, one := range d.Differs {
		if i == mostShown {
			break
		}
		one.Byte, one.Index = -1, 0
		if s := one.String(); s != last {
			b.WriteByte('+')
			b.WriteString(s)
			last = s
		}
	}
	return b.String()
}

// forget takes the names of fields that are not known out of the window. Reports may be reading its diagnoses.
func (w *window) forget(known func(field string) bool) {
	for i := range w.buckets {
		b := &w.buckets[i]
		old := b.groups
		b.groups = make(map[string]*group, len(old))
		for key, g := range old {
			d := g.diagnosis.without(known)
			if key != otherGroup {
				key = d.key()
			}
			if same := b.groups[key]; same != nil {
				same.count, same.hits = same.count+g.count, same.hits+g.hits
				continue
			}
			b.groups[key] = &group{diagnosis: d, count: g.count, hits: g.hits}
		}
	}
}

// without is d with "other fields" for those that are not known, and without its entry.
func (d *Diagnosis) without(known func(field string) bool) *Diagnosis {
	less := &Diagnosis{Why: d.Why, What: d.What, Scopes: d.Scopes, Alike: d.Alike, hit: d.hit}
	rest := false
	for _, one := range d.Differs {
		if strings.HasPrefix(one.Part, PartHeader) || slices.Contains(ownParts, one.Part) || known != nil && known(one.Part) {
			less.Differs = append(less.Differs, one)
		} else {
			rest = true
		}
	}
	if rest {
		less.Differs = append(less.Differs, difference{Part: PartRest, Byte: -1})
	}
	return less
}

// otherGroup is the key and the reason of the misses for more reasons than are counted.
const otherGroup = "other"

// count counts the miss of a request, by the operator's view of it, and keeps the request as an example.
func (w *Watch) count(d *Diagnosis, o *observe.Outcome) {
	d = d.Operator()
	now := w.o.Now()
	example, minute := w.example(d, o, now), now.Unix()/60
	w.mu.Lock()
	defer w.mu.Unlock()
	stale := o.Came.Stale()
	if stale { // a purge has taken the names of fields that clients choose
		d = d.without(w.o.Known)
	}
	key, b := d.key(), &w.window.buckets[uint64(minute)%buckets]
	total := w.o.Requests()
	if b.minute != minute {
		*b = bucket{minute: minute, requests: total, groups: map[string]*group{}}
		if w.window.minute > minute-buckets { // requests since the miss before belong to this one
			b.requests = w.window.total
		}
	}
	w.window.minute, w.window.total = minute, total+1 // the request itself is counted when it ends
	g := b.groups[key]
	if g == nil {
		if len(b.groups) >= mostGroups {
			key, d = otherGroup, &Diagnosis{Why: otherGroup}
		}
		if g = b.groups[key]; g == nil {
			g = &group{}
			b.groups[key] = g
		}
	}
	g.diagnosis = d
	g.count++
	if d.hit {
		g.hits++
	}
	if w.examples.expire(minute); !o.NoStore && !stale {
		w.examples.add(key, example)
	}
}

// Report is the misses of the last hour. It has names of fields and headers, and prompts only in the examples, with Options.Prompts.
type Report struct {
	Seconds  int64   `json:"window_seconds"`
	Requests int64   `json:"requests"` // that were looked for in the cache in the window, hits too
	Misses   int64   `json:"misses"`
	Groups   []Group `json:"groups"` // the largest first
	// Emptied is when a purge emptied all of this, Forgotten when a purge of one entry took the examples and what was remembered of
	// answers. Both are zero where that is longer ago than the window.
	Emptied   time.Time `json:"emptied,omitzero"`
	Forgotten time.Time `json:"forgotten,omitzero"`
	Counted   string    `json:"how_it_is_counted"`
}

// Group is the misses for one reason.
type Group struct {
	Why     string   `json:"why"`
	Differs []string `json:"differs,omitempty"` // from the nearest answer to the same, in the last of these requests
	Count   int64    `json:"count"`
	Share   float64  `json:"share"` // of the misses
	Hits    int64    `json:"would_have_hit"`
	Brings  float64  `json:"would_bring"` // share of the requests
	Words   string   `json:"in_words"`
	Repair  string   `json:"repair,omitempty"`
	Set     []string `json:"set,omitempty"` // variables with the values that repair it

	Examples []Example `json:"examples"` // the latest first
}

// counted is how the figures of a report come about.
const counted = "A miss counts in one group: for the first reason that is found, and for a difference of scope by the parts in which the nearest scope differs. " +
	"would_have_hit are those of its requests for which an answer to the same was there, or had been: without this reason it would have served them. " +
	"For veto that answer may be wrong; below, chain and new have none. would_bring is their share of all requests in the window: so much would the hit ratio " +
	"rise, if nothing else changed. What was kept before the start, or is forgotten for want of room or after a purge, counts as new. A purge of one entry leaves the counts alone (forgotten), any other purge empties them (emptied). examples are the latest three misses of a group, with the first 1,000 bytes of their prompts where prompts may be kept; " +
	"nearest_entry is the stored answer that nearly served the request, of any tenant, if one is known."

// Report returns the misses of the last hour.
func (w *Watch) Report(s Settings) Report {
	r := Report{Seconds: int64(span / time.Second), Groups: []Group{}, Counted: counted}
	total := w.o.Requests()
	first, now := total, w.o.Now().Unix()/60
	sums := map[string]*group{}
	w.mu.Lock()
	w.examples.expire(now)
	for i := range w.window.buckets {
		b := &w.window.buckets[i]
		if b.minute <= now-buckets || b.minute > now {
			continue
		}
		first = min(first, b.requests)
		for key, g := range b.groups {
			sum := sums[key]
			if sum == nil {
				sum = &group{diagnosis: g.diagnosis, examples: w.examples.of(key)}
				sums[key] = sum
			}
			sum.count, sum.hits = sum.count+g.count, sum.hits+g.hits
			r.Misses += g.count
		}
	}
	r.Emptied, r.Forgotten = inWindow(w.emptied, now), inWindow(w.forgot, now)
	w.mu.Unlock()
	r.Requests = max(total-first, r.Misses)
	for _, g := range sums {
		for i := range g.examples {
			w.complete(&g.examples[i])
		}
		r.Groups = append(r.Groups, g.report(&r, &s))
	}
	slices.SortFunc(r.Groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Why, b.Why), slices.Compare(a.Differs, b.Differs))
	})
	return r
}

// inWindow is a time, or none where it is of before the window that ends with a minute.
func inWindow(t time.Time, minute int64) time.Time {
	if t.Unix()/60 <= minute-buckets {
		return time.Time{}
	}
	return t
}

func (g *group) report(of *Report, s *Settings) Group {
	d := g.diagnosis
	one := Group{Why: d.Reason(), Count: g.count, Share: float64(g.count) / float64(of.Misses), Hits: g.hits, Brings: float64(g.hits) / float64(of.Requests),
		Words: d.Words(), Repair: d.Repair(), Set: d.Set(s), Examples: append([]Example{}, g.examples...)}
	for _, differs := range d.Differs {
		one.Differs = append(one.Differs, differs.String())
	}
	return one
}
