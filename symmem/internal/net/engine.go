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

// Config is what an engine is opened with.
type Config struct {
	Rank, Size int
	Provider   string // "ucx" or "null"
	Dir        string // of the null network: where its files lie, a folder of the user's own that all ranks see
	Gate       uint64 // the secret by which ranks know each other when they connect; all of a world have the same
	Interface  string // the network interface that UCX uses, such as "lo"; empty to let it choose
	TLS        string // what UCX may use, such as "tcp,self" where hosts are simulated; empty to let it choose
	Signals    int    // words behind the board

	// CanRing says that kernels write to the board's bell when they find the engine asleep. For others the host announces what they post with
	// Expect, or keeps the engine awake with Hold.
	CanRing bool

	// Lost is told once in an epoch of each peer that is gone, on a goroutine of the engine's. It must not call Close.
	Lost func(peer int, why string)

	Copier unsafe.Pointer // a net_copier of C (proxy/copier.h) for the memory of a device; nil where the host reaches all
	Memory Memory         // what that memory is to the provider
}

// Memory says who brings bytes to the memory of a device and from there.
type Memory int

// The engine stages, by the copier; or the provider reads and writes the memory itself, which is the host's or that of CUDA.
const (
	Staged     Memory = proxy.Staged
	DirectHost Memory = proxy.DirectHost
	DirectCUDA Memory = proxy.DirectCUDA
)

// Engine carries the operations of one rank.
type Engine struct {
	config Config
	board  *abi.NetBoard
	bytes  int
	epoch  atomic.Uint32
	posts  sync.Mutex
	peers  [][]byte // addresses, changed with posts held
	news   *os.File
	told   sync.WaitGroup

	open  sync.RWMutex // held for writing by Close
	proxy *proxy.Proxy // nil after it
}

// Error says what failed at which rank.
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
	setup := proxy.Setup{Rank: c.Rank, Size: c.Size, Dir: c.Dir, Interface: c.Interface, TLS: c.TLS, Memory: int(c.Memory), Signals: c.Signals, Copier: c.Copier}
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

// checkPorts refuses a value of UCX_TCP_PORT_RANGE that UCX does not take, or takes for no ports: what UCX says of it does not name the variable.
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

// openLimit is how long a network may take to open.
const openLimit = 20 * time.Second

// openWithin opens a proxy. UCX looks without end for a port of UCX_TCP_PORT_RANGE where none is free: it is left to that, in a thread of its own, as nothing
// stops it.
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

// askForPorts names the variable that may leave UCX too few ports, which it does not say.
func askForPorts(setup proxy.Setup) string {
	ports := os.Getenv("UCX_TCP_PORT_RANGE")
	if ports == "" || setup.Library == "" {
		return ""
	}
	return fmt.Sprintf(": are ports of UCX_TCP_PORT_RANGE=%s free? Each rank of a machine needs one", ports)
}

// duplicate returns a file that the poller of the run-time watches.
func duplicate(fd int) (*os.File, error) {
	copied, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_DUPFD_CLOEXEC, 0)
	if errno != 0 {
		return nil, errno
	}
	return os.NewFile(copied, "network news"), nil
}

// tell tells Config.Lost until the engine closes.
func (e *Engine) tell() {
	for b := make([]byte, 8); ; {
		if _, err := e.news.Read(b); err != nil {
			return
		}
		for {
			peer, why := e.proxy.NextLost() // Close waits for this goroutine before it closes the proxy
			if peer < 0 {
				break
			}
			if e.config.Lost != nil {
				e.config.Lost(peer, why)
			}
		}
	}
}

// Close ends the engine: operations that are not over are dropped, and the board is unmapped. Kernels must not run any more.
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

// use calls f with the proxy, unless the engine is closed.
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

// Board is the memory that kernels share with the engine: its head, its address, which is that of a page, and its size with the
// signals. It stays until Close.
func (e *Engine) Board() (board *abi.NetBoard, addr uintptr, bytes int) {
	return e.board, uintptr(unsafe.Pointer(e.board)), e.bytes
}

// Signals are the words behind the board. Only the engine may write to them.
func (e *Engine) Signals() []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Add(unsafe.Pointer(e.board), unsafe.Sizeof(*e.board))), e.config.Signals)
}

// Address is where peers find this rank.
func (e *Engine) Address() []byte {
	var a []byte
	e.use("address", func(p *proxy.Proxy) error {
		a = append([]byte(e.config.Provider+":"), p.Address()...)
		return nil
	})
	return a
}

// Connect says where the peers are: what Address returned there. Ranks that are not named cannot be reached; the own rank always can.
//
// A new epoch drops all that is older: operations that are queued end without their counters, messages that are under way are not
// applied, no peer is lost any more, and the board is as new: posted, done, counters, signals and slots are 0, so a count of
// taken numbers in the memory of a device must be set to 0 as well, and no kernel that posts may run. Connections to peers whose address
// is the same stay. Connect with the present epoch names more peers, or replaces lost ones, and changes nothing else.
//
// All ranks give the same epoch, above 0, and the same secret. They must meet between Connect and the first operation: a message that arrives
// before its receiver knows the epoch is dropped.
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

// Window makes memory known to peers by an id, which is theirs too. The memory must stay until Forget.
func (e *Engine) Window(id uint32, base uintptr, bytes int) error {
	return e.use("window", func(p *proxy.Proxy) error {
		if err := p.Register(id, base, bytes); err != nil {
			return fmt.Errorf("%d: %w", id, err)
		}
		return nil
	})
}

// forgetting bounds how long Forget waits for messages that are landing.
const forgetting = 5 * time.Second

// Forget ends a window: no later message reaches it. Where one is landing, Forget waits for it. An error says that one did not end, and that
// the memory must not be freed.
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

// Expect announces so many operations of kernels that cannot ring: the engine looks for them without sleeping until it has them.
func (e *Engine) Expect(operations int) error {
	return e.use("expect", func(p *proxy.Proxy) error {
		p.Expect(operations)
		return nil
	})
}

// Hold keeps the engine awake until Release, for kernels that cannot ring and post what nobody announces: operations that say so. Calls nest.
func (e *Engine) Hold() error { return e.hold(1) }

// Release ends a Hold. Operations that were posted before are carried.
func (e *Engine) Release() error { return e.hold(-1) }

func (e *Engine) hold(more int) error {
	return e.use("hold", func(p *proxy.Proxy) error {
		p.Hold(more)
		return nil
	})
}

// Watch has a net_watcher of C (proxy/watcher.h) look at what the engine does to memory from now on, or with nil nobody.
func (e *Engine) Watch(watcher unsafe.Pointer) error {
	return e.use("watch", func(p *proxy.Proxy) error {
		p.Watch(watcher)
		return nil
	})
}

// Lose says that a peer is gone, as others may learn before the network does.
func (e *Engine) Lose(peer int, why string) error {
	return e.use("lose", func(p *proxy.Proxy) error {
		if peer < 0 || peer >= e.config.Size {
			return fmt.Errorf("rank %d of %d", peer, e.config.Size)
		}
		p.Lose(peer, why)
		return nil
	})
}

// A State is how a peer is.
type State int

// States of peers.
const (
	Unknown   State = proxy.Unknown   // not named by Connect
	Connected State = proxy.Connected // as far as is known
	Lost      State = proxy.Lost
)

func (s State) String() string { return [...]string{"unknown", "connected", "lost"}[s] }

// PeerState is what the engine knows of a peer. Counts are of the present epoch.
type PeerState struct {
	Rank                           int
	State                          State
	Why                            string // it is lost
	Address                        string
	BytesSent, BytesReceived       uint64
	MessagesSent, MessagesReceived uint64
	InFlight                       uint64 // messages to it that are not over
	Posted, Sent                   uint64 // operations to it that the engine has taken, and those that are over at this side
	Landed                         uint64 // numbered messages of it that are finished here: what its MessagesSent become
	Parked                         uint64 // signals of it that wait for earlier messages
	Dropped                        uint64 // operations to it that were dropped because it is gone
	Refused                        uint64 // messages of it that failed a check
	Numbered                       uint64 // of the last numbered message to it: all of them, once they are Landed there
	Missing                        uint64 // the first of its numbered messages that is not finished here, whether it was sent or not

	// What it said when it was asked last: see Ask.
	Told               uint64 // how often it has answered
	ItsPosted, ItsSent uint64 // its operations to this rank, as Posted and Sent there
	ItsMessages        uint64 // its numbered messages to this rank
}

// Peers says how all ranks are, the own one included.
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

// Peer says how one rank is. A closed engine knows nothing of it.
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

// Ask asks a peer what it has sent to this rank, and waits as long as ctx for the answer, which Peer has then. It asks again now and then, as a
// network may drop the question.
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

// askAfter is when Ask looks for the answer first; then it looks less and less often.
const askAfter = 200 * time.Microsecond

// readable is an address as text: the path of the null network; only UCX can read its own. proxy.c says what stands behind it.
func (e *Engine) readable(address []byte) string {
	address = address[:max(0, len(address)-(e.config.Size+7)/8)]
	if e.config.Provider != "null" {
		return fmt.Sprintf("%d bytes", len(address))
	}
	return string(address)
}

// Admit changes Config.Gate, before a peer learns it.
func (e *Engine) Admit(gate uint64) error {
	return e.use("admit", func(p *proxy.Proxy) error { p.Admit(gate); return nil })
}

// Refused counts by reason the messages that were dropped because they failed a check, and as strangers the connections that were turned away. Reasons without messages are left out.
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

// NullSettings are what the null network does to messages.
type NullSettings = null.Settings

// SetNull changes what happens to the messages that this rank sends from now on. Only the null network can.
func (e *Engine) SetNull(s NullSettings) error {
	return e.use("set null", func(p *proxy.Proxy) error {
		if e.config.Provider != "null" {
			return fmt.Errorf("the network is %s", e.config.Provider)
		}
		return null.Tune(p, s)
	})
}

// Post posts an operation as a kernel does, and returns its number, after the first Connect. It waits while the ring is full. Where kernels count in the memory of a
// device, and not in the board, they would take the same numbers: there the host must not post.
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

// tryPost takes a number if its slot is free: a number that is taken must be filled.
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
		p.Expect(1) // or those that Expect announced would not all be waited for
	}
	return number, true
}

// Wait waits until the operation with a number, and all before it, are over: done, or dropped.
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

// Flush waits until all operations that were posted through the board are over.
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

// waiting is a wait for memory that no one signals: it yields at first, then it sleeps, longer and longer.
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

// Facts is what a message to a peer would carry now, and Raw sends bytes as a message, whatever they are: tests of receivers need them.
func (e *Engine) Facts(peer int) (h proxy.Header) {
	e.use("facts", func(p *proxy.Proxy) error {
		h = p.Facts(peer)
		return nil
	})
	return h
}

// Raw sends bytes as a message.
func (e *Engine) Raw(peer int, header, data []byte) error {
	return e.use("raw", func(p *proxy.Proxy) error { return p.Raw(peer, header, data) })
}
