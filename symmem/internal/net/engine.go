package net

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/symmem/internal/net/null"
	"github.com/symmrepl/symmrepl/symmem/internal/net/proxy"
	"github.com/symmrepl/symmrepl/symmem/internal/net/ucx"
)

// Config is the configuration of an engine.
type Config struct {
	Rank, Size int
	Provider   string // "ucx" or "null"
	// for the null network: the folder of its files, which belongs to the user and is the same for
	// all ranks
	Dir string
	// the secret by which ranks recognise each other when they connect, the same on all ranks of a
	// world
	Gate      uint64
	Interface string // the network interface that UCX uses, such as "lo"; empty to let it choose
	// transports that UCX may use, such as "tcp,self" for simulated hosts; empty to let it choose
	TLS     string
	Signals int // number of signal words after the board

	// CanRing reports whether kernels write to the board's bell if they find the engine asleep. If
	// kernels cannot do that, the host announces their operations with Expect, or keeps the engine
	// awake with Hold.
	CanRing bool

	// Lost is called at most once per epoch for each peer that is lost, on a goroutine of the
	// engine. It must not call Close.
	Lost func(peer int, why string)

	// a net_copier of C (proxy/copier.h) for device memory; nil if the host can access all memory
	Copier unsafe.Pointer
	Memory Memory // how the provider treats that memory
}

// Memory is the way in which data gets to and from device memory.
type Memory int

// Either the engine stages data through the copier, or the provider accesses the memory itself, as
// host memory or as CUDA memory.
const (
	Staged     Memory = proxy.Staged
	DirectHost Memory = proxy.DirectHost
	DirectCUDA Memory = proxy.DirectCUDA
)

// Engine executes the operations of one rank.
type Engine struct {
	config Config
	board  *abi.NetBoard
	bytes  int
	epoch  atomic.Uint32
	posts  sync.Mutex
	peers  [][]byte // addresses, changed while posts is held
	news   *os.File
	told   sync.WaitGroup

	open  sync.RWMutex // held for writing by Close
	proxy *proxy.Proxy // nil after Close
}

// Error is the failure of an operation, with the rank and the reason.
type Error struct {
	Op   string // "open", "connect", "window", ...
	Rank int
	Why  string
}

func (e *Error) Error() string {
	return fmt.Sprintf("network of rank %d: %s: %s", e.Rank, e.Op, e.Why)
}

// Open starts the engine of a rank.
func Open(c Config) (*Engine, error) {
	fail := func(why string) (*Engine, error) { return nil, &Error{"open", c.Rank, why} }
	if c.Size < 1 || c.Size > abi.NetPeers || c.Rank < 0 || c.Rank >= c.Size {
		return fail(fmt.Sprintf("rank %d of %d; a network connects 1 to %d ranks", c.Rank, c.Size, abi.NetPeers))
	}
	if c.Signals < 0 {
		return fail(fmt.Sprintf("%d signals", c.Signals))
	}
	setup := proxy.Setup{Rank: c.Rank, Size: c.Size, Dir: c.Dir, Interface: c.Interface, TLS: c.TLS, Memory: int(c.Memory),
		Signals: c.Signals, Copier: c.Copier}
	switch c.Provider {
	case "null":
		setup.Transport = null.Transport()
	case "ucx":
		l, err := Available()
		if err != nil {
			return fail(err.Error())
		}
		setup.Transport, setup.Library = ucx.Transport(), l.Path
	default:
		return fail(fmt.Sprintf(`no provider is called %q: there are "ucx" and "null"`, c.Provider))
	}
	if err := checkPorts(os.Getenv("UCX_TCP_PORT_RANGE")); err != nil && c.Provider == "ucx" {
		return fail(err.Error())
	}
	p, err := openWithin(openLimit, setup)
	if err != nil {
		return fail(err.Error())
	}
	p.Admit(c.Gate)
	news, err := duplicate(p.News())
	if err != nil {
		p.Close()
		return fail("no descriptor is left: " + err.Error())
	}
	board, bytes := p.Board()
	e := &Engine{config: c, board: (*abi.NetBoard)(board), bytes: bytes, news: news, proxy: p}
	if !c.CanRing {
		e.board.Bell = ^uint32(0) // no descriptor
	}
	e.told.Go(e.tell)
	return e, nil
}

// checkPorts rejects a value of UCX_TCP_PORT_RANGE that UCX rejects or that yields no ports,
// because UCX's own message does not name the variable.
func checkPorts(ports string) error {
	if ports == "" || ports == "0" {
		return nil
	}
	low, high, _ := strings.Cut(ports, "-")
	if high == "" {
		high = low
	}
	first, err := strconv.ParseUint(low, 10, 16)
	last, failed := strconv.ParseUint(high, 10, 16)
	if err != nil || failed != nil || first == 0 || first > last {
		return fmt.Errorf("UCX_TCP_PORT_RANGE=%s is no range of ports: it is to be as 31000-31255, with a port for each rank of a machine", ports)
	}
	return nil
}

// openLimit bounds the time for opening a network.
const openLimit = 20 * time.Second

// openWithin opens a proxy. If no port of UCX_TCP_PORT_RANGE is free, UCX searches for ever; its
// thread is then left running, because nothing can stop it.
func openWithin(limit time.Duration, setup proxy.Setup) (*proxy.Proxy, error) {
	type opened struct {
		p   *proxy.Proxy
		err error
	}
	done := make(chan opened, 1)
	go func() {
		p, err := proxy.Open(setup)
		done <- opened{p, err}
	}()
	select {
	case o := <-done:
		if o.err != nil {
			return nil, errors.New(o.err.Error() + askForPorts(setup))
		}
		return o.p, nil
	case <-time.After(limit):
	}
	return nil, errors.New(fmt.Sprintf("it does not open in %v", limit) + askForPorts(setup))
}

// askForPorts names the variable that may leave UCX with too few ports, because UCX does not say
// so.
func askForPorts(setup proxy.Setup) string {
	ports := os.Getenv("UCX_TCP_PORT_RANGE")
	if ports == "" || setup.Library == "" {
		return ""
	}
	return fmt.Sprintf(": are ports of UCX_TCP_PORT_RANGE=%s free? Each rank of a machine needs one", ports)
}

// duplicate returns a file for a descriptor that Go's network poller watches.
func duplicate(fd int) (*os.File, error) {
	copied, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_DUPFD_CLOEXEC, 0)
	if errno != 0 {
		return nil, errno
	}
	return os.NewFile(copied, "network news"), nil
}

// tell calls Config.Lost for lost peers until the engine closes.
func (e *Engine) tell() {
	for b := make([]byte, 8); ; {
		if _, err := e.news.Read(b); err != nil {
			return
		}
		for {
			// safe: Close waits for this goroutine before it closes the proxy
			peer, why := e.proxy.NextLost()
			if peer < 0 {
				break
			}
			if e.config.Lost != nil {
				e.config.Lost(peer, why)
			}
		}
	}
}

// Close closes the engine: unfinished operations are dropped, and the board is unmapped. No kernel
// that uses the board may be running.
func (e *Engine) Close() {
	e.news.Close()
	e.told.Wait()
	e.open.Lock()
	defer e.open.Unlock()
	if e.proxy != nil {
		e.proxy.Close()
		e.proxy = nil
	}
}

// use calls f with the proxy. It returns an error if the engine is closed.
func (e *Engine) use(op string, f func(p *proxy.Proxy) error) error {
	e.open.RLock()
	defer e.open.RUnlock()
	if e.proxy == nil {
		return &Error{op, e.config.Rank, "the network is closed"}
	}
	if err := f(e.proxy); err != nil {
		return &Error{op, e.config.Rank, err.Error()}
	}
	return nil
}

// Board returns the memory that kernels share with the engine: its head, its address, which is
// aligned to a page, and its size including the signals. It is valid until Close.
func (e *Engine) Board() (board *abi.NetBoard, addr uintptr, bytes int) {
	return e.board, uintptr(unsafe.Pointer(e.board)), e.bytes
}

// Signals returns the words after the board. Only the engine may write to them.
func (e *Engine) Signals() []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Add(unsafe.Pointer(e.board), unsafe.Sizeof(*e.board))), e.config.Signals)
}

// Address returns the address by which peers find this rank.
func (e *Engine) Address() []byte {
	var a []byte
	e.use("address", func(p *proxy.Proxy) error {
		a = append([]byte(e.config.Provider+":"), p.Address()...)
		return nil
	})
	return a
}

// Connect sets the addresses of the peers, which Address returned there. Ranks without an address
// cannot be reached; this rank itself always can.
//
// A new epoch drops everything older: queued operations end without counting, messages in flight
// are not applied, no peer is lost any more, and the board is reset. Its words posted and done,
// counters, signals and slots become 0, so a count of taken numbers in device memory must also be
// set to 0, and no kernel that posts may be running. Connections to peers with unchanged addresses
// remain. With the present epoch, Connect adds peers or replaces lost ones, and changes nothing
// else.
//
// All ranks pass the same epoch, which is above 0, and the same secret. A barrier of all ranks must
// separate Connect and the first operation, because a message that arrives before its receiver
// knows the epoch is dropped.
func (e *Engine) Connect(epoch uint32, secret uint64, peers map[int][]byte) error {
	return e.use("connect", func(p *proxy.Proxy) error {
		if epoch == 0 {
			return fmt.Errorf("epochs begin with 1")
		}
		addresses := make([][]byte, e.config.Size)
		prefix := e.config.Provider + ":"
		for rank, a := range peers {
			if rank < 0 || rank >= len(addresses) {
				return fmt.Errorf("rank %d of %d", rank, len(addresses))
			}
			if rank == e.config.Rank {
				continue
			}
			if len(a) <= len(prefix) || string(a[:len(prefix)]) != prefix {
				return fmt.Errorf("the address of rank %d is not of provider %s: all ranks must use one provider", rank, e.config.Provider)
			}
			addresses[rank] = a[len(prefix):]
		}
		e.posts.Lock()
		defer e.posts.Unlock()
		e.epoch.Store(epoch)
		e.peers = addresses
		return p.Connect(epoch, secret, addresses)
	})
}

// Window registers memory for access by peers, under an id that all ranks share. The memory must
// exist until Forget.
func (e *Engine) Window(id uint32, base uintptr, bytes int) error {
	return e.use("window", func(p *proxy.Proxy) error {
		if err := p.Register(id, base, bytes); err != nil {
			return fmt.Errorf("%d: %w", id, err)
		}
		return nil
	})
}

// forgetting bounds the time for which Forget waits for messages that are being received.
const forgetting = 5 * time.Second

// Forget unregisters a window: no later message accesses it. Forget waits for messages that are
// accessing it. If one does not end, Forget returns an error, and the memory must not be freed.
func (e *Engine) Forget(id uint32) error {
	return e.use("forget window", func(p *proxy.Proxy) error {
		for end := time.Now().Add(forgetting); ; time.Sleep(time.Millisecond) {
			n := p.Forget(id)
			if n == 0 {
				return nil
			}
			if time.Now().After(end) {
				return fmt.Errorf("%d messages use window %d and do not end: do not free its memory; connect again", n, id)
			}
		}
	})
}

// Expect announces a number of operations of kernels that cannot ring: the engine does not sleep
// until it has taken them.
func (e *Engine) Expect(operations int) error {
	return e.use("expect", func(p *proxy.Proxy) error {
		p.Expect(operations)
		return nil
	})
}

// Hold keeps the engine awake until Release, for kernels that cannot ring and post operations that
// are not announced. Calls nest.
func (e *Engine) Hold() error { return e.hold(1) }

// Release ends a Hold. Operations that were posted before are still executed.
func (e *Engine) Release() error { return e.hold(-1) }

func (e *Engine) hold(more int) error {
	return e.use("hold", func(p *proxy.Proxy) error {
		p.Hold(more)
		return nil
	})
}

// Watch makes a net_watcher of C (proxy/watcher.h) observe the engine's memory accesses from now
// on; nil ends that.
func (e *Engine) Watch(watcher unsafe.Pointer) error {
	return e.use("watch", func(p *proxy.Proxy) error {
		p.Watch(watcher)
		return nil
	})
}

// Lose marks a peer as lost. Others may learn of a loss before the network does.
func (e *Engine) Lose(peer int, why string) error {
	return e.use("lose", func(p *proxy.Proxy) error {
		if peer < 0 || peer >= e.config.Size {
			return fmt.Errorf("rank %d of %d", peer, e.config.Size)
		}
		p.Lose(peer, why)
		return nil
	})
}

// A State is the state of a peer.
type State int

// States of peers.
const (
	Unknown   State = proxy.Unknown   // not named by Connect
	Connected State = proxy.Connected // as far as the engine knows
	Lost      State = proxy.Lost
)

func (s State) String() string { return [...]string{"unknown", "connected", "lost"}[s] }

// PeerState is the engine's state of a peer. Counts are for the present epoch.
type PeerState struct {
	Rank                           int
	State                          State
	Why                            string // why it is lost
	Address                        string
	BytesSent, BytesReceived       uint64
	MessagesSent, MessagesReceived uint64
	InFlight                       uint64 // unfinished messages to it
	// operations to it that the engine has taken, and those finished on this side
	Posted, Sent uint64
	// its numbered messages that are finished here: the peer counts them in MessagesSent
	Landed  uint64
	Parked  uint64 // its signals that wait for earlier messages
	Dropped uint64 // operations to it that were dropped because it is lost
	Refused uint64 // its messages that failed a check
	// number of the last numbered message to it; Landed at the peer reaches this number
	Numbered uint64
	// the first of its numbered messages that is not finished here, whether it was sent or not
	Missing uint64

	// Its last answer to Ask.
	Told               uint64 // number of its answers
	ItsPosted, ItsSent uint64 // its operations to this rank: Posted and Sent at the peer
	ItsMessages        uint64 // its numbered messages to this rank
}

// Peers returns the states of all ranks, including this one.
func (e *Engine) Peers() []PeerState {
	var list []PeerState
	e.use("peers", func(p *proxy.Proxy) error {
		for r := range e.config.Size {
			list = append(list, e.peer(p, r))
		}
		return nil
	})
	return list
}

// Peer returns the state of one rank. After Close, the state is empty.
func (e *Engine) Peer(rank int) (state PeerState) {
	e.use("peer", func(p *proxy.Proxy) error {
		if rank >= 0 && rank < e.config.Size {
			state = e.peer(p, rank)
		}
		return nil
	})
	return state
}

func (e *Engine) peer(p *proxy.Proxy, rank int) PeerState {
	s := p.Peer(rank)
	state := PeerState{
		Rank: rank, State: State(s.State), Why: s.Why,
		BytesSent: s.BytesSent, BytesReceived: s.BytesReceived, MessagesSent: s.MessagesSent, MessagesReceived: s.MessagesReceived,
		InFlight: s.InFlight, Posted: s.Posted, Sent: s.Sent, Landed: s.Landed, Parked: s.Parked, Dropped: s.Dropped, Refused: s.Refused,
		Missing: s.Missing, Numbered: s.Number, Told: s.Told, ItsPosted: s.ItsPosted, ItsSent: s.ItsSent, ItsMessages: s.ItsNumber,
	}
	e.posts.Lock()
	defer e.posts.Unlock()
	if len(e.peers) > rank && len(e.peers[rank]) > 0 {
		state.Address = e.readable(e.peers[rank])
	}
	return state
}

// Ask asks a peer what it has sent to this rank, and waits for the answer until ctx ends; Peer then
// returns the answer. Ask repeats the question now and then, because a network may drop it.
func (e *Engine) Ask(ctx context.Context, peer int) error {
	return e.use("ask", func(p *proxy.Proxy) error {
		if peer < 0 || peer >= e.config.Size {
			return fmt.Errorf("rank %d of %d", peer, e.config.Size)
		}
		before := p.Peer(peer).Told
		for pause := askAfter; ; pause *= 2 {
			p.Ask(peer)
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(pause):
			}
			if p.Peer(peer).Told != before {
				return nil
			}
		}
	})
}

// askAfter is the time after which Ask first checks for the answer; after that, the intervals grow.
const askAfter = 200 * time.Microsecond

// readable returns an address as text: for the null network its path; only UCX can interpret a UCX
// address. The address ends with bytes that thread.c describes.
func (e *Engine) readable(address []byte) string {
	address = address[:max(0, len(address)-(e.config.Size+7)/8)]
	if e.config.Provider != "null" {
		return fmt.Sprintf("%d bytes", len(address))
	}
	return string(address)
}

// Admit changes Config.Gate. It must be called before any peer knows this rank's address.
func (e *Engine) Admit(gate uint64) error {
	return e.use("admit", func(p *proxy.Proxy) error { p.Admit(gate); return nil })
}

// Refused returns the numbers of messages that were dropped because they failed a check, by reason,
// and as "stranger" the number of connections that were refused. It omits reasons without messages.
func (e *Engine) Refused() map[string]uint64 {
	counts := map[string]uint64{}
	e.use("refused", func(p *proxy.Proxy) error {
		for i, n := range p.Refused() {
			if n > 0 {
				counts[proxy.Reasons[i]] = n
			}
		}
		return nil
	})
	return counts
}

// NullSettings set the null network's delays and losses of messages.
type NullSettings = null.Settings

// SetNull changes the settings for messages that this rank sends from now on. Only the null network
// supports it.
func (e *Engine) SetNull(s NullSettings) error {
	return e.use("set null", func(p *proxy.Proxy) error {
		if e.config.Provider != "null" {
			return fmt.Errorf("the network is %s", e.config.Provider)
		}
		return null.Tune(p, s)
	})
}

// Post posts an operation as a kernel does, and returns its number, after the first Connect. It
// waits while the ring is full. Where kernels count in the memory of a device, and not in the
// board, they would take the same numbers: there the host must not post.
func (e *Engine) Post(ctx context.Context, op abi.NetOp) (number uint64, err error) {
	for w := (waiting{}); ; {
		var posted bool
		err := e.use("post", func(p *proxy.Proxy) error {
			if e.epoch.Load() == 0 {
				return fmt.Errorf("connect first")
			}
			number, posted = e.tryPost(p, op)
			return nil
		})
		if err != nil || posted {
			return number, err
		}
		if err := w.pause(ctx); err != nil {
			return 0, err
		}
	}
}

// tryPost takes a number if its slot is free. A taken number must be filled.
func (e *Engine) tryPost(p *proxy.Proxy, op abi.NetOp) (number uint64, ok bool) {
	e.posts.Lock()
	defer e.posts.Unlock()
	for {
		number = atomic.LoadUint64(&e.board.Posted)
		if number-atomic.LoadUint64(&e.board.Done) >= abi.NetSlots {
			return 0, false
		}
		if atomic.CompareAndSwapUint64(&e.board.Posted, number, number+1) {
			break
		}
	}
	slot := &e.board.Slots[number%abi.NetSlots]
	op.Ready = atomic.LoadUint64(&slot.Ready)
	*slot = op
	atomic.StoreUint64(&slot.Ready, number+1)
	if atomic.LoadUint32(&e.board.Asleep) != 0 {
		p.Ring()
	}
	if !e.config.CanRing {
		p.Expect(1) // so that the operations announced by Expect are still all waited for
	}
	return number, true
}

// Wait waits until the operation with a number and all before it are over: done or dropped.
func (e *Engine) Wait(ctx context.Context, number uint64) error {
	epoch := e.epoch.Load()
	for w := (waiting{}); ; {
		var over bool
		err := e.use("wait", func(*proxy.Proxy) error {
			over = atomic.LoadUint64(&e.board.Done) > number
			if e.epoch.Load() != epoch {
				return fmt.Errorf("operation %d was dropped: the network has connected again", number)
			}
			return nil
		})
		if err != nil || over {
			return err
		}
		if err := w.pause(ctx); err != nil {
			return err
		}
	}
}

// Flush waits until all operations posted through the board are over.
func (e *Engine) Flush(ctx context.Context) error {
	var posted uint64
	if err := e.use("flush", func(*proxy.Proxy) error {
		posted = atomic.LoadUint64(&e.board.Posted)
		return nil
	}); err != nil || posted == 0 {
		return err
	}
	return e.Wait(ctx, posted-1)
}

// waiting polls memory that nobody signals: at first it yields, then it sleeps for longer and
// longer times.
type waiting struct {
	rounds int
	sleep  time.Duration
}

func (w *waiting) pause(ctx context.Context) error {
	if w.rounds++; w.rounds < 200 {
		runtime.Gosched()
		return ctx.Err()
	}
	w.sleep = min(w.sleep+10*time.Microsecond, time.Millisecond)
	time.Sleep(w.sleep)
	return ctx.Err()
}

// Facts returns a header with the values that a message to a peer would have now. Tests of
// receivers use it with Raw.
func (e *Engine) Facts(peer int) (h proxy.Header) {
	e.use("facts", func(p *proxy.Proxy) error {
		h = p.Facts(peer)
		return nil
	})
	return h
}

// Raw sends arbitrary bytes as a message.
func (e *Engine) Raw(peer int, header, data []byte) error {
	return e.use("raw", func(p *proxy.Proxy) error { return p.Raw(peer, header, data) })
}
