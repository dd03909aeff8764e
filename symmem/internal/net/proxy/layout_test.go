package proxy

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/symmrepl/symmrepl/kernels/abi"
)

// TestLayout checks that the C declarations agree with kernels/abi. Another test compares that with
// the kernels' header.
func TestLayout(t *testing.T) {
	var b abi.NetBoard
	var o abi.NetOp
	for _, c := range []struct {
		name  string
		c     any
		equal bool
	}{
		{name: "net_board", c: boardLayout, equal: slices.Equal(boardLayout, []uintptr{unsafe.Sizeof(b), unsafe.Offsetof(b.Done), unsafe.Offsetof(b.Asleep),
			unsafe.Offsetof(b.Bell), unsafe.Offsetof(b.Lost), unsafe.Offsetof(b.Counters), unsafe.Offsetof(b.Slots)})},
		{name: "net_op", c: opLayout, equal: slices.Equal(opLayout,
			[]uintptr{unsafe.Sizeof(o), unsafe.Offsetof(o.Kind), unsafe.Offsetof(o.Peer), unsafe.Offsetof(o.Local),
				unsafe.Offsetof(o.Offset), unsafe.Offsetof(o.Bytes), unsafe.Offsetof(o.Width), unsafe.Offsetof(o.LocalPitch), unsafe.Offsetof(o.RemotePitch),
				unsafe.Offsetof(o.Window), unsafe.Offsetof(o.Counter), unsafe.Offsetof(o.Signal), unsafe.Offsetof(o.Strong), unsafe.Offsetof(o.SignalWindow),
				unsafe.Offsetof(o.Ordinal), unsafe.Offsetof(o.SignalAt), unsafe.Offsetof(o.Value), unsafe.Offsetof(o.Data), unsafe.Offsetof(o.Unannounced)})},
		{name: "the constants", c: constants,
			equal: slices.Equal(constants,
				[]uint64{abi.NetSlots, abi.NetCounters, abi.NetPeers, abi.NetPut, abi.NetGet, abi.NetFence, abi.NetValue, abi.NetAtomic,
					abi.ShmemFetch, abi.ShmemSet, abi.ShmemAdd, abi.ShmemAnd, abi.ShmemOr, abi.ShmemXor, abi.ShmemCompareSwap,
					abi.NetAddIndexed, abi.NetSetWord, abi.NetAddWord})},
		{name: "net_header", c: headerBytes, equal: headerBytes == unsafe.Sizeof(Header{})},
	} {
		if !c.equal {
			t.Errorf("%s differs: in C it is %v", c.name, c.c)
		}
	}
}
