package nettest

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/symmem/internal/net"
	"github.com/symmrepl/symmrepl/symmem/internal/net/proxy"
)

func headerBytes(h *proxy.Header) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(h)), unsafe.Sizeof(*h))
}

// garbage: rank 1 sends invalid messages. Rank 0 writes nothing, counts all of them, and continues
// to execute operations of rank 2.
func garbage(r *Rank) {
	r.open()
	data := []byte("written!")
	send := func(change func(*proxy.Header)) {
		h := r.Facts(0)
		h.Kind, h.Number, h.Window, h.Bytes, h.Offset = proxy.Put, h.Number+1, windowID, uint64(len(data)), 4096
		h.Signal, h.SignalAt, h.Value = abi.NetAddIndexed, 3, 1
		change(&h)
		payload := data
		if h.Kind == proxy.Get || h.Kind == proxy.Fence || h.Kind == proxy.Ack {
			payload = nil
		}
		r.check(r.Raw(0, headerBytes(&h), payload))
	}
	if r.Rank == 1 {
		send(func(h *proxy.Header) { h.Secret++ })
		send(func(h *proxy.Header) { h.Epoch++ })
		send(func(h *proxy.Header) { h.Epoch = 0 })
		send(func(h *proxy.Header) { h.Protocol++ })
		send(func(h *proxy.Header) { h.Kind = 77 })
		send(func(h *proxy.Header) { h.Source = 3 })
		send(func(h *proxy.Header) { h.Source = 1 << 31 })
		send(func(h *proxy.Header) { h.Window = 8 })
		send(func(h *proxy.Header) { h.Offset = windowBytes - 7 })
		send(func(h *proxy.Header) { h.Offset = ^uint64(0) - 3 })
		send(func(h *proxy.Header) { h.Width, h.Pitch, h.Offset = 4, 1<<62+1, 0 })
		send(func(h *proxy.Header) { h.Width, h.Pitch = 3, 8 })
		send(func(h *proxy.Header) { h.Bytes = 9 })
		send(func(h *proxy.Header) { h.SignalAt = signals })
		send(func(h *proxy.Header) { h.Signal = 4 })
		send(func(h *proxy.Header) { h.Signal, h.SignalWindow, h.SignalAt = abi.NetSetWord, windowID, windowBytes-7 })
		send(func(h *proxy.Header) { h.Signal, h.SignalWindow, h.SignalAt = abi.NetSetWord, windowID, 4 })
		send(func(h *proxy.Header) { h.Signal, h.SignalWindow, h.SignalAt = abi.NetAddWord, 9, 0 })
		send(func(h *proxy.Header) { h.Number = 0 })
		send(func(h *proxy.Header) { h.Number += 1 << 30 })
		send(func(h *proxy.Header) { h.Kind, h.Ticket = proxy.Answer, 5 })
		send(func(h *proxy.Header) { h.Kind, h.Ticket, h.Bytes = proxy.Ack, 5, 0 })
		send(func(h *proxy.Header) { h.Kind, h.Signal, h.Offset = proxy.Get, 0, windowBytes-7 })
		r.check(r.Raw(0, nil, nil))
		r.check(r.Raw(0, []byte("short"), data))
		r.check(r.Raw(0, bytes.Repeat([]byte{0xa5}, 128), data))
		send(func(h *proxy.Header) { h.SignalAt = 4 }) // a valid message
		send(func(h *proxy.Header) {})                 // its number again
		r.Meet()
		r.Meet()
		r.Close()
		return
	}
	if r.Rank == 2 {
		for range 100 {
			r.put(0, data, 8192)
			r.signal(0, 5, 1)
		}
		r.fence(0)
	}
	r.Meet()
	if r.Rank == 0 {
		r.await(5, 100)
		r.await(4, 1)
		want := map[string]uint64{"malformed": 9, "secret": 1, "epoch": 2, "source": 2, "window": 2, "bounds": 4, "signal": 3,
			"duplicate": 3, "far ahead": 1}
		for end := time.Now().Add(10 * time.Second); !maps.Equal(r.Refused(), want); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				r.Failf("refused are %v, want %v", r.Refused(), want)
			}
		}
		if r.Signals()[3] != 0 || !bytes.Equal(r.Memory[4096:4104], data) || !bytes.Equal(r.Memory[8192:8200], data) {
			r.Failf("signal %d, memory %q %q", r.Signals()[3], r.Memory[4096:4104], r.Memory[8192:8200])
		}
		clear(r.Memory[4096:4104])
		clear(r.Memory[8192:8200])
		if !zero(r.Memory) {
			r.Failf("memory was written that no message named")
		}
		if p := r.Peers()[2]; p.Refused != 0 || p.Landed != 200 {
			r.Failf("rank 2: %+v", p)
		}
	}
	r.Meet()
	r.Close()
}

// within is the time within which ranks learn that another rank was killed.
const within = time.Second

// kill: rank 2 is killed while rank 0 waits for it, puts to it and fences it. Operations between
// the other ranks continue.
func kill(r *Rank) {
	r.open()
	board, _, _ := r.Board()
	src := r.alloc(8 << 20)
	if r.Rank == 2 {
		r.Gather([]byte{0})
		r.Die()
	}
	r.Gather(nil)
	start := time.Now()
	if r.Rank == 0 {
		for !r.isLost(2) { // puts and gets of all sizes, as fast as possible
			for _, n := range []int{8, 9000, 3 << 20} {
				r.put(2, src[:n], 0)
			}
			r.post(abi.NetOp{Kind: abi.NetGet, Peer: 2, Local: local(src), Bytes: 5 << 20, Window: windowID, Counter: 7})
			r.post(abi.NetOp{Kind: abi.NetFence, Peer: 2, Counter: 8})
			if time.Since(start) > 20*time.Second {
				r.Failf("the rank that was killed is not lost: %+v", r.Peers()[2])
			}
		}
	}
	if took := r.awaitLost(2).Sub(start); took > within {
		r.Failf("learned of it after %v", took)
	}
	r.flush()
	if r.Rank == 0 {
		before := atomic.LoadUint64(&board.Counters[8])
		dropped := r.Peers()[2].Dropped
		r.post(abi.NetOp{Kind: abi.NetFence, Peer: 2, Counter: 8})
		r.post(abi.NetOp{Kind: abi.NetPut, Peer: 2, Local: local(src), Bytes: 8, Window: windowID, Counter: 8})
		r.flush()
		if n := atomic.LoadUint64(&board.Counters[8]); n != before {
			r.Failf("a fence and a put to a lost rank count as over: %d, %d", before, n)
		}
		if n := r.Peers()[2].Dropped; n != dropped+2 {
			r.Failf("%d operations were dropped, and then %d", dropped, n)
		}
	}
	peer := 1 - r.Rank
	for i := range 100 {
		fill(src[:100000], i)
		r.put(peer, src[:100000], 0)
		r.signal(peer, 1, 1)
		r.post(abi.NetOp{Kind: abi.NetFence, Peer: abi.NetAllPeers, Counter: 9})
		r.await(1, uint64(i+1))
		r.flush()
		r.Meet()
		if !bytes.Equal(r.Memory[:100000], src[:100000]) {
			r.Failf("between the others other bytes arrive")
		}
		r.Meet()
	}
	if n := atomic.LoadUint64(&board.Counters[9]); n != 100 {
		r.Failf("%d of 100 fences to all peers are over", n)
	}
	r.mutex.Lock()
	why := r.why
	r.mutex.Unlock()
	if len(why) != 1 || why[2] == "" || strings.HasPrefix(why[2], "told twice") {
		r.Failf("lost are %v", why)
	}
	if atomic.LoadUint32(&board.Lost[0]) != 1<<2 {
		r.Failf("lost is %b", board.Lost[0])
	}
	r.Meet()
	r.Close()
}

func (r *Rank) isLost(peer int) bool {
	board, _, _ := r.Board()
	return atomic.LoadUint32(&board.Lost[peer/32])&(1<<(peer%32)) != 0
}

// stop: rank 2 is stopped for 3 seconds while messages to it are in flight. No rank considers it
// lost, and everything arrives.
func stop(r *Rank) {
	const pieces, bytesEach = 60, 300000
	r.open()
	src := r.alloc(pieces * bytesEach)
	fill(src, 1)
	if r.Rank == 2 {
		before := time.Now()
		last := before
		r.check(r.to.Encode(request{Kind: "stop", Stop: 3 * time.Second}))
		for ; ; last = time.Now() {
			time.Sleep(time.Millisecond)
			if time.Since(last) > 2*time.Second {
				break
			}
			if time.Since(before) > 20*time.Second {
				r.Failf("it was not stopped")
			}
		}
		r.await(0, pieces)
		if !bytes.Equal(r.Memory[:len(src)], src) {
			r.Failf("other bytes arrived")
		}
	}
	if r.Rank == 0 {
		time.Sleep(200 * time.Millisecond)
		for i := range pieces {
			r.put(2, src[i*bytesEach:(i+1)*bytesEach], i*bytesEach)
			r.signal(2, 0, 1)
		}
		r.fence(2)
	}
	r.Meet()
	if len(r.lost) > 0 {
		r.Failf("lost are %v", r.why)
	}
	r.Meet()
	r.Close()
}

// epochs: a new epoch drops everything older, resets the board, and brings back lost ranks, at a
// new address or at the old one.
func epochs(r *Rank) {
	r.open()
	board, _, _ := r.Board()
	src := r.alloc(1 << 20)
	fill(src, 5)
	peer := (r.Rank + 1) % r.Size
	use := func(times int) {
		for range times {
			r.put(peer, src, 0)
			r.signal(peer, 2, 1)
		}
		r.await(2, uint64(times))
		if !bytes.Equal(r.Memory[:len(src)], src) {
			r.Failf("other bytes arrived")
		}
	}
	use(3)
	r.Meet()
	stale := r.Facts(peer)
	r.connectAlone(2) // the same addresses
	if board.Posted != 0 || board.Done != 0 || r.Signals()[2] != 0 {
		r.Failf("the board is not new: posted %d, done %d, signal %d", board.Posted, board.Done, r.Signals()[2])
	}
	r.Meet()
	stale.Kind, stale.Number, stale.Signal, stale.SignalAt, stale.Value = proxy.Put, 1, abi.NetAddIndexed, 9, 1
	r.check(r.Raw(peer, headerBytes(&stale), nil))
	use(4)
	r.fence(uint32(peer))
	for end := time.Now().Add(5 * time.Second); r.Refused()["epoch"] != 1; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			r.Failf("refused are %v", r.Refused())
		}
	}
	if r.Signals()[9] != 0 {
		r.Failf("a signal of an epoch that is over was applied")
	}
	r.Meet()

	// Rank 1 starts over at another address.
	clear(r.Memory)
	if r.Rank == 1 {
		r.Close()
		r.Meet()
		r.openAgain(3)
	} else {
		r.awaitLost(1)
		number := r.post(abi.NetOp{Kind: abi.NetPut, Peer: 1, Local: local(src), Bytes: 8, Window: windowID, Counter: abi.NetNoCounter})
		r.check(r.Wait(context.Background(), number))
		r.Meet()
		r.connect(3)
		if r.isLost(1) {
			r.Failf("rank 1 is back, and lost")
		}
	}
	use(5)
	r.fence(abi.NetAllPeers)
	r.Meet()

	// The controller was wrong: rank 2 is not lost.
	if r.Rank == 0 {
		r.put(2, src, 0)
		r.check(r.Lose(2, "the controller says so"))
		r.awaitLost(2)
		if why := r.Peers()[2]; why.State != net.Lost || why.Why != "the controller says so" {
			r.Failf("%+v", why)
		}
	}
	r.Meet()
	clear(r.Memory)
	r.connect(4)
	use(6)
	r.fence(abi.NetAllPeers)
	r.Meet()
	r.Close()
}

// openAgain opens a new engine in place of one that was closed.
func (r *Rank) openAgain(epoch uint32) {
	var err error
	r.Engine, err = net.Open(r.config())
	r.check(err)
	if r.Provider == "null" {
		r.check(r.SetNull(r.Null))
	}
	r.check(r.Window(windowID, base(r.Memory), len(r.Memory)))
	r.connect(epoch)
}

// holdings returns the resources that a process can leak, as text.
func holdings(r *Rank) string {
	descriptors, err := os.ReadDir("/proc/self/fd")
	r.check(err)
	tasks, err := filepath.Glob("/proc/self/task/*/comm")
	r.check(err)
	main, err := os.ReadFile("/proc/self/comm")
	r.check(err)
	threads := 0
	// Go's run-time threads, which come and go, have the program's name
	for _, task := range tasks {
		if name, err := os.ReadFile(task); err == nil && !bytes.Equal(name, main) {
			threads++
		}
	}
	files, err := os.ReadDir(r.Dir)
	r.check(err)
	maps, err := os.ReadFile("/proc/self/maps")
	r.check(err)
	return fmt.Sprintf("%d descriptors, %d threads, %d goroutines, %d files, %d of them mapped", len(descriptors), threads,
		runtime.NumGoroutine(), len(files),
		strings.Count(string(maps), r.Dir))
}

// leaks: an engine that was used and closed, even with messages in flight, leaves nothing. Closing
// does not wait for messages of a peer that was closed before.
func leaks(r *Rank) {
	src := r.alloc(4 << 20)
	var before string
	for i := range 6 {
		r.open()
		r.put(1-r.Rank, src, 0)
		r.signal(1-r.Rank, 0, 1)
		if i%2 == 0 {
			r.await(0, 1)
			r.Meet()
		}
		for range 20 {
			r.put(1-r.Rank, src, 0)
		}
		closed := time.Now()
		r.Close()
		if took := time.Since(closed); took > 4*time.Second {
			r.Failf("an engine took %v to close", took)
		}
		r.Meet()
		if _, err := r.Post(context.Background(), abi.NetOp{}); err == nil || !strings.Contains(err.Error(), "closed") {
			r.Failf("post after close: %v", err)
		}
		var now string
		for end := time.Now().Add(2 * time.Second); ; time.Sleep(10 * time.Millisecond) { // a goroutine may be ending
			now = holdings(r)
			if before == "" || now == before || time.Now().After(end) {
				break
			}
		}
		if i == 2 {
			before = now // the first engines load the library
		} else if before != "" && now != before {
			r.Failf("after one engine there were %s; after another there are %s", before, now)
		}
		r.Meet()
	}
}
