//go:build linux && (amd64 || arm64)

package cpu

import (
	"bytes"
	"encoding/binary"
	"os"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// TestMain lets the test binary act as the second process of TestSharedSegment.
func TestMain(m *testing.M) {
	if os.Getenv("SYMMREPL_TEST_PEER") != "" {
		os.Exit(peerMain())
	}
	os.Exit(m.Run())
}

// bench is a device with a stream, for tests.
type bench struct {
	testing.TB
	device.Device
	stream device.Stream
}

// limit bounds the waits of tests: a kernel that waits in vain is interrupted, and reported with
// its line.
const limit = time.Minute

func open(t testing.TB) *bench {
	t.Helper()
	d, err := Open(0)
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(limit, func() { atomic.StoreUint32(&d.Watch().Abort, 1) })
	t.Cleanup(func() {
		late.Stop()
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return &bench{t, d, s}
}

// compile returns the kernels of a snippet by name.
func (b *bench) compile(text string, instances ...string) map[string]device.Kernel {
	b.Helper()
	m, err := b.Compile(device.Source{Name: "cell[3]", Line: 1, Text: text, Instances: instances})
	if err != nil {
		b.Fatal(err)
	}
	kernels := map[string]device.Kernel{}
	for _, k := range m.Kernels() {
		kernels[k.Name()] = k
	}
	return kernels
}

func (b *bench) alloc(n int) device.Ptr {
	b.Helper()
	p, err := b.Alloc(n)
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// upload allocates and writes a slice.
func upload[T any](b *bench, v []T) device.Ptr {
	b.Helper()
	data := bytesOf(v)
	p := b.alloc(len(data))
	if err := b.stream.Write(p, data); err != nil {
		b.Fatal(err)
	}
	return p
}

// download waits and reads n elements.
func download[T any](b *bench, p device.Ptr, n int) []T {
	b.Helper()
	v := make([]T, n)
	if err := b.stream.Read(bytesOf(v), p); err != nil {
		b.Fatal(err)
	}
	return v
}

func bytesOf[T any](v []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(*new(T))))
}

// launch packs the arguments by the kernel's parameters and queues it.
func (b *bench) launch(k device.Kernel, grid, block int, args ...any) {
	b.Helper()
	b.launchShared(k, [3]int{grid, 1, 1}, [3]int{block, 1, 1}, 0, args...)
}

func (b *bench) launchShared(k device.Kernel, grid, block [3]int, shared int, args ...any) {
	b.Helper()
	if k == nil {
		b.Fatal("no such kernel")
	}
	var buf bytes.Buffer
	for i, p := range k.Params() {
		buf.Write(make([]byte, p.Offset-buf.Len()))
		a := args[i]
		if ptr, ok := a.(device.Ptr); ok {
			a = uint64(ptr)
		}
		if err := binary.Write(&buf, binary.LittleEndian, a); err != nil {
			b.Fatal(err)
		}
		if buf.Len() != p.Offset+p.Size {
			b.Fatalf("argument %d (%T) is not %d bytes", i, a, p.Size)
		}
	}
	if err := b.stream.Launch(k, device.Launch{Grid: grid, Block: block, Shared: shared, Args: buf.Bytes()}); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) sync() {
	b.Helper()
	if err := b.stream.Synchronize(); err != nil {
		b.Fatal(err)
	}
}
