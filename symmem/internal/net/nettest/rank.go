package nettest

import (
	"context"
	"encoding/gob"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/symmem/internal/net"
)

// Rank is one process of a scenario.
type Rank struct {
	plan
	from *gob.Decoder
	to   *gob.Encoder

	*net.Engine
	Memory []byte // of the window with the id windowID

	mutex sync.Mutex
	lost  map[int]time.Time
	why   map[int]string
}

const (
	windowID    = 7
	windowBytes = 24 << 20
	signals     = 64
	secret      = 0x5ec4e7
)

type failure string

// Failf ends the rank's scenario.
func (r *Rank) Failf(format string, args ...any) {
	_, file, line, _ := runtime.Caller(1)
	panic(failure(fmt.Sprintf("%s:%d: %s", file, line, fmt.Sprintf(format, args...))))
}

func (r *Rank) check(err error) {
	if err != nil {
		_, file, line, _ := runtime.Caller(1)
		panic(failure(fmt.Sprintf("%s:%d: %v", file, line, err)))
	}
}

// Gather returns the values of all ranks; nil for lost ranks.
func (r *Rank) Gather(mine []byte) [][]byte {
	var all [][]byte
	if mine == nil {
		mine = []byte{}
	}
	r.check(r.to.Encode(request{Kind: "gather", Data: mine}))
	r.check(r.from.Decode(&all))
	return all
}

// Meet waits for all ranks.
func (r *Rank) Meet() { r.Gather(nil) }

// Die asks the controller for SIGKILL, and waits for it.
func (r *Rank) Die() {
	r.check(r.to.Encode(request{Kind: "kill"}))
	select {}
}

// config returns the configuration of the rank's engine.
func (r *Rank) config() net.Config {
	r.lost, r.why = map[int]time.Time{}, map[int]string{}
	return net.Config{
		Rank: r.plan.Rank, Size: r.Size, Provider: r.Provider, Dir: r.Dir, Interface: r.Interface, TLS: r.TLS, Gate: secret + 1,
		Signals: signals, CanRing: true,
		Lost: func(peer int, why string) {
			r.mutex.Lock()
			defer r.mutex.Unlock()
			if _, twice := r.lost[peer]; twice {
				why = "told twice: " + why
			}
			r.lost[peer], r.why[peer] = time.Now(), why
		},
	}
}

// open opens the engine and connects it with those of all ranks in epoch 1.
func (r *Rank) open() { r.openWith(r.config()) }

func (r *Rank) openWith(c net.Config) {
	var err error
	r.Engine, err = net.Open(c)
	r.check(err)
	if c.Provider == "null" {
		r.check(r.SetNull(r.Null))
	}
	if r.Memory == nil {
		r.Memory = r.alloc(windowBytes)
	}
	r.check(r.Window(windowID, base(r.Memory), len(r.Memory)))
	r.connect(1)
}

// connect gathers addresses, connects, and meets.
func (r *Rank) connect(epoch uint32) {
	r.connectAlone(epoch)
	r.Meet()
}

func (r *Rank) connectAlone(epoch uint32) {
	peers := map[int][]byte{}
	for rank, a := range r.Gather(r.Address()) {
		if a != nil {
			peers[rank] = a
		}
	}
	r.check(r.Connect(epoch, secret, peers))
}

// alloc returns memory outside Go's heap.
func (r *Rank) alloc(n int) []byte {
	m, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	r.check(err)
	return m
}

func base(m []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(m))) }

func local(m []byte) abi.Ptr { return abi.Ptr(base(m)) }

func (r *Rank) post(op abi.NetOp) uint64 {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	n, err := r.Post(ctx, op)
	r.check(err)
	return n
}

// put posts a put of m to the same offset of a peer's window.
func (r *Rank) put(peer int, m []byte, offset int) {
	r.post(abi.NetOp{Kind: abi.NetPut, Peer: uint32(peer), Local: local(m), Bytes: uint64(len(m)), Offset: uint64(offset),
		Window: windowID, Counter: abi.NetNoCounter})
}

// signal posts an addition of 1 to a word of a peer's board.
func (r *Rank) signal(peer, word int, strong uint32) {
	r.post(abi.NetOp{Kind: abi.NetPut, Peer: uint32(peer), Counter: abi.NetNoCounter, Signal: abi.NetAddIndexed,
		SignalAt: uint64(word), Value: 1, Strong: strong})
}

func (r *Rank) flush() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := r.Flush(ctx); err != nil {
		r.Failf("flush: %v; %+v", err, r.Peers())
	}
}

// fence waits until all earlier operations are complete at a peer, or at all peers.
func (r *Rank) fence(peer uint32) {
	r.post(abi.NetOp{Kind: abi.NetFence, Peer: peer, Counter: abi.NetNoCounter})
	r.flush()
}

// await waits for a word of this rank's board.
func (r *Rank) await(word int, least uint64) {
	at := &r.Signals()[word]
	end := time.Now().Add(20 * time.Second)
	for i := 0; atomic.LoadUint64(at) < least; i++ {
		if i < 50 {
			runtime.Gosched()
			continue
		}
		time.Sleep(20 * time.Microsecond) // others need the processor
		if time.Now().After(end) {
			r.Failf("signal %d is %d, and should become %d: %+v, refused %v", word, *at, least, r.Peers(), r.Refused())
		}
	}
}

// awaitLost waits until a peer is lost, and returns when that was reported.
func (r *Rank) awaitLost(peer int) time.Time {
	board, _, _ := r.Board()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Microsecond) {
		r.mutex.Lock()
		at, told := r.lost[peer]
		r.mutex.Unlock()
		if told && atomic.LoadUint32(&board.Lost[peer/32])&(1<<(peer%32)) != 0 {
			return at
		}
		if time.Now().After(end) {
			r.Failf("nobody says that rank %d is lost: %+v", peer, r.Peers())
		}
	}
}

// fill writes bytes that depend on place and seed.
func fill(m []byte, seed int) {
	for i := range m {
		m[i] = byte(i*31 + i>>8*7 + i>>16 + seed)
	}
}
