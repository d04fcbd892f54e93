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
	"reprise/proxy/upstream/dialect"
)

// relay writes the recording of a flight in the form that its waiter, which may be its leader, asked for.
func (x *work) relay(o *outcome, leads bool) (result Result, err error) {
	x.o = o
	if leads {
		x.reader = o.filling.NewReader()
		x.status = &cacheStatus{result: Miss, fwd: x.reason(), detail: slices.Clone(x.detail)}
	} else {
		o.filling.Detach() // none of several readers must wait for the client of another
		x.reader = o.rec.NewReader()
		x.status = &cacheStatus{result: Shared}
		x.r.span.Link(o.origin)
	}
	defer x.reader.Close()
	x.status.ignored = x.r.Ignored
	if x.v.seen.Upstream = o.reply.Replica.Name(); several(&x.s.opts) {
		x.status.answeredBy(o.reply.Replica, o.reply.Foreign)
	}
	if !leads && !o.reply.Replica.SameCredential(x.r.http.Header, o.x.r.http.Header) && x.failed() {
		return Refused, errOthers // its key, its limits
	}
	defer x.waited()
	result = x.status.result
	streamed := answer.IsStream(o.rec.Header.Get("Content-Type"))
	switch {
	case o.known.partial():
		err = x.whole()
	case o.rec.Status == http.StatusOK && streamed != x.r.Stream && result == Shared:
		err = x.convert() // the leader asked for the other form
	case streamed:
		err = x.stream()
	default:
		err = x.whole()
	}
	if err == nil && result == Shared {
		x.countUse()
	}
	return result, err
}

// failed reports whether the upstream's answer is an error: by its status, by its body, or by the first event of its stream.
func (x *work) failed() bool {
	if x.o.rec.Status != http.StatusOK {
		return true
	}
	stream, read := answer.IsStream(x.o.rec.Header.Get("Content-Type")), x.reader.Wait
	if stream {
		read = func(ctx context.Context) ([]byte, error) { return x.reader.Peek(ctx, x.r.family.Answers.HasEvent) }
	}
	body, err := read(x.r.http.Context())
	return err == nil && answer.Judge(x.r.family.Answers, stream, body).Reason == answer.ReasonError
}

// waited notes how long the upstream took for its leader: so far, where the answer has not ended.
func (x *work) waited() {
	if x.status.result != Miss {
		return
	}
	if x.v.seen.Waited = time.Duration(x.o.took.Load()); x.v.seen.Waited == 0 {
		x.v.seen.Waited = x.s.opts.Now().Sub(x.o.start)
	}
}

// whole writes an answer once it is complete, so that its header can report whether it was kept. An answer that is too large
// for that is written while it grows.
func (x *work) whole() error {
	body, err := x.reader.Wait(x.r.http.Context())
	if errors.Is(err, upstream.ErrTooLarge) {
		if x.o.known.partial() {
			return x.inVain()
		}
		if x.status.result == Miss {
			x.status.detail = append(x.status.detail, "not-stored="+x.s.notHeld(x.o.rec))
		}
		return x.stream()
	}
	if err != nil {
		return x.goneOr(err)
	}
	if body, err = x.wholeItems(body); err != nil {
		return err
	}
	x.copyHeader()
	x.describe()
	x.status.write(x.w.Header(), len(body))
	x.w.WriteHeader(x.o.rec.Status)
	x.w.Write(body)
	if x.o.known.partial() && x.o.kept.split {
		x.touchItems(x.o.known.hits)
	}
	return nil
}

// stream writes an answer while it grows. If the recording is cut, the connection to the client is cut too: a regular end
// would present a partial answer as complete.
func (x *work) stream() error {
	if x.status.result == Miss {
		x.o.filling.Watch()
	}
	x.copyHeader()
	x.status.write(x.w.Header(), noLength)
	x.w.WriteHeader(x.o.rec.Status)
	begun := upstream.HoldHeader(x.w)
	var filter *answer.UsageFilter
	if answer.IsStream(x.o.rec.Header.Get("Content-Type")) && x.hidesUsage() {
		filter = &answer.UsageFilter{Streams: x.r.family.Answers.Streams}
	}
	for {
		p, end, err := x.reader.Next(x.r.http.Context())
		begun()
		if filter != nil && len(p) > 0 {
			p = filter.Write(p)
		}
		if _, failed := x.w.Write(p); failed != nil {
			return x.cut()
		}
		if end && filter != nil {
			x.w.Write(filter.Rest())
		}
		switch {
		case err != nil:
			return x.cut()
		case end:
			return nil
		}
		x.flush()
	}
}

// hidesUsage reports whether the client must not see the usage that the stream may report: it has not asked for it, and the
// proxy or the leader's client has.
func (x *work) hidesUsage() bool { return !x.r.IncludeUsage && x.o.usageAsked() }

// usageAsked reports whether the upstream was asked for the usage of its stream, by the client or by the proxy. A stream that reports its
// usage without that shows it to everybody.
func (o *outcome) usageAsked() bool {
	return o.x.r.IncludeUsage || slices.Contains(o.reply.Added, dialect.StreamUsage)
}

// cut is the result of a relay that ends before its recording. Clients close a stream as soon as they have read its terminal
// event: such a client has its answer.
func (x *work) cut() error {
	x.flush()
	if x.r.http.Context().Err() != nil && x.r.family.Answers.Ended(true, x.o.rec.Bytes()) {
		return nil
	}
	return errCut
}

// convert waits for the end and replays the answer in the other form. Only a whole answer has another form: an error under
// status 200 would become an empty stream.
func (x *work) convert() error {
	body, err := x.reader.Wait(x.r.http.Context())
	if errors.Is(err, upstream.ErrTooLarge) {
		return &formError{nil, err}
	}
	if err != nil {
		return x.goneOr(err)
	}
	switch x.o.kept.reason {
	case answer.ReasonError, answer.ReasonMalformed, answer.ReasonIncomplete:
		return &formError{nil, errors.New("no whole answer: " + x.o.kept.reason)}
	}
	if !x.r.chargeHit(len(body)) {
		return errNoMemory
	}
	z, err := answer.Freeze(x.r.family.Answers, x.o.rec.Header.Get("Content-Type"), body)
	if err != nil {
		return &formError{x.o.kept.entry, err}
	}
	x.describe()
	err = x.replay(z, x.status)
	if failed, unfit := errors.AsType[*formError](err); unfit {
		failed.entry = x.o.kept.entry
	}
	return err
}

// describe adds to the status whether the recording was kept. The recording must have ended.
func (x *work) describe() {
	if x.o.kept.entry != nil {
		x.status.stored, x.status.entry = true, x.o.kept.entry.ID
	} else if x.o.kept.reason != "" && x.status.result == Miss {
		x.status.detail = append(x.status.detail, "not-stored="+x.o.kept.reason)
	}
}

// countUse counts a follower's answer as one more use of the entry made of it.
func (x *work) countUse() {
	if x.r.http.Context().Err() != nil { // it may have left before the answer was kept
		select {
		case <-x.o.f.Done():
		default:
			return
		}
	}
	if x.o.kept == nil || x.o.kept.entry == nil {
		return
	}
	if e, ok := x.s.cache.Get(x.o.kept.entry.ID); ok {
		x.touch(e, nil)
		x.v.seen.Entry = e
	}
}

// copyHeader copies the upstream's header. Only the leader gets the fields that may concern one client, such as a cookie, an
// organization or a limit: of a shared answer, those known to describe the answer are sent.
func (x *work) copyHeader() {
	if x.status.result == Miss {
		upstream.CopyHeader(x.w.Header(), x.o.rec.Header)
		x.v.answeredAs(x.w.Header(), x.o.rec.Header[requestID])
		return
	}
	h := http.Header{}
	upstream.CopyHeader(h, x.o.rec.Header)
	header.KeepShared(h)
	maps.Copy(x.w.Header(), h)
}

// reason is why the request was forwarded, in the words of RFC 9211 §2.2.
func (x *work) reason() string {
	switch {
	case x.r.d.NoCache || x.r.d.MaxAge >= 0:
		return "request"
	case x.stale != nil:
		return "stale"
	case x.known.partial():
		return "partial"
	default:
		return "uri-miss"
	}
}
