package cache

import (
	"time"

	"reprise/policy"
	"reprise/store"
	"reprise/topics"
	"reprise/topics/frames"
	"reprise/topics/reuse"
	"reprise/topics/reuse/normal"
)

// Request is what identifies a request, and what it allows.
type Request struct {
	Key    store.Key        // equal keys are the same request
	Scope  store.Scope      // what must be equal to share an answer by meaning
	Prompt string           // what is compared by meaning; empty: nothing is
	Ask    *frames.Declared // which part of the prompt asks, as an operator has declared it; nil, or where it does not match: it is learnt
	Narrow *frames.Declared // which part of that may be compared, by the wish of the client; nil: all of it
	Turns  []Turn           // the conversation before the prompt, oldest first
	At     policy.Tick      // its number and time
	Epoch  uint64           // purges before it arrived

	NoCache   bool          // no stored answer may be served
	NoStore   bool          // the client wants nothing of it to be kept: no frame is learnt from its prompt
	ExactOnly bool          // no answer may be found by meaning
	Shadow    bool          // what is found by meaning is reported, and not served
	MaxAge    time.Duration // of a stored answer; negative: any
	NotBefore time.Time     // of a stored answer; set by Beside
	TTL       time.Duration // of a stored answer, where that is less than its own; 0: its own
	Gate      float64       // the hit gate for requests like this one; 0 or less than Options.Thresholds.Hit: that
	Threshold float64       // raises the hit gate by the wish of the client, who wants vectors compared; 0 leaves it
	MaxError  float64       // of what is found by meaning, as in reuse.Context
	Trust     reuse.Trust   // who says that answers to other prompts are right in its scope
	NoExplore bool          // the upstream will not be asked only to compare its answer
	Private   bool          // its wishes shape what is found: no alias is made of it
	// Family names the scopes that share a credit with that of the request: see package evidence. It is called only where an answer was found that
	// may serve another prompt. nil: none.
	Family func() uint64
	// Begin is called where a step of a search begins, and its result where that ends; nil: nothing is.
	Begin func(Step) (end func())

	// Asked is set by the first Lookup that asks the shared store for the key, because there is no entry here. Later ones do not ask again.
	Asked bool
	// Next are keys that are looked up next. A Lookup that asks the shared store asks for the answers of what is stored under them too, in the same
	// call, and takes them back.
	Next []store.Key
	// Unfetched is set where an answer is stored that would have served, and the shared store could not give it: it is away, or has changes
	// that are not applied here yet.
	Unfetched bool
	// Probe is set by a Lookup that has an answer which is to be compared with the upstream's, and serves nothing. Later ones serve nothing either.
	Probe *Hit
	// Passed is set by Touch, with Options.Studied.
	Passed Passed

	// Name is a key that Keep makes lead to the entry in the store, and that answers no request: the name by which a client deletes the answer.
	// Zero: it has none.
	Name store.Key

	// The rest is for callers that know more than a prompt: a replay of a trace.
	Vector []float32      // of the prompt; nil lets the cache embed it
	Chain  topics.ChainID // with Vector: the digest of the earlier turns
	Topic  policy.TopicID // with Options.GivenTopics
	Parent store.Key      // the request that this one depends on; zero: taken from Turns
	// NoDetect keeps a parent from being found by similarity (paper 002, DETECTPARENT).
	NoDetect bool

	back policy.ID // with PutBack: that of the entry before its purge
}

// Step is a part of a search by meaning.
type Step string

// The steps. A search that finds an answer by the form of a prompt has no vector and no topic, and one that finds expired entries in its way has
// some of them again.
const (
	StepEmbed Step = "embed" // the prompt becomes a vector
	StepRoute Step = "route" // its topic, and the nearest entries
	StepJudge Step = "judge" // whether one of those may answer
)

// step begins a step.
func (r *Request) step(s Step) (end func()) {
	if r.Begin == nil {
		return nothing
	}
	return r.Begin(s)
}

func nothing() {}

// Turn is one earlier turn of a conversation.
type Turn struct {
	Key        store.Key // of the request that ended at this turn's ask
	Answer     [32]byte  // digest of everything that answered it
	AnswerText [32]byte  // digest of the answer's text where the answer is one message of text; else zero
}

// takes reports whether e may answer r as it is: r wants a stored answer, and e is fresh and young enough.
func (r *Request) takes(e *store.Entry, now time.Time) bool {
	return !r.NoCache && r.fresh(e, now) && !r.tooOld(e, now)
}

// fresh reports whether e has not expired for r.
func (r *Request) fresh(e *store.Entry, now time.Time) bool {
	return e.Fresh(now) && (r.TTL == 0 || now.Sub(e.Created) < r.TTL)
}

// usable reports whether e has not expired for r, or not so long ago that it could not be served in place of an error.
func (r *Request) usable(e *store.Entry, now time.Time) bool {
	return e.Usable(now) && (r.TTL == 0 || now.Sub(e.Created) < r.TTL+max(e.StaleUntil.Sub(e.Expires), 0))
}

// comparableTo reports whether e may answer r by meaning. An entry whose answer was replaced by one that is matched by its key alone
// has no prompt, and may still be in the topics for a moment; without a prompt the judge has nothing to compare.
func (r *Request) comparableTo(e *store.Entry) bool { return e.Prompt != "" || r.Vector != nil }

func (r *Request) tooOld(e *store.Entry, now time.Time) bool {
	return r.MaxAge >= 0 && now.Sub(e.Created) > r.MaxAge || e.Created.Before(r.NotBefore)
}

// Beside makes r, which found e and cannot be served from it because it wants the other form, look for the answer that is kept beside e, and
// keep its own there. That answer is for equal requests alone, and counts only as long as e has not been renewed: so it leaves with e.
func (r *Request) Beside(e *store.Entry) {
	r.Key, r.NotBefore, r.ExactOnly = r.Key.Beside(), e.Created, true
	r.Asked, r.Probe = false, nil
}

// gate is the hit gate in force for r.
func (o *Options) gate(r *Request) float64 { return max(o.Thresholds.Hit, r.Gate, r.Threshold) }

// raised reports whether the client wants a higher gate than requests like r have.
func (o *Options) raised(r *Request) bool { return r.Threshold > max(o.Thresholds.Hit, r.Gate) }

// comparable reports whether r is compared by meaning.
func (o *Options) comparable(r *Request) bool {
	return o.Meaning && !r.ExactOnly && (r.Prompt != "" || r.Vector != nil)
}

// Hit is an entry that may answer a request.
type Hit struct {
	Entry *store.Entry
	Alias bool           // found under a key that was once found to mean the same
	Topic topics.TopicID // found by meaning, in this topic; 0: found by key
	At    time.Time      // when the entry was found to be fresh and young enough

	purges uint64 // that were complete before the entry was looked up; see Cache.Serves
}

// Finding is what the search by meaning learned of a request, whether it found an answer or not.
type Finding struct {
	Hit *Hit
	// Compared: the prompt was compared with others, by its form at least, and an answer may be kept with it.
	Compared bool
	Chain    topics.ChainID // the conversation, and all of the prompt that neither asks nor is in its frame
	asked    *asked         // nil: nothing was compared
	Nothing  bool           // of the part that asks, Request.Narrow leaves nothing
	Parent   policy.ID      // the entry that gave the last answer of the conversation
	Vector   []float32      // nil: nothing to compare by
	Route    topics.Route

	// Verdict is the one on Hit or, without a hit, on Explore; Basis is how that was found.
	Verdict reuse.Verdict
	Basis   Basis
	// Explore is an answer that is to be compared with the one of the upstream: see Compared. It comes without its answer where processes
	// share the store: Whole fetches it. With Fallback it would have been served, and may be where the upstream fails: see Stale.
	Explore  *Hit
	Fallback bool

	Vetoes   []reuse.Veto // of the judge, on the nearest entries
	Near     policy.ID    // the entry that Vetoes or Bar are about first; 0: there is none
	Almost   *Almost      // the first answer that was found and is kept back, or is below the gate; nil: none
	Bar      Bar          // of the first entry that was found and may not answer whatever the judge says
	Shadow   bool         // Explore is an answer that would be a hit without Request.Shadow
	Degraded string       // the step that failed, "" if none did

	EmbedTook, SearchTook time.Duration // 0: not done

	Judged *Judged // with Options.Studied: the answer that decided, where some settings would serve it; nil: none
	Passed Passed  // set by Keep, with Options.Studied, where the answer was given to the store

	form       *normal.Form // of the prompt; nil: not made yet
	asks       uint64       // of form; see Asks
	digest     uint64       // of form, in its conversation; 0: not made
	similarity float64      // of what Verdict is on
}

// Band is the similarity of Hit in hundredths, rounded down to a multiple of 5: the finest figure that may be logged. It is 0 where there is
// no hit, or one that was found by its form.
func (f *Finding) Band() int {
	if f.Hit == nil || f.Basis == ByForm {
		return 0
	}
	return int(min(max(f.similarity, 0), 1)*20+1e-9) * 5
}

// Basis is why a stored answer may serve another prompt.
type Basis string

// The bases. The empty one is none: the answer was found under its key.
const (
	ByForm    Basis = "form"     // the prompts have equal normal forms
	ByEdits   Basis = "edits"    // every difference of the prompts is a listed edit
	ByMeaning Basis = "meaning"  // their vectors are near
	Repeated  Basis = "repeated" // the prompts are equal: the answers are compared to learn by how much such answers differ
)
