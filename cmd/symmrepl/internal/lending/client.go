package lending

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/jsonlines"
	"github.com/symmrepl/symmrepl/internal/bootstrap/userdir"
)

// Running lists the folders of this user's programs on this host, newest first.
func Running() []string {
	return slices.DeleteFunc(userdir.Live(), func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, socketName))
		return err != nil
	})
}

// IsProgram reports whether a program listens in a folder.
func IsProgram(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, socketName))
	return err == nil
}

// Find returns the folder of the program that a process watches; "" if there is none.
func Find(ctx context.Context, pid string) string {
	n, err := strconv.Atoi(pid)
	if err != nil {
		return ""
	}
	for _, dir := range Running() {
		if p, err := Describe(ctx, dir); err == nil && p.PID == n {
			return dir
		}
	}
	return ""
}

// Describe returns the description of the program of a folder.
func Describe(ctx context.Context, dir string) (*Program, error) {
	c, err := Dial(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.Program(ctx)
}

var errEnded = errors.New("the program has ended")

// patience is the time within which a program answers.
const patience = 15 * time.Second

// Client is a connection to a program. Its methods may be called concurrently.
type Client struct {
	dir  string
	conn net.Conn
	gone chan struct{} // closed when the connection has ended

	closed atomic.Bool

	mu   sync.Mutex // guards the fields below
	last uint64
	open map[uint64]chan Reply
}

// Dial connects to the program of a folder.
func Dial(ctx context.Context, dir string) (*Client, error) {
	conn, err := userdir.Dial(ctx, filepath.Join(dir, socketName))
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return nil, errEnded
	}
	if err != nil {
		return nil, fmt.Errorf("the program in %s cannot be reached: %w", dir, err)
	}
	c := &Client{dir: dir, conn: conn, gone: make(chan struct{}), open: map[uint64]chan Reply{}}
	go c.read()
	return c, nil
}

// Close disconnects from the program. Requests then fail with net.ErrClosed.
func (c *Client) Close() error {
	c.closed.Store(true)
	return c.conn.Close()
}

func (c *Client) read() {
	defer close(c.gone)
	for lines := jsonlines.NewReader(c.conn, maxLine); ; {
		line, err := lines.Next()
		if errors.Is(err, jsonlines.ErrTooLong) {
			continue
		}
		if err != nil {
			c.conn.Close()
			return
		}
		var r Reply
		if json.Unmarshal(line, &r) != nil {
			continue
		}
		c.mu.Lock()
		to := c.open[r.ID]
		delete(c.open, r.ID)
		c.mu.Unlock()
		if to != nil {
			to <- r
		}
	}
}

// Ask puts a request and returns the reply to it.
func (c *Client) Ask(ctx context.Context, q Request) (Reply, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return c.ask(ctx, q)
}

// ask is Ask, for as long as the program takes.
func (c *Client) ask(ctx context.Context, q Request) (Reply, error) {
	answer := make(chan Reply, 1)
	c.mu.Lock()
	c.last++
	q.ID = c.last
	c.open[q.ID] = answer
	c.mu.Unlock()
	text, err := json.Marshal(q)
	if err != nil {
		return Reply{}, err
	}
	c.conn.SetWriteDeadline(time.Now().Add(patience))
	if _, err := c.conn.Write(append(text, '\n')); err != nil && !c.closed.Load() {
		return Reply{}, errEnded
	}
	select {
	case r := <-answer:
		if r.Err != "" {
			return r, errors.New(r.Err)
		}
		return r, nil
	case <-c.gone:
		if c.closed.Load() {
			return Reply{}, net.ErrClosed
		}
		if IsProgram(c.dir) {
			return Reply{}, errors.New("the program has closed the connection: symmrepl torchrun may have no file descriptor left")
		}
		return Reply{}, errEnded
	case <-ctx.Done():
		c.mu.Lock()
		delete(c.open, q.ID)
		c.mu.Unlock()
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return Reply{}, fmt.Errorf("the program has not answered within %v: is symmrepl torchrun stopped?", patience)
		}
		return Reply{}, ctx.Err()
	}
}

// Program returns the description of the program.
func (c *Client) Program(ctx context.Context) (*Program, error) {
	r, err := c.Ask(ctx, Request{What: AskProgram})
	if err == nil && r.Program == nil {
		err = errors.New("the socket is not that of a program")
	}
	return r.Program, err
}

// Stop returns the description of the program once it has stood at more than so many breakpoints.
func (c *Client) Stop(ctx context.Context, before uint64) (*Program, error) {
	r, err := c.ask(ctx, Request{What: AskStop, Stops: before})
	return r.Program, err
}

// Lender is a rank of the program of a folder, as a rank of a session sees it. It connects for each
// request.
type Lender struct {
	Dir  string
	Rank int
}

// Tensor returns a tensor by its name.
func (l Lender) Tensor(ctx context.Context, name string) (*Tensor, error) {
	r, err := l.ask(ctx, Request{What: AskTensor, Name: name})
	if err == nil && r.Tensor == nil {
		err = errors.New("the program has not said where the tensor is")
	}
	return r.Tensor, err
}

// Variables lists the tensors that have names.
func (l Lender) Variables(ctx context.Context) ([]Variable, error) {
	r, err := l.ask(ctx, Request{What: AskVariables})
	return r.Variables, err
}

// Continue lets all ranks of the program leave the breakpoint, and returns the program's name.
func (l Lender) Continue(ctx context.Context) (name string, err error) {
	r, err := l.ask(ctx, Request{What: AskContinue})
	if err != nil || r.Program == nil {
		return "", err
	}
	return r.Program.Name, nil
}

func (l Lender) ask(ctx context.Context, q Request) (Reply, error) {
	c, err := Dial(ctx, l.Dir)
	if err != nil {
		return Reply{}, err
	}
	defer c.Close()
	q.Rank = l.Rank
	return c.Ask(ctx, q)
}
