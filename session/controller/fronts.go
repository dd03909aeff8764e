package controller

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"sync"
	"time"

	"github.com/symmrepl/symmrepl/internal/accept"
	"github.com/symmrepl/symmrepl/internal/bootstrap/frame"
	"github.com/symmrepl/symmrepl/internal/bootstrap/userdir"
	"github.com/symmrepl/symmrepl/session"
)

// frontVersion is the version of the messages in this file, which package client uses too.
const frontVersion = 4

// attachName is the name of the socket for further front ends in the controller's directory.
const attachName = "attach"

// frontTimeout is the time that a front end may leave output unread, or take to send its first
// request, before it is disconnected.
const frontTimeout = 30 * time.Second

// frontStrangers is the maximum number of open connections that have not sent a request yet.
const frontStrangers = 64

// frontRequest is a request of an attached front end. Besides Input exactly one of the fields after
// ID is set.
type frontRequest struct {
	ID      uint64
	Hello   int           `json:",omitempty"` // frontVersion
	Eval    *session.Cell `json:",omitempty"`
	Input   bool          `json:",omitempty"` // with Eval: the front end can ask the user for standard input
	Line    *frontLine    `json:",omitempty"` // the answer to an Ask of the request ID
	Inspect *frontInspect `json:",omitempty"`
	Ranks   bool          `json:",omitempty"`
	Restart *frontRestart `json:",omitempty"`
	History bool          `json:",omitempty"`
	Cancel  bool          `json:",omitempty"` // end the request with this ID

	Sanitizer bool `json:",omitempty"`
	Interrupt bool `json:",omitempty"`

	Debug   bool          `json:",omitempty"` // open a debugger, which is closed when the request is cancelled
	Debugs  uint64        `json:",omitempty"` // with Request: the ID of the request that opened the debugger
	Request *debugRequest `json:",omitempty"`
}

type frontInspect struct {
	Ranks []int
	Query session.Query
}

type frontRestart struct {
	Ranks  []int
	Replay bool
}

// frontLine is a line of standard input.
type frontLine struct {
	Text string
	End  bool // standard input has ended
}

// frontReply answers the request with its ID: any number of Outputs and of Asks for a line, then
// one reply with the result.
type frontReply struct {
	ID      uint64
	Output  *session.Output    `json:",omitempty"`
	Ask     bool               `json:",omitempty"`
	Reply   *session.Reply     `json:",omitempty"`
	Answers []session.Answer   `json:",omitempty"`
	Ranks   []session.RankInfo `json:",omitempty"`
	History []session.Cell     `json:",omitempty"`
	Err     string             `json:",omitempty"`

	Sanitizer   *session.Sanitizer `json:",omitempty"`
	Interrupted *string            `json:",omitempty"` // as Interrupt returns it

	Debugging bool                `json:",omitempty"` // the debugger is open: its events follow
	Debug     *session.DebugEvent `json:",omitempty"`
	Debugged  *debugResult        `json:",omitempty"`
}

// serveFronts listens for further front ends.
func (c *controller) serveFronts() error {
	l, err := userdir.Listen(filepath.Join(c.dir.Path, attachName))
	if err != nil {
		return err
	}
	c.front = l
	loop := &accept.Loop{Listener: l, Strangers: frontStrangers, Patience: frontTimeout, Serve: c.serveFront}
	go loop.Run()
	return nil
}

// serveFront serves one front end until it disconnects, and then interrupts its running requests.
func (c *controller) serveFront(conn net.Conn, known func()) {
	ctx, cancel := context.WithCancel(context.Background())
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	go func() { // the connection ends with the session
		select {
		case <-c.over:
			cancel()
		case <-ctx.Done():
		}
	}()
	f := &frontServer{c: c, conn: conn, out: frame.NewWriter(conn), gone: ctx.Done(), open: map[uint64]*frontWork{},
		debuggers: map[uint64]session.Debugger{}}
	defer func() {
		cancel()
		conn.Close()
		f.running.Wait()
		f.borrowed.giveBack(c)
	}()
	in := frame.NewReader(conn, 0)
	for {
		var q frontRequest
		if _, err := in.Read(&q); err != nil {
			if wrong := new(frame.HeaderError); errors.As(err, &wrong) {
				f.send(frontReply{ID: q.ID, Err: fmt.Sprintf("the session cannot read the request: %v", wrong.Err)})
				continue
			}
			return
		}
		known()
		if q.Hello != 0 {
			r := frontReply{ID: q.ID}
			if q.Hello != frontVersion {
				r.Err = fmt.Sprintf("the session is of another version of symmrepl (protocol %d, not %d)", frontVersion, q.Hello)
			}
			f.send(r)
			continue
		}
		f.mu.Lock()
		switch work := f.open[q.ID]; {
		case q.Cancel && work != nil:
			work.stop()
		case q.Line != nil && work != nil:
			select {
			case work.typed <- *q.Line:
			default: // no request waits for a line
			}
		case !q.Cancel && q.Line == nil:
			requestCtx, stop := context.WithCancel(ctx)
			work := &frontWork{stop, make(chan frontLine, 1)}
			f.open[q.ID] = work
			f.running.Go(func() { f.serve(requestCtx, work, q) })
		}
		f.mu.Unlock()
	}
}

// frontServer is the controller's side of one attached front end.
type frontServer struct {
	c    *controller
	conn net.Conn
	out  *frame.Writer
	gone <-chan struct{} // closed when it has disconnected

	mu        sync.Mutex
	open      map[uint64]*frontWork
	debuggers map[uint64]session.Debugger // by the requests that opened them

	running  sync.WaitGroup // requests that are being served
	borrowed borrowed
}

// frontWork is a request that is being served.
type frontWork struct {
	stop  context.CancelFunc
	typed chan frontLine
}

func (f *frontServer) send(r frontReply) {
	f.conn.SetWriteDeadline(time.Now().Add(frontTimeout))
	if f.out.Write(r, nil) != nil {
		f.conn.Close()
	}
}

func (f *frontServer) serve(ctx context.Context, work *frontWork, q frontRequest) {
	defer work.stop()
	r := frontReply{ID: q.ID}
	output := func(o session.Output) { f.send(frontReply{ID: q.ID, Output: &o}) }
	var err error
	switch {
	case q.Eval != nil:
		cell := *q.Eval
		cell.Output, cell.Gone = output, f.gone
		f.borrowed.sanitize(f.c, cell)
		if q.Input {
			cell.Input = func(ctx context.Context) (string, error) {
				f.send(frontReply{ID: q.ID, Ask: true})
				select {
				case line := <-work.typed:
					if line.End {
						return "", io.EOF
					}
					return line.Text, nil
				case <-ctx.Done():
					return "", ctx.Err()
				}
			}
		}
		reply := f.c.evalFor(ctx, cell, &f.borrowed)
		r.Reply = &reply
	case q.Inspect != nil:
		f.borrowed.trace(*q.Inspect)
		r.Answers, err = f.c.Inspect(ctx, q.Inspect.Ranks, q.Inspect.Query)
	case q.Ranks:
		r.Ranks, err = f.c.Ranks(ctx)
	case q.Restart != nil:
		err = f.c.Restart(ctx, q.Restart.Ranks, q.Restart.Replay, output)
	case q.History:
		r.History, err = f.c.History(ctx)
	case q.Sanitizer:
		var s session.Sanitizer
		s, err = f.c.Sanitizer(ctx)
		r.Sanitizer = &s
	case q.Debug:
		err = f.serveDebugger(ctx, q.ID)
	case q.Request != nil:
		f.mu.Lock()
		d := f.debuggers[q.Debugs]
		f.mu.Unlock()
		r.Debugged, err = q.Request.do(ctx, d)
	case q.Interrupt:
		var cell string
		cell, err = f.c.Interrupt(ctx)
		r.Interrupted = &cell
	}
	if err != nil {
		r.Err = err.Error()
	}
	f.mu.Lock()
	delete(f.open, q.ID)
	f.mu.Unlock()
	f.send(r)
}
