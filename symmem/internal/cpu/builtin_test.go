//go:build linux && (amd64 || arm64)

package cpu

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/symmrepl/symmrepl/kernels"
	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/kernels/packets"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Every source file of an operation must be in the program.
func TestBuiltins(t *testing.T) {
	b := open(t)
	names := b.Device.(*cpu).kernels
	for _, f := range kernels.Files() {
		op := f.Operation()
		found := false
		for name := range names {
			found = found || name == op || strings.HasPrefix(name, op+"_")
		}
		if !found {
			t.Errorf("%s is not compiled in: no file of package builtin includes it", f.Name)
		}
	}
	fill, err := b.Builtin("fill", 0)
	if err != nil {
		t.Fatal(err)
	}
	const n = 1000
	p := b.alloc(2 * n)
	args := []uint64{uint64(p), n - 1, 0x3c00, 0, 2}
	if err := b.stream.Launch(fill, device.Launch{Grid: [3]int{4, 1, 1}, Block: [3]int{64, 1, 1}, Args: bytesOf(args)}); err != nil {
		t.Fatal(err)
	}
	want := slices.Repeat([]uint16{0x3c00}, n)
	want[n-1] = 0
	if got := download[uint16](b, p, n); !slices.Equal(got, want) {
		t.Errorf("%#x", got)
	}
	if _, err := b.Builtin("no_such_operation", 0); err == nil {
		t.Error("an operation was found that does not exist")
	}
}

// ring is four ranks in one process; each rank is a stream.
type ring struct {
	*bench
	streams []device.Stream
	args    []packets.PacketArgs
	launch  device.Launch
	kernel  device.Kernel
}

func newRing(b *bench, ranks, n int) *ring {
	const slots, blocks = 2048, 2
	r := &ring{bench: b, launch: device.Launch{Grid: [3]int{blocks, 1, 1}, Block: [3]int{256, 1, 1}}}
	var err error
	if r.kernel, err = b.Builtin("one_shot_all_reduce_f32", 0); err != nil {
		b.Fatal(err)
	}
	var inbox abi.Ptrs
	for i := range ranks {
		inbox[i] = b.alloc(blocks * 2 * ranks * slots * 16)
	}
	for i := range ranks {
		s, err := b.NewStream()
		if err != nil {
			b.Fatal(err)
		}
		in := make([]float32, n)
		for j := range in {
			in[j] = float32((i + 1) * (j%1000 + 1))
		}
		r.streams = append(r.streams, s)
		r.args = append(r.args, packets.PacketArgs{
			Context: abi.Context{Watch: abi.Ptr(unsafe.Pointer(b.Watch())), Rank: int32(i), WorldSize: int32(ranks)},
			In:      upload(b, in), Out: b.alloc(4 * n), N: uint64(n), Packets: uint64(n/96*32 + min(n%96, 32)), Epochs: b.alloc(4 * blocks), Inbox: inbox,
		})
	}
	b.sync()
	return r
}

func (r *ring) run() {
	for i, s := range r.streams {
		r.launch.Args = bytesOf(r.args[i : i+1])
		if err := s.Launch(r.kernel, r.launch); err != nil {
			r.Fatal(err)
		}
	}
	for _, s := range r.streams {
		if err := s.Synchronize(); err != nil {
			r.Fatal(err)
		}
	}
}

func TestOneShotAllReduce(t *testing.T) {
	const ranks, n = 4, 5003
	r := newRing(open(t), ranks, n)
	for range 5 {
		r.run()
	}
	for i := range ranks {
		got := download[float32](r.bench, r.args[i].Out, n)
		for j, v := range got {
			if want := float32(10 * (j%1000 + 1)); v != want {
				t.Fatalf("rank %d, element %d: %v, want %v", i, j, v, want)
			}
		}
	}
}

func BenchmarkOneShotAllReduce(b *testing.B) {
	for _, size := range []struct {
		name  string
		bytes int
	}{{"4KiB", 4 << 10}, {"64KiB", 64 << 10}, {"1MiB", 1 << 20}} {
		b.Run(size.name, func(b *testing.B) {
			r := newRing(open(b), 4, size.bytes/4)
			b.ResetTimer()
			for range b.N {
				r.run()
			}
		})
	}
}

// The fault of an operation names its source if the program was linked with line numbers; go test
// links without them.
func TestBuiltinFault(t *testing.T) {
	b := open(t)
	fill, err := b.Builtin("fill", 0)
	if err != nil {
		t.Fatal(err)
	}
	args := []uint64{8, 1, 0, 0, 2}
	if err := b.stream.Launch(fill, device.Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{1, 1, 1}, Args: bytesOf(args)}); err != nil {
		t.Fatal(err)
	}
	var f *device.KernelFault
	if err := b.stream.Synchronize(); !errors.As(err, &f) || f.Kernel != "fill" || f.What != "writes address 0x8, where no memory is" {
		t.Fatal(err)
	}
	if f.Where != "" && !strings.HasPrefix(f.Where, "fill.cu:") {
		t.Errorf("at %q", f.Where)
	}
	t.Log(f)
}

// Opening and closing devices must not leave threads, descriptors or mappings.
func TestOpenClose(t *testing.T) {
	count := func(folder string) int {
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	cycle := func() {
		d, err := Open(0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.NewStream(); err != nil {
			t.Fatal(err)
		}
		if _, err := d.NewSegment(1 << 20); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Alloc(1 << 20); err != nil {
			t.Fatal(err)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	cycle()
	threads, descriptors := count("/proc/self/task"), count("/proc/self/fd")
	for range 30 {
		cycle()
	}
	if n := count("/proc/self/fd"); n > descriptors+2 {
		t.Errorf("%d descriptors, %d before", n, descriptors)
	}
	// A joined thread is listed until the kernel has removed it.
	n, end := count("/proc/self/task"), time.Now().Add(limit)
	for ; n > threads+8 && time.Now().Before(end); n = count("/proc/self/task") {
		time.Sleep(time.Millisecond)
	}
	if n > threads+8 {
		t.Errorf("%d threads, %d before", n, threads)
	}
}
