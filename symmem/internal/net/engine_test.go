package net

import (
	"bytes"
	"context"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/symmrepl/symmrepl/kernels/abi"
)

// memory returns bytes outside Go's heap, for windows and sources.
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

// sides opens engines over the null network, connects them and registers a window of each as id 7.
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
		s[0].post(t, abi.NetOp{Kind: abi.NetPut, Peer: 1, Local: abi.Ptr(base(src)), Bytes: uint64(n), Window: 7, Counter: 3, Signal: abi.NetAddIndexed, SignalAt: 5, Value: 1})
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
