package upstream

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
)

// script is a body whose reads return what is sent to it.
type script chan func(p []byte) (int, error)

func (s script) Read(p []byte) (int, error) { return (<-s)(p) }

func says(text string) func([]byte) (int, error) {
	return func(p []byte) (int, error) { return copy(p, text), nil }
}

func ends([]byte) (int, error) { return 0, io.EOF }

// TestOnlyReaderCopies: without another reader, nothing is read before it is needed, and it is read on the goroutine of the reader.
func TestOnlyReaderCopies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body := make(script, 3)
		l, owner := newFilling(t.Context(), body, 1, nil)
		reader := l.NewReader()
		l.Watch()
		body <- says("one")
		body <- says("two")
		synctest.Wait()
		if len(body) != 2 || owner.rec.Size() != 0 {
			t.Fatal("the answer was read although no reader needed it")
		}
		for _, want := range []string{"one", "two"} {
			if p, end, err := reader.Next(t.Context()); string(p) != want || end || err != nil {
				t.Fatalf("%q, %v, %v", p, end, err)
			}
			if synctest.Wait(); len(body) != 1 && want == "one" {
				t.Fatal("more was read than was needed")
			}
		}
		body <- ends
		if p, end, err := reader.Next(t.Context()); len(p) > 0 || !end || err != nil || len(owner.ended) != 1 {
			t.Errorf("%q, %v, %v; %d ends", p, end, err, len(owner.ended))
		}
		l.Detach() // nothing is left to do
		time.Sleep(time.Hour)
	})
}

// TestDetach: a goroutine goes on where the first reader would hold up another, while it copies a piece as well as while it does not;
// each reader gets all.
func TestDetach(t *testing.T) {
	for _, name := range []string{"before", "between", "within"} {
		synctest.Test(t, func(t *testing.T) {
			body := make(script)
			l, owner := newFilling(t.Context(), body, 2, nil)
			first, second := l.NewReader(), owner.rec.NewReader()
			read := func(reader *Reader, done chan string) {
				all, _ := readAll(t, reader, func(int) {})
				done <- string(all)
			}
			firsts, seconds := make(chan string, 1), make(chan string, 1)
			switch name {
			case "before":
				l.Detach()
				body <- says("one ")
				go read(first, firsts)
			case "between":
				go func() { body <- says("one ") }()
				first.Next(t.Context()) // and it does not come back
				l.Detach()
				close(firsts)
			case "within":
				go read(first, firsts)
				synctest.Wait()
				l.Detach()
				body <- says("one ")
			}
			go read(second, seconds)
			body <- says("two")
			body <- ends
			if got := <-seconds; got != "one two" {
				t.Errorf("%s: the second reader got %q", name, got)
			}
			if got, ok := <-firsts; ok && got != "one two" {
				t.Errorf("%s: the first reader got %q", name, got)
			}
			if err := <-owner.ended; err != nil {
				t.Error(err)
			}
		})
	}
}

func (l *Filling) isDetached() bool {
	l.rec.mu.Lock()
	defer l.rec.mu.Unlock()
	return l.detached
}

// TestClientThatTakesNothing does not hold up the answer of its replica. One that takes it does so at its own pace, and a replica that
// is silent for long is waited for.
func TestClientThatTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body := make(script)
		l, owner := newFilling(t.Context(), body, 1, nil)
		reader := l.NewReader()
		l.Watch()
		for range 3 {
			go func() { time.Sleep(time.Minute); body <- says("x") }()
			if p, _, err := reader.Next(t.Context()); string(p) != "x" || err != nil {
				t.Fatalf("%q, %v", p, err)
			}
			if l.isDetached() {
				t.Fatal("the replica was slow, and not the client")
			}
		}
		start := time.Now()
		body <- says("y") // while the client takes nothing of the last piece
		if took := time.Since(start); took < watchEvery || took > 2*watchEvery {
			t.Errorf("the replica waited for %v", took)
		}
		body <- ends
		if err := <-owner.ended; err != nil {
			t.Error(err)
		}
		if rest, err := readAll(t, reader, func(int) {}); string(rest) != "y" || err != nil {
			t.Errorf("%q, %v", rest, err)
		}
	})
}

// TestLargeAnswerOfOneReader: its window needs a writer of its own.
func TestLargeAnswerOfOneReader(t *testing.T) {
	answer := large(8 << 20)
	l, owner := newFilling(t.Context(), bytes.NewReader(answer), 1, nil)
	got, err := readAll(t, l.NewReader(), func(int) {})
	if err != nil || !bytes.Equal(got, answer) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if err := <-owner.ended; err != nil || owner.rec.Whole() || owner.rec.held() > 2*window+tail+leastRead {
		t.Errorf("%v, whole %v, %d bytes are held", err, owner.rec.Whole(), owner.rec.held())
	}
}

// TestPanicWhileFilling cuts the recording, in the reader's goroutine and in one of its own, and the filling goes no further.
func TestPanicWhileFilling(t *testing.T) {
	for _, alone := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			body := make(script, 2)
			body <- says("half")
			body <- func([]byte) (int, error) { panic("boom") }
			l, owner := newFilling(t.Context(), body, 1, nil)
			reader := l.NewReader()
			if !alone {
				l.Detach()
			}
			if _, err := reader.Wait(t.Context()); !errors.As(err, new(*PanicError)) || <-owner.crashed != "boom" {
				t.Errorf("alone %v: %v", alone, err)
			}
			l.Detach()
			synctest.Wait()
			if len(owner.ended) != 0 {
				t.Error("a filling that crashed has ended too")
			}
		})
	}
}

// TestCutWhileFilling: the reader copies under the context of the filling, not its own.
func TestCutWhileFilling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		in, out := io.Pipe()
		context.AfterFunc(ctx, func() { out.CloseWithError(context.Cause(ctx)) })
		l, owner := newFilling(ctx, in, 1, nil)
		cut := errors.New("cut")
		time.AfterFunc(time.Second, func() { cancel(cut) })
		if _, end, err := l.NewReader().Next(t.Context()); !end || err != cut || <-owner.ended != cut {
			t.Errorf("%v, %v", end, err)
		}
	})
}

// TestAnnouncedLength: an array is made for it, and an answer may be longer or shorter all the same.
func TestAnnouncedLength(t *testing.T) {
	for _, size := range []int{0, 1, 5000, 5001, 20_000} {
		answer, owner := large(size), &filled{NewRecording(200, nil), 1, make(chan error, 1), nil, false}
		l := owner.rec.Fill(t.Context(), iotest.OneByteReader(bytes.NewReader(answer)), Bounds{Length: 5000, Whole: 1 << 20}, owner)
		got, err := l.NewReader().Wait(t.Context())
		if err != nil || !bytes.Equal(got, answer) {
			t.Errorf("%d bytes: %d, %v", size, len(got), err)
		}
		if held := owner.rec.held(); size <= 5000 && held != 5001 {
			t.Errorf("%d bytes are held in %d", size, held)
		}
	}
}

// TestAnswerEndsBeforeItsConnection: readers that wait for the whole answer get it once the connection is silent behind its end, and the others
// get all that comes.
func TestAnswerEndsBeforeItsConnection(t *testing.T) {
	for name, c := range map[string]struct {
		pieces []string // each at once after the one before; the filled's answer is ended at "!"
		whole  string
		open   bool
	}{
		"silence":              {[]string{"one", " two!"}, "one two!", false},
		"more comes at once":   {[]string{"one!", " two!"}, "one! two!", false},
		"the end of a part":    {[]string{"one!", " two"}, "one! two later", false},
		"nothing but a prefix": {[]string{"one"}, "one later", false},
		"no end after all":     {[]string{"one!"}, "one! later", true},
	} {
		for _, alone := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					body := make(script, 10)
					l, owner := newFilling(t.Context(), body, 2, nil)
					owner.open = c.open
					for _, p := range c.pieces {
						body <- says(p)
					}
					time.AfterFunc(time.Hour, func() { body <- says(" later"); body <- ends })
					all := make(chan string, 1)
					start, waits := time.Now(), l.NewReader()
					if !alone {
						waits = owner.rec.NewReader()
						go func() { b, _ := readAll(t, l.NewReader(), func(int) {}); all <- string(b) }()
					}
					got, err := waits.Wait(t.Context())
					if took := time.Since(start); err != nil || string(got) != c.whole || (took < time.Hour) != (c.whole[len(c.whole)-1] == '!') {
						t.Errorf("alone %v: %q after %v, %v", alone, got, took, err)
					}
					<-owner.ended
					if alone {
						b, _ := readAll(t, waits, func(int) {})
						all <- string(b)
					}
					want := ""
					for _, p := range c.pieces {
						want += p
					}
					if b := <-all; b != want+" later" {
						t.Errorf("alone %v: all is %q", alone, b)
					}
				})
			})
		}
	}
}
