package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/symmrepl/symmrepl/internal/bootstrap/frame"
)

// Bounds of meeting.
const (
	joinTimeout      = 60 * time.Second      // until all ranks have joined
	handshakeTimeout = 5 * time.Second       // for a connection to say who it is
	dialEvery        = 50 * time.Millisecond // between attempts while rank 0 is not there
	linkTimeout      = 10 * time.Second      // for the other end of a link to take a message
)

// joinHello opens every connection to the controller. The answer is a joinWelcome.
type joinHello struct {
	Version     int
	Rank, Size  int
	Incarnation int // of the worker whose bootstrap connection this is; 0 if this is the supervisor's own
}

type joinWelcome struct {
	Refused string `json:",omitempty"`
}

// Join makes this process, one of several that a launcher has started, the supervisor of its rank. In rank 0
// it returns the session when all ranks are ready. In the others it returns (nil, nil) when the session is
// over, or an error if this rank could not take part to its end. On one host the ranks meet over a Unix
// socket; otherwise over TLS, for which all need the same token.
func Join(ctx context.Context, l Launcher, config Config) (Session, error) {
	config.Ranks = l.Size
	p, err := newPlace(l, config)
	if err != nil {
		return nil, err
	}
	if l.Rank == 0 {
		return lead(ctx, p, l, config)
	}
	return nil, follow(ctx, p, l, config)
}

// lead is rank 0's part.
func lead(ctx context.Context, p *place, l Launcher, config Config) (Session, error) {
	dir, err := newSessionDir()
	if err != nil {
		return nil, err
	}
	c := newController(config, l.Size, dir)
	c.addLocal(0, l.LocalRank)
	ctx, cancel := context.WithTimeout(ctx, joinTimeout)
	defer cancel()
	if l.Size > 1 {
		listener, err := p.listen(ctx)
		if err != nil {
			c.Close()
			return nil, err
		}
		c.meeting = listener
		joined := make(chan int)
		go c.admitAll(listener, joined)
		if err := awaitRanks(ctx, joined, l.Size); err != nil {
			c.Close()
			err = fmt.Errorf("%w at %s", err, p)
			if c.strangers.Load() {
				err = fmt.Errorf("%w, but somebody with another token did: is %s the same on all hosts?", err, tokenVariable)
			}
			return nil, err
		}
	}
	if err := c.open(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// awaitRanks returns when every rank but 0 has joined.
func awaitRanks(ctx context.Context, joined <-chan int, size int) error {
	missing := map[int]bool{}
	for r := 1; r < size; r++ {
		missing[r] = true
	}
	for len(missing) > 0 {
		select {
		case r := <-joined:
			delete(missing, r)
		case <-ctx.Done():
			var list []int
			for r := range size {
				if missing[r] {
					list = append(list, r)
				}
			}
			return fmt.Errorf("rank %s did not come", FormatRanks(list))
		}
	}
	return nil
}

// admitAll takes connections of supervisors until the session closes the listener. It sends every rank that
// joins.
func (c *controller) admitAll(listener net.Listener, joined chan<- int) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			if rank := c.admit(conn); rank > 0 {
				select {
				case joined <- rank:
				case <-c.over:
				}
			}
		}()
	}
}

// admit learns what a connection is for. It returns the rank if that joins with it, and else when the
// connection has served its purpose.
func (c *controller) admit(conn net.Conn) int {
	conn.SetDeadline(time.Now().Add(handshakeTimeout))
	in, out := frame.NewReader(conn, maxPayload), frame.NewWriter(conn)
	var h joinHello
	if _, err := in.Read(&h); err != nil {
		if stranger(err) {
			c.strangers.Store(true)
		}
		conn.Close()
		return 0
	}
	k := &remoteKeeper{conn: conn, out: out, gone: make(chan struct{})}
	if why := c.refuse(h, k); why != "" {
		out.Write(joinWelcome{Refused: why}, nil)
		conn.Close()
		return 0
	}
	serve := func() {}
	if h.Incarnation > 0 { // the worker is started when its supervisor has read the welcome
		serve = c.bootstrap(h.Rank, conn)
	}
	err := out.Write(joinWelcome{}, nil)
	if err != nil {
		conn.Close()
	}
	conn.SetDeadline(time.Time{})
	if err != nil || h.Incarnation > 0 {
		serve()
		return 0
	}
	go k.listen(in, func(e event, payload []byte) { c.event(h.Rank, e, payload) })
	return h.Rank
}

// refuse says why a connection is not welcome. A supervisor that is becomes its rank's keeper.
func (c *controller) refuse(h joinHello, k *remoteKeeper) string {
	switch {
	case h.Version != wireVersion:
		return fmt.Sprintf("rank 0 runs another version of symmrepl (protocol %d, not %d)", wireVersion, h.Version)
	case h.Size != c.size:
		return fmt.Sprintf("rank 0 is in a world of %d ranks, not %d", c.size, h.Size)
	case h.Rank < 1 || h.Rank >= c.size:
		return fmt.Sprintf("rank %d cannot join a world of %d", h.Rank, c.size)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.ranks[h.Rank]
	switch {
	case c.isOver():
		return "the session is over"
	case h.Incarnation > 0 && h.Incarnation != s.incarnation:
		return fmt.Sprintf("rank %d speaks for worker %d, not the current %d", h.Rank, h.Incarnation, s.incarnation)
	case h.Incarnation == 0 && s.keeper != nil:
		return fmt.Sprintf("rank %d has joined already", h.Rank)
	case h.Incarnation == 0:
		s.keeper = k
	}
	return ""
}

// remoteKeeper is a supervisor in another process.
type remoteKeeper struct {
	conn net.Conn
	out  *frame.Writer
	gone chan struct{} // closed when the connection has ended
}

func (k *remoteKeeper) do(c command, payload []byte) {
	k.conn.SetWriteDeadline(time.Now().Add(linkTimeout))
	if k.out.Write(c, payload) != nil {
		k.conn.Close()
	}
}

func (k *remoteKeeper) close() {
	k.do(command{Quit: true}, nil)
	select {
	case <-k.gone:
	case <-time.After(quitGrace + time.Second):
		k.conn.Close()
	}
}

func (k *remoteKeeper) listen(in *frame.Reader, emit func(event, []byte)) {
	defer close(k.gone)
	for {
		var e event
		payload, err := in.Read(&e)
		if err != nil {
			emit(event{Gone: "its supervisor is gone (" + err.Error() + ")"}, nil)
			k.conn.Close()
			return
		}
		emit(e, payload)
	}
}

// follow is the part of every rank but 0.
func follow(ctx context.Context, p *place, l Launcher, config Config) error {
	dir, err := newSessionDir()
	if err != nil {
		return err
	}
	defer dir.remove()
	meet, cancel := context.WithTimeout(ctx, joinTimeout)
	defer cancel()
	conn, in, err := p.join(meet, joinHello{wireVersion, l.Rank, l.Size, 0})
	if err != nil {
		return fmt.Errorf("rank %d cannot join rank 0 at %s: %w", l.Rank, p, err)
	}
	defer conn.Close()
	p = p.found(conn)
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	out := frame.NewWriter(conn)
	sp := newSpawner()
	defer sp.close()
	s := &supervisor{
		spec:    workerSpec{Rank: l.Rank, Size: l.Size, LocalRank: l.LocalRank, Dir: dir.path, Device: config.Device, Backend: config.Backend},
		spawner: sp,
		boot: func(incarnation int) (*os.File, error) {
			return relayBootstrap(p, joinHello{wireVersion, l.Rank, l.Size, incarnation})
		},
		emit: func(e event, payload []byte) {
			conn.SetWriteDeadline(time.Now().Add(linkTimeout))
			if out.Write(e, payload) != nil {
				conn.Close()
			}
		},
	}
	defer s.close()
	for {
		var c command
		payload, err := in.Read(&c)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, io.EOF):
			return errors.New("rank 0 is gone")
		case err != nil:
			return fmt.Errorf("the connection to rank 0: %w", err)
		case c.Quit:
			return nil
		}
		s.do(c, payload)
	}
}

// relayBootstrap connects a new worker with the hub beside rank 0 through this process.
func relayBootstrap(p *place, h joinHello) (*os.File, error) {
	ctx, cancel := context.WithTimeout(context.Background(), handshakeTimeout)
	defer cancel()
	hub, in, err := p.join(ctx, h)
	if err != nil {
		return nil, err
	}
	mine, theirs, err := socketPair()
	if err != nil {
		hub.Close()
		return nil, err
	}
	var once sync.Once
	end := func() { once.Do(func() { hub.Close(); mine.Close() }) }
	go func() { defer end(); io.Copy(hub, mine) }()
	go func() { defer end(); io.Copy(mine, in.Rest()) }()
	return theirs, nil
}
