//go:build linux && (amd64 || arm64)

package cpu

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/kernels/net"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// network simulates the network engines of several ranks, which are streams of one device.
// Operations wait until they are released.
type network struct {
	*bench
	ranks    []*netRank
	channels int
	blocks   []device.Ptr  // signal blocks
	queue    [][]abi.NetOp // taken, not executed yet
	paused   atomic.Bool
	bells    atomic.Int64
	stop     chan struct{}
	over     sync.WaitGroup
}

type netRank struct {
	stream device.Stream
	board  *abi.NetBoard
	words  []uint64
	window []byte
	bell   int
	taken  uint64 // slots
	args   net.NetSignalArgs
}

const netWindow = 1

// newNetwork makes hosts*each ranks of one group; the words of a rank begin at 10*(rank+1).
func newNetwork(b *bench, hosts, each, channels int) *network {
	size := hosts * each
	n := &network{bench: b, channels: channels, blocks: make([]device.Ptr, size), stop: make(chan struct{})}
	perRank := net.Words * channels * size
	for r := range size {
		s, err := b.NewStream()
		if err != nil {
			b.Fatal(err)
		}
		bytes := int(unsafe.Sizeof(abi.NetBoard{}))
		words := 10*(r+1) + perRank
		p := b.alloc(bytes + 8*words)
		bell, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { unix.Close(bell) })
		k := &netRank{stream: s, board: (*abi.NetBoard)(at(p)), words: unsafe.Slice((*uint64)(at(p+device.Ptr(bytes))), words), bell: bell}
		k.board.Bell = uint32(bell)
		k.window = unsafe.Slice((*byte)(at(b.alloc(4096))), 4096)
		n.blocks[r] = b.alloc(4 * (channels*(2*size+1) + 1))
		k.args.Context = abi.Context{Watch: abi.Ptr(unsafe.Pointer(b.Watch())), Rank: int32(r), WorldSize: int32(size),
			Channels: uint32(channels), Ordinal: uint32(100 + r)}
		k.args.Group.Port = abi.NetPort{Board: p, Posted: p, Signals: p + device.Ptr(bytes)}
		k.args.Group.Counts = b.alloc(8 * perRank)
		k.args.Group.Members = b.alloc(size * int(unsafe.Sizeof(abi.NetMember{})))
		k.args.Group.Partners = b.alloc(4 * hosts)
		n.ranks = append(n.ranks, k)
	}
	for r, k := range n.ranks {
		members := unsafe.Slice((*abi.NetMember)(at(k.args.Group.Members)), size)
		for p := range size {
			members[p] = abi.NetMember{Rank: uint32(p), Words: uint32(10 * (p + 1))}
			if p/each == r/each {
				members[p].Block = n.blocks[p]
			}
		}
	}
	for h := range hosts {
		for g := range hosts {
			if g != h {
				n.ranks[h*each+g%each].meets(uint32(g*each + h%each))
			}
		}
	}
	n.queue = make([][]abi.NetOp, size)
	n.over.Go(n.carry)
	b.Cleanup(func() { close(n.stop); n.over.Wait() })
	return n
}

// meets adds a partner of the rank in barriers.
func (k *netRank) meets(partner uint32) {
	g := &k.args.Group
	*(*uint32)(at(g.Partners + device.Ptr(4*g.PartnerCount))) = partner
	g.PartnerCount++
}

func at(p device.Ptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }

// carry takes and executes operations until the network is stopped.
func (n *network) carry() {
	for {
		select {
		case <-n.stop:
			return
		default:
		}
		for r, k := range n.ranks {
			atomic.StoreUint32(&k.board.Asleep, 1)
			var rung [8]byte
			if m, _ := unix.Read(k.bell, rung[:]); m == 8 {
				n.bells.Add(int64(binary.NativeEndian.Uint64(rung[:])))
			}
			s := &k.board.Slots[k.taken%abi.NetSlots]
			if atomic.LoadUint64(&s.Ready) == k.taken+1 {
				n.queue[r] = append(n.queue[r], *s)
				k.taken++
			}
			if len(n.queue[r]) > 0 && !n.paused.Load() {
				n.apply(k, n.queue[r][0])
				n.queue[r] = n.queue[r][1:]
			}
		}
		time.Sleep(10 * time.Microsecond)
	}
}

func (k *netRank) lost(peer uint32) bool {
	return atomic.LoadUint32(&k.board.Lost[peer/32])>>(peer%32)&1 != 0
}

func (n *network) apply(k *netRank, op abi.NetOp) {
	whole := true
	switch {
	case op.Kind == abi.NetFence: // everything is applied in order
		for p := range n.ranks {
			whole = whole && !k.lost(uint32(p))
		}
	case k.lost(op.Peer):
		whole = false
	default:
		peer := n.ranks[op.Peer]
		here, there := unsafe.Slice((*byte)(at(op.Local)), op.Bytes), peer.window[op.Offset:]
		if op.Bytes > 0 && op.Window != netWindow {
			n.Errorf("window %d", op.Window)
		}
		if op.Kind == abi.NetGet {
			copy(here, there)
		} else {
			copy(there, here)
		}
		if op.Signal == abi.NetAddIndexed {
			atomic.AddUint64(&peer.words[op.SignalAt], op.Value)
		}
	}
	if whole && op.Counter != abi.NetNoCounter {
		atomic.AddUint64(&k.board.Counters[op.Counter], 1)
	}
	atomic.AddUint64(&k.board.Done, 1)
}

// start queues a kernel on a rank's stream.
func (n *network) start(rank int, kernel string, threads int, args []byte) {
	n.Helper()
	k, err := n.Builtin(kernel, 0)
	if err != nil {
		n.Fatal(err)
	}
	if err := n.ranks[rank].stream.Launch(k, device.Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{threads, 1, 1}, Args: args}); err != nil {
		n.Fatal(err)
	}
}

func (n *network) signal(kernel string, rank, peer, channel int) {
	n.Helper()
	a := n.ranks[rank].args
	a.Peer, a.Channel = uint32(peer), uint32(channel)
	n.start(rank, kernel, 1, bytesOf([]net.NetSignalArgs{a}))
}

func (n *network) post(kernel string, rank int, op abi.NetOp) {
	n.Helper()
	a := n.ranks[rank].args
	n.start(rank, kernel, 1, bytesOf([]net.NetPostArgs{{Context: a.Context, Port: a.Group.Port, Op: op, Member: uint64(op.Peer)}}))
}

func (n *network) wait(rank int) {
	n.Helper()
	if err := n.ranks[rank].stream.Synchronize(); err != nil {
		n.Fatal(err)
	}
}

// busy checks that a rank's stream is still busy a while later.
func (n *network) busy(rank int, why string) {
	n.Helper()
	time.Sleep(5 * time.Millisecond)
	if idle, err := n.ranks[rank].stream.Idle(); idle || err != nil {
		n.Errorf("rank %d does not wait (%v): %s", rank, err, why)
	}
}

// until waits for what a kernel or the engine does soon.
func (n *network) until(what string, is func() bool) {
	n.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			n.Fatalf("waited in vain: %s", what)
		}
	}
}

// fault checks and clears the record of a wait that gave up.
func (n *network) fault(want device.WaitRecord) {
	n.Helper()
	f := &n.Watch().Fault
	got := *f
	got.Elapsed, got.Began = 0, 0
	if got != want {
		n.Errorf("the fault is %+v, want %+v", got, want)
	}
	*f = device.WaitRecord{}
}

func TestNetPost(t *testing.T) {
	n := newNetwork(open(t), 2, 1, 1)
	src := upload(n.bench, []byte("from here"))
	n.sync()
	n.until("the engine is asleep", func() bool { return atomic.LoadUint32(&n.ranks[0].board.Asleep) != 0 })
	n.post("net_post", 0, abi.NetOp{Kind: abi.NetPut, Peer: 1, Local: src, Offset: 100, Bytes: 9, Window: netWindow, Counter: 7,
		Signal: abi.NetAddIndexed, SignalAt: 3, Value: 5})
	n.wait(0)
	n.until("the put is done", func() bool { return atomic.LoadUint64(&n.ranks[0].board.Done) == 1 })
	if got := string(n.ranks[1].window[99:110]); got != "\x00from here\x00" || n.ranks[1].words[3] != 5 {
		t.Errorf("rank 1 has %q and word %d", got, n.ranks[1].words[3])
	}
	if s := &n.ranks[0].board.Slots[0]; s.Counter != abi.NetNoCounter || s.Ordinal != 100 {
		t.Errorf("the slot is %+v", s)
	}
	for n.bells.Load() == 0 { // the kernel rings before it ends
		time.Sleep(time.Millisecond)
	}
	dst := n.alloc(16)
	n.paused.Store(true)
	n.post("net_copy", 0, abi.NetOp{Kind: abi.NetGet, Peer: 1, Local: dst, Offset: 105, Bytes: 4, Window: netWindow})
	n.busy(0, "the data is not here")
	n.paused.Store(false)
	n.wait(0)
	if got := string(download[byte](n.bench, dst, 5)); got != "here\x00" {
		t.Errorf("got %q", got)
	}
}

// A thread that finds no free slot waits, and if it gives up, it has not taken a number.
func TestNetRing(t *testing.T) {
	n := newNetwork(open(t), 2, 1, 1)
	n.paused.Store(true)
	op := abi.NetOp{Kind: abi.NetPut, Peer: 1, Signal: abi.NetAddIndexed, SignalAt: 1, Value: 1}
	for range abi.NetSlots {
		n.post("net_post", 0, op)
	}
	n.wait(0)
	n.ranks[0].args.Context.TimeoutNs = uint64(20 * time.Millisecond)
	n.post("net_post", 0, op)
	n.wait(0)
	n.fault(device.WaitRecord{State: device.WaitTimeout, Kind: device.WaitNetFlush, Ordinal: 100, Rank: 0, Peer: 1, Want: 1})
	n.ranks[0].args.Context.TimeoutNs = 0
	n.post("net_post", 0, op)
	n.busy(0, "no slot is free")
	n.paused.Store(false)
	n.wait(0)
	for atomic.LoadUint64(&n.ranks[0].board.Done) != abi.NetSlots+1 {
		time.Sleep(time.Millisecond)
	}
	if got := n.ranks[1].words[1]; got != abi.NetSlots+1 {
		t.Errorf("%d additions arrived", got)
	}
	n.fault(device.WaitRecord{})
}

// Many threads of many blocks take each number exactly once.
func TestNetPostTogether(t *testing.T) {
	n := newNetwork(open(t), 2, 1, 1)
	k := n.compile(`#include "symm/net.cuh"
__global__ void together(symm::NetPort port, symm::Watch* watch) {
  symm::Context c = {};
  c.watch = watch;
  symm::NetOp op = {};
  op.kind = symm::kNetPut, op.peer = 1, op.signal = symm::kNetAddIndexed, op.signal_at = 2;
  op.value = blockIdx.x * blockDim.x + threadIdx.x;
  symm::post(port, c, 1, op, nullptr);
}`)["together"]
	port := n.ranks[0].args.Group.Port
	n.launch(k, 8, 128, [3]uint64{uint64(port.Board), uint64(port.Posted), uint64(port.Signals)}, n.ranks[0].args.Context.Watch)
	n.sync()
	for atomic.LoadUint64(&n.ranks[0].board.Done) != 1024 {
		time.Sleep(time.Millisecond)
	}
	if got := n.ranks[1].words[2]; got != 1024*1023/2 {
		t.Errorf("the sum is %d", got)
	}
}

func TestNetSignals(t *testing.T) {
	n := newNetwork(open(t), 2, 1, 2)
	n.signal("net_wait_signal", 1, 0, 1)
	n.busy(1, "no signal was put")
	n.signal("net_put_signal", 0, 1, 0)
	n.wait(0)
	n.busy(1, "the signal is of another channel")
	n.signal("net_put_signal", 0, 1, 1)
	n.wait(0)
	n.wait(1)
	n.signal("net_put_signal", 0, 1, 0)
	n.busy(0, "the signal before was not consumed")
	n.signal("net_wait_signal", 1, 0, 0)
	n.wait(0)
	n.wait(1)
	for range 300 { // in both directions, for more operations than the ring has slots
		n.signal("net_wait_signal", 1, 0, 0)
		n.signal("net_put_signal", 1, 0, 0)
		n.signal("net_put_signal", 0, 1, 0)
		n.signal("net_wait_signal", 0, 1, 0)
	}
	n.wait(0)
	n.wait(1)
	n.fault(device.WaitRecord{})
	n.signal("net_put_signal", 0, 1, 0) // one is under way from above
	n.ranks[1].args.Context.TimeoutNs = uint64(20 * time.Millisecond)
	n.signal("net_wait_signal", 1, 0, 1)
	n.signal("net_put_signal", 1, 0, 1)
	n.wait(1)
	n.fault(device.WaitRecord{State: device.WaitTimeout, Kind: device.WaitNetSignal, Ordinal: 101, Rank: 1, Channel: 1, Want: 2, Seen: 1})
	if got := n.ranks[0].words[10+1*2+1]; got != 0 {
		t.Errorf("rank 1 signalled after it gave up: %d", got)
	}
}

func TestNetBarrier(t *testing.T) {
	for _, c := range []struct{ hosts, each int }{{2, 1}, {2, 2}, {3, 2}, {1, 3}} {
		n := newNetwork(open(t), c.hosts, c.each, 1)
		size := c.hosts * c.each
		barrier := func(rank int) { n.start(rank, "net_barrier", 32, bytesOf([]net.NetSignalArgs{n.ranks[rank].args})) }
		for round := range 5 {
			late := round % size
			for r := range size {
				if r != late {
					barrier(r)
				}
			}
			for r := range size {
				if r != late {
					n.busy(r, "a rank has not come")
				}
			}
			barrier(late)
			for r := range size {
				n.wait(r)
			}
		}
		n.paused.Store(true)
		src := upload(n.bench, []byte{77})
		n.sync() // the stream of uploads is not that of the put
		n.post("net_post", 0, abi.NetOp{Kind: abi.NetPut, Peer: uint32(size - 1), Local: src, Bytes: 1, Window: netWindow})
		for r := range size {
			barrier(r)
		}
		for r := range size {
			n.busy(r, "a put has not landed")
		}
		n.paused.Store(false)
		for r := range size {
			n.wait(r)
		}
		if got := n.ranks[size-1].window[0]; got != 77 {
			t.Errorf("after the barrier there is %d", got)
		}
		n.fault(device.WaitRecord{})
	}
}

// Waits that depend on a lost rank end and name it; others continue.
func TestNetLost(t *testing.T) {
	n := newNetwork(open(t), 3, 1, 1)
	n.signal("net_wait_signal", 0, 2, 0)
	n.signal("net_wait_signal", 1, 0, 0)
	n.busy(0, "no signal was put")
	for _, k := range n.ranks[:2] {
		atomic.StoreUint32(&k.board.Lost[0], 1<<2)
	}
	n.wait(0)
	n.fault(device.WaitRecord{State: device.WaitLost, Kind: device.WaitNetSignal, Ordinal: 100, Rank: 0, Peer: 2, Want: 1})
	n.busy(1, "rank 0 is there")
	gaveUp := n.blocks[0] + 4*7 // at the end of the signal block
	if got := download[uint32](n.bench, gaveUp, 1)[0]; got != 1 {
		t.Errorf("that rank 0 gave up is noted as %d", got)
	}
	if err := n.stream.SetWords(gaveUp, 0, 1); err != nil {
		t.Fatal(err)
	}
	n.sync()
	n.signal("net_put_signal", 0, 1, 0)
	n.wait(1)
	n.fault(device.WaitRecord{})
	n.post("net_post", 0, abi.NetOp{Kind: abi.NetPut, Peer: 2})
	n.wait(0)
	n.fault(device.WaitRecord{State: device.WaitLost, Kind: device.WaitNetFlush, Ordinal: 100, Rank: 0, Peer: 2})
	n.post("net_copy", 1, abi.NetOp{Kind: abi.NetGet, Peer: 2})
	n.wait(1)
	n.fault(device.WaitRecord{State: device.WaitLost, Kind: device.WaitNetFlush, Ordinal: 101, Rank: 1, Peer: 2})

	// A get in flight when the rank is lost, after its fence.
	for _, k := range n.ranks[:2] {
		atomic.StoreUint32(&k.board.Lost[0], 0)
	}
	n.paused.Store(true)
	posted := atomic.LoadUint64(&n.ranks[1].board.Posted)
	n.post("net_copy", 1, abi.NetOp{Kind: abi.NetGet, Peer: 2})
	n.until("rank 1 posts the fence", func() bool { return atomic.LoadUint64(&n.ranks[1].board.Posted) > posted })
	n.busy(1, "the data is not here")
	atomic.StoreUint32(&n.ranks[1].board.Lost[0], 1<<2)
	n.paused.Store(false)
	n.wait(1)
	number := n.ranks[1].board.Done // number of the fence before it
	n.fault(device.WaitRecord{State: device.WaitLost, Kind: device.WaitNetCounter, Ordinal: 101, Rank: 1, Peer: 2, Want: number})

	// A barrier depends on all. Rank 0 signals the others when its own fence is over.
	met := &n.ranks[1].words[20+net.Met*3]
	before := atomic.LoadUint64(met)
	n.start(0, "net_barrier", 32, bytesOf([]net.NetSignalArgs{n.ranks[0].args}))
	n.until("rank 0 signals rank 1", func() bool { return atomic.LoadUint64(met) > before })
	n.busy(0, "nobody has come")
	atomic.StoreUint32(&n.ranks[0].board.Lost[0], 1<<2)
	n.wait(0)
	n.fault(device.WaitRecord{State: device.WaitLost, Kind: device.WaitNetBarrier, Ordinal: 100, Rank: 0, Peer: 2, Channel: 0, Want: 1})
}
