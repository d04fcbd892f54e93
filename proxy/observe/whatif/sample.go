package whatif

// thinned is the rows of a share of the identities.
func thinned(rows []row, share float64) []row {
	if share >= 1 {
		return rows
	}
	below := uint32(share * (1 << 32))
	var some []row
	for i := range rows {
		if uint32(mix(uint64(rows[i].who)+1)>>32) < below {
			some = append(some, rows[i])
		}
	}
	return some
}

// figures are what a sample is made of.
type figures struct {
	requests, counted int64 // those that were not sampled too
	hits, renewed     int64 // of the counted ones, as they were answered; renewed of the sample
	sampled           int   // rows
	warm              int   // the rows that are not counted
	distinct          int   // identities among the rows
	filled            int   // of the warm-up
	bytes, filling    int64 // of them
	seconds           float64
	infinite          int // counted rows whose identity is new
}

// survey counts. Two thirds of the requests are the warm-up.
func (s *sample) survey() *figures {
	f := &figures{sampled: len(s.rows)}
	for i := range s.rows {
		f.requests += 1 + int64(s.rows[i].passed)
	}
	seen, n := make(map[uint32]struct{}, len(s.rows)/2), int64(0)
	for i := range s.rows {
		r := &s.rows[i]
		n += 1 + int64(r.passed)
		_, known := seen[r.who]
		if !known {
			seen[r.who] = struct{}{}
			f.bytes += int64(r.size)
		}
		if n <= f.requests*2/3 {
			f.warm, f.filled, f.filling = i+1, len(seen), f.bytes
			continue
		}
		f.count(r, !known)
	}
	f.distinct = len(seen)
	if len(s.rows) > 0 {
		f.seconds = float64(s.rows[len(s.rows)-1].at-s.rows[0].at) / 64
	}
	return f
}

func (f *figures) count(r *row, fresh bool) {
	f.counted += 1 + int64(r.passed)
	f.hits += int64(r.hits)
	if r.flags&flagHit != 0 {
		f.hits++
	}
	if r.flags&flagRenewed != 0 {
		f.renewed++
	}
	if fresh {
		f.infinite++
	}
}

// leastMisses is from how many misses of the sample on their share is taken for that of the misses of any cache.
const leastMisses = 1000

// scale is how many misses one in a sample represents, whose counted rows are given. How many requests have really missed is counted for all,
// and calibrates that better than the share of the identities.
func (f *figures) scale(counted []row, rate float64) float64 {
	missed := int64(0)
	for i := range counted {
		if counted[i].flags&flagHit == 0 {
			missed++
		}
	}
	if missed < leastMisses || f.hits == 0 {
		return 1 / rate
	}
	return float64(f.counted-f.hits) / float64(missed)
}

// ratio is the share of hits among all requests, from misses in a sample of identities. Misses are what is estimated: the few identities that
// are asked for most have most of the hits and few of the misses, and whether one of them is in the sample would decide an estimate of hits
// (the adjustment of SHARDS).
func ratio(misses int64, scale float64, requests int64) float64 {
	if requests == 0 {
		return 0
	}
	return min(max(1-float64(misses)*scale/float64(requests), 0), 1)
}
