package worker

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/inband"
)

// stdinReader is the standard input of a worker's cells. A read that needs more asks the controller
// for a line, by a display in the rank's output, so that the question keeps its place there.
type stdinReader struct {
	reading sync.Mutex // guards the next two; a Read holds it while it waits
	rest    []byte     // the rest of the line that was delivered last
	cut     bool       // an interrupt of the cell has ended a read

	mu   sync.Mutex      // guards the next two
	ctx  context.Context // of the cell; nil before the first
	came chan typedLine
}

type typedLine struct {
	text string
	end  bool
}

// reset prepares for the next cell: input that the previous cell has not read is dropped.
func (r *stdinReader) reset(ctx context.Context) {
	r.reading.Lock()
	r.rest, r.cut = nil, false
	r.reading.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ctx, r.came = ctx, make(chan typedLine, 1)
}

// waits reports whether a read waits for a line.
func (r *stdinReader) waits() bool {
	if r.reading.TryLock() {
		r.reading.Unlock()
		return false
	}
	return true
}

// wasCut reports whether an interrupt has ended a read of the cell, which the cell itself may not
// have noticed.
func (r *stdinReader) wasCut() bool {
	r.reading.Lock()
	defer r.reading.Unlock()
	return r.cut
}

// deliver passes a line to the read that waits for it.
func (r *stdinReader) deliver(line typedLine) {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case r.came <- line:
	default: // no read waits
	}
}

var errNotRunning = errors.New("standard input can be read while a cell runs")

// Read implements io.Reader.
func (r *stdinReader) Read(p []byte) (int, error) {
	r.reading.Lock()
	defer r.reading.Unlock()
	if len(r.rest) == 0 {
		r.mu.Lock()
		ctx, came := r.ctx, r.came
		r.mu.Unlock()
		if ctx == nil || ctx.Err() != nil {
			return 0, errNotRunning
		}
		question, err := inband.Encode(session.Display{Input: true})
		if err != nil {
			return 0, err
		}
		if _, err := inband.Write(question); err != nil {
			return 0, err
		}
		select {
		case line := <-came:
			if line.end {
				return 0, io.EOF
			}
			r.rest = []byte(line.text)
		case <-ctx.Done():
			r.cut = true
			return 0, ctx.Err()
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}
