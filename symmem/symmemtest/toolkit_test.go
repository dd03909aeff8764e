package symmemtest

import (
	"fmt"
	"os"
	"slices"

	"github.com/symmrepl/symmrepl/symmem"
)

// CUDA's headers in kernels: the results are the same on both devices, and with our headers and the
// toolkit's.

// halfKernels use __half and __nv_bfloat16. In sums every operation gets all 16-bit patterns,
// together with other values, and its results are added up.
const halfKernels = `
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cstdint>

__device__ std::uint16_t bits(__half h) { return __half_as_ushort(h); }
__device__ uint16_t bits(__nv_bfloat16 h) { return __bfloat16_as_ushort(h); }
__device__ uint16_t bits(bool b) { return b; }
__device__ uint16_t bits(float f) { return (uint16_t)(__float_as_uint(f) % 65521); }
__device__ uint16_t bits(int i) { return (uint16_t)((unsigned)i % 65521); }
__device__ uint16_t bits(unsigned i) { return (uint16_t)(i % 65521); }
__device__ void from(unsigned u, __half* h) { *h = __ushort_as_half((uint16_t)u); }
__device__ void from(unsigned u, __nv_bfloat16* h) { *h = __ushort_as_bfloat16((uint16_t)u); }
__device__ unsigned mixed(unsigned x) { x ^= x >> 16, x *= 0x7feb352du, x ^= x >> 15, x *= 0x846ca68bu; return x ^ x >> 16; }

#define add(v) atomicAdd(out + at++, (unsigned long long)bits(v) * weight)
template <class T, class T2> __device__ void operations(unsigned long long* out, unsigned i, unsigned k) {
  T a, b, c;
  from(i, &a), from(mixed(i * 64 + k), &b), from(mixed(i * 64 + k) >> 16, &c);
  if (k % 2) from(i + (k % 4 == 1 ? 0x40 : 0x8000 + k), &b);  // numbers that are near each other, too
  const unsigned weight = (mixed(i ^ k << 16) & 0x7fff) | 1;
  int at = 0;
  add(__hadd(a, b)), add(__hsub(a, b)), add(__hmul(a, b)), add(__hfma(a, b, c));
  add(__hmax(a, b)), add(__hmin(a, b)), add(__hmax_nan(a, b)), add(__hmin_nan(a, b));
  add(__heq(a, b)), add(__hne(a, b)), add(__hlt(a, b)), add(__hle(a, b)), add(__hgtu(a, b)), add(__hgeu(a, b)), add(__hequ(a, b)), add(__hneu(a, b));
  add(__hfma_sat(a, b, c)), add(__hfma_relu(a, b, c)), add(__hadd_sat(a, b)), add(__hmul_sat(a, b));
  add(hfloor(a)), add(hceil(a)), add(htrunc(a)), add(hrint(a));
  const T2 p = __hfma2(T2(a, b), T2(b, a), T2(c, c)), q = __hmul2(T2(b, c), T2(a, a)), r = __hle2(T2(a, b), T2(b, c));
  add(p.x), add(p.y), add(q.x), add(q.y), add(r.x), add(r.y);
}
#undef add
constexpr int kOperations = 30;
__global__ void sums(unsigned long long* out) {
  for (unsigned k = 0; k < 8; k++) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    operations<__half, __half2>(out, i, k);
    operations<__nv_bfloat16, __nv_bfloat162>(out + kOperations, i, k);
  }
}

#define add(at, v) atomicAdd(out + at, (unsigned long long)bits(v) * weight)
// Floats that lie on, just above and just below the midpoint of two neighbours.
__global__ void conversions(unsigned long long* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, weight = (mixed(i) & 0x7fff) | 1;
  const __half h = __ushort_as_half((uint16_t)i);
  const __nv_bfloat16 g = __ushort_as_bfloat16((uint16_t)i);
  if (!__hisnan(h)) add(0, __half2float(h));
  if (!__hisnan(g)) add(1, __bfloat162float(g));
  for (int d = -1; d <= 1; d++) {
    const unsigned half = __float_as_uint(__half2float(h)) + (unsigned)(0x1000 + d), bfloat = (i << 16) + (unsigned)(0x8000 + d);
    const float f = __hisnan(h) ? 1.f : __uint_as_float(half), e = __uint_as_float(bfloat);
    add(2, __float2half(f)), add(3, __float2half_rz(f)), add(4, __float2half_rd(f)), add(5, __float2half_ru(f));
    add(6, __float2bfloat16(e)), add(7, __float2bfloat16_rz(e)), add(8, __float2bfloat16_rd(e)), add(9, __float2bfloat16_ru(e));
    if (f == f && e == e) {
      add(10, __double2half((double)f * (1 + 0x1p-50))), add(11, __double2bfloat16((double)e * (1 - 0x1p-50)));
      add(12, __double2half((double)f * (1 - 0x1p-50))), add(13, __double2bfloat16((double)e * (1 + 0x1p-50)));
    }
  }
  if (!__hisnan(h)) add(14, __half2int_rn(h)), add(15, __half2int_rz(h)), add(16, __half2int_rd(h)), add(17, __half2int_ru(h)), add(18, __half2uint_rn(h)), add(19, (int)__half2short_rz(h));
  if (!__hisnan(g)) add(20, __bfloat162int_rn(g)), add(21, __bfloat162uint_rz(g)), add(22, (int)__bfloat162ushort_rd(g));
  add(23, __int2half_rn((int)i - 30000)), add(24, __uint2half_rn(i)), add(25, __int2bfloat16_rn((int)(mixed(i) >> i % 31))), add(26, __uint2bfloat16_rn(mixed(i)));
}
#undef add

__global__ void moves(__half* h, __nv_bfloat162* g, int* out) {  // of 32 threads
  const int lane = threadIdx.x;
  const __half v = __int2half_rn(lane);
  out[lane] = bits(__shfl_sync(~0u, v, 31 - lane)), out[32 + lane] = bits(__shfl_xor_sync(~0u, __halves2half2(v, -v), 1).y);
  out[64 + lane] = bits(__ldg(g + lane % 2).y), out[96 + lane] = bits(__shfl_up_sync(~0u, __ldcg(h), (unsigned)lane, 32));
  __syncwarp();
  atomicAdd(h, __float2half(0.5f)), atomicAdd(&g[0], __floats2bfloat162_rn(1, 2));
  __half2 pair = make_half2(v, v);
  pair += __half2half2(v), pair *= __float2half2_rn(2), pair = -(pair - __floats2half2_rn(1, 2)) / __float22half2_rn(make_float2(1, 1));
  out[128 + lane] = (int)__low2float(pair), out[160 + lane] = (int)__half22float2(__lowhigh2highlow(pair)).x;
  __half one = v;
  one++, ++one, one -= __half(1), one /= __half(1.f), one = +one;
  out[192 + lane] = __half2short_rn(one) + (hsqrt(one * one) == one) * 1000 + (__hbeq2(pair, pair) && __hisinf(one) == 0) * 2000;
}`

// cudaHalfCase tests arithmetic with millions of operations, on one rank.
func cudaHalfCase(t *T) {
	if t.rank > 0 {
		return
	}
	k := symmem.Compile(halfKernels)
	const operations = 30
	sums, conversions := symmem.Local(symmem.U64, 2*operations).Fill(0), symmem.Local(symmem.U64, 27).Fill(0)
	if os.Getenv(sanitizeVariable) == "" { // it takes a minute or more under the sanitizer
		k.Kernel("sums").Launch(symmem.Grid(256), symmem.Block(256), sums)
		k.Kernel("conversions").Launch(symmem.Grid(256), symmem.Block(256), conversions)
		t.equal("sums", sums.Ints(), halfSums)
		t.equal("conversions", conversions.Ints(), halfConversions)
	}

	h, g, out := symmem.Local(symmem.F16, 1).Fill(3), symmem.Local(symmem.BF16, 4).Fill(7), symmem.Local(symmem.I32, 7*32)
	k.Kernel("moves").Launch(symmem.Grid(1), symmem.Block(32), h, g, out)
	t.equal("half", h.Ints(), []int{19})
	t.equal("bfloat16", g.Ints(), []int{39, 71, 7, 7})
	got := out.View(7, 32)
	words := func(row int) []int { return got.Slice(row, row+1).Ints() }
	lanes := func(f func(lane int) int) []int {
		var list []int
		for i := range 32 {
			list = append(list, f(i))
		}
		return list
	}
	small := func(i int) int { // the bits of a half
		if i == 0 {
			return 0
		}
		e := 0
		for i>>(e+1) != 0 {
			e++
		}
		return (e+15)<<10 | i<<(10-e)&1023
	}
	t.equal("shfl", words(0), lanes(func(i int) int { return small(31 - i) }))
	t.equal("shfl_xor", words(1), lanes(func(i int) int { return small(i^1) | 0x8000 }))
	t.equal("ldg", words(2), slices.Repeat([]int{0x40e0}, 32))
	t.equal("ldcg", words(3), slices.Repeat([]int{0x4200}, 32))
	t.equal("low", words(4), lanes(func(i int) int { return 1 - 4*i }))
	t.equal("high", words(5), lanes(func(i int) int { return 2 - 4*i }))
	t.equal("operators", words(6), lanes(func(i int) int { return i + 1 + 3000 }))
}

func cudaFloat8Case(t *T) {
	k := symmem.Compile(`
#include <cuda_fp8.h>
__global__ void decode(float* four, float* five, unsigned* wrong) {  // of 256 threads
  const unsigned i = threadIdx.x;
  __nv_fp8_e4m3 a;
  __nv_fp8_e5m2 b;
  a.__x = (unsigned char)i, b.__x = (unsigned char)i;
  const float x = (float)a, y = (float)b;
  four[i] = x, five[i] = y;
  if (x == x && __nv_fp8_e4m3(x).__x != i || y == y && i % 128 != 124 && __nv_fp8_e5m2(y).__x != i) atomicAdd(wrong, 1u);
}
__global__ void between(unsigned char* out) {
  int n = 0;
  const float inputs[] = {1.0625f, 1.1875f, 1.06251f, -1.1874f, 448, 463, 464, 465, 1e9f, -1e30f, 0x1p-10f, 0x1.8p-10f, 0x1p-9f * 2.5f, 57344, 61439, 61440, 0x1p-17f, 0x1.1p-17f, -0.f};
  for (float f : inputs) {
    out[n++] = __nv_fp8_e4m3(f).__x, out[n++] = __nv_fp8_e5m2(f).__x;
    out[n++] = __nv_cvt_float_to_fp8(f, __NV_NOSAT, __NV_E4M3), out[n++] = __nv_cvt_float_to_fp8(f, __NV_NOSAT, __NV_E5M2);
  }
  const float4 v = (float4)__nv_fp8x4_e4m3(make_float4(1, -2, 3, 4.5f));
  const float2 w = (float2)__nv_fp8x2_e5m2(make_float2(0.5f, 6));
  out[n++] = (unsigned char)(v.x + 10), out[n++] = (unsigned char)(v.y + 10), out[n++] = (unsigned char)(v.z + 10), out[n++] = (unsigned char)(2 * v.w);
  out[n++] = (unsigned char)(2 * w.x), out[n++] = (unsigned char)w.y;
}`)
	four, five, wrong, out := symmem.Local(symmem.F32, 256), symmem.Local(symmem.F32, 256), symmem.Local(symmem.U32, 1).Fill(0),
		symmem.Local(symmem.U8, 19*4+6)
	k.Kernel("decode").Launch(symmem.Grid(1), symmem.Block(256), four, five, wrong)
	k.Kernel("between").Launch(symmem.Grid(1), symmem.Block(1), out)
	t.equal("wrong", wrong.Ints(), []int{0})
	for name, c := range map[string]struct {
		got  []float32
		want map[int]float32
	}{
		"e4m3": {four.Float32s(), map[int]float32{0: 0, 1: 0.001953125, 7: 0.013671875, 8: 0.015625, 0x38: 1, 0x7e: 448, 0xb9: -1.125}},
		"e5m2": {five.Float32s(), map[int]float32{0: 0, 1: 0x1p-16, 3: 0x3p-16, 4: 0x1p-14, 0x3c: 1, 0x7b: 57344, 0xbd: -1.25}},
	} {
		for i, want := range c.want {
			t.equal(fmt.Sprintf("%s %#x", name, i), c.got[i], want)
		}
	}
	t.equal("between", out.Ints(), []int{
		0x38, 0x3c, 0x38, 0x3c, 0x3a, 0x3d, 0x3a, 0x3d, 0x39, 0x3c, 0x39, 0x3c, 0xb9, 0xbd, 0xb9, 0xbd, 0x7e, 0x5f, 0x7e, 0x5f,
		0x7e, 0x5f, 0x7e, 0x5f, 0x7e, 0x5f, 0x7e, 0x5f,
		0x7e, 0x5f, 0x7f, 0x5f, 0x7e, 0x7b, 0x7f, 0x7c, 0xfe, 0xfb, 0xff, 0xfc, 0, 0x14, 0, 0x14, 1, 0x16, 1, 0x16, 2, 0x1d, 2,
		0x1d, 0x7e, 0x7b, 0x7f, 0x7b, 0x7e, 0x7b, 0x7f, 0x7b,
		0x7e, 0x7b, 0x7f, 0x7c, 0, 0, 0, 0, 0, 1, 0, 1, 0x80, 0x80, 0x80, 0x80, 11, 8, 13, 9, 1, 6})
}

func cudaGroupsCase(t *T) {
	k := symmem.Compile(`
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_fp16.h>
namespace cg = cooperative_groups;
struct Wide { int a[5]; };
__device__ int by_value(cg::thread_block_tile<8> t) { return (int)(t.meta_group_rank() * 100 + t.meta_group_size()); }
__global__ void groups(int* out) {  // of blocks of 64 threads in two dimensions
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  auto tile = cg::tiled_partition<8>(warp);
  const int me = (int)block.thread_rank();
  out += 32 * cg::this_grid().thread_rank();
  *out++ = (int)(block.size() + block.num_threads() + block.thread_index().y + block.group_dim().x);
  *out++ = (int)(tile.thread_rank() * 1000 + tile.size() * 10 + warp.meta_group_rank()), *out++ = by_value(tile), *out++ = by_value(cg::tiled_partition<8>(block));
  *out++ = tile.shfl(me, 3), *out++ = tile.shfl_up(me, 2), *out++ = tile.shfl_down(me, 3), *out++ = tile.shfl_xor(me, 5);
  *out++ = (int)tile.shfl(me * 0x100000001ll, 1) + tile.shfl(Wide{{me, me, me, me, me}}, 2).a[4] + __half2int_rn(tile.shfl(__int2half_rn(me), 4));
  *out++ = (int)tile.ballot(me % 3 == 0), *out++ = tile.any(me == 9), *out++ = tile.all(me < 40);
  *out++ = (int)tile.match_any(me / 4);
  *out++ = cg::reduce(tile, me, cg::plus<int>()), *out++ = cg::reduce(warp, me, cg::greater<int>()), *out++ = cg::reduce(warp, me, cg::less<int>());
  *out++ = (int)cg::reduce(tile, (unsigned)me, cg::bit_or<unsigned>()), *out++ = cg::reduce(tile, me, cg::bit_xor<int>()), *out++ = cg::reduce(tile, me, cg::bit_and<int>());
  *out++ = cg::inclusive_scan(tile, me), *out++ = cg::exclusive_scan(tile, me, cg::plus<int>());
  cg::sync(tile), block.sync(), warp.sync();
  auto grid = cg::this_grid();
  *out++ = (int)(grid.size() + 1000 * grid.thread_rank() + grid.block_rank());
  auto here = cg::coalesced_threads();
  *out++ = here.shfl(me, 0) + (int)here.size() - 1 == me - (int)here.thread_rank() + (int)here.size() - 1 || here.size() > 1;
  *out++ = cg::reduce(here, 1, cg::plus<int>()) == (int)here.size() && here.any(true) && here.all(true) && here.ballot(1) == ~0u >> (32 - here.size());
}`)
	const threads = 64
	out := symmem.Local(symmem.I32, 2*32*threads)
	k.Launch(symmem.Grid(2), symmem.Block(16, 4), out)
	got := out.Ints()
	is := func(b bool) int { return map[bool]int{true: 1}[b] }
	for row := range 2 * threads {
		block, i := row/threads, row%threads
		first, lane := i&^7, i%8
		sum, or, xor, and, ballot := 0, 0, 0, -1, 0
		for j := range 8 {
			sum, or, xor, and = sum+first+j, or|(first+j), xor^(first+j), and&(first+j)
			ballot |= is((first+j)%3 == 0) << j
		}
		scan := 0
		for j := first; j <= i; j++ {
			scan += j
		}
		up, down := i, i
		if lane >= 2 {
			up = i - 2
		}
		if lane+3 < 8 {
			down = i + 3
		}
		t.equal(fmt.Sprintf("thread %d of block %d", i, block), got[32*row:32*row+24],
			[]int{128 + i/16 + 16, lane*1000 + 80 + i/32, i%32/8*100 + 4, i/8*100 + 8, first + 3, up, down, i ^ 5,
				first + 1 + first + 2 + first + 4, ballot, is(first == 8), is(first+7 < 40), 0xf << (lane &^ 3), sum, i&^31 + 31,
				i &^ 31, or, xor, and, scan, scan - i,
				2*threads + 1000*row + block, 1, 1})
	}
}

// The expected results of halfKernels, first for __half and then for __nv_bfloat16.
var (
	halfSums = []int{
		285697556941256, 292173259469455, 280585129090439, 328333603528001, 210274006827150, 344729344894797, 210493501427459, 344948839495106,
		81893, 8201758436, 4103410963, 4103492856, 4501694640, 4501776533, 403429060, 8605105603,
		55543885493272, 109787207599443, 48900077876066, 43041424896829, 277626596044338, 277651364637030, 246392578109058, 250785874177910,
		328333603528001, 328333603528001, 280585129090439, 280661255831719, 63029650268160, 61999640785920, 303509130011292, 304567972996998,
		281758035680903, 336036821252705, 211209420519740, 351427313041702, 211201121580203, 351419014102165, 81893, 8550517972,
		4278477471, 4278559364, 4326628132, 4326710025, 54669524, 8605105603, 62533815451750, 99380648421917,
		57596904253645, 46486480297889, 281326381186432, 281361481777812, 246645401995204, 247189395368632, 336036821252705, 336036821252705,
		281758035680903, 281366267010763, 69552261021184, 69327049340544,
	}
	halfConversions = []int{
		34079066161982, 35003041802251, 102167642523900, 102166133446350, 102167690906358, 102167698019640, 105263431340026, 105261828153420,
		105263429327424, 105263435041458, 101975104402712, 104852536816028, 101974097822416, 104853606148732, 9135572629660, 9127714757037,
		9191221614711, 9128118352069, 1664228324946, 9134928587533, 16587381175781, 1139447323965, 208708124468, 47475191935628,
		32426101583126, 19802016612727, 21639955039545,
	}
)
