//go:build linux && (amd64 || arm64)

package cpu

import (
	"fmt"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

const benchText = `
__global__ void empty() {}
__global__ void saxpy(float* y, const float* x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
__global__ void barriers(int rounds) { for (int i = 0; i < rounds; i++) __syncthreads(); }
__global__ void shuffles(int rounds, int* out) {
  int v = threadIdx.x;
  for (int i = 0; i < rounds; i++) v = __shfl_xor_sync(~0u, v, 1);
  if (v < 0) *out = v;
}`

func BenchmarkEmpty(b *testing.B) {
	d := open(b)
	k := d.compile(benchText)["empty"]
	for _, size := range []struct {
		name        string
		grid, block int
	}{{"1x32", 1, 32}, {"64x256", 64, 256}} {
		b.Run(size.name, func(b *testing.B) {
			for range b.N {
				d.launch(k, size.grid, size.block)
				d.sync()
			}
		})
	}
	b.Run("queued", func(b *testing.B) {
		for range b.N {
			d.launch(k, 1, 32)
		}
		d.sync()
	})
}

func BenchmarkSaxpy(b *testing.B) {
	d := open(b)
	k := d.compile(benchText)["saxpy"]
	const n = 1 << 20
	x, y := d.alloc(4*n), d.alloc(4*n)
	b.SetBytes(12 * n)
	for range b.N {
		d.launch(k, n/256, 256, y, x, float32(2), int32(n))
		d.sync()
	}
}

func BenchmarkSyncthreads(b *testing.B) {
	d := open(b)
	k := d.compile(benchText)["barriers"]
	const threads, rounds = 256, 1000
	for range b.N {
		d.launch(k, 1, threads, int32(rounds))
		d.sync()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/threads/rounds, "ns/thread")
}

func BenchmarkShuffle(b *testing.B) {
	d := open(b)
	k := d.compile(benchText)["shuffles"]
	out := d.alloc(4)
	const threads, rounds = 256, 1000
	for range b.N {
		d.launch(k, 1, threads, int32(rounds), out)
		d.sync()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/threads/rounds, "ns/lane")
}

// BenchmarkCompile measures a small text from its source to loaded kernels: the first of a fresh
// cache, further ones, and one that is in the cache. cxx-ms/op is the processor time of the
// compiler and what it starts.
func BenchmarkCompile(b *testing.B) {
	for _, watched := range []bool{false, true} {
		kind := map[bool]string{false: "plain", true: "watched"}[watched]
		started := func(b *testing.B) func(text string) {
			b.Setenv("SYMMREPL_CACHE", b.TempDir())
			d := open(b)
			if watched {
				d.sanitize(0, 0)
			}
			return func(text string) {
				m, err := d.Compile(device.Source{Name: "c", Line: 1, Text: text})
				if err != nil {
					b.Fatal(err)
				}
				m.Close()
			}
		}
		b.Run(kind+"/first", func(b *testing.B) {
			for range b.N {
				b.StopTimer()
				compile := started(b)
				b.StartTimer()
				compile(benchText)
			}
		})
		b.Run(kind+"/edited", func(b *testing.B) {
			compile := started(b)
			compile(benchText)
			i, began := 0, childTime(b)
			for b.Loop() {
				i++
				compile(fmt.Sprintf("%s// %d", benchText, i))
			}
			b.ReportMetric(float64((childTime(b)-began).Microseconds())/1000/float64(i), "cxx-ms/op")
		})
		b.Run(kind+"/cached", func(b *testing.B) {
			compile := started(b)
			compile(benchText)
			for b.Loop() {
				compile(benchText)
			}
		})
	}
}

// childTime returns the processor time of all processes that this one has started and that ended.
func childTime(t testing.TB) time.Duration {
	var r unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_CHILDREN, &r); err != nil {
		t.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
