package nettest

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/symmrepl/symmrepl/kernels/abi"
)

// around has sizes at and near the limits of messages, of eager sends, and of rings.
var around = []int{0, 1, 7, 8, 9, 63, 64, 65, 255, 1024, 4095, 4096, 4097, 8191, 8192, 8193, 16384, 65535, 65536, 65537, 262143,
	262144, 262145, 1<<20 - 1, 1 << 20,
	1<<20 + 1, 4<<20 - 1, 4 << 20, 4<<20 + 1, 9<<20 + 5}

// sizes: rank 0 puts and gets pieces of every size. No other bytes change.
func sizes(r *Rank) {
	r.open()
	src := r.alloc(windowBytes)
	board, _, _ := r.Board()
	for i, n := range around {
		offset := 64 + i
		fill(src[:n], i)
		if r.Rank == 0 {
			r.post(abi.NetOp{Kind: abi.NetPut, Peer: 1, Local: local(src), Bytes: uint64(n), Offset: uint64(offset),
				Window: windowID, Counter: 9, Signal: abi.NetAddIndexed, SignalAt: 1, Value: 3})
			r.flush()
			if c := atomic.LoadUint64(&board.Counters[9]); c != uint64(2*i+1) {
				r.Failf("the counter is %d after %d operations", c, 2*i+1)
			}
			r.Meet()
			got := r.alloc(n + 128)
			r.post(abi.NetOp{Kind: abi.NetGet, Peer: 1, Local: local(got[64:]), Bytes: uint64(n), Offset: uint64(offset),
				Window: windowID, Counter: 9})
			r.flush()
			if c := atomic.LoadUint64(&board.Counters[9]); c != uint64(2*i+2) {
				r.Failf("the counter is %d after %d operations", c, 2*i+2)
			}
			if !bytes.Equal(got[64:64+n], src[:n]) {
				r.Failf("get of %d bytes brought others", n)
			}
			if !zero(got[:64]) || !zero(got[64+n:]) {
				r.Failf("get of %d bytes wrote beside them", n)
			}
		} else {
			r.await(1, uint64(3*(i+1)))
			if !bytes.Equal(r.Memory[offset:offset+n], src[:n]) {
				r.Failf("put of %d bytes brought others", n)
			}
			if !zero(r.Memory[:offset]) || !zero(r.Memory[offset+n:]) {
				r.Failf("put of %d bytes wrote beside them", n)
			}
			r.Meet()
		}
		r.Meet()
		if r.Rank == 1 {
			clear(r.Memory[:offset+n])
		}
		r.Meet()
	}
	r.Close()
}

func zero(m []byte) bool {
	for len(m) > 0 {
		n := min(len(m), len(zeros))
		if !bytes.Equal(m[:n], zeros[:n]) {
			return false
		}
		m = m[n:]
	}
	return true
}

var zeros [4096]byte

// blocks: puts and gets of rows of many shapes.
func blocks(r *Rank) {
	r.open()
	for i, b := range []struct{ width, rows, here, there int }{
		{1, 1, 1, 1}, {1, 9, 5, 3}, {8, 100, 8, 24}, {24, 100, 40, 24}, {16, 64, 16, 16}, {100, 3000, 128, 256},
		{4096, 1100, 5000, 4097}, {600 << 10, 5, 601 << 10, 700 << 10},
		{3<<20 + 1, 3, 3<<20 + 7, 3<<20 + 9},
	} {
		src := r.alloc(b.rows*b.here + 1)
		fill(src, i)
		want := make([]byte, windowBytes)
		for k := range b.rows {
			copy(want[128+k*b.there:][:b.width], src[k*b.here:][:b.width])
		}
		op := abi.NetOp{Kind: abi.NetPut, Peer: 1, Local: local(src), Bytes: uint64(b.width * b.rows), Width: uint64(b.width),
			LocalPitch: uint64(b.here), RemotePitch: uint64(b.there),
			Offset: 128, Window: windowID, Counter: abi.NetNoCounter}
		if r.Rank == 0 {
			put := op
			put.Signal, put.SignalAt, put.Value = abi.NetAddIndexed, 2, 1
			r.post(put)
			got := r.alloc(b.rows*b.here + 1)
			op.Kind, op.Local = abi.NetGet, local(got)
			r.Meet()
			r.post(op)
			r.flush()
			for k := range b.rows {
				clear(src[k*b.here+b.width : (k+1)*b.here])
			}
			src[b.rows*b.here] = 0
			if !bytes.Equal(got, src) {
				r.Failf("a block of %d rows of %d bytes came back as others", b.rows, b.width)
			}
			r.Meet()
		} else {
			r.await(2, uint64(i+1))
			if !bytes.Equal(r.Memory, want) {
				r.Failf("a block of %d rows of %d bytes arrived as others", b.rows, b.width)
			}
			r.Meet()
			r.Meet()
			clear(r.Memory)
		}
		r.Meet()
	}
	r.Close()
}

// words: signals that set and add to words of a window and of the board.
func words(r *Rank) {
	r.open()
	if r.Rank == 0 {
		for range 10 {
			r.post(abi.NetOp{Kind: abi.NetPut, Peer: 1, Counter: abi.NetNoCounter, Signal: abi.NetAddWord, SignalWindow: windowID,
				SignalAt: 16, Value: 5, Strong: 1})
		}
		for i := range 10 {
			r.post(abi.NetOp{Kind: abi.NetPut, Peer: 1, Counter: abi.NetNoCounter, Signal: abi.NetSetWord, SignalWindow: windowID,
				SignalAt: 24, Value: uint64(1000 + i), Strong: 1})
		}
		r.post(abi.NetOp{Kind: abi.NetPut, Peer: 1, Counter: abi.NetNoCounter, Signal: abi.NetAddIndexed, SignalAt: signals - 1,
			Value: ^uint64(0), Strong: 1})
	} else {
		r.await(signals-1, ^uint64(0))
		for at, want := range map[int]uint64{8: 0, 16: 50, 24: 1009, 32: 0} {
			if got := binary.LittleEndian.Uint64(r.Memory[at:]); got != want {
				r.Failf("the word at %d is %d, want %d", at, got, want)
			}
		}
	}
	r.Meet()
	r.Close()
}

// self: this rank itself is a peer like the others.
func self(r *Rank) {
	r.open()
	src := r.alloc(6 << 20)
	fill(src, 3)
	r.put(0, src, 64)
	r.signal(0, 4, 1)
	r.await(4, 1)
	if !bytes.Equal(r.Memory[64:64+len(src)], src) {
		r.Failf("a put to the own rank brought other bytes")
	}
	got := r.alloc(len(src))
	r.post(abi.NetOp{Kind: abi.NetGet, Peer: 0, Local: local(got), Bytes: uint64(len(got)), Offset: 64, Window: windowID,
		Counter: abi.NetNoCounter})
	r.fence(abi.NetAllPeers)
	if !bytes.Equal(got, src) {
		r.Failf("a get from the own rank brought other bytes")
	}
	r.post(abi.NetOp{Kind: abi.NetPut, Peer: 0, Local: local(src), Bytes: 64, Offset: windowBytes - 63, Window: windowID,
		Counter: abi.NetNoCounter, Signal: abi.NetAddIndexed, SignalAt: 4, Value: 1})
	r.flush()
	if n := r.Refused()["bounds"]; n != 1 || r.Signals()[4] != 1 {
		r.Failf("%d messages outside the window were refused, the signal is %d", n, r.Signals()[4])
	}
	r.Close()
}

// stream: many small puts through a much smaller ring.
func stream(r *Rank) {
	const n = 5000
	r.open()
	src := r.alloc(8 * n)
	for i := range n {
		binary.LittleEndian.PutUint64(src[8*i:], uint64(i)*0x9e3779b97f4a7c15)
	}
	peer := 1 - r.Rank
	for i := range n {
		r.put(peer, src[8*i:8*i+8], 8*i)
	}
	// of no bytes: it is over at once
	r.post(abi.NetOp{Kind: abi.NetGet, Peer: uint32(peer), Window: windowID})
	r.signal(peer, 0, 1)
	r.await(0, 1)
	if !bytes.Equal(r.Memory[:8*n], src) {
		r.Failf("other bytes arrived")
	}
	r.Meet()
	p := r.Peers()[peer]
	if p.Posted != n+2 || p.Sent != n+2 || p.Landed != n+1 || p.BytesSent != 8*n || p.BytesReceived != 8*n || p.InFlight != 0 ||
		p.Parked != 0 || p.Dropped != 0 || p.Refused != 0 {
		r.Failf("%+v", p)
	}
	r.Meet()
	r.Close()
}

// many: every rank puts to and gets from every rank.
func many(r *Rank) {
	const n = 20000
	r.open()
	src := r.alloc(n * r.Size)
	fill(src, r.Rank)
	for round := range 3 {
		for k := range r.Size {
			peer := (r.Rank + k) % r.Size
			r.post(abi.NetOp{Kind: abi.NetPut, Peer: uint32(peer), Local: local(src[peer*n:]), Bytes: n,
				Offset: uint64(r.Rank * n), Window: windowID, Counter: abi.NetNoCounter,
				Signal: abi.NetAddIndexed, SignalAt: uint64(r.Rank), Value: 1, Strong: 1})
		}
		want := make([]byte, n*r.Size)
		for peer := range r.Size {
			r.await(peer, uint64(round+1))
			fill(want, peer)
			if !bytes.Equal(r.Memory[peer*n:(peer+1)*n], want[r.Rank*n:(r.Rank+1)*n]) {
				r.Failf("other bytes of rank %d arrived", peer)
			}
		}
		r.Meet()
		got := r.alloc(n)
		for peer := range r.Size {
			r.post(abi.NetOp{Kind: abi.NetGet, Peer: uint32(peer), Local: local(got), Bytes: n, Offset: uint64(r.Rank * n),
				Window: windowID, Counter: abi.NetNoCounter})
			r.flush()
			if !bytes.Equal(got, src[peer*n:(peer+1)*n]) {
				r.Failf("a get from rank %d brought others", peer)
			}
		}
		r.Meet()
		clear(r.Memory)
		r.Meet()
	}
	r.Close()
}

// signalAt is an operation that adds 1 to word k of rank 1.
func signalAt(k int) abi.NetOp {
	return abi.NetOp{Kind: abi.NetPut, Peer: 1, Counter: abi.NetNoCounter, Signal: abi.NetAddIndexed, SignalAt: uint64(k), Value: 1}
}

// postSilently posts like a kernel that cannot ring: it does not check whether the engine sleeps.
func (r *Rank) postSilently(op abi.NetOp) {
	board, _, _ := r.Board()
	number := atomic.AddUint64(&board.Posted, 1) - 1
	slot := &board.Slots[number%abi.NetSlots]
	op.Ready = atomic.LoadUint64(&slot.Ready)
	*slot = op
	atomic.StoreUint64((*uint64)(unsafe.Pointer(&slot.Ready)), number+1)
}

// hold: the engine finds unannounced operations while it is held, and does not count them as
// announced ones.
func hold(r *Rank) {
	c := r.config()
	c.CanRing = false
	r.openWith(c)
	unannounced := signalAt(0)
	unannounced.Unannounced = 1
	const rounds = 20
	if r.Rank == 0 {
		board, _, _ := r.Board()
		for range rounds {
			r.check(r.Expect(1))
			r.check(r.Hold())
			r.check(r.Hold())
			for range 5 {
				time.Sleep(time.Millisecond) // longer than an engine stays awake by itself
				r.postSilently(unannounced)
			}
			r.check(r.Release())
			time.Sleep(time.Millisecond)
			r.postSilently(unannounced)
			r.check(r.Release())
			time.Sleep(time.Millisecond)
			r.postSilently(signalAt(1))
			r.flush()
		}
		for end := time.Now().Add(20 * time.Second); atomic.LoadUint32(&board.Asleep) == 0; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				r.Failf("nothing holds the engine, and it does not sleep")
			}
		}
	} else {
		r.await(0, 6*rounds)
		r.await(1, rounds)
	}
	r.Meet()
	r.Close()
}

// values: up to 8 bytes travel in the slot, and operations count in words of the signals.
func values(r *Rank) {
	r.open()
	const counter = 40
	if r.Rank == 0 {
		for n := range uint64(9) {
			r.post(abi.NetOp{Kind: abi.NetValue, Peer: 1, Data: 0x0807060504030201, Offset: 16 * n, Bytes: n, Window: windowID,
				Counter: abi.NetCounters + counter,
				Signal:  abi.NetAddIndexed, SignalAt: 3, Value: 1, Strong: 1})
		}
		// invalid
		r.post(abi.NetOp{Kind: abi.NetValue, Peer: 1, Bytes: 9, Window: windowID, Counter: abi.NetCounters + counter})
		r.post(abi.NetOp{Kind: abi.NetValue, Peer: 1, Bytes: 0, Window: windowID,
			Counter: abi.NetCounters + uint32(len(r.Signals()))}) // no such word
		r.flush()
		if n := atomic.LoadUint64(&r.Signals()[counter]); n != 9 {
			r.Failf("%d operations were counted", n)
		}
	} else {
		r.await(3, 9)
		for n := range 9 {
			want := append([]byte{1, 2, 3, 4, 5, 6, 7, 8}[:n:n], make([]byte, 16-n)...)
			if got := r.Memory[16*n : 16*n+16]; !bytes.Equal(got, want) {
				r.Failf("a value of %d bytes became %v", n, got)
			}
		}
	}
	r.Meet()
	r.Close()
}

// expect: the engine finds announced operations of kernels that cannot ring.
func expect(r *Rank) {
	c := r.config()
	c.CanRing = false
	r.openWith(c)
	if r.Rank == 0 {
		board, _, _ := r.Board()
		for i := range 200 {
			r.check(r.Expect(3))
			for k := range 3 {
				r.postSilently(signalAt(k))
			}
			r.signal(1, 3, 1) // operations of the host in between
			if i%50 == 0 {
				r.flush()
			}
			for atomic.LoadUint64(&board.Posted)-atomic.LoadUint64(&board.Done) > abi.NetSlots-8 {
				runtime.Gosched()
			}
		}
	} else {
		for k := range 4 {
			r.await(k, 200)
		}
	}
	r.Meet()
	r.Close()
}

// atomics: operations on words of the peer return the previous values, also those of which nobody
// wants them, and none is lost while both ranks change a word.
func atomics(r *Rank) {
	r.open()
	const rounds = 100
	peer := uint32(1 - r.Rank)
	at := func(wanted bool, offset, bytes uint64, operation uint32, value, compare uint64) uint64 {
		op := abi.NetOp{Kind: abi.NetAtomic, Peer: peer, Offset: offset, Bytes: bytes, Window: windowID, Signal: operation,
			Value: value, Data: compare, Counter: abi.NetNoCounter}
		if wanted {
			op.Local = local(r.Memory[1024:])
			clear(r.Memory[1024:1032])
		}
		r.post(op)
		r.flush()
		return binary.NativeEndian.Uint64(r.Memory[1024:])
	}
	for i, c := range []struct {
		bytes                 uint64
		operation             uint32
		value, compare, after uint64
	}{
		{bytes: 8, operation: abi.ShmemSet, value: 1<<40 + 5, after: 1<<40 + 5},
		{bytes: 8, operation: abi.ShmemAdd, value: 7, after: 1<<40 + 12},
		{bytes: 8, operation: abi.ShmemAnd, value: 1<<40 + 8, after: 1<<40 + 8},
		{bytes: 8, operation: abi.ShmemOr, value: 3, after: 1<<40 + 11},
		{bytes: 8, operation: abi.ShmemXor, value: 1, after: 1<<40 + 10},
		{bytes: 8, operation: abi.ShmemCompareSwap, value: 2, compare: 1, after: 1<<40 + 10},
		{bytes: 8, operation: abi.ShmemCompareSwap, value: 2, compare: 1<<40 + 10, after: 2},
		{bytes: 8, operation: abi.ShmemFetch, value: 0, after: 2},
		{bytes: 4, operation: abi.ShmemAdd, value: 1<<32 - 1, after: 1},
		{bytes: 4, operation: abi.ShmemCompareSwap, value: 9, compare: 1, after: 9},
	} {
		before := at(true, 64, 8, abi.ShmemFetch, 0, 0)
		if got := at(true, 64, c.bytes, c.operation, c.value, c.compare); got != before {
			r.Failf("operation %d returned %d, and the word was %d", i, got, before)
		}
		if got := at(true, 64, 8, abi.ShmemFetch, 0, 0); got != c.after {
			r.Failf("after operation %d the word is %d, want %d", i, got, c.after)
		}
	}
	for range rounds {
		at(false, 128, 8, abi.ShmemAdd, 1, 0)
		atomic.AddUint64((*uint64)(unsafe.Pointer(&r.Memory[128])), 1)
	}
	r.Meet()
	if got := binary.NativeEndian.Uint64(r.Memory[128:]); got != 2*rounds {
		r.Failf("the sum is %d, want %d", got, 2*rounds)
	}
	r.post(abi.NetOp{Kind: abi.NetAtomic, Peer: peer, Offset: 64, Bytes: 2, Window: windowID, Signal: abi.ShmemAdd,
		Counter: abi.NetNoCounter}) // invalid
	r.post(abi.NetOp{Kind: abi.NetAtomic, Peer: peer, Offset: 64, Bytes: 8, Window: windowID, Signal: 8, Counter: abi.NetNoCounter})
	r.flush()
	r.Meet()
	r.Close()
}
