package proxy

import (
	"crypto/rand"
	"errors"
	"net/http"
	"strconv"

	"reprise/policy"
	"reprise/proxy/answer"
)

// exchange is a query with the writer of its response.
type exchange struct {
	*query
	w http.ResponseWriter
}

// answer writes the answer. If a stored one cannot be put into the form that the client asked for, it is dropped and the
// upstream is asked.
func (x exchange) answer() (Result, error) {
	result, err := x.once()
	var failed *replayError
	if errors.As(err, &failed) {
		x.s.faults.report(x.http.Context(), "replay", failed)
		x.s.faults.degraded(x.s.cache.Drop(x.http.Context(), failed.entry))
		x.d.NoCache, x.req.NoCache = true, true
		result, err = x.once()
	}
	x.s.faults.logRequest(x.query, result)
	return result, err
}

// once writes the answer to an equal request from the store, or that of a flight.
func (x exchange) once() (Result, error) {
	if hit := x.exact(); hit != nil {
		return x.hit(hit)
	}
	f, leader := x.join()
	defer x.s.flights.Leave(f)
	if err := f.Wait(x.http.Context()); err != nil {
		return Refused, errClientGone
	}
	o, err := f.Outcome()
	switch {
	case err != nil && leader:
		return Refused, err
	case err != nil:
		return x.afterFailure(err)
	case o.served != nil:
		return x.hit(o.served) // for all who waited: the request was not forwarded
	case !leader && o.rec.Status != http.StatusOK && !o.replica.SameCredential(x.http.Header, o.asker):
		x.alone = true // the error may concern the leader alone: its key, its limits
		return x.once()
	default:
		return newRelay(x, o, leader).run()
	}
}

// join joins the flight of the key, or starts it. A request with directives gets a flight of its own, because they may change
// the outcome.
func (x exchange) join() (f *flight, leader bool) {
	if x.alone || x.d.private() {
		f, leader = x.s.flights.Solo(), true
	} else {
		f, leader = x.s.flights.Join(x.Key)
	}
	if leader {
		x.mem.Hold() // the flight may outlive this request
		x.s.flights.Start(f, func(f *flight) {
			defer x.mem.Drop()
			x.run(f)
		})
	}
	return f, leader
}

// afterFailure is for a follower of a flight that failed with err: it may have an expired answer of its own.
func (x exchange) afterFailure(err error) (Result, error) {
	if hit := x.staleHit(); hit != nil {
		return x.hit(hit)
	}
	return Refused, err
}

// hit writes an answer from the store.
func (x exchange) hit(h *served) (Result, error) {
	err := x.replay(h.frozen, &h.status)
	if err == nil {
		x.s.metrics.saved(h.result, h.entry)
		x.touch(h.entry, h.vector)
	}
	return h.result, err
}

// replayError says that an answer could not be put into the form asked for. Nothing has been written yet.
type replayError struct {
	entry policy.ID // 0: none
	err   error
}

func (e *replayError) Error() string {
	return "replay entry " + utoa(uint64(e.entry)) + ": " + e.err.Error()
}
func (e *replayError) Unwrap() error { return e.err }

// replay writes a finished answer, with a new id and time, in the form that the client asked for.
func (x exchange) replay(z *answer.Frozen, status *cacheStatus) error {
	var random [12]byte
	rand.Read(random[:])
	buf := replayBuffers.get()
	defer replayBuffers.put(buf)
	body, contentType, err := z.Replay((*buf)[:0], answer.ReplayOptions{ID: x.family.ReplayID(random, originalID(z)),
		Created: x.s.opts.Now().Unix(), Stream: x.Stream, IncludeUsage: x.IncludeUsage})
	if err != nil {
		return &replayError{status.entry, err}
	}
	*buf = body
	h := x.w.Header()
	h["Content-Type"] = []string{contentType}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	status.write(h)
	x.w.WriteHeader(http.StatusOK)
	x.w.Write(body) // an error means that the client has left
	return nil
}
