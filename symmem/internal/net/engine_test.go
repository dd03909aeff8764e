package net

import (
	"bytes"
	"context"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/symmrepl/symmrepl/kernels/abi"
)

// memory returns memory outside of Go's heap, for windows and sources.
func memory(t *testing.T, n int) []byte {
	t.Helper()
	m, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(m) })
	return m
}

func base(m []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(m))) }

// side is one rank of a test in one process.
type side struct {
	*Engine
	window []byte
}

const windowBytes = 16 << 20

// sides opens engines over the null network, connects them and registers a window of each with id
// 7.
func sides(t *testing.T, n int, change func(*Config)) []side {
	t.Helper()
	list := make([]side, n)
	addresses := map[int][]byte{}
	dir := t.TempDir()
	for r := range n {
		c := Config{Rank: r, Size: n, Provider: "null", Dir: dir, Signals: 64, CanRing: true}
		if change != nil {
			change(&c)
		}
		e, err := Open(c)
		if err != nil {
			t.Fatal(err)
		}
		list[r] = side{e, memory(t, windowBytes)}
		t.Cleanup(e.Close)
		addresses[r] = e.Address()
	}
	for _, s := range list {
		if err := s.Window(7, base(s.window), len(s.window)); err != nil {
			t.Fatal(err)
		}
		if err := s.Connect(1, 99, addresses); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

func (s side) post(t *testing.T, op abi.NetOp) uint64 {
	t.Helper()
	n, err := s.Post(t.Context(), op)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (s side) flush(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if err := s.Flush(ctx); err != nil {
		t.Fatal(err, s.Peers())
	}
}

func (s side) await(t *testing.T, word int, want uint64) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(20 * time.Microsecond) {
		if got := atomic.LoadUint64(&s.Signals()[word]); got == want {
			return
		} else if time.Now().After(end) {
			t.Fatalf("signal %d is %d, want %d: %+v", word, got, want, s.Peers())
		}
	}
}

func pattern(m []byte, seed int) {
	for i := range m {
		m[i] = byte(i*7 + i>>8 + seed)
	}
}

func TestPutGetOneProcess(t *testing.T) {
	s := sides(t, 2, nil)
	src := memory(t, windowBytes)
	for i, n := range []int{0, 1, 8, 4096, 300000, 4 << 20, 5<<20 + 3, 16 << 20} {
		pattern(src[:n], i)
		s[0].post(t, abi.NetOp{Kind: abi.NetPut, Peer: 1, Local: abi.Ptr(base(src)), Bytes: uint64(n), Window: 7, Counter: 3,
			Signal: abi.NetAddIndexed, SignalAt: 5, Value: 1})
		s[1].await(t, 5, uint64(i+1))
		if !bytes.Equal(s[1].window[:n], src[:n]) {
			t.Fatalf("put of %d bytes: other bytes arrived", n)
		}
		s[0].flush(t)
		if got := atomic.LoadUint64(&s[0].board.Counters[3]); got != uint64(i+1) {
			t.Errorf("counter is %d after %d puts", got, i+1)
		}
		dst := memory(t, n+1)
		s[0].post(t, abi.NetOp{Kind: abi.NetGet, Peer: 1, Local: abi.Ptr(base(dst)), Bytes: uint64(n), Window: 7, Counter: abi.NetNoCounter})
		s[0].flush(t)
		if !bytes.Equal(dst[:n], src[:n]) {
			t.Fatalf("get of %d bytes: other bytes arrived", n)
		}
	}
	s[0].post(t, abi.NetOp{Kind: abi.NetFence, Peer: abi.NetAllPeers, Counter: 4})
	s[0].flush(t)
	if got := atomic.LoadUint64(&s[0].board.Counters[4]); got != 1 {
		t.Errorf("the counter of a fence is %d, want 1", got)
	}
	if e, err := os.ReadDir(s[0].config.Dir); err != nil || len(e) != 6 {
		t.Errorf("%d files, %v", len(e), err)
	}
}

func (s side) put(peer int, m []byte, signal int) abi.NetOp {
	return abi.NetOp{Kind: abi.NetPut, Peer: uint32(peer), Local: abi.Ptr(base(m)), Bytes: uint64(len(m)), Window: 7, Counter: abi.NetNoCounter,
		Signal: abi.NetAddIndexed, SignalAt: uint64(signal), Value: 1}
}

func TestWindows(t *testing.T) {
	s := sides(t, 2, nil)
	if err := s[1].Window(7, base(s[1].window), 8); err == nil || err.Error() != "network of rank 1: window: 7: the id is in use" {
		t.Errorf("an id twice: %v", err)
	}
	src := memory(t, 4096)
	pattern(src, 1)
	s[0].post(t, s[0].put(1, src, 0))
	s[1].await(t, 0, 1)
	if err := s[1].Forget(7); err != nil {
		t.Error(err)
	}
	if err := s[1].Forget(7); err != nil {
		t.Errorf("of a window that is not there: %v", err)
	}
	clear(s[1].window)
	s[0].post(t, s[0].put(1, src, 0))
	for end := time.Now().Add(5 * time.Second); s[1].Refused()["window"] != 1; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("refused are %v", s[1].Refused())
		}
	}
	if s[1].window[1] != 0 || s[1].Signals()[0] != 1 {
		t.Error("a message reached a window that was forgotten")
	}
	for id := range uint32(50) { // in any order
		id = id * 37 % 50
		if err := s[1].Window(100+id, base(s[1].window)+uintptr(id)*64, 64); err != nil {
			t.Fatal(err)
		}
	}
	for id := range 50 {
		op := s[0].put(1, src[:64], 1)
		op.Window = uint32(100 + id)
		s[0].post(t, op)
	}
	s[1].await(t, 1, 50)
	for id := range 50 {
		if !bytes.Equal(s[1].window[id*64:(id+1)*64], src[:64]) {
			t.Errorf("other bytes in window %d", id)
		}
	}
}

// TestFullRing checks that Post waits while the ring is full, and takes no number when it gives up.
func TestFullRing(t *testing.T) {
	s := sides(t, 2, nil)
	src := memory(t, 1<<20)
	// the peer keeps its messages, and receives no more
	if err := s[0].SetNull(NullSettings{Bandwidth: 1}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	posted := uint64(0)
	for ; ; posted++ {
		if _, err := s[0].Post(ctx, s[0].put(1, src, 0)); err != nil {
			if err != context.DeadlineExceeded {
				t.Fatal(err)
			}
			break
		}
	}
	board, _, _ := s[0].Board()
	if n, done := atomic.LoadUint64(&board.Posted), atomic.LoadUint64(&board.Done); n != posted || n-done != abi.NetSlots {
		t.Errorf("%d operations were posted, the board counts %d, %d of them done", posted, n, done)
	}
	wait, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := s[0].Wait(wait, posted-1); err != context.DeadlineExceeded {
		t.Errorf("wait: %v", err)
	}
	waited := make(chan error)
	go func() { waited <- s[0].Wait(t.Context(), posted-1) }()
	time.Sleep(20 * time.Millisecond)
	for _, s := range s { // messages in flight end, although they would take a day
		if err := s.Connect(2, 99, map[int][]byte{0: nil, 1: nil}); err == nil {
			t.Error("connects to no address")
		}
	}
	addresses := map[int][]byte{0: s[0].Address(), 1: s[1].Address()}
	var both sync.WaitGroup
	for _, s := range s {
		both.Go(func() {
			if err := s.Connect(2, 99, addresses); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	if err := <-waited; err == nil || !strings.Contains(err.Error(), "was dropped: the network has connected again") {
		t.Errorf("wait over an epoch: %v", err)
	}
	if err := s[0].SetNull(NullSettings{}); err != nil {
		t.Fatal(err)
	}
	for range 600 {
		s[0].post(t, s[0].put(1, src[:8], 0))
	}
	s[0].flush(t)
	s[1].await(t, 0, 600)
}

// TestAsk checks that a peer answers with what it has sent, from which its missing messages follow.
// Ask does not wait for ever for a peer that does not answer.
func TestAsk(t *testing.T) {
	s := sides(t, 2, nil)
	src := memory(t, 4096)
	drop := func(drop float64) {
		if err := s[0].SetNull(NullSettings{Drop: drop}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 5 {
		if i == 2 || i == 4 {
			drop(1)
		}
		s[0].post(t, s[0].put(1, src, 0))
		s[0].flush(t)
		drop(0)
	}
	s[1].await(t, 0, 3)
	if err := s[1].Ask(t.Context(), 0); err != nil {
		t.Error(err)
	}
	if p := s[1].Peer(0); p.Told < 1 || p.ItsPosted != 5 || p.ItsSent != 5 || p.ItsMessages != 5 || p.Landed != 3 || p.Missing != 3 {
		t.Errorf("%+v", p)
	}
	s[0].post(t, s[0].put(1, src, 0))
	s[0].flush(t)
	drop(1)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := s[1].Ask(ctx, 0); err == nil || err.Error() != "network of rank 1: ask: context deadline exceeded" {
		t.Errorf("a peer that does not answer: %v", err)
	}
	if p := s[1].Peer(0); p.ItsPosted != 5 {
		t.Errorf("%+v", p)
	}
	if err := s[1].Ask(t.Context(), 2); err == nil {
		t.Error("asks a rank that does not exist")
	}
	for _, err := range []error{s[0].Connect(2, 99, map[int][]byte{1: s[1].Address()}),
		s[1].Connect(2, 99, map[int][]byte{0: s[0].Address()}), s[0].SetNull(NullSettings{}), s[1].Ask(t.Context(), 0)} {
		if err != nil {
			t.Error(err)
		}
	}
	if p := s[1].Peer(0); p.Told < 1 || p.ItsPosted != 0 || p.ItsMessages != 0 || p.Missing != 1 {
		t.Errorf("in another epoch: %+v", p)
	}
}

// TestNonsense checks that invalid operations end at once, and that valid ones follow them.
func TestNonsense(t *testing.T) {
	s := sides(t, 2, nil)
	src := memory(t, 4096)
	for _, change := range []func(op *abi.NetOp){
		func(op *abi.NetOp) { op.Kind = 0 }, func(op *abi.NetOp) { op.Kind = 4 }, func(op *abi.NetOp) { op.Peer = 2 },
		func(op *abi.NetOp) { op.Peer = abi.NetAllPeers },
		func(op *abi.NetOp) { op.Width = 3 },
	} {
		op := s[0].put(1, src, 0)
		change(&op)
		op.Counter = 1
		s[0].post(t, op)
	}
	op := s[0].put(1, src, 1)
	op.Counter = 2
	s[0].post(t, op)
	s[0].flush(t)
	s[1].await(t, 1, 1)
	board, _, _ := s[0].Board()
	if board.Counters[1] != 0 || board.Counters[2] != 1 || s[1].Signals()[0] != 0 || s[0].Peers()[1].Dropped != 3 {
		t.Errorf("counters %v, signal %d, %+v", board.Counters[:3], s[1].Signals()[0], s[0].Peers()[1])
	}
}

func TestClosed(t *testing.T) {
	e, err := Open(Config{Size: 2, Provider: "null", Dir: t.TempDir(), Lost: func(int, string) {}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Post(t.Context(), abi.NetOp{}); err == nil || err.Error() != "network of rank 0: post: connect first" {
		t.Errorf("post before connect: %v", err)
	}
	for _, c := range []struct {
		peers map[int][]byte
		want  string
	}{
		{map[int][]byte{1: []byte("ucx:there")}, "network of rank 0: connect: the address of rank 1 is not of provider null: all ranks must use one provider"},
		{map[int][]byte{2: nil}, "network of rank 0: connect: rank 2 of 2"},
		{map[int][]byte{1: []byte("null:there")}, "network of rank 0: connect: rank 1 gave an address that is not of the null network"},
	} {
		if err := e.Connect(1, 1, c.peers); err == nil || err.Error() != c.want {
			t.Errorf("connect: %v, want %s", err, c.want)
		}
	}
	if err := e.Connect(0, 1, nil); err == nil {
		t.Error("connects with epoch 0")
	}
	e.Close()
	e.Close()
	for name, err := range map[string]error{
		"connect": e.Connect(1, 1, nil), "window": e.Window(1, 0, 0), "forget window": e.Forget(1), "expect": e.Expect(1),
		"lose": e.Lose(1, ""), "set null": e.SetNull(NullSettings{}),
		"ask": e.Ask(t.Context(), 1), "wait": e.Wait(t.Context(), 1), "flush": e.Flush(t.Context()),
	} {
		if err == nil || err.Error() != "network of rank 0: "+name+": the network is closed" {
			t.Errorf("%s after close: %v", name, err)
		}
	}
	if e.Peers() != nil || e.Address() != nil {
		t.Error("a closed engine has peers, or an address")
	}
}

// TestLastWords checks that a loss is noticed soon, although messages of the peer are not due for a
// long time.
func TestLastWords(t *testing.T) {
	lost := make(chan string, 1)
	s := sides(t, 2, func(c *Config) { c.Lost = func(peer int, why string) { lost <- why } })
	src := memory(t, 4096)
	if err := s[0].SetNull(NullSettings{Delay: time.Hour}); err != nil {
		t.Fatal(err)
	}
	s[0].post(t, s[0].put(1, src, 0))
	s[0].flush(t)
	s[0].Close()
	select {
	case why := <-lost:
		if why != "its process ended or closed its network" || s[1].Signals()[0] != 0 {
			t.Errorf("%s, signal %d", why, s[1].Signals()[0])
		}
	case <-time.After(5 * time.Second):
		t.Errorf("not lost: %+v", s[1].Peers())
	}
}
