//go:build linux && (amd64 || arm64)

package cpu

import (
	"math"
	"slices"
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

func TestHalf(t *testing.T) {
	b := open(t)
	k := b.compile(`
#include <cuda_fp16.h>
#include <cuda_bf16.h>
// Every 16-bit pattern must survive conversion to float and back, and every float between two must
// go to the nearest, ties to even.
__global__ void round_trips(unsigned* wrong) {
  unsigned u = blockIdx.x * blockDim.x + threadIdx.x;
  __half h = __ushort_as_half((unsigned short)u);
  if (!isnan((float)h) && __half_as_ushort(__float2half(__half2float(h))) != u) atomicAdd(wrong, 1u);
  __nv_bfloat16 f = __ushort_as_bfloat16((unsigned short)u);
  if (!isnan((float)f) && __bfloat16_as_ushort(__float2bfloat16(__bfloat162float(f))) != u) atomicAdd(wrong + 1, 1u);
  unsigned magnitude = u & 0x7fff;
  if (magnitude >= 0x7bff) return;
  float low = __half2float(h), high = __half2float(__ushort_as_half((unsigned short)(u + 1))), mid = (low + high) / 2;
  unsigned even = u & 1 ? u + 1 : u;
  if (__half_as_ushort(__float2half(mid)) != even) atomicAdd(wrong + 2, 1u);
  if (__half_as_ushort(__float2half(nextafterf(mid, high))) != u + 1) atomicAdd(wrong + 3, 1u);
  if (__half_as_ushort(__float2half(nextafterf(mid, low))) != u) atomicAdd(wrong + 4, 1u);
}
__global__ void arithmetic(unsigned short* out) {
  __half a = 1.5f, b = 2.25f;
  out[0] = __half_as_ushort(a + b);
  out[1] = __half_as_ushort(__hfma(a, b, a));
  __half2 p = __hadd2(__floats2half2_rn(1, 2), __half2half2(a));
  out[2] = __half_as_ushort(p.x), out[3] = __half_as_ushort(__high2half(p));
  out[4] = __bfloat16_as_ushort(__nv_bfloat16(3.14159f) * __nv_bfloat16(2));
  __shared__ __half sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, a);
  __syncthreads();
  out[5] = __half_as_ushort(sum);
  out[6] = __half_as_ushort(__half(1e6f)), out[7] = __half_as_ushort(__half(-NAN));
}`)
	wrong := b.alloc(20)
	b.launch(k["round_trips"], 256, 256, wrong)
	if got := download[uint32](b, wrong, 5); !slices.Equal(got, []uint32{0, 0, 0, 0, 0}) {
		t.Errorf("wrong conversions: %v", got)
	}
	out := b.alloc(16)
	b.launch(k["arithmetic"], 1, 32, out)
	want := []uint16{0x4380, 0x44e0, 0x4100, 0x4300, 0x40c9, 0x5200, 0x7c00, 0x7fff}
	if got := download[uint16](b, out, 8); !slices.Equal(got, want) {
		t.Errorf("%#x, want %#x", got, want)
	}
}

func TestCooperativeGroups(t *testing.T) {
	b := open(t)
	k := b.compile(`
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void tiles(int* out) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<8>(block);
  int sum = cg::reduce(tile, (int)block.thread_rank(), cg::plus<int>());
  block.sync();
  out[block.thread_rank()] = sum * 10 + (int)tile.thread_rank() + 1000 * (int)tile.ballot(tile.thread_rank() < 2);
}
__global__ void phases(int* data, int* out) {
  auto grid = cg::this_grid();
  data[grid.thread_rank()] = (int)grid.thread_rank();
  grid.sync();
  out[grid.thread_rank()] = data[grid.size() - 1 - grid.thread_rank()];
  grid.sync();
  data[grid.thread_rank()] = out[(grid.thread_rank() + 1) % grid.size()];
}`)
	out := b.alloc(4 * 64)
	b.launch(k["tiles"], 1, 64, out)
	for i, got := range download[int32](b, out, 64) {
		first := i / 8 * 8
		if want := int32((8*first+28)*10 + i%8 + 3000); got != want {
			t.Errorf("thread %d: %d, want %d", i, got, want)
		}
	}
	const blocks, threads = 6, 50
	data, out2 := b.alloc(4*blocks*threads), b.alloc(4*blocks*threads)
	b.launch(k["phases"], blocks, threads, data, out2)
	got := download[int32](b, data, blocks*threads)
	for i := range got {
		if want := int32(blocks*threads - 1 - (i+1)%(blocks*threads)); got[i] != want {
			t.Fatalf("element %d: %d, want %d", i, got[i], want)
		}
	}
}

func TestMathAndAtomics(t *testing.T) {
	b := open(t)
	k := b.compile(`
__global__ void math(float* f, double* d, unsigned* u) {
  float x = 2.25f;
  f[0] = sqrt(x), f[1] = fmaf(x, 2.f, 1.f), f[2] = rsqrtf(4.f), f[3] = max(x, 7.f), f[4] = fabs(-x), f[5] = exp2(3.f), f[6] = __saturatef(x);
  d[0] = sqrt(2.25), d[1] = max(1.0, 2.0), d[2] = floor(-0.5), d[3] = pow(2.0, 10);
  u[0] = __byte_perm(0x33221100u, 0x77665544u, 0x7250), u[1] = __umulhi(0x80000000u, 6), u[2] = __funnelshift_l(0x80000001u, 5u, 1);
  u[3] = __float_as_uint(1.f), u[4] = min(3, 5u), u[5] = (unsigned)__dp4a(0x01020304, 0x01010101, 5), u[6] = sizeof(long) + alignof(float4);
}
__global__ void atomics(int* i, unsigned* u, float* f, double* d, unsigned long long* l) {
  int t = threadIdx.x;
  atomicAdd(i, t), atomicMax(i + 1, t), atomicMin(i + 2, -t), atomicSub(i + 3, 2), atomicXor(i + 4, t);
  atomicOr(u, 1u << t % 32), atomicInc(u + 1, 9), atomicAdd(f, 0.5f), atomicAdd_system(d, 0.25), atomicAdd(l, 1ull << 40);
  float old = atomicExch(f + 1, (float)t);
  if (atomicCAS(u + 2, 0u, 5u) == 0) u[3] = old >= 0;
}`)
	f, d, u := b.alloc(64), b.alloc(64), b.alloc(64)
	b.launch(k["math"], 1, 1, f, d, u)
	if got := download[float32](b, f, 7); !slices.Equal(got, []float32{1.5, 5.5, 0.5, 7, 2.25, 8, 1}) {
		t.Errorf("float: %v", got)
	}
	if got := download[float64](b, d, 4); !slices.Equal(got, []float64{1.5, 2, -1, 1024}) {
		t.Errorf("double: %v", got)
	}
	if got := download[uint32](b, u, 7); !slices.Equal(got, []uint32{0x77225500, 3, 11, math.Float32bits(1), 3, 15, 24}) {
		t.Errorf("unsigned: %#x", got)
	}
	i, l := b.alloc(64), b.alloc(8)
	for _, p := range []device.Ptr{f, d, u} {
		b.stream.Set(p, 0, 64)
	}
	b.launch(k["atomics"], 2, 96, i, u, f, d, l)
	if got := download[int32](b, i, 5); !slices.Equal(got, []int32{2 * 96 * 95 / 2, 95, -95, -4 * 96, 0}) {
		t.Errorf("int: %v", got)
	}
	if got := download[uint32](b, u, 4); !slices.Equal(got, []uint32{math.MaxUint32, 192 % 10, 5, 1}) {
		t.Errorf("unsigned: %v", got)
	}
	if got := download[float32](b, f, 1)[0]; got != 96 {
		t.Errorf("float: %v", got)
	}
	if got := download[float64](b, d, 1)[0]; got != 48 {
		t.Errorf("double: %v", got)
	}
	if got := download[uint64](b, l, 1)[0]; got != 192<<40 {
		t.Errorf("long: %#x", got)
	}
}
