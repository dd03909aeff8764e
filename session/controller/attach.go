package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/symmrepl/symmrepl/internal/bootstrap/frame"
	"github.com/symmrepl/symmrepl/internal/bootstrap/userdir"
	"github.com/symmrepl/symmrepl/session"
)

// helloPatience is the time that a session may take to answer a front end that attaches.
const helloPatience = 10 * time.Second

// Running lists the directories of this user's live sessions on this host, newest first.
func Running() []string {
	return slices.DeleteFunc(userdir.Live(), func(path string) bool {
		_, err := os.Stat(filepath.Join(path, attachName))
		return err != nil
	})
}

// Attach connects a further front end to a session of this user on this host: the session in
// directory dir, or, if dir is empty, the newest one. Closing the result leaves the session
// running. When the session ends, all calls fail.
func Attach(ctx context.Context, dir string) (session.Session, error) {
	if dir == "" {
		live := Running()
		if len(live) == 0 {
			return nil, errors.New("no session of yours runs on this host; start one with `symmrepl`")
		}
		dir = live[0]
	}
	conn, err := userdir.Dial(ctx, filepath.Join(dir, attachName))
	if err != nil {
		return nil, fmt.Errorf("the session in %s cannot be reached: %w", dir, err)
	}
	a := &attached{conn: conn, out: frame.NewWriter(conn), open: map[uint64]*frontCall{}}
	go a.read()
	silent := time.AfterFunc(helloPatience, func() { conn.Close() })
	cancelled := context.AfterFunc(ctx, func() { conn.Close() })
	r := a.call(ctx, frontRequest{Hello: frontVersion}, nil, nil)
	switch {
	case !silent.Stop():
		return nil, fmt.Errorf("the session in %s has not answered within %v: its process is stopped, or the socket is not a session's",
			dir, helloPatience)
	case !cancelled():
		return nil, context.Cause(ctx)
	case r.Err != "":
		conn.Close()
		return nil, errors.New(r.Err)
	}
	return a, nil
}

// attached is a Session at the other end of a socket.
type attached struct {
	conn net.Conn
	out  *frame.Writer

	mu   sync.Mutex
	next uint64
	open map[uint64]*frontCall
	lost error
}

type frontCall struct {
	id     uint64
	output func(session.Output)
	ask    func() // asks for a line of standard input
	debug  func(opened bool, e *session.DebugEvent)
	done   chan frontReply
}

func (a *attached) read() {
	in := frame.NewReader(a.conn, 0)
	for {
		var r frontReply
		_, err := in.Read(&r)
		a.mu.Lock()
		if err != nil {
			a.lost = errors.New("the session has ended")
			for id, call := range a.open {
				delete(a.open, id)
				call.done <- frontReply{Err: a.lost.Error()}
			}
			a.mu.Unlock()
			a.conn.Close()
			return
		}
		call := a.open[r.ID]
		last := r.Output == nil && !r.Ask && !r.Debugging && r.Debug == nil
		if last {
			delete(a.open, r.ID)
		}
		a.mu.Unlock()
		switch {
		case call == nil:
		case last:
			call.done <- r
		case r.Ask:
			go call.ask()
		case r.Debugging || r.Debug != nil:
			if call.debug != nil {
				call.debug(r.Debugging, r.Debug)
			}
		case call.output != nil:
			call.output(*r.Output)
		}
	}
}

// call sends a request and returns the last reply to it. When ctx ends, call cancels the request
// and still waits for its reply. output and input may be nil.
func (a *attached) call(ctx context.Context, q frontRequest, output func(session.Output), input func(context.Context) (string, error)) frontReply {
	return a.request(ctx, q, &frontCall{output: output, done: make(chan frontReply, 1)}, input)
}

// request is call with a prepared frontCall.
func (a *attached) request(ctx context.Context, q frontRequest, call *frontCall, input func(context.Context) (string, error)) frontReply {
	over, end := context.WithCancel(ctx)
	defer end()
	a.mu.Lock()
	if a.lost != nil {
		a.mu.Unlock()
		return frontReply{Err: a.lost.Error()}
	}
	a.next++
	q.ID, q.Input = a.next, input != nil
	call.id = q.ID
	call.ask = func() {
		text, err := input(over)
		if over.Err() == nil {
			a.out.Write(frontRequest{ID: q.ID, Line: &frontLine{text, err != nil}}, nil)
		}
	}
	a.open[q.ID] = call
	a.mu.Unlock()
	if err := a.out.Write(q, nil); err != nil {
		if large := new(frame.SizeError); errors.As(err, &large) { // nothing was sent
			a.mu.Lock()
			delete(a.open, q.ID)
			a.mu.Unlock()
			return frontReply{Err: fmt.Sprintf("the request has %d bytes, and a session takes at most %d", large.Header, frame.MaxHeader)}
		}
		a.conn.Close()
	}
	defer context.AfterFunc(ctx, func() { a.out.Write(frontRequest{ID: q.ID, Cancel: true}, nil) })()
	return <-call.done
}

func (r frontReply) err() error {
	if r.Err != "" {
		return errors.New(r.Err)
	}
	return nil
}

// Eval implements Session.
func (a *attached) Eval(ctx context.Context, cell session.Cell) session.Reply {
	r := a.call(ctx, frontRequest{Eval: &cell}, cell.Output, cell.Input)
	if r.Reply == nil {
		return session.Reply{Errors: []*session.Error{{Kind: session.KindSystem, Peer: -1, Msg: r.Err,
			Hint: "attach to another one; a notebook does when its kernel is restarted"}}}
	}
	return *r.Reply
}

// Inspect implements Session.
func (a *attached) Inspect(ctx context.Context, ranks []int, q session.Query) ([]session.Answer, error) {
	r := a.call(ctx, frontRequest{Inspect: &frontInspect{ranks, q}}, nil, nil)
	return r.Answers, r.err()
}

// Ranks implements Session.
func (a *attached) Ranks(ctx context.Context) ([]session.RankInfo, error) {
	r := a.call(ctx, frontRequest{Ranks: true}, nil, nil)
	return r.Ranks, r.err()
}

// Restart implements Session.
func (a *attached) Restart(ctx context.Context, ranks []int, replay bool, out func(session.Output)) error {
	return a.call(ctx, frontRequest{Restart: &frontRestart{ranks, replay}}, out, nil).err()
}

// History implements Session.
func (a *attached) History(ctx context.Context) ([]session.Cell, error) {
	r := a.call(ctx, frontRequest{History: true}, nil, nil)
	return r.History, r.err()
}

// Sanitizer implements Session.
func (a *attached) Sanitizer(ctx context.Context) (session.Sanitizer, error) {
	r := a.call(ctx, frontRequest{Sanitizer: true}, nil, nil)
	if r.Sanitizer == nil {
		return session.Sanitizer{}, cmp.Or(r.err(),
			errors.New("the session is of another version of symmrepl, which has no sanitizer for front ends that attach"))
	}
	return *r.Sanitizer, nil
}

// Interrupt implements Session.
func (a *attached) Interrupt(ctx context.Context) (string, error) {
	r := a.call(ctx, frontRequest{Interrupt: true}, nil, nil)
	if r.Interrupted == nil {
		return "", cmp.Or(r.err(), errors.New("the session is of another version of symmrepl, which interrupts only the cells of its own front end"))
	}
	return *r.Interrupted, r.err()
}

// Close implements Session: it disconnects this front end only.
func (a *attached) Close() error { return a.conn.Close() }
