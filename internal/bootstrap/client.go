package bootstrap

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"

	"github.com/symmrepl/symmrepl/internal/bootstrap/frame"
	"github.com/symmrepl/symmrepl/internal/bootstrap/heartbeat"
)

// ErrClosed is returned by calls on a client after Close.
var ErrClosed = errors.New("bootstrap: the client is closed")

// Client is one rank's end of the connection to the hub. Its methods may be called from several
// goroutines at once.
type Client struct {
	rank, size int
	dir        string
	root       string // the directory that contains dir, or dir itself
	parts      Parts
	conn       net.Conn
	out        *frame.Writer
	broken     sync.Once // see disconnected

	mu    sync.Mutex // guards the fields below
	next  uint64
	open  map[uint64]chan answer
	ended error // why calls fail; nil while the client is open
	files *exchange
	lost  map[int]string // ranks that are gone for good, and why
	told  func(rank int, why string)
	left  map[int]string // ranks whose processes have ended, with the reason: "died"
	leave func(rank int, why string)
}

type answer struct {
	reply
	payload []byte
	err     error
}

// NewClient returns the client of rank in a world of size. conn is its connection, which the hub
// serves; the client owns it from now on. dir is a directory on this host that only the user can
// enter, for GatherFiles; it may be empty if GatherFiles is never called. parts are the simulated
// hosts of the world, equal on all ranks; the client uses a directory within dir for its part.
func NewClient(conn net.Conn, rank, size int, dir string, parts Parts) (*Client, error) {
	c := &Client{rank: rank, size: size, dir: dir, root: dir, parts: parts, conn: conn, out: frame.NewWriter(conn),
		open: map[uint64]chan answer{}, lost: map[int]string{}, left: map[int]string{}}
	var err error
	if dir != "" && parts.Hosts() > 1 {
		c.dir = filepath.Join(dir, parts.Name(rank))
		err = os.MkdirAll(c.dir, 0o700)
	}
	if err == nil {
		err = c.out.Write(request{Hello: &hello{Version, rank, size}}, nil)
	}
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("bootstrap: %w", err)
	}
	go c.read()
	return c, nil
}

// Rank returns this rank's number in the world.
func (c *Client) Rank() int { return c.rank }

// Size returns the number of ranks in the world.
func (c *Client) Size() int { return c.size }

// Dir returns the directory passed to NewClient: all ranks on this host see it, on whatever
// simulated hosts they are.
func (c *Client) Dir() string { return c.root }

// Parts returns the simulated hosts of the world.
func (c *Client) Parts() Parts { return c.parts }

// Gather contributes data, at most MaxData bytes, to call and returns the contributions of all
// members by position in call.Group. The contributions may share memory. Gather is collective over
// the group and returns when all members have come. Cancelling ctx withdraws the contribution. The
// error is an *AbsentError, a *MismatchError, ctx's error, or an error of the connection.
func (c *Client) Gather(ctx context.Context, call Call, data []byte) ([][]byte, error) {
	return c.gather(ctx, &call, &gather{Group: FormatRanks(call.Group)}, false, data)
}

// GatherLeft is Gather over all remaining ranks; it ignores call.Group. The remaining ranks are
// those that the hub does not know to be gone, for good or until another process takes their place.
// The hub decides, so that all of them get the same group. A rank that goes while others wait for
// it is left out. If a rank is absent for another reason, the call fails as soon as it is known
// that the rank is not gone.
func (c *Client) GatherLeft(ctx context.Context, call Call, data []byte) (group []int, all [][]byte, err error) {
	call.Group = nil
	all, err = c.gather(ctx, &call, &gather{}, true, data)
	return call.Group, all, err
}

// Clock returns the hub's time in nanoseconds, by a clock that all ranks get their answers of. The
// time was read between the call and its return.
func (c *Client) Clock(ctx context.Context) (int64, error) {
	id, ch, err := c.register()
	if err != nil {
		return 0, err
	}
	if err := c.out.Write(request{Clock: id}, nil); err != nil {
		c.disconnected(err)
	}
	select {
	case a := <-ch:
		return a.Clock, a.err
	case <-ctx.Done():
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.open, id)
		return 0, ctx.Err()
	}
}

// gather sends a request for a call and waits for the answer. If the answer names the group, gather
// stores it in the call.
func (c *Client) gather(ctx context.Context, call *Call, g *gather, left bool, data []byte) ([][]byte, error) {
	if len(data) > MaxData {
		return nil, fmt.Errorf("%s: %d bytes are more than the %d a rank may contribute", call, len(data), MaxData)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	id, ch, err := c.register()
	if err != nil {
		return nil, err
	}
	g.ID, g.Call = id, *call
	r := request{Gather: g}
	if left {
		r = request{Left: g}
	}
	if err := c.out.Write(r, data); err != nil {
		c.disconnected(err)
	}
	var a answer
	select {
	case a = <-ch:
	case <-ctx.Done():
		c.mu.Lock()
		delete(c.open, id)
		c.mu.Unlock()
		c.out.Write(request{Withdraw: id}, nil) // a failure shows at the reading end
		return nil, ctx.Err()
	}
	if left && a.Group != "" {
		if call.Group, err = parseRanks(a.Group, c.size); err != nil {
			return nil, fmt.Errorf("%s: the hub names the group %q: %w", call, a.Group, err)
		}
	}
	return a.unpack(*call)
}

// OnLost registers f to be called, now or later, for each rank that is gone for good, with the
// reason. Rank 0 stands for its whole host, because the hub there would report the other ranks. f
// must not wait for the client.
func (c *Client) OnLost(f func(rank int, why string)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told = f
	for rank, why := range c.lost {
		f(rank, why)
	}
}

// OnLeft registers f to be called, now or later, for each rank whose process has ended, if the hub
// reports departures (see [Hub.TellDepartures]), and for rank 0 when the connection to it ends. why
// is "died", or the reason passed to Leave. f must not wait for the client.
func (c *Client) OnLeft(f func(rank int, why string)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leave = f
	for rank, why := range c.left {
		f(rank, why)
	}
}

// departed reports a rank whose process has ended.
func (c *Client) departed(rank int, why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left[rank] = why; c.leave != nil && c.ended == nil {
		c.leave(rank, why)
	}
}

// lose reports a rank that is gone for good.
func (c *Client) lose(rank int, why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lost[rank] = why; c.told != nil {
		c.told(rank, why)
	}
}

// Close ends the client. Open calls return ErrClosed.
func (c *Client) Close() error {
	c.fail(ErrClosed)
	return nil
}

func (c *Client) register() (uint64, chan answer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended != nil {
		return 0, nil, c.ended
	}
	c.next++
	ch := make(chan answer, 1)
	c.open[c.next] = ch
	return c.next, ch, nil
}

func (c *Client) read() {
	in := frame.NewReader(c.conn, (MaxData+binary.MaxVarintLen64)*c.size)
	for {
		var a answer
		var err error
		a.payload, err = in.Read(&a.reply)
		switch {
		case err == nil && a.Lost != nil:
			c.lose(a.Lost.Rank, a.Lost.Why)
			continue
		case err == nil && a.Left != nil:
			c.departed(a.Left.Rank, a.Left.Why)
			continue
		case err == nil && a.ID == 0:
			err = errors.New(a.Refused)
		}
		if err != nil {
			c.disconnected(err)
			return
		}
		c.mu.Lock()
		ch := c.open[a.ID]
		delete(c.open, a.ID)
		c.mu.Unlock()
		if ch != nil {
			ch <- a
		}
	}
}

// disconnected ends the client after a failure of the connection to rank 0's host, which the reader or a
// caller that writes finds first.
func (c *Client) disconnected(err error) {
	c.broken.Do(func() {
		if silence := new(heartbeat.SilenceError); errors.As(err, &silence) {
			c.lose(0, silence.Error())
		}
		c.departed(0, "died")
		c.fail(fmt.Errorf("bootstrap: rank %d lost the session: %w", c.rank, err))
	})
}

// fail ends the client with err, unless it has ended already.
func (c *Client) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended != nil {
		return
	}
	c.ended = err
	for id, ch := range c.open {
		delete(c.open, id)
		ch <- answer{err: err}
	}
	if c.files != nil {
		c.files.close()
	}
	c.conn.Close()
}

// unpack returns the results of Gather for the hub's answer to call.
func (a *answer) unpack(call Call) ([][]byte, error) {
	switch {
	case a.err != nil:
		return nil, a.err
	case a.Absent != nil:
		a.Absent.Call = call
		return nil, a.Absent
	case a.Mismatch != nil:
		a.Mismatch.Call = call
		return nil, a.Mismatch
	case a.Refused != "":
		return nil, fmt.Errorf("%s: %s", call, a.Refused)
	case a.Members != len(call.Group):
		return nil, fmt.Errorf("%s: %d contributions for a group of %d", call, a.Members, len(call.Group))
	}
	all := make([][]byte, a.Members)
	if a.Alike {
		for i := range all {
			all[i] = a.payload[:len(a.payload):len(a.payload)]
		}
		return all, nil
	}
	sizes := make([]uint64, a.Members)
	rest := a.payload
	for i := range sizes {
		n := 0
		if sizes[i], n = binary.Uvarint(rest); n <= 0 {
			return nil, fmt.Errorf("%s: the sizes of the contributions cannot be read", call)
		}
		rest = rest[n:]
	}
	for i, n := range sizes {
		if n > uint64(len(rest)) {
			return nil, fmt.Errorf("%s: the sizes of the contributions do not add up", call)
		}
		all[i], rest = rest[:n:n], rest[n:]
	}
	return all, nil
}
