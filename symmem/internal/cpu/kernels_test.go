//go:build linux && (amd64 || arm64)

package cpu

import (
	"slices"
	"testing"
)

func TestSaxpy(t *testing.T) {
	b := open(t)
	k := b.compile(`
extern "C" __global__ void saxpy(float* y, const float* x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}`)["saxpy"]
	const n = 1<<20 - 3
	x, y, want := make([]float32, n), make([]float32, n), make([]float32, n)
	for i := range x {
		x[i], y[i] = float32(i%1000), float32(i%77)
		want[i] = 3*x[i] + y[i]
	}
	dx, dy := upload(b, x), upload(b, y)
	b.launch(k, (n+255)/256, 256, dy, dx, float32(3), int32(n))
	if got := download[float32](b, dy, n); !slices.Equal(got, want) {
		t.Error("wrong result")
	}
}

func TestParams(t *testing.T) {
	b := open(t)
	k := b.compile(`
struct Pair { char c; double d; };
__global__ void f(char a, const float* __restrict__ p, short s, float4 v, Pair q, bool last) {}
namespace mine { __global__ void g() {} }
#ifdef SOMETHING_ELSE
__global__ void not_here() {}
namespace mine { __global__ void nor_here() {} }
#endif
template <class T> __global__ void no_name(T) {}
SYMM_KERNEL(f)`)
	want := []struct {
		name, typ    string
		offset, size int
	}{{"a", "char", 0, 1}, {"p", "const float* __restrict__", 8, 8}, {"s", "short", 16, 2}, {"v", "float4", 32, 16},
		{"q", "Pair", 48, 16}, {"last", "bool", 64, 1}}
	got := k["f"].Params()
	if len(got) != len(want) {
		t.Fatalf("%d parameters", len(got))
	}
	for i, w := range want {
		if g := got[i]; g.Name != w.name || g.Type != w.typ || g.Offset != w.offset || g.Size != w.size {
			t.Errorf("parameter %d is %+v, want %+v", i, g, w)
		}
	}
	if k["mine::g"] == nil || len(k) != 2 {
		t.Errorf("the kernels are %v", k)
	}
}

func TestBlockReduction(t *testing.T) {
	b := open(t)
	k := b.compile(`
__global__ void sum(const int* in, int* out) {
  __shared__ int s[1024];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
extern __shared__ int dynamic[];
__global__ void sum_dynamic(const int* in, int* out) {
  int t = threadIdx.x;
  dynamic[t] = in[blockIdx.x * blockDim.x + t];
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    __syncthreads();
    if (t < d) dynamic[t] += dynamic[t + d];
  }
  if (t == 0) out[blockIdx.x] = dynamic[0];
}
__global__ void vote(int* out) {
  int count = __syncthreads_count(threadIdx.x % 3 == 0);
  int any = __syncthreads_or(threadIdx.x == 99), none = __syncthreads_or(threadIdx.x > 99);
  int all = __syncthreads_and(threadIdx.x < 100), most = __syncthreads_and(threadIdx.x < 99);
  if (threadIdx.x == 7) out[0] = count, out[1] = any, out[2] = none, out[3] = all, out[4] = most;
}
__global__ void early(int* out) {
  if (threadIdx.x % 2) return;
  out[threadIdx.x] = __syncthreads_count(1);
}`)
	const blocks, threads = 37, 1024
	in, want := make([]int32, blocks*threads), make([]int32, blocks)
	for i := range in {
		in[i] = int32(i*7919%1001 - 500)
		want[i/threads] += in[i]
	}
	din, dout := upload(b, in), b.alloc(4*blocks)
	for _, name := range []string{"sum", "sum_dynamic"} {
		b.stream.Set(dout, 0, 4*blocks)
		b.launchShared(k[name], [3]int{blocks, 1, 1}, [3]int{threads, 1, 1}, 4*threads, din, dout)
		if got := download[int32](b, dout, blocks); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	b.launch(k["vote"], 1, 100, dout)
	if got := download[int32](b, dout, 5); !slices.Equal(got, []int32{34, 1, 0, 1, 0}) {
		t.Errorf("votes: %v", got)
	}
	b.launch(k["early"], 1, 20, dout)
	for i, got := range download[int32](b, dout, 20) {
		if i%2 == 0 && (got < 10 || got > 20) {
			t.Errorf("%d threads met", got)
		}
	}
}

func TestWarp(t *testing.T) {
	b := open(t)
	k := b.compile(`
__global__ void warp(int* out) {
  unsigned t = threadIdx.x, l = t % 32;
  int v = t * 10, *o = out + t * 16;
  o[0] = __shfl_sync(~0u, v, 5);
  o[1] = __shfl_up_sync(~0u, v, 3);
  o[2] = __shfl_down_sync(~0u, v, 3);
  o[3] = __shfl_xor_sync(~0u, v, 17);
  o[4] = __shfl_sync(~0u, v, 9, 8);
  o[5] = __shfl_down_sync(~0u, v, 2, 4);
  o[6] = __ballot_sync(~0u, l % 5 == 0);
  o[7] = __any_sync(~0u, l == 31);
  o[8] = __all_sync(~0u, l < 31);
  o[9] = __reduce_add_sync(~0u, (int)l);
  o[10] = __reduce_max_sync(~0u, v);
  o[11] = __match_any_sync(~0u, (int)(l % 4));
  double d = l + 0.5;
  for (int s = 16; s; s /= 2) d += __shfl_xor_sync(~0u, d, s);
  o[12] = (int)d;
  if (l < 16) o[13] = __shfl_sync(0x0000ffffu, v, 15);
  else o[13] = __shfl_sync(0xffff0000u, v, 16);
  o[14] = __popc(t) * 100 + __clz(t) * 1000 + __ffs(t);
  __syncwarp();
  o[15] = (int)__brev(t);
}`)["warp"]
	const n = 64
	out := b.alloc(n * 16 * 4)
	b.launch(k, 1, n, out)
	got := download[int32](b, out, n*16)
	for i := range n {
		l, base := i%32, i/32*32
		at := func(lane int) int32 { return int32((base + lane) * 10) }
		pick := func(ok bool, lane int) int32 {
			if ok {
				return at(lane)
			}
			return at(l)
		}
		half := 15
		if l >= 16 {
			half = 16
		}
		bits, leading, first, reversed := 0, 32, 0, uint32(0)
		for j := range 32 {
			if i>>j&1 == 1 {
				bits, leading, reversed = bits+1, 31-j, reversed|1<<(31-j)
				if first == 0 {
					first = j + 1
				}
			}
		}
		want := []int32{at(5), pick(l >= 3, l-3), pick(l+3 < 32, l+3), at(l ^ 17), at(l/8*8 + 1), pick(l%4+2 < 4, l+2),
			0x42108421, 1, 0, 496, at(31), int32(0x11111111 << (l % 4)), 512, at(half), int32(bits*100 + leading*1000 + first), int32(reversed)}
		if i%4 == 3 {
			want[11] = -0x77777778
		}
		if !slices.Equal(got[i*16:i*16+16], want) {
			t.Fatalf("thread %d: %v, want %v", i, got[i*16:i*16+16], want)
		}
	}
}

func TestTiledMatmul(t *testing.T) {
	b := open(t)
	k := b.compile(`
template <int T>
__device__ int dot(const int (&a)[T][T], const int (&b)[T][T]) {
  int s = 0;
#pragma unroll
  for (int k = 0; k < T; k++) s += a[threadIdx.y][k] * b[k][threadIdx.x];
  return s;
}
__global__ void matmul(const int* a, const int* b, int* c, int n) {
  __shared__ int ta[16][16], tb[16][16];
  int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x, sum = 0;
  for (int k = 0; k < n; k += 16) {
    ta[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    tb[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + col];
    __syncthreads();
    sum += dot(ta, tb);
    __syncthreads();
  }
  c[row * n + col] = sum;
}`)["matmul"]
	const n = 96
	x, y, want := make([]int32, n*n), make([]int32, n*n), make([]int32, n*n)
	for i := range x {
		x[i], y[i] = int32(i*31%17-8), int32(i*13%19-9)
	}
	for i := range n {
		for j := range n {
			for k := range n {
				want[i*n+j] += x[i*n+k] * y[k*n+j]
			}
		}
	}
	dx, dy, dz := upload(b, x), upload(b, y), b.alloc(4*n*n)
	b.launchShared(k, [3]int{n / 16, n / 16, 1}, [3]int{16, 16, 1}, 0, dx, dy, dz, int32(n))
	if !slices.Equal(download[int32](b, dz, n*n), want) {
		t.Error("wrong product")
	}
}

// A block waits for one that has not started when the wait begins.
func TestCrossBlockWait(t *testing.T) {
	b := open(t)
	k := b.compile(`
__global__ void chain(unsigned* flags) {
  unsigned next = blockIdx.x + 1;
  if (threadIdx.x == 0) {
    if (next < gridDim.x) while (atomicAdd(&flags[next], 0) == 0) {}
    __threadfence();
    atomicExch(&flags[blockIdx.x], next < gridDim.x ? flags[next] + 1 : 1);
  }
  __syncthreads();
}
__global__ void volatile_chain(volatile unsigned* flags) {
  unsigned next = blockIdx.x + 1;
  if (next < gridDim.x) while (flags[next] == 0) {}
  flags[blockIdx.x] = next < gridDim.x ? flags[next] + 1 : 1;
}
__global__ void within(volatile unsigned* flags) {
  if (threadIdx.x > 0) while (flags[threadIdx.x - 1] == 0) {}
  flags[threadIdx.x] = 1;
  if (threadIdx.x + 1 < blockDim.x) while (flags[threadIdx.x + 1] == 0) {}
}
__device__ int lock, counter;
__global__ void locked(unsigned* out, int rounds) {
  for (int i = 0; i < rounds; i++) {
    while (atomicCAS(&lock, 0, 1) != 0) {}
    counter = counter + 1;
    __threadfence();
    atomicExch(&lock, 0);
  }
  __syncthreads();
  if (threadIdx.x == 0) atomicMax(out, (unsigned)counter);
}`)
	for name, blocks := range map[string]int{"chain": 40, "volatile_chain": 5} {
		flags := b.alloc(4 * blocks)
		b.launch(k[name], blocks, 1, flags)
		if got := download[uint32](b, flags, blocks); got[0] != uint32(blocks) {
			t.Errorf("%s: %v", name, got)
		}
	}
	flags := b.alloc(4 * 8)
	b.launch(k["within"], 1, 8, flags)
	if got := download[uint32](b, flags, 8); !slices.Equal(got, []uint32{1, 1, 1, 1, 1, 1, 1, 1}) {
		t.Errorf("within: %v", got)
	}
	out := b.alloc(4)
	b.launch(k["locked"], 8, 64, out, int32(20))
	if got := download[uint32](b, out, 1)[0]; got != 8*64*20 {
		t.Errorf("counter is %d, want %d", got, 8*64*20)
	}
}
