//go:build linux && (amd64 || arm64)

package cpu

import (
	"testing"

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

func BenchmarkCompile(b *testing.B) {
	d := open(b)
	b.Setenv("SYMMREPL_CACHE", b.TempDir())
	for i := range b.N {
		text := benchText + "// " + string(rune('a'+i%26)) + string(rune('a'+i/26))
		if _, err := d.Compile(device.Source{Name: "c", Line: 1, Text: text}); err != nil {
			b.Fatal(err)
		}
	}
}
