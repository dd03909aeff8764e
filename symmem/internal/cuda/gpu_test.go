package cuda

import (
	"encoding/binary"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/symmem/internal/cuda/cubin"
	"github.com/symmrepl/symmrepl/symmem/internal/cuda/libs"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// gpu opens the first GPU, or skips with the reason.
func gpu(t testing.TB) *Device {
	t.Helper()
	d, err := Open(0, "", false)
	var un *device.UnavailableError
	if errors.As(err, &un) {
		t.Skip(un)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d.(*Device)
}

var one = [3]int{1, 1, 1}

// pack lays out arguments by their natural alignment, as kernels with plain parameters expect.
func pack(args ...any) []byte {
	var b []byte
	for _, a := range args {
		size := binary.Size(a)
		for len(b)%size != 0 {
			b = append(b, 0)
		}
		b, _ = binary.Append(b, binary.NativeEndian, a)
	}
	return b
}

func compiled(t testing.TB, d *Device, text string) device.Kernel {
	t.Helper()
	m, err := d.Compile(device.Source{Name: "cell[1]", Line: 1, Text: text})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m.Kernels()[0]
}

func TestGPU(t *testing.T) {
	d := gpu(t)
	t.Logf("%+v", d.Info())
	n, err := Count()
	must(t, err)
	t.Run("memory", func(t *testing.T) { testMemory(t, d) })
	t.Run("copies", func(t *testing.T) { testCopies(t, d) })
	t.Run("many held", func(t *testing.T) { testManyHeld(t, d) })
	t.Run("staging", func(t *testing.T) { testStaging(t, d) })
	t.Run("events", func(t *testing.T) { testEvents(t, d) })
	t.Run("capture", func(t *testing.T) { testCapture(t, d) })
	t.Run("segments", func(t *testing.T) { testSegments(t, d, n-1) })
	t.Run("threads", func(t *testing.T) { testThreads(t, d) })
	t.Run("copier", func(t *testing.T) {
		copier, err := d.Copier()
		must(t, err)
		testCopier(t, d, copier)
		wait := compiled(t, d, `__global__ void wait(unsigned* word) {
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
  do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  while (!*(volatile unsigned*)word && now - start < 10000000000);
}`)
		code, err := d.compiler.Compile(cubin.Unit{Name: "cell[2]", Line: 1, Text: "extern \"C\" __global__ void later() {}"})
		must(t, err)
		testLoad(t, d, copier, wait, code, 10*time.Second)
	})
	t.Run("snippet", func(t *testing.T) { gpuSnippet(t, d) })
	t.Run("shared", func(t *testing.T) { gpuShared(t, d) })
	t.Run("half", func(t *testing.T) { gpuHalf(t, d) })
	t.Run("builtin", func(t *testing.T) { gpuBuiltin(t, d) })
	t.Run("bounds", func(t *testing.T) { gpuBounds(t, d) })
	t.Run("capture launch", func(t *testing.T) { gpuCapture(t, d) })
	t.Run("abort", func(t *testing.T) { gpuAbort(t, d) })
	t.Run("compile error", func(t *testing.T) { gpuCompileError(t, d) })
	t.Run("refused launch", func(t *testing.T) { gpuRefused(t, d) })
	t.Run("monitor", func(t *testing.T) { gpuMonitor(t, d) })
}

func gpuSnippet(t *testing.T, d *Device) {
	k := compiled(t, d, `__global__ void scale(float* x, int n, char c, double a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = float(x[i] * a + c);
}`)
	want := []device.Param{{Name: "x", Type: "float*", Offset: 0, Size: 8}, {Name: "n", Type: "int", Offset: 8, Size: 4},
		{Name: "c", Type: "char", Offset: 12, Size: 1}, {Name: "a", Type: "double", Offset: 16, Size: 8}}
	if len(k.Params()) != len(want) {
		t.Fatalf("Params are %+v", k.Params())
	}
	for i, p := range k.Params() {
		if p != want[i] {
			t.Errorf("parameter %d is %+v, want %+v", i, p, want[i])
		}
	}
	if a := k.Attributes(); a.Registers <= 0 || a.MaxThreads != 1024 || a.StaticShared != 0 {
		t.Errorf("Attributes are %+v", a)
	}
	s := newStream(t, d)
	const n = 100000
	p, err := d.Alloc(4 * n)
	must(t, err)
	in, out := make([]byte, 4*n), make([]byte, 4*n)
	for i := range n {
		binary.NativeEndian.PutUint32(in[4*i:], math.Float32bits(float32(i)))
		binary.NativeEndian.PutUint32(out[4*i:], math.Float32bits(float32(i)*2.5+3))
	}
	must(t, s.Write(p, in))
	must(t, s.Launch(k, device.Launch{Grid: [3]int{(n + 255) / 256, 1, 1}, Block: [3]int{256, 1, 1},
		Args: pack(uint64(p), int32(n), int8(3), 2.5)}))
	wants(t, s, p, out, "scaled memory")
	must(t, d.Free(p))
	must(t, s.Close())
}

func gpuShared(t *testing.T, d *Device) {
	k := compiled(t, d, `extern "C" __global__ void last(int* out, int n) {
  extern __shared__ int words[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) words[i] = 3 * i;
  __syncthreads();
  if (threadIdx.x == 0) *out = words[n - 1];
}`)
	s := newStream(t, d)
	p, err := d.Alloc(4)
	must(t, err)
	for _, bytes := range []int{4096, 49152, 49156, d.Info().SharedPerBlock} {
		must(t, s.Launch(k, device.Launch{Grid: one, Block: [3]int{128, 1, 1}, Shared: bytes, Args: pack(uint64(p), int32(bytes/4))}))
		wants(t, s, p, pack(int32(3*(bytes/4-1))), "the last word of shared memory")
	}
	must(t, d.Free(p))
	must(t, s.Close())
}

// gpuHalf uses CUDA's own header if the host has it.
func gpuHalf(t *testing.T, d *Device) {
	found := libs.ThisHost().Find(libs.NVRTC())
	if len(found) == 0 || len(libs.ThisHost().Includes(found[0].Path)) == 0 {
		t.Skip("no folder of CUDA headers was found")
	}
	k := compiled(t, d, `#include <cuda_fp16.h>
extern "C" __global__ void twice(__half* x) { *x = __hadd(*x, *x); }`)
	s := newStream(t, d)
	p, err := d.Alloc(2)
	must(t, err)
	must(t, s.Write(p, pack(uint16(0x3e00)))) // 1.5
	must(t, s.Launch(k, device.Launch{Grid: one, Block: one, Args: pack(uint64(p))}))
	wants(t, s, p, pack(uint16(0x4200)), "3.0 as a half")
	must(t, d.Free(p))
	must(t, s.Close())
}

func gpuBuiltin(t *testing.T, d *Device) {
	k, err := d.Builtin("fill", 0)
	must(t, err)
	s := newStream(t, d)
	p, err := d.Alloc(1 << 20)
	must(t, err)
	// FillArgs: out, elements, bits, high bits, size of an element
	must(t, s.Launch(k, device.Launch{Grid: [3]int{64, 1, 1}, Block: [3]int{256, 1, 1},
		Args: pack(uint64(p), uint64(1<<18), uint64(0x01020304), uint64(0), uint64(4))}))
	want := make([]byte, 1<<20)
	for i := 0; i < len(want); i += 4 {
		binary.NativeEndian.PutUint32(want[i:], 0x01020304)
	}
	wants(t, s, p, want, "filled memory")
	if params := k.Params(); len(params) != 1 || params[0] != (device.Param{Size: 40}) {
		t.Errorf("Params of fill are %+v", params)
	}
	must(t, d.Free(p))
	must(t, s.Close())
}

// gpuBounds: accesses outside of a kernel's arguments are published, and change no memory.
func gpuBounds(t *testing.T, d *Device) {
	m, err := d.CompileChecked(device.Source{Name: "cell[1]", Line: 5, Text: `__global__ void leave(int* x, int n, const double* y, symm::Handle h) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == n) x[i] = 1;
  if (i == 5) *(x - 1) = (int)y[2];
  if (i == 7) h.buffer<float>(0)[4] = 1;
  if (i == 70) atomicAdd(&h.pad(0)[2], 1);
  if (i == 80) { int4* v = (int4*)x; v[16] = int4{1, 2, 3, 4}; }
  if (i < n) {
    x[i] = h.buffer<int>(0)[i % 4] + h.pad(0)[i % 2];
    atomicAdd(x + i, (int)*y);
  }
}
__global__ void plain(int n, int* x) { x[n] = 3; }`})
	must(t, err)
	defer m.Close()
	k := m.Kernels()[0]
	pointer := int(unsafe.Sizeof(abi.Checked{}))
	want := []device.Param{{Name: "x", Type: "int*", Size: pointer, Checked: true}, {Name: "n", Type: "int", Offset: pointer, Size: 4},
		{Name: "y", Type: "const double*", Offset: pointer + 8, Size: pointer, Checked: true},
		{Name: "h", Type: "symm::Handle", Offset: 2*pointer + 8, Size: int(unsafe.Sizeof(abi.Handle{}))}}
	if got := k.Params(); !slices.Equal(got, want) {
		t.Fatalf("Params are %+v, want %+v", got, want)
	}
	// From p: 64 ints with 100 of them to the left and right, two doubles, a buffer of 4 words and
	// a pad of 2.
	const x, y, buffer, pad, all = 400, 1056, 1104, 1136, 1200
	p, err := d.Alloc(all)
	must(t, err)
	s := newStream(t, d)
	in := make([]byte, all)
	copy(in[y:], pack(4.0, 5.0))
	copy(in[buffer:], pack(int32(10), int32(20), int32(30), int32(40)))
	copy(in[pad:], pack(int32(100), int32(200)))
	must(t, s.Write(p, in))
	extent := func(at, bytes int) abi.Checked {
		return abi.Checked{At: p + device.Ptr(at), Extent: abi.Extent{First: p + device.Ptr(at), Bytes: uint64(bytes),
			Watch: device.Ptr(uintptr(unsafe.Pointer(d.Watch()))), Call: 9}}
	}
	args := struct {
		X abi.Checked
		N int32
		Y abi.Checked
		H abi.Handle
	}{X: extent(x, 256), N: 64, Y: extent(y, 16)}
	args.H.Watch, args.H.Ordinal, args.H.Bytes, args.H.PadBytes = args.X.Watch, 10, 16, 8
	args.H.Buffers[0], args.H.Pads[0] = p+buffer, p+pad
	data := unsafe.Slice((*byte)(unsafe.Pointer(&args)), unsafe.Sizeof(args))
	must(t, s.Launch(k, device.Launch{Grid: [3]int{3, 1, 1}, Block: [3]int{32, 1, 1}, Args: data}))
	out := slices.Clone(in)
	for i := range 64 {
		binary.NativeEndian.PutUint32(out[x+4*i:], uint32(10*(i%4+1)+100*(i%2+1)+4))
	}
	wants(t, s, p, out, "what the kernel was given, and what lies around it")
	at := func(offset int) uint64 { return uint64(p) + uint64(offset) }
	found := []device.Outside{
		{State: 1, Line: 7, Call: 9, Bytes: 4, Block: [3]uint32{2}, Address: at(x + 256), First: at(x)},
		{State: 1, Line: 8, Call: 9, Bytes: 4, Thread: [3]uint32{5}, Address: at(x - 4), First: at(x)},
		{State: 1, Line: 9, Call: 10, Bytes: 4, Thread: [3]uint32{7}, Address: at(buffer + 16), First: at(buffer)},
		{State: 1, Line: 10, Call: 10, Bytes: 4, Block: [3]uint32{2}, Thread: [3]uint32{6}, Address: at(pad + 8), First: at(pad)},
		{State: 1, Line: 11, Call: 9, Bytes: 16, Block: [3]uint32{2}, Thread: [3]uint32{16}, Address: at(x + 256), First: at(x)},
	}
	// On line 8, two accesses are out of bounds, in either order.
	if o := &d.Watch().Outside[8]; o.Reads == 1 {
		found[1].Reads, found[1].Bytes, found[1].Address, found[1].First = 1, 8, at(y+16), at(y)
	}
	// A pointer without an extent is a plain pointer.
	must(t, s.Launch(m.Kernels()[1], device.Launch{Grid: one, Block: one,
		Args: pack(int32(1), int32(0), uint64(p), uint64(0), uint64(0), uint64(0), uint64(0))}))
	copy(out[4:], pack(int32(3)))
	wants(t, s, p, out, "what a pointer without an extent reaches")
	for i := range d.Watch().Outside {
		o, want := &d.Watch().Outside[i], device.Outside{}
		if j := slices.IndexFunc(found, func(f device.Outside) bool { return int(f.Line)%len(d.Watch().Outside) == i }); j >= 0 {
			want = found[j]
		}
		if *o != want {
			t.Errorf("at %d there is %+v, want %+v", i, *o, want)
		}
		*o = device.Outside{}
	}
	must(t, d.Free(p))
	must(t, s.Close())
}

const increment = `extern "C" __global__ void increment(int* x) { atomicAdd(x, 1); }`

func gpuCapture(t *testing.T, d *Device) {
	k := compiled(t, d, increment)
	s, side := newStream(t, d), newStream(t, d)
	e, err := d.NewEvent()
	must(t, err)
	joined, err := d.NewEvent()
	must(t, err)
	p, err := d.Alloc(8)
	must(t, err)
	add := device.Launch{Grid: one, Block: one, Args: pack(uint64(p))}
	must(t, s.BeginCapture())
	must(t, s.Launch(k, add))
	must(t, s.Record(e)) // the other stream joins the capture
	must(t, side.Wait(e))
	must(t, side.Launch(k, add))
	must(t, side.Record(joined))
	must(t, s.Wait(joined))
	must(t, s.Copy(p+4, p, 4))
	g, err := s.EndCapture()
	must(t, err)
	for range 100 {
		must(t, g.Launch(s))
	}
	wants(t, s, p, pack(int32(200), int32(200)), "the counter after 100 replays")
	must(t, g.Close())
	must(t, e.Close())
	must(t, joined.Close())
	must(t, side.Close())
	must(t, s.Close())
	must(t, d.Free(p))
}

// gpuAbort: a kernel polls the abort word of the watch page; raising it ends a blocked Synchronize.
func gpuAbort(t *testing.T, d *Device) {
	k := compiled(t, d, `extern "C" __global__ void wait(volatile unsigned* word, int* out) {
  while (*word == 0) __nanosleep(1000);
  *out = 7;
}`)
	s := newStream(t, d)
	p, err := d.Alloc(4)
	must(t, err)
	page := uint64(uintptr(unsafe.Pointer(d.Watch())))
	must(t, s.Launch(k, device.Launch{Grid: one, Block: one, Args: pack(page, uint64(p))}))
	done := make(chan error)
	go func() { done <- s.Synchronize() }()
	select {
	case err := <-done:
		t.Fatalf("Synchronize returned %v while the kernel waits", err)
	case <-time.After(50 * time.Millisecond):
	}
	if idle, err := s.Idle(); idle || err != nil {
		t.Errorf("Idle is %v (%v) while the kernel waits", idle, err)
	}
	start := time.Now()
	atomic.StoreUint32(&d.Watch().Abort, 1)
	select {
	case err := <-done:
		must(t, err)
		t.Logf("the wait ended %v after the abort", time.Since(start))
	case <-time.After(10 * time.Second):
		t.Fatal("the kernel does not see the abort")
	}
	atomic.StoreUint32(&d.Watch().Abort, 0)
	wants(t, s, p, pack(int32(7)), "what the kernel wrote last")
	must(t, d.Free(p))
	must(t, s.Close())
}

func gpuCompileError(t *testing.T, d *Device) {
	_, err := d.Compile(device.Source{Name: "cell[2]", Line: 4, Text: "__global__ void k(int* x) {\n  x[0] = y;\n}"})
	var wrong *device.CompileError
	if !errors.As(err, &wrong) || len(wrong.Diagnostics) != 1 || wrong.Diagnostics[0].Line != 5 || wrong.Diagnostics[0].Column != 10 {
		t.Errorf("the error is %v", err)
	}
}

func gpuRefused(t *testing.T, d *Device) {
	k := compiled(t, d, increment)
	s := newStream(t, d)
	for what, l := range map[string]device.Launch{
		"2048 threads":     {Grid: one, Block: [3]int{2048, 1, 1}, Args: make([]byte, 8)},
		"a grid of zero":   {Grid: [3]int{0, 1, 1}, Block: one, Args: make([]byte, 8)},
		"1 MiB of shared":  {Grid: one, Block: one, Shared: 1 << 20, Args: make([]byte, 8)},
		"no arguments":     {Grid: one, Block: one},
		"too large a grid": {Grid: [3]int{1, 70000, 1}, Block: one, Args: make([]byte, 8)},
	} {
		if err := s.Launch(k, l); err == nil {
			t.Errorf("%s: not refused", what)
		} else {
			t.Logf("%s: %v", what, err)
		}
	}
	must(t, s.Synchronize()) // no work reached the device
	must(t, s.Close())
}

func gpuMonitor(t *testing.T, d *Device) {
	top, err := d.Top()
	must(t, err)
	id, links, err := d.Links()
	must(t, err)
	if !strings.Contains(top, "GiB") || !strings.HasPrefix(id, "GPU-") {
		t.Errorf("Top is %q, the GPU %q with links %+v", top, id, links)
	}
	t.Logf("%s\n%s %+v", top, id, links)
	r := Probe()
	if r.Problem != nil || r.NVML != nil || len(r.GPUs) == 0 || r.GPUs[0].Name != d.Info().Name {
		t.Errorf("Probe finds %+v", r)
	}
	t.Logf("\n%s", r)
}

// TestGPUPrintf: a kernel's output has left the process when Synchronize, Read or Event.Synchronize
// returns.
func TestGPUPrintf(t *testing.T) {
	if !inChild(t) {
		gpu(t)
		c := command(t.Name())
		out, err := c.CombinedOutput()
		if err != nil || strings.Count(string(out), "printed 7\nreturned\n") != 3 {
			t.Errorf("the process printed (%v)\n%s", err, out)
		}
		return
	}
	d := opened(t, 0)
	s := newStream(t, d)
	e, err := d.NewEvent()
	must(t, err)
	p, err := d.Alloc(4)
	must(t, err)
	k := compiled(t, d, `#include <cstdio>
extern "C" __global__ void say(int n) { printf("printed %d\n", n); }`)
	for _, wait := range []func() error{
		s.Synchronize,
		func() error { return s.Read(make([]byte, 4), p) },
		func() error { return errors.Join(s.Record(e), e.Synchronize()) },
	} {
		must(t, s.Launch(k, device.Launch{Grid: one, Block: one, Args: pack(int32(7))}))
		must(t, wait())
		os.Stdout.WriteString("returned\n")
	}
}

// TestGPUFault: a fault is named and marked, and ends the context, so the test runs in a new
// process.
func TestGPUFault(t *testing.T) {
	if !inChild(t) {
		gpu(t)
		again(t)
		return
	}
	d := opened(t, 0)
	s := newStream(t, d)
	m, err := d.Compile(device.Source{Name: "cell[1]", Line: 1, Text: `extern "C" __global__ void fault(int* x) { *x = 1; }`})
	must(t, err)
	err = s.Launch(m.Kernels()[0], device.Launch{Grid: one, Block: one, Args: pack(uint64(16))})
	if err == nil {
		err = s.Synchronize()
	}
	var failed *device.DriverError
	if !errors.As(err, &failed) || failed.Code != 700 || failed.Name != "CUDA_ERROR_ILLEGAL_ADDRESS" || !failed.Poisoned {
		t.Errorf("a fault gives %v", err)
	}
	if _, err := d.Alloc(16); code(err) != 700 {
		t.Errorf("Alloc after a fault gives %v", err)
	}
	if err := d.Close(); code(err) != 700 {
		t.Errorf("Close after a fault gives %v", err)
	}
}

func BenchmarkLaunch(b *testing.B) {
	d := gpu(b)
	s, err := d.NewStream()
	if err != nil {
		b.Fatal(err)
	}
	k := compiled(b, d, increment)
	p, err := d.Alloc(4)
	if err != nil {
		b.Fatal(err)
	}
	l := device.Launch{Grid: one, Block: one, Args: pack(uint64(p))}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := s.Launch(k, l); err != nil {
			b.Fatal(err)
		}
		if i%512 == 511 { // the driver's queue is finite
			b.StopTimer()
			s.Synchronize()
			b.StartTimer()
		}
	}
	b.StopTimer()
	s.Synchronize()
	s.Close()
	d.Free(p)
}

func BenchmarkLaunchSynchronize(b *testing.B) {
	d := gpu(b)
	s, err := d.NewStream()
	if err != nil {
		b.Fatal(err)
	}
	k := compiled(b, d, increment)
	p, err := d.Alloc(4)
	if err != nil {
		b.Fatal(err)
	}
	l := device.Launch{Grid: one, Block: one, Args: pack(uint64(p))}
	for b.Loop() {
		if err := errors.Join(s.Launch(k, l), s.Synchronize()); err != nil {
			b.Fatal(err)
		}
	}
	s.Close()
	d.Free(p)
}

// BenchmarkCompile measures the time from an edited snippet to a kernel: cold, with a new text each
// time, and from the cache.
func BenchmarkCompile(b *testing.B) {
	d := gpu(b)
	edit := func(b *testing.B, n int) {
		m, err := d.Compile(device.Source{Name: "cell[1]", Line: n, Text: increment})
		if err != nil {
			b.Fatal(err)
		}
		m.Close()
	}
	base := int(time.Now().Unix() % 1e6 * 1000)
	edit(b, base) // loads the compiler
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			base++
			edit(b, base)
		}
	})
	b.Run("cached", func(b *testing.B) {
		for b.Loop() {
			edit(b, base)
		}
	})
}
