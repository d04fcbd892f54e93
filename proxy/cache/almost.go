package cache

import (
	"reprise/store"
	"reprise/topics/reuse"
)

// Almost is a stored answer that a request almost got.
type Almost struct {
	Entry      *store.Entry
	Verdict    reuse.Verdict
	Basis      Basis
	Similarity float64 // 0 where none was computed
	Below      bool    // it is below the hit gate, which one request in 16 looks at; else the judge keeps it back
}

// almost notes an answer that r does not get. The first one stays, which is the nearest.
func (f *Finding) almost(r *Request, e *store.Entry, v *reuse.Verdict, similarity float64, below bool) {
	if f.Almost == nil {
		f.Almost = &Almost{e, *v, basisOf(v, e.Prompt, r.Prompt), similarity, below}
	}
}
