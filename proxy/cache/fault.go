package cache

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// Fault is an error of one step. It never fails a request: the step had no result, and the request goes on without.
type Fault struct {
	Step string // "store", "embed", "topics", "forms", "policy" or "explain"
	Err  error
}

func (f *Fault) Error() string { return f.Step + ": " + f.Err.Error() }

// Unwrap returns what happened in the step.
func (f *Fault) Unwrap() error { return f.Err }

// guard runs one step. An error or a panic in it is a Fault of that step, unless it is the Fault of a step inside.
func guard(step string, run func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &Fault{step, fmt.Errorf("panic: %v\n%s", v, debug.Stack())}
		}
	}()
	if err = run(); err == nil {
		return nil
	}
	if inner := (*Fault)(nil); errors.As(err, &inner) {
		return err
	}
	return &Fault{step, err}
}
