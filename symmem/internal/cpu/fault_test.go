//go:build linux && (amd64 || arm64)

package cpu

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

const faulty = `__global__ void null_write(int* p) {
  if (blockIdx.x == 2 && threadIdx.x == 33)
    *p = 1;
}
__device__ int helper(const int* p) { return p[0]; }
__global__ void null_read(const int* p, int* out) {
  __syncthreads();
  if (threadIdx.x == 5)
    *out = helper(p);
}
__global__ void literal(int* p) { if (threadIdx.x == 1) *(int*)0 = p[0]; }
__global__ void wild(unsigned long long* p) { p[1ull << 50] = 1; }
__global__ void checks(int n) {
  __syncthreads();
  assert(threadIdx.x + 10 < n);
}
__noinline__ __device__ int deep(int n, volatile int* keep) { volatile int local[64]; local[n % 64] = n; return deep(n + 1, local) + keep[0]; }
__global__ void overflow(int* out) { int k = 0; *out = deep(0, &k); }
__global__ void divide(int* p) {
  p[1] = 7;
  p[0] = p[1] / p[2];
}
__global__ void bounds(int* p) {
  int local[4] = {1, 2, 3, 4};
  p[0] = local[p[1] + 100];
}
__global__ void misaligned(char* p) {
  *(float4*)(p + 4) = make_float4(1, 2, 3, 4);
}
__global__ void trap() { if (threadIdx.x == 1) __trap(); }
__global__ void stuck() {
  if (threadIdx.x == 0) __syncthreads();
  else __syncwarp();
}
__global__ void stuck_last() {
  if (threadIdx.x == 0) symm_cpu_yield(), __syncwarp();
  else __syncthreads();
}
__global__ void library(char* p) { memset(p, 0, 100000); }
__global__ void bad_print(const char* p) { printf("<%s>\n", p); }
__global__ void fine(int* p) { atomicAdd(p, 1); }
__global__ void one_faults(volatile int* p) {
  if (blockIdx.x == 1) *(int*)64 = 1;
  while (p[0] == 0) __syncthreads();
}
__global__ void forever(volatile int* p) {
  int x = 0;
  while (p[0] == 0) x++;
  p[1] = x;
}
__global__ void forever_barrier(volatile int* p) {
  while (p[0] == 0) __syncthreads();
}
__global__ void forever_poll(unsigned* p) {
  while (symm::load_acquire(p) == 0) symm_cpu_yield();
}
`

// lineOf returns the line of a text in faulty.
func lineOf(text string) string {
	at := strings.Index(faulty, text)
	if at < 0 {
		panic(text)
	}
	digits := ""
	for n := 1 + strings.Count(faulty[:at], "\n"); n > 0; n /= 10 {
		digits = string(rune('0'+n%10)) + digits
	}
	return "cell[3]:" + digits
}

// machine returns the message of a processor's fault on x86-64 or aarch64. On the latter, functions
// of the C library read whole words around an address, and every address has a page or none.
func machine(amd64, arm64 string) string {
	if runtime.GOARCH == "arm64" {
		return arm64
	}
	return amd64
}

func TestFaults(t *testing.T) {
	b := open(t)
	k := b.compile(faulty)
	p := b.alloc(4096)
	null := device.Ptr(0)
	works, cases := int32(0), int32(15)
	divided := "divides an integer by zero"
	if runtime.GOARCH == "arm64" && !b.Device.(*cpu).compiler.clang {
		divided = "does something undefined: an integer divided by zero"
	}
	for _, c := range []struct {
		kernel        string
		grid, threads int
		args          []any
		block, thread int
		what, where   string
	}{
		{"null_write", 4, 64, []any{null}, 2, 33, "writes address 0x0, where no memory is", lineOf("*p = 1;")},
		{"null_read", 1, 8, []any{null, p}, 0, 5, "reads address 0x0, where no memory is", lineOf("__device__ int helper")},
		{"literal", 1, 2, []any{p}, 0, 1, "writes address 0x0, where no memory is", lineOf("__global__ void literal")},
		{"wild", 1, 1, []any{p}, 0, 0, machine("accesses an address that no memory can have", "where no memory is"), lineOf("__global__ void wild")},
		{"checks", 1, 32, []any{int32(41)}, 0, 31, "assertion `threadIdx.x + 10 < n' failed", lineOf("assert(")},
		{"overflow", 1, 1, []any{p}, 0, 0, "needs more local memory than a thread has", lineOf("__noinline__")},
		{"divide", 1, 1, []any{p}, 0, 0, divided, lineOf("p[0] = p[1] / p[2]")},
		{"bounds", 1, 1, []any{p}, 0, 0, "does something undefined", lineOf("p[0] = local")},
		{"misaligned", 1, 1, []any{p}, 0, 0, "a misaligned access", lineOf("*(float4*)")},
		{"trap", 1, 2, nil, 0, 1, "__trap was called", lineOf("__global__ void trap")},
		{"stuck", 1, 2, nil, 0, 0, "deadlock in the block: 1 thread waits at __syncthreads, 1 in a warp operation",
			lineOf("if (threadIdx.x == 0) __syncthreads")},
		{"stuck_last", 1, 2, nil, 0, 0, "deadlock in the block: 1 thread waits at __syncthreads, 1 in a warp operation",
			lineOf("if (threadIdx.x == 0) symm_cpu_yield")},
		{"one_faults", 2, 64, []any{p}, 1, 0, "writes address 0x40, where no memory is", lineOf("if (blockIdx.x == 1)")},
		{"bad_print", 1, 1, []any{device.Ptr(8)}, 0, 0, machine("reads address 0x8, where no memory is", "reads address 0x"),
			lineOf("__global__ void bad_print")},
		{"library", 1, 1, []any{device.Ptr(64)}, 0, 0, "writes address 0x40, where no memory is", lineOf("__global__ void library")},
	} {
		if c.kernel == "misaligned" && runtime.GOARCH == "arm64" && b.Device.(*cpu).compiler.clang {
			cases-- // clang++ does not check the copy of a struct, and the processor does it
			continue
		}
		b.launch(k[c.kernel], c.grid, c.threads, c.args...)
		b.launch(k["fine"], 1, 1, p) // dropped
		var f *device.KernelFault
		if err := b.stream.Synchronize(); !errors.As(err, &f) {
			t.Errorf("%s: %v, want a fault", c.kernel, err)
			continue
		}
		if f.Kernel != c.kernel || f.Block != [3]int{c.block} || f.Thread != [3]int{c.thread} ||
			!strings.Contains(f.What, c.what) || c.where != "" && f.Where != c.where {
			t.Errorf("%s: %v; want block %d, thread %d, %q, %q", c.kernel, f, c.block, c.thread, c.what, c.where)
		}
		if f.Source == "" || lineOf(f.Source) != f.Where {
			t.Errorf("%s: the line at %s is given as %q", c.kernel, f.Where, f.Source)
		}
		b.stream.Set(p, 0, 4)
		b.launch(k["fine"], 3, 5, p)
		if got := download[int32](b, p, 1)[0]; got != 15 {
			t.Errorf("after %s: %d, want 15", c.kernel, got)
		}
		b.stream.Set(p, 0, 4096)
		works++
	}
	if works != cases {
		t.Errorf("%d faults", works)
	}
}

// Shared memory ends at an inaccessible area, except for alignment, and there is another one before
// the memory that a block can have.
func TestSharedBounds(t *testing.T) {
	b := open(t)
	const beyond = " beyond the block's shared memory: an index out of an array's bounds, or more dynamic shared memory than was asked for by SharedBytes"
	for name, text := range map[string]string{
		"declared": "__shared__ int s[224]; int* p = s;",
		"dynamic":  "extern __shared__ int p[];",
		"both":     "extern __shared__ int p[]; __shared__ int s[5]; if (i == 10000) p[0] = s[out[0]];",
		"aligned":  "__shared__ __align__(4096) char s[8192]; int* p = (int*)s;",
	} {
		k := b.compile("__global__ void touch(int* out, int i, int store) {\n  " + text + "\n  if (store) p[i] = 7;\n  out[0] = p[i];\n}")["touch"]
		ints, shared := 224, 0
		switch name {
		case "dynamic", "both":
			ints, shared = 1024, 4096
		case "aligned":
			ints = 2048
		}
		out := b.alloc(4)
		for _, c := range []struct{ index, store int }{{0, 1}, {ints - 1, 1}, {ints, 1}, {ints, 0}, {ints + 60000, 1}, {-100000, 1}} {
			b.launchShared(k, [3]int{1, 1, 1}, [3]int{1, 1, 1}, shared, out, int32(c.index), int32(c.store))
			err := b.stream.Synchronize()
			if c.index >= 0 && c.index < ints {
				if err != nil || download[int32](b, out, 1)[0] != 7 {
					t.Errorf("%s: %d: %v", name, c.index, err)
				}
				continue
			}
			what := "reads" + beyond
			if c.store == 1 {
				what = "writes" + beyond
			}
			var f *device.KernelFault
			if !errors.As(err, &f) || f.What != what || f.Address != 0 {
				t.Errorf("%s: %d: %v, want %q", name, c.index, err, what)
			}
		}
	}
}

// The line of a faulting operation is looked up in the program. That of an interrupted one is not,
// because it takes long and the user waits.
func TestOperationFaults(t *testing.T) {
	b := open(t)
	b.launch(b.compile(faulty)["divide"], 1, 1, b.alloc(64))
	f := b.stream.(*stream).emu.Synchronize()
	if f == nil || f.Library == "" {
		t.Fatalf("%+v, want a fault in a library", f)
	}
	d := b.Device.(*cpu)
	// go test links its program without line numbers
	d.program, f.Library = d.modules[f.Library].library, ""
	if at, _ := d.where(f); !strings.HasPrefix(at, "snippet.cu:") {
		t.Errorf("the fault is at %q, want snippet.cu:…", at)
	}
	f.Signal, f.Text = 0, interrupted
	if at, _ := d.where(f); at != "" {
		t.Errorf("what was interrupted is at %q, want no line", at)
	}
}

func TestCopyFault(t *testing.T) {
	b := open(t)
	p := b.alloc(64)
	b.stream.Copy(p, 4096, 8)
	var f *device.KernelFault
	if err := b.stream.Synchronize(); !errors.As(err, &f) || f.Kernel != "copy" || f.What != "reads address 0x1000, where no memory is" {
		t.Errorf("%v", err)
	}
	b.sync()
}

// The host's abort ends endless kernels quickly, with the line where they were; the device then
// works.
func TestAbort(t *testing.T) {
	b := open(t)
	k := b.compile(faulty)
	for _, name := range []string{"forever", "forever_barrier", "forever_poll"} {
		p := b.alloc(64)
		b.launch(k[name], 3, 40, p)
		time.Sleep(30 * time.Millisecond)
		if idle, err := b.stream.Idle(); idle || err != nil {
			t.Fatalf("%s ended by itself: %v", name, err)
		}
		start := time.Now()
		atomic.StoreUint32(&b.Watch().Abort, 1)
		err := b.stream.Synchronize()
		took := time.Since(start)
		atomic.StoreUint32(&b.Watch().Abort, 0)
		var f *device.KernelFault
		if !errors.As(err, &f) || f.Kernel != name || f.What != "interrupted" {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if name == "forever" && f.Where != lineOf("while (p[0] == 0) x++") {
			t.Errorf("%s was at %q", name, f.Where)
		}
		t.Logf("%s: interrupted after %v", name, took)
		if took > 5*time.Second {
			t.Errorf("%s took %v to end", name, took)
		}
		b.launch(k["fine"], 3, 5, p)
		if got := download[int32](b, p, 1)[0]; got != 15 {
			t.Errorf("after %s: %d, want 15", name, got)
		}
	}
}

// A device can be closed while a kernel runs for ever, and other streams wait for work after it.
func TestCloseWhileRunning(t *testing.T) {
	d, err := Open(0)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t, d, mustStream(t, d)}
	b.launch(b.compile(faulty)["forever"], 2, 3, b.alloc(64))
	e, err := d.NewEvent()
	if err != nil {
		t.Fatal(err)
	}
	b.stream.Record(e)
	for range 3 {
		mustStream(t, d).Wait(e)
	}
	time.Sleep(5 * time.Millisecond)
	closed := make(chan error, 1)
	go func() { closed <- d.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(limit):
		t.Fatal("the device is not closed: its streams wait for each other")
	}
}

// Go still handles its own faults while kernels fault.
func TestGoPanicsBesideFaults(t *testing.T) {
	b := open(t)
	k := b.compile(faulty)
	var wg sync.WaitGroup
	var panics atomic.Int64
	faulted := 0
	var over atomic.Bool
	for range 2 {
		wg.Go(func() {
			for again := true; again; again = !over.Load() {
				panics.Add(recoverNil())
			}
		})
	}
	const faults = 50
	for range faults {
		b.launch(k["null_write"], 3, 64, device.Ptr(0))
		var f *device.KernelFault
		if err := b.stream.Synchronize(); errors.As(err, &f) && f.Thread[0] == 33 {
			faulted++
		}
	}
	over.Store(true)
	wg.Wait()
	if panics.Load() < 2 || faulted != faults {
		t.Errorf("%d panics, %d of %d faults", panics.Load(), faulted, faults)
	}
}

func recoverNil() (n int64) {
	defer func() {
		if recover() != nil {
			n = 1
		}
	}()
	var p *struct{ a, b int }
	return int64(p.b)
}
