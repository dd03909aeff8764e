//go:build linux && (amd64 || arm64)

package cpu

import (
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

const benchWatchedText = `
__global__ void load(const int* p, int* out, int rounds, int) {
  int v = 0;
  for (int i = 0; i < rounds; i++) {
    v += p[threadIdx.x];
    asm volatile("" ::: "memory");
  }
  if (v == 7) *out = v;
}
__global__ void store(int* p, int*, int rounds, int) {
  for (int i = 0; i < rounds; i++) {
    p[threadIdx.x] = i;
    asm volatile("" ::: "memory");
  }
}
// Each access is the first of its launch.
__global__ void stream(int* p, int*, int rounds, int) {
  for (int i = threadIdx.x; i < rounds * (int)blockDim.x; i += blockDim.x) p[i] = i;
}
__global__ void poll(const int* p, int* out, int rounds, int) {
  int v = 0;
  for (int i = 0; i < rounds; i++) v += ((volatile const int*)p)[0];
  if (v == 7) *out = v;
}
__global__ void own(int* p, int*, int rounds, int) {
  for (int i = 0; i < rounds; i++) atomicAdd(p + threadIdx.x, 1);
}
__global__ void add(int* p, int*, int rounds, int) {
  for (int i = 0; i < rounds; i++) atomicAdd(p, 1);
}
// The lanes take turns.
__global__ void turns(int* p, int*, int rounds, int) {
  for (int i = 0; i < rounds; i++) {
    atomicAdd(p, 1);
    __shfl_sync(~0u, i, 0);
  }
}
__global__ void system(int* p, int*, int rounds, int) {
  for (int i = 0; i < rounds; i++) atomicAdd_system(p, 1);
}
__global__ void publish(int* p, int*, int rounds, int) {
  for (int i = 0; i < rounds; i++) {
    __threadfence();
    atomicAdd(p, 1);
    __threadfence();
  }
}
__global__ void shared(int* p, int*, int rounds, int) {
  __shared__ int s[1024];
  for (int i = 0; i < rounds; i++) {
    s[threadIdx.x] = i;
    asm volatile("" : : "l"(&s[0]) : "memory");
  }
}`

// BenchmarkAccess measures the cost of one access of memory by a kernel, which is not watched or is:
// ns/access is the processor time of a launch, divided by the accesses of all its threads. In "2
// ranks" two devices run the kernel at the same time on one word.
func BenchmarkAccess(b *testing.B) {
	const rounds = 64
	for _, c := range []struct {
		name, kernel string
		grid, block  int
		ranks        int
	}{
		{"load", "load", 1, 256, 1},
		{"store", "store", 1, 256, 1},
		{"shared", "shared", 1, 256, 1},
		{"stream", "stream", 1, 256, 1},
		{"poll", "poll", 1, 32, 1},
		{"atomicAdd/own words", "own", 1, 256, 1},
		{"atomicAdd/one thread", "add", 1, 1, 1},
		{"atomicAdd/one warp", "add", 1, 32, 1},
		{"atomicAdd/one warp in turns", "turns", 1, 32, 1},
		{"atomicAdd/one block", "add", 1, 256, 1},
		{"atomicAdd/8 blocks", "add", 8, 256, 1},
		{"atomicAdd/2 ranks", "system", 1, 32, 2},
		{"atomicAdd between fences/one warp", "publish", 1, 32, 1},
	} {
		for _, watched := range []bool{false, true} {
			b.Run(c.name+map[bool]string{false: "/plain", true: "/watched"}[watched], func(b *testing.B) {
				ranks := make([]*bench, c.ranks)
				words := make([]device.Ptr, c.ranks)
				kernels := make([]device.Kernel, c.ranks)
				for i := range ranks {
					ranks[i] = open(b)
					if watched {
						ranks[i].sanitize(i, 0)
					}
				}
				const bytes = 4 * rounds * 256
				s, err := ranks[0].NewSegment(bytes)
				if err != nil {
					b.Fatal(err)
				}
				for i, r := range ranks {
					words[i] = s.Ptr()
					if i > 0 {
						fd, err := s.Export()
						if err != nil {
							b.Fatal(err)
						}
						mapped, err := r.ImportSegment(fd, bytes)
						if err != nil {
							b.Fatal(err)
						}
						words[i] = mapped.Ptr()
					}
					kernels[i] = r.compile(benchWatchedText)[c.kernel]
				}
				run := func() {
					for i, r := range ranks {
						r.launch(kernels[i], c.grid, c.block, words[i], words[i], int32(rounds), int32(0))
					}
					for _, r := range ranks {
						r.sync()
					}
				}
				run()
				began := processorTime(b)
				for b.Loop() {
					run()
				}
				used := processorTime(b) - began
				accesses := b.N * rounds * c.grid * c.block * c.ranks
				b.ReportMetric(float64(used.Nanoseconds())/float64(accesses), "ns/access")
				for _, r := range ranks {
					if found := r.findings(); c.ranks == 1 && !slices.Equal(found, nil) {
						b.Errorf("found %q", found)
					}
				}
			})
		}
	}
}

// processorTime returns the processor time of this process.
func processorTime(t testing.TB) time.Duration {
	var r unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
