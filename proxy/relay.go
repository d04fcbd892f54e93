package proxy

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"time"

	"reprise/proxy/answer"
	"reprise/proxy/internal/header"
	"reprise/proxy/upstream"
)

// relay writes the recording of a flight to one of its waiters.
type relay struct {
	exchange // of the waiter
	*outcome
	reader *upstream.Reader
	status cacheStatus
}

func newRelay(x exchange, o *outcome, leader bool) *relay {
	r := &relay{exchange: x, outcome: o}
	if leader {
		r.reader = o.filling.NewReader()
		r.status = cacheStatus{result: Miss, fwd: x.reason(), detail: slices.Clone(o.found.detail)}
	} else {
		o.filling.Detach() // none of several readers must wait for the client of another
		r.reader = o.rec.NewReader()
		r.status = cacheStatus{result: Shared}
		x.span.Link(o.origin)
	}
	r.status.ignored = x.Ignored
	if x.v.seen.Upstream = o.replica.Name(); several(&x.s.opts) {
		r.status.answeredBy(o.replica, o.foreign)
		x.via = o
	}
	return r
}

// failed reports whether the upstream's answer is an error: by its status, by its body, or by the first event of its stream.
func (r *relay) failed() bool {
	if r.rec.Status != http.StatusOK {
		return true
	}
	stream, read := answer.IsStream(r.rec.Header.Get("Content-Type")), r.reader.Wait
	if stream {
		read = func(ctx context.Context) ([]byte, error) { return r.reader.Peek(ctx, r.family.Answers.HasEvent) }
	}
	body, err := read(r.http.Context())
	return err == nil && answer.Judge(r.family.Answers, stream, body).Reason == answer.ReasonError
}

// run writes the answer in the form that the waiter asked for.
func (r *relay) run() (result Result, err error) {
	defer r.reader.Close()
	defer r.waited()
	result = r.status.result
	streamed := answer.IsStream(r.rec.Header.Get("Content-Type"))
	switch {
	case r.rec.Status == http.StatusOK && streamed != r.Stream && result == Shared:
		err = r.convert() // the leader asked for the other form
	case streamed:
		err = r.stream()
	default:
		err = r.whole()
	}
	if err == nil && result == Shared {
		r.countUse()
	}
	return result, err
}

// waited notes how long the upstream took for its leader: so far, where the answer has not ended.
func (r *relay) waited() {
	if r.status.result != Miss {
		return
	}
	if r.v.seen.Waited = time.Duration(r.took.Load()); r.v.seen.Waited == 0 {
		r.v.seen.Waited = r.s.opts.Now().Sub(r.start)
	}
}

// whole writes an answer once it is complete, so that its header can report whether it was kept. An answer that is too large
// for that is written while it grows.
func (r *relay) whole() error {
	body, err := r.reader.Wait(r.http.Context())
	if errors.Is(err, upstream.ErrTooLarge) {
		if r.status.result == Miss {
			r.status.detail = append(r.status.detail, "not-stored="+r.s.notHeld(r.rec))
		}
		return r.stream()
	}
	if err != nil {
		return r.goneOr(err)
	}
	r.copyHeader()
	r.describe()
	r.status.write(r.w.Header(), len(body))
	r.w.WriteHeader(r.rec.Status)
	r.w.Write(body)
	return nil
}

// stream writes an answer while it grows. If the recording is cut, the connection to the client is cut too: a regular end
// would present a partial answer as complete.
func (r *relay) stream() error {
	if r.status.result == Miss {
		r.filling.Watch()
	}
	r.copyHeader()
	r.status.write(r.w.Header(), noLength)
	r.w.WriteHeader(r.rec.Status)
	begun := upstream.HoldHeader(r.w)
	var filter *answer.UsageFilter
	if answer.IsStream(r.rec.Header.Get("Content-Type")) && r.hidesUsage() {
		filter = &answer.UsageFilter{Streams: r.family.Answers.Streams}
	}
	for {
		p, end, err := r.reader.Next(r.http.Context())
		begun()
		if filter != nil && len(p) > 0 {
			p = filter.Write(p)
		}
		if _, failed := r.w.Write(p); failed != nil {
			return r.cut()
		}
		if end && filter != nil {
			r.w.Write(filter.Rest())
		}
		switch {
		case err != nil:
			return r.cut()
		case end:
			return nil
		}
		r.flush()
	}
}

// flush sends what has been written. Where that cannot be sent, the next write fails too.
func (r *relay) flush() { _ = http.NewResponseController(r.w).Flush() }

// hidesUsage reports whether the client must not see the usage that the stream may report: it has not asked for it, and the
// proxy or the leader's client has.
func (r *relay) hidesUsage() bool {
	return !r.IncludeUsage && (r.addedUsage || r.status.result == Shared && r.family.UsageOption)
}

// cut is the result of a relay that ends before its recording. Clients close a stream as soon as they have read its terminal
// event: such a client has its answer.
func (r *relay) cut() error {
	r.flush()
	if r.http.Context().Err() != nil && r.family.Answers.Ended(r.rec.Bytes()) {
		return nil
	}
	return errCut
}

// convert waits for the end and replays the answer in the other form. Only a whole answer has another form: an error under
// status 200 would become an empty stream.
func (r *relay) convert() error {
	body, err := r.reader.Wait(r.http.Context())
	if errors.Is(err, upstream.ErrTooLarge) {
		return &replayError{nil, err}
	}
	if err != nil {
		return r.goneOr(err)
	}
	switch r.kept.reason {
	case answer.ReasonError, answer.ReasonMalformed, answer.ReasonIncomplete:
		return &replayError{r.kept.entry, errors.New("no whole answer: " + r.kept.reason)}
	}
	if !r.chargeHit(len(body)) {
		return errNoMemory
	}
	z, err := answer.Freeze(r.family.Answers, r.rec.Header.Get("Content-Type"), body)
	if err != nil {
		return &replayError{r.kept.entry, err}
	}
	r.describe()
	err = r.replay(z, &r.status, nil)
	if failed := (*replayError)(nil); errors.As(err, &failed) {
		failed.entry = r.kept.entry
	}
	return err
}

// describe adds to the status whether the recording was kept. The recording must have ended.
func (r *relay) describe() {
	if r.kept.entry != nil {
		r.status.stored, r.status.entry = true, r.kept.entry.ID
	} else if r.kept.reason != "" && r.status.result == Miss {
		r.status.detail = append(r.status.detail, "not-stored="+r.kept.reason)
	}
}

// countUse counts a follower's answer as one more use of the entry made of it.
func (r *relay) countUse() {
	select {
	case <-r.done:
	case <-r.http.Context().Done():
		return
	}
	if r.kept == nil || r.kept.entry == nil {
		return
	}
	if e, ok := r.s.cache.Get(r.kept.entry.ID); ok {
		r.touch(e, nil)
		r.v.seen.Entry = e
	}
}

// copyHeader copies the upstream's header. Only the leader gets the fields that may concern one client, such as a cookie, an
// organization or a limit: of a shared answer, those known to describe the answer are sent.
func (r *relay) copyHeader() {
	if r.status.result == Miss {
		upstream.CopyHeader(r.w.Header(), r.rec.Header)
		r.v.answeredAs(r.w.Header(), r.rec.Header[requestID])
		return
	}
	h := http.Header{}
	upstream.CopyHeader(h, r.rec.Header)
	header.KeepShared(h)
	maps.Copy(r.w.Header(), h)
}
