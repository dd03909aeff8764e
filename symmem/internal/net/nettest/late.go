package nettest

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra
#include "late.h"
*/
import "C"

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/symmem/internal/net"
)

// late: windows and sources are in device memory whose copies end late and in any order. The same
// guarantees hold.
func late(r *Rank) { ofDevice(r, net.Staged) }

// direct: the provider accesses that memory itself, except where data has to be gathered or
// scattered.
func direct(r *Rank) { ofDevice(r, net.DirectHost) }

func ofDevice(r *Rank, memory net.Memory) {
	const half = windowBytes / 2
	r.Memory = r.alloc(windowBytes)
	c := r.config()
	copier := C.net_late_copier(unsafe.Pointer(&r.Memory[0]), windowBytes)
	c.Copier, c.Memory = copier, memory
	r.openWith(c)
	src := r.Memory[half:]
	want := make([]byte, half)
	board, _, _ := r.Board()
	word := (*uint64)(unsafe.Pointer(&r.Memory[half-8]))
	for i, n := range []int{1, 8, 5000, 70000, 1 << 20, 1<<20 + 1, 3 << 20} {
		fill(want, i)
		put := abi.NetOp{Kind: abi.NetPut, Peer: 1, Local: local(src), Bytes: uint64(n), Window: windowID, Counter: abi.NetNoCounter}
		if r.Rank == 0 {
			copy(src, want)
			r.post(put) // and a strong signal in a separate message
			r.post(abi.NetOp{Kind: abi.NetPut, Peer: 1, Counter: abi.NetNoCounter, Signal: abi.NetAddWord, SignalWindow: windowID,
				SignalAt: half - 8, Value: 1, Strong: 1})
			r.await(0, uint64(3*i+1))
			put.Signal, put.SignalAt, put.Value = abi.NetAddIndexed, 1, 1
			r.post(put)
			r.await(0, uint64(3*i+2))
			r.post(abi.NetOp{Kind: abi.NetGet, Peer: 1, Local: local(src), Bytes: uint64(n), Window: windowID, Counter: 3})
			r.flush()
			if c := atomic.LoadUint64(&board.Counters[3]); c != uint64(2*i+1) {
				r.Failf("counter %d", c)
			}
			fill(want, 100)
			if !bytes.Equal(src[:n], want[:n]) {
				r.Failf("a get of %d bytes brought others", n)
			}
			r.post(abi.NetOp{Kind: abi.NetGet, Peer: 1, Local: local(src), Bytes: 4000, Width: 40, LocalPitch: 100,
				RemotePitch: 60, Window: windowID, Counter: 3})
			r.flush()
			for k := range 100 {
				if !bytes.Equal(src[k*100:k*100+40], r.rows(100, k*60, 40)) {
					r.Failf("row %d of a block is of others", k)
				}
			}
			r.signal(1, 2, 0)
			r.await(0, uint64(3*i+3))
		} else {
			for atomic.LoadUint64(word) < uint64(i+1) {
				runtime.Gosched()
			}
			if !bytes.Equal(r.Memory[:n], want[:n]) {
				r.Failf("a strong signal was earlier than %d bytes before it", n)
			}
			clear(r.Memory[:n])
			r.signal(0, 0, 0)
			r.await(1, uint64(i+1))
			if !bytes.Equal(r.Memory[:n], want[:n]) {
				r.Failf("a signal was earlier than the %d bytes of its message", n)
			}
			fill(r.Memory[:half-8], 100)
			r.signal(0, 0, 0)
			r.await(2, uint64(i+1))
			r.signal(0, 0, 0)
		}
	}
	if got := binary.LittleEndian.Uint64(r.Memory[half-8:]); r.Rank == 1 && got != 7 {
		r.Failf("the word is %d", got)
	}
	r.Meet()
	// it sends 14 puts in 20 staged pieces, and 7 gets each of contiguous data and of rows
	if r.Rank == 0 {
		staged, want, most := uint64(C.net_late_staged(copier)), uint64(34), uint64(34)
		if memory != net.Staged {
			want, most = 14, 14
			if r.Provider == "ucx" { // which announces large messages
				want, most = 7, 11
			}
		}
		if staged < want || staged > most {
			r.Failf("%d messages were staged, not %d to %d", staged, want, most)
		}
	}
	if r.Rank == 0 {
		for i := range uint64(20) {
			r.post(abi.NetOp{Kind: abi.NetAtomic, Peer: 1, Local: local(src), Offset: half - 8, Bytes: 8, Window: windowID,
				Signal: abi.ShmemAdd, Value: i, Counter: abi.NetNoCounter})
			r.flush()
			before := uint64(7)
			if i > 0 {
				before += i * (i - 1) / 2
			}
			if got := binary.LittleEndian.Uint64(src); got != before {
				r.Failf("an addition returned %d, and the word was %d", got, before)
			}
		}
	}
	r.Meet()
	r.Close()
}

// rows returns the bytes that fill writes at an offset.
func (r *Rank) rows(seed, offset, n int) []byte {
	m := make([]byte, offset+n)
	fill(m, seed)
	return m[offset:]
}
