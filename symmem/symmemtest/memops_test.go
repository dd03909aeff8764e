package symmemtest

import (
	"slices"

	"github.com/symmrepl/symmrepl/symmem"
)

func streamWriteValue32Case(t *T) {
	x := symmem.Empty(symmem.U32, 4)
	h := symmem.Rendezvous(x)
	right, left := (t.rank+1)%t.size, (t.rank+t.size-1)%t.size
	symmem.StreamWriteValue32(h.GetRemoteTensor(right), 2, 1<<32-1-t.rank)
	h.Barrier(0)
	t.equal("words", x.Ints(), []int{0, 0, 1<<32 - 1 - left, 0})
	misuse := symmem.KindMisuse
	t.refused(misuse, func() { symmem.StreamWriteValue32(x.View(2, 2), 0, 1) }, "stream_write_value32", "one dimension")
	t.refused(misuse, func() { symmem.StreamWriteValue32(symmem.Local(symmem.I32, 4), 0, 1) }, "u32")
	t.refused(misuse, func() { symmem.StreamWriteValue32(x, -1, 1) }, "must be non-negative")
	t.refused(misuse, func() { symmem.StreamWriteValue32(x, 4, 1) }, "offset 4 is not below the 4 elements")
	t.refused(misuse, func() { symmem.StreamWriteValue32(x, 0, 1<<32) }, "must be in [0, 2^32)")
	t.refused(misuse, func() { symmem.StreamWriteValue32(x, 0, -1) }, "must be in [0, 2^32)")
	x.Free()
}

func memset32Case(t *T) {
	x := symmem.Empty(symmem.U32, 1000)
	h := symmem.Rendezvous(x)
	right, left := (t.rank+1)%t.size, (t.rank+t.size-1)%t.size
	g := symmem.Capture(func() {
		symmem.Memset32(h.GetRemoteTensor(right), 3, 7+t.rank, 990)
		symmem.StreamWriteValue32(h.GetRemoteTensor(right), 0, 1)
	})
	g.Replay()
	h.Barrier(0)
	t.equal("words", x.Ints(), slices.Concat([]int{1, 0, 0}, slices.Repeat([]int{7 + left}, 990), make([]int, 7)))
	misuse := symmem.KindMisuse
	t.refused(misuse, func() { symmem.Memset32(x, 0, 1, 0) }, "memset32", "the count must be positive")
	t.refused(misuse, func() { symmem.Memset32(x, 10, 1, 991) }, "exceed the 1000 elements")
	t.refused(misuse, func() { symmem.Memset32(x, -1, 1, 1) }, "must be non-negative")
	t.refused(misuse, func() { symmem.Memset32(x, 0, -1, 1) }, "must be in [0, 2^32)")
	g.Free()
	x.Free()
}

func signalGetResetCase(t *T) {
	x, data := symmem.Empty(symmem.F32, 4), symmem.Local(symmem.F32, 4).Fill(t.rank)
	h := symmem.Rendezvous(x)
	right, left := (t.rank+1)%t.size, (t.rank+t.size-1)%t.size
	last := h.SignalPadSize()/8 - 1
	h.PutWithSignal(right, data, last, uint64(t.rank)+1<<40)
	h.WaitForSignal(last, "==", uint64(left)+1<<40)
	if got := h.GetSignal(last); got != uint64(left)+1<<40 {
		t.Errorf("the signal is %d", got)
	}
	h.ResetSignal(last)
	if got := h.GetSignal(last); got != 0 {
		t.Errorf("after the reset the signal is %d", got)
	}
	t.refused(symmem.KindMisuse, func() { h.GetSignal(last + 1) }, "get_signal", "must be in [0")
	t.refused(symmem.KindMisuse, func() { h.ResetSignal(-1) }, "reset_signal", "must be in [0")
	t.refused(symmem.KindMisuse, func() { symmem.Capture(func() { h.GetSignal(0) }) }, "get_signal", "graph")
	h.Barrier(0)
	x.Free()
}

func blocksCase(t *T) {
	for _, d := range []symmem.DType{symmem.U8, symmem.F16, symmem.F32} {
		for _, b := range [][4]int{{0, 0, 5, 16}, {1, 3, 2, 7}, {4, 15, 1, 1}, {2, 8, 3, 8}, {0, 0, 0, 4}} {
			row, col, rows, cols := b[0], b[1], b[2], b[3]
			x := symmem.Empty(d, 5, 16)
			h := symmem.Rendezvous(x)
			right, left := (t.rank+1)%t.size, (t.rank+t.size-1)%t.size
			h.Barrier(0)
			h.PutBlock(right, symmem.Local(d, rows, cols).Fill(1+t.rank), row, col)
			h.Barrier(0)
			want := make([]int, 80)
			for i := range want {
				if r, c := i/16, i%16; r >= row && r < row+rows && c >= col && c < col+cols {
					want[i] = 1 + left
				}
			}
			t.equal("put", x.Ints(), want)
			back := symmem.Local(d, rows, cols)
			h.GetBlock(right, back, row, col)
			t.equal("get", back.Ints(), slices.Repeat([]int{1 + t.rank}, rows*cols))
			h.Barrier(0)
			x.Free()
		}
	}
	x := symmem.Empty(symmem.F32, 5, 16)
	h := symmem.Rendezvous(x)
	t.refused(symmem.KindMisuse, func() { h.PutBlock(0, symmem.Local(symmem.F32, 2, 2), 4, 0) }, "put_block", "is not within [5 16]")
	t.refused(symmem.KindMisuse, func() { h.GetBlock(0, symmem.Local(symmem.F32, 4), 0, 0) }, "get_block", "two dimensions")
	t.refused(symmem.KindMisuse, func() { h.PutBlock(0, symmem.Local(symmem.I32, 2, 2), 0, 0) }, "i32[2, 2]")
	t.refused(symmem.KindMisuse, func() { h.PutBlock(t.size, symmem.Local(symmem.F32, 2, 2), 0, 0) }, "must be in [0")
	x.Free()
}

// pendingSignalsCase leaves a signal behind and finds it.
func pendingSignalsCase(t *T) {
	x := symmem.Empty(symmem.F32, 1)
	h := symmem.Rendezvous(x)
	if t.rank == 1 {
		h.PutSignal(0, 5)
		symmem.Synchronize()
	}
	t.meet()
	want := map[int][]string{0: {"world: a signal of rank 1 on channel 5 was not awaited"},
		1: {"world: rank 0 has not awaited the signal put to it on channel 5"}}[t.rank]
	t.equal("pending", symmem.PendingSignals(), want)
	t.meet()
	if t.rank == 0 {
		h.WaitSignal(1, 5)
		symmem.Synchronize()
	}
	t.meet()
	t.equal("consumed", symmem.PendingSignals(), []string(nil))
	x.Free()
}
