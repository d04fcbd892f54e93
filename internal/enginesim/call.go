package enginesim

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// call is one request in progress.
type call struct {
	*wire
	req   *http.Request
	body  []byte
	fault Fault
	id    int64 // of the request, from 1
	now   time.Time
	usage bool // a stream reports its usage without being asked
}

// handle serves a route. Handlers return errors, which are turned into an answer here.
func (e *Engine) handle(pattern string, h func(*call) error) {
	e.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		c := e.open(w, r)
		err := c.prepare(e)
		if err == nil {
			err = h(c)
		}
		e.close(c, err)
	})
}

func (e *Engine) open(w http.ResponseWriter, r *http.Request) *call {
	c := &call{req: r, now: time.Now()}
	c.wire = &wire{ResponseWriter: w, ctx: r.Context(), fault: &c.fault, sleep: e.o.Sleep}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ids++
	c.id = e.ids
	e.stats.Requests++
	e.stats.InFlight++
	return c
}

// close ends a call, and sends an error of its handler to the client.
func (e *Engine) close(c *call, err error) {
	gone := errors.Is(err, errGone) || (err != nil && c.ctx.Err() != nil)
	e.mu.Lock()
	e.stats.InFlight--
	if gone {
		e.stats.Cancelled++
	}
	e.mu.Unlock()
	var refused *apiError
	switch {
	case err == nil || gone || err == errAnswered:
		return
	case errors.As(err, &refused) && !c.began:
		err = c.whole(refused.Status, "application/json", c.errorBody(refused))
	case !c.began:
		err = c.whole(http.StatusInternalServerError, "application/json", c.errorBody(faultError(http.StatusInternalServerError)))
	}
	if err != nil {
		panic(http.ErrAbortHandler)
	}
}

// prepare reads the request and its fault, and waits for the delay of the fault.
func (c *call) prepare(e *Engine) error {
	c.Header().Set("X-Request-Id", c.name("req_"))
	c.Header().Set("Request-Id", c.name("req_")) // Anthropic's name of it
	if err := c.read(e); err != nil {
		return err
	}
	if e.o.Fault != nil {
		c.fault = e.o.Fault(c.req)
	}
	if h := c.req.Header.Get(FaultHeader); h != "" {
		f, err := parseFault(h)
		if err != nil {
			return badRequest(FaultHeader, "", "%s", err)
		}
		c.fault = f
	}
	if c.fault.Delay > 0 {
		if err := c.sleep(c.ctx, c.fault.Delay); err != nil {
			return err
		}
	}
	return e.receive(c)
}

func (c *call) read(e *Engine) error {
	if c.req.ContentLength > maxBody {
		return tooLarge()
	}
	body, err := io.ReadAll(http.MaxBytesReader(c.ResponseWriter, c.req.Body, maxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return tooLarge()
	case err != nil:
		return errGone
	}
	c.body = body
	if e.o.OnRequest != nil {
		e.o.OnRequest(c.req.URL.Path, c.req.Header, body)
	}
	return nil
}

func tooLarge() error {
	return &apiError{Status: http.StatusRequestEntityTooLarge, Message: "The body is larger than " + strconv.Itoa(maxBody) + " bytes.", Type: "invalid_request_error"}
}

// replaced answers with the status or body of the fault, if it has one, and returns errAnswered then. Handlers call it once the request is
// known to be valid.
func (c *call) replaced() (err error) {
	f := &c.fault
	status := cmp.Or(f.Status, http.StatusOK)
	switch {
	case !f.replaces():
		return nil
	case f.Body != "":
		err = c.whole(status, http.DetectContentType([]byte(f.Body)), []byte(f.Body))
	default:
		err = c.whole(status, "application/json", c.errorBody(faultError(status)))
	}
	return cmp.Or(err, errAnswered)
}

// run begins a job, unless the fault replaces its answer.
func (c *call) run(e *Engine, j *job, err error) (*run, error) {
	if err != nil {
		return nil, err
	}
	if err := c.replaced(); err != nil {
		return nil, err
	}
	return e.begin(j, j.answer(&c.fault)), nil
}

// errorBody is the JSON of an error in the shape of the endpoint's API.
func (c *call) errorBody(e *apiError) []byte {
	if strings.HasPrefix(c.req.URL.Path, "/v1/messages") {
		return anthropicBody(e, c.name("req_"))
	}
	return e.body()
}

// name is an id that no other request of this engine has.
func (c *call) name(prefix string) string {
	n := strconv.FormatInt(c.id, 16)
	return prefix + "sim" + strings.Repeat("0", max(0, 16-len(n))) + n
}
