package session

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/symmrepl/symmrepl/symmem/bootstrap"
	"github.com/symmrepl/symmrepl/symmem/bootstrap/frame"
	"github.com/symmrepl/symmrepl/symmem/bootstrap/launcher"
)

// frontTimeout is how long a front end may refuse to take output before it is dropped.
const frontTimeout = 30 * time.Second

// frontRequest is what an attached front end asks. Exactly one of the fields after ID is set.
type frontRequest struct {
	ID      uint64
	Hello   int           `json:",omitempty"` // wireVersion
	Eval    *Cell         `json:",omitempty"`
	Inspect *frontInspect `json:",omitempty"`
	Ranks   bool          `json:",omitempty"`
	Restart *frontRestart `json:",omitempty"`
	History bool          `json:",omitempty"`
	Cancel  bool          `json:",omitempty"` // of the request ID
}

type frontInspect struct {
	Ranks      []int
	Topic, Arg string
}

type frontRestart struct {
	Ranks  []int
	Replay bool
}

// frontReply answers the request ID: any number of outputs, then the rest.
type frontReply struct {
	ID      uint64
	Output  *Output    `json:",omitempty"`
	Reply   *Reply     `json:",omitempty"`
	Answers []Answer   `json:",omitempty"`
	Ranks   []RankInfo `json:",omitempty"`
	History []Cell     `json:",omitempty"`
	Err     string     `json:",omitempty"`
}

// serveFronts listens for further front ends.
func (c *controller) serveFronts() error {
	l, err := net.Listen("unix", filepath.Join(c.dir.path, attachName))
	if err != nil {
		return err
	}
	c.front = l
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go c.serveFront(conn.(*net.UnixConn))
		}
	}()
	return nil
}

// serveFront does what one front end asks, until it leaves; what still runs for it is then interrupted.
func (c *controller) serveFront(conn *net.UnixConn) {
	defer conn.Close()
	if bootstrap.SameUser(conn) != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	go func() { // the session's end is the connection's
		select {
		case <-c.over:
			cancel()
		case <-ctx.Done():
		}
	}()
	f := &frontServer{c: c, conn: conn, out: frame.NewWriter(conn), open: map[uint64]context.CancelFunc{}}
	in := frame.NewReader(conn, 0)
	for {
		var q frontRequest
		if _, err := in.Read(&q); err != nil {
			return
		}
		if q.Hello != 0 {
			r := frontReply{ID: q.ID}
			if q.Hello != wireVersion {
				r.Err = fmt.Sprintf("the session is of another version of symmrepl (protocol %d, not %d)", wireVersion, q.Hello)
			}
			f.send(r)
			continue
		}
		f.mu.Lock()
		if q.Cancel {
			if stop := f.open[q.ID]; stop != nil {
				stop()
			}
		} else {
			requestCtx, stop := context.WithCancel(ctx)
			f.open[q.ID] = stop
			go f.serve(requestCtx, stop, q)
		}
		f.mu.Unlock()
	}
}

// frontServer is one attached front end, from the controller's side.
type frontServer struct {
	c    *controller
	conn net.Conn
	out  *frame.Writer

	mu   sync.Mutex
	open map[uint64]context.CancelFunc
}

func (f *frontServer) send(r frontReply) {
	f.conn.SetWriteDeadline(time.Now().Add(frontTimeout))
	if f.out.Write(r, nil) != nil {
		f.conn.Close()
	}
}

func (f *frontServer) serve(ctx context.Context, stop context.CancelFunc, q frontRequest) {
	defer stop()
	r := frontReply{ID: q.ID}
	output := func(o Output) { f.send(frontReply{ID: q.ID, Output: &o}) }
	var err error
	switch {
	case q.Eval != nil:
		cell := *q.Eval
		cell.Output = output
		reply := f.c.Eval(ctx, cell)
		r.Reply = &reply
	case q.Inspect != nil:
		r.Answers, err = f.c.Inspect(ctx, q.Inspect.Ranks, q.Inspect.Topic, q.Inspect.Arg)
	case q.Ranks:
		r.Ranks, err = f.c.Ranks(ctx)
	case q.Restart != nil:
		err = f.c.Restart(ctx, q.Restart.Ranks, q.Restart.Replay, output)
	case q.History:
		r.History, err = f.c.History(ctx)
	}
	if err != nil {
		r.Err = err.Error()
	}
	f.mu.Lock()
	delete(f.open, q.ID)
	f.mu.Unlock()
	f.send(r)
}

// sessions lists the directories of this user's live sessions on this host, newest first.
func sessions() ([]string, error) {
	base, err := launcher.BaseDir()
	if err != nil {
		return nil, err
	}
	var live []string
	for _, path := range sessionPaths(base) {
		if _, err := os.Stat(filepath.Join(path, attachName)); err == nil && !abandoned(path) {
			live = append(live, path)
		}
	}
	return live, nil
}

// Attach makes a second front end of a session of this user on this host: that of directory dir, or the
// newest. Closing it leaves the session alone. When the session ends, all calls fail.
func Attach(ctx context.Context, dir string) (Session, error) {
	if dir == "" {
		live, err := sessions()
		if err != nil {
			return nil, err
		}
		if len(live) == 0 {
			return nil, errors.New("no session of yours runs on this host; start one with `symmrepl`")
		}
		dir = live[0]
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", filepath.Join(dir, attachName))
	if err != nil {
		return nil, fmt.Errorf("the session in %s cannot be reached: %w", dir, err)
	}
	if err := bootstrap.SameUser(conn.(*net.UnixConn)); err != nil {
		conn.Close()
		return nil, err
	}
	a := &attached{conn: conn, out: frame.NewWriter(conn), open: map[uint64]*frontCall{}}
	go a.read()
	if r := a.call(ctx, frontRequest{Hello: wireVersion}, nil); r.Err != "" {
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
	output func(Output)
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
		if r.Output == nil {
			delete(a.open, r.ID)
		}
		a.mu.Unlock()
		switch {
		case call == nil:
		case r.Output == nil:
			call.done <- r
		case call.output != nil:
			call.output(*r.Output)
		}
	}
}

// call puts a request and returns the last reply to it. When ctx ends, it is cancelled there, and answered
// all the same.
func (a *attached) call(ctx context.Context, q frontRequest, output func(Output)) frontReply {
	call := &frontCall{output, make(chan frontReply, 1)}
	a.mu.Lock()
	if a.lost != nil {
		a.mu.Unlock()
		return frontReply{Err: a.lost.Error()}
	}
	a.next++
	q.ID = a.next
	a.open[q.ID] = call
	a.mu.Unlock()
	if a.out.Write(q, nil) != nil {
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
func (a *attached) Eval(ctx context.Context, cell Cell) Reply {
	r := a.call(ctx, frontRequest{Eval: &cell}, cell.Output)
	if r.Reply == nil {
		return Reply{Errors: []*Error{{Kind: KindSystem, Peer: -1, Msg: r.Err}}}
	}
	return *r.Reply
}

// Inspect implements Session.
func (a *attached) Inspect(ctx context.Context, ranks []int, topic, arg string) ([]Answer, error) {
	r := a.call(ctx, frontRequest{Inspect: &frontInspect{ranks, topic, arg}}, nil)
	return r.Answers, r.err()
}

// Ranks implements Session.
func (a *attached) Ranks(ctx context.Context) ([]RankInfo, error) {
	r := a.call(ctx, frontRequest{Ranks: true}, nil)
	return r.Ranks, r.err()
}

// Restart implements Session.
func (a *attached) Restart(ctx context.Context, ranks []int, replay bool, out func(Output)) error {
	return a.call(ctx, frontRequest{Restart: &frontRestart{ranks, replay}}, out).err()
}

// History implements Session.
func (a *attached) History(ctx context.Context) ([]Cell, error) {
	r := a.call(ctx, frontRequest{History: true}, nil)
	return r.History, r.err()
}

// Close implements Session: it ends this front end's hold only.
func (a *attached) Close() error { return a.conn.Close() }
