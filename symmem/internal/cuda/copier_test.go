package cuda

import (
	"encoding/binary"
	"testing"
	"time"
	"unsafe"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/symmem/internal/cuda/cubin"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/net"
)

// carrier holds two engines of one process, whose data lies in the memory of a device.
type carrier struct {
	t       *testing.T
	engines [2]*net.Engine
	s       *Stream
	// a and b are window 1 of rank 0 and of rank 1.
	a, b device.Ptr
}

const carried = 4 << 20 // bytes of a and b

func newCarrier(t *testing.T, d *Device, copier unsafe.Pointer) *carrier {
	c := &carrier{t: t, s: newStream(t, d)}
	var err error
	c.a, err = d.Alloc(carried)
	must(t, err)
	c.b, err = d.Alloc(carried)
	must(t, err)
	dir, addresses := t.TempDir(), map[int][]byte{}
	for rank := range c.engines {
		c.engines[rank], err = net.Open(net.Config{Rank: rank, Size: 2, Provider: "null", Dir: dir, Signals: 16, CanRing: true, Copier: copier})
		must(t, err)
		addresses[rank] = c.engines[rank].Address()
	}
	for rank, e := range c.engines {
		must(t, e.Connect(1, 42, addresses))
		must(t, e.Window(1, uintptr([]device.Ptr{c.a, c.b}[rank]), carried))
	}
	return c
}

func (c *carrier) close(d *Device) {
	for _, e := range c.engines {
		e.Close()
	}
	must(c.t, d.Free(c.a))
	must(c.t, d.Free(c.b))
	must(c.t, c.s.Close())
}

// carry posts operations of rank 0 to rank 1 and waits until they are in place there.
func (c *carrier) carry(ops ...abi.NetOp) {
	c.t.Helper()
	for _, op := range append(ops, abi.NetOp{Kind: abi.NetFence}) {
		op.Peer, op.Counter, op.Window, op.SignalWindow = 1, abi.NetNoCounter, 1, 1
		number, err := c.engines[0].Post(c.t.Context(), op)
		must(c.t, err)
		if op.Kind == abi.NetFence {
			must(c.t, c.engines[0].Wait(c.t.Context(), number))
		}
	}
}

// word returns a word of rank 1.
func (c *carrier) word(offset int) uint64 {
	var b [8]byte
	must(c.t, c.s.Read(b[:], c.b+device.Ptr(offset)))
	return binary.NativeEndian.Uint64(b[:])
}

// testCopier: the network engine moves data of a device, in pieces of every size and in rows, and
// changes words there.
func testCopier(t *testing.T, d *Device, copier unsafe.Pointer) {
	c := newCarrier(t, d, copier)
	defer c.close(d)
	for i, n := range []int{1, 8, 4096, 16<<10 + 1, 1 << 20, 3<<20 + 5} {
		want := pattern(n, i)
		must(t, c.s.Write(c.a, want))
		must(t, c.s.Set(c.b, 0, carried))
		must(t, c.s.Synchronize())
		c.carry(abi.NetOp{Kind: abi.NetPut, Local: c.a, Offset: 64, Bytes: uint64(n), Signal: abi.NetSetWord, Strong: 1,
			SignalAt: 16, Value: uint64(1000 + i)})
		wants(t, c.s, c.b+64, append(want, 0), "put")
		if got, want := c.word(16), uint64(1000+i); got != want {
			t.Errorf("the word of the put of %d bytes is %d, want %d", n, got, want)
		}

		must(t, c.s.Set(c.a, 0, carried))
		must(t, c.s.Synchronize())
		c.carry(abi.NetOp{Kind: abi.NetGet, Local: c.a, Offset: 64, Bytes: uint64(n)})
		wants(t, c.s, c.a, append(want, 0), "get")
	}

	// A block: 5 rows of 24 bytes, 40 apart here and 100 apart there.
	rows := pattern(5*40, 3)
	must(t, c.s.Write(c.a, rows))
	must(t, c.s.Set(c.b, 0, 1000))
	must(t, c.s.Synchronize())
	c.carry(abi.NetOp{Kind: abi.NetPut, Local: c.a, Offset: 0, Bytes: 5 * 24, Width: 24, LocalPitch: 40, RemotePitch: 100})
	want := make([]byte, 5*100)
	for r := range 5 {
		copy(want[100*r:100*r+24], rows[40*r:])
	}
	wants(t, c.s, c.b, want, "block")

	// More operations than the copier has tickets.
	must(t, c.s.Set(c.b, 0, 1000))
	must(t, c.s.Synchronize())
	var adds []abi.NetOp
	for i := range 2500 {
		adds = append(adds, abi.NetOp{Kind: abi.NetPut, Signal: abi.NetAddWord, SignalAt: 8, Value: uint64(i)})
	}
	c.carry(adds...)
	if got := c.word(8); got != 2500*2499/2 {
		t.Errorf("the sum is %d, want %d", got, 2500*2499/2)
	}

	// Atomic operations return the previous values.
	for i := range 3 {
		c.carry(abi.NetOp{Kind: abi.NetAtomic, Local: c.a, Offset: 8, Bytes: 8, Signal: abi.ShmemAdd, Value: 10})
		var b [8]byte
		must(t, c.s.Read(b[:], c.a))
		if got, want := binary.NativeEndian.Uint64(b[:]), uint64(2500*2499/2+10*i); got != want {
			t.Errorf("addition %d returned %d, want %d", i, got, want)
		}
	}
}

// testLoad: while code is loaded, the network engine delivers the data that a running kernel waits
// for. The kernel waits for the word that its argument points to, up to a limit.
func testLoad(t *testing.T, d *Device, copier unsafe.Pointer, wait device.Kernel, code cubin.Binary, long time.Duration) {
	c := newCarrier(t, d, copier)
	defer c.close(d)
	must(t, c.s.Set(c.b, 0, 16))
	must(t, c.s.Synchronize())
	must(t, c.s.Launch(wait, device.Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{1, 1, 1},
		Args: binary.NativeEndian.AppendUint64(nil, uint64(c.b))}))
	hangs := time.AfterFunc(2*long, func() { panic("loading keeps the network engine from setting a word, without end") })
	defer hangs.Stop()
	start, loaded := time.Now(), make(chan error)
	go func() {
		m, err := d.c.LoadModule(code.Cubin)
		if err == nil {
			err = m.Close()
		}
		loaded <- err
	}()
	time.Sleep(100 * time.Millisecond) // the load has begun
	c.carry(abi.NetOp{Kind: abi.NetPut, Signal: abi.NetSetWord, SignalAt: 0, Value: 1})
	must(t, <-loaded)
	if took := time.Since(start); took > long/2 {
		t.Errorf("the word came after %v: loading kept the network engine from setting it", took.Round(time.Millisecond))
	}
	must(t, c.s.Synchronize())
}
