// Buffers in which the data are the flag: a word that is still -0.0 has not arrived.
#include "symm.cuh"

constexpr unsigned kEmpty = 0x80000000u;  // the bits of -0.0f
constexpr int kTokens = 64;               // of one rank in one of three buffers

// slot returns the words that rank `from` writes in buffer `call` of a rank's tensor.
__device__ volatile unsigned* slot(symm::Handle& h, int owner, int call, int from) {
  return h.buffer<unsigned>(owner) + (call % 3 * h.world_size + from) * kTokens;
}

// gather sends x to all ranks through buffer `call`, and adds what has come.
__device__ float gather(symm::Handle& h, int call, float x) {
  for (int p = 0; p < h.world_size; p++) slot(h, p, call, h.rank)[threadIdx.x] = __float_as_uint(x);
  float sum = 0;
  for (int p = 0; p < h.world_size; p++) {
    unsigned bits;
    do bits = slot(h, h.rank, call, p)[threadIdx.x];
    while (bits == kEmpty);
    sum += __uint_as_float(bits);
  }
  return sum;
}

// https://github.com/NVIDIA/TensorRT-LLM/pull/6237: each call clears the buffer of the call before. If it
// has fewer tokens than that call, a part keeps its old data, which the buffer's next user takes for new.
//
// symm: test clears_too_few_wrong
// b symmetric u32[3*size*64] = 2147483648
// out f32[64]
// rounds<false><<<1, 64>>>(handle(b), out, 0, 64, 0)
// rounds<false><<<1, 64>>>(handle(b), out, 1, 32, 64)
// rounds<false><<<1, 64>>>(handle(b), out, 2, 64, 32)
// meet
// go if rank == size-1 { time.Sleep(20 * time.Millisecond) }
// rounds<false><<<1, 64>>>(handle(b), out, 3, 64, 64)
// expect out == rank_sum(rank + 300.0)
// expect error elements of out
//
// symm: test clears_too_few_right
// b symmetric u32[3*size*64] = 2147483648
// out f32[64]
// rounds<true><<<1, 64>>>(handle(b), out, 0, 64, 0)
// rounds<true><<<1, 64>>>(handle(b), out, 1, 32, 64)
// rounds<true><<<1, 64>>>(handle(b), out, 2, 64, 32)
// meet
// go if rank == size-1 { time.Sleep(20 * time.Millisecond) }
// rounds<true><<<1, 64>>>(handle(b), out, 3, 64, 64)
// expect out == rank_sum(rank + 300.0)
template <bool right> __global__ void rounds(symm::Handle h, float* out, int call, int tokens, int before) {
  const int clear = right ? before : tokens;
  if (call > 0 && threadIdx.x < clear)
    for (int p = 0; p < h.world_size; p++) slot(h, h.rank, call - 1, p)[threadIdx.x] = kEmpty;
  if (threadIdx.x < tokens) out[threadIdx.x] = gather(h, call, h.rank + 100.f * call);
}

// https://github.com/flashinfer-ai/flashinfer/pull/1136: the poll compared numbers, not bits. 0.0 equals
// -0.0, so a zero in the data never arrives.
//
// symm: test compares_numbers_wrong
// b symmetric u32[size*64] = 2147483648
// x f32[64] = i % 2
// out f32[64]
// poll<0><<<1, 64>>>(handle(b), x, out, symm.Timeout(200*time.Millisecond))
// expect error timeout
//
// symm: test compares_numbers_right
// b symmetric u32[size*64] = 2147483648
// x f32[64] = i % 2
// out f32[64]
// poll<2><<<1, 64>>>(handle(b), x, out, symm.Timeout(10*time.Second))
// expect out == rank_sum(x)

// https://github.com/flashinfer-ai/flashinfer/issues/3053: the poll compared with zero and looked at the
// sign. The GPU's comparison flushes a small negative number to -0.0; here the kernel does so itself.
//
// symm: test flushes_small_wrong
// b symmetric u32[size*64] = 2147483648
// x f32[64] = -1e-40
// out f32[64]
// poll<1><<<1, 64>>>(handle(b), x, out, symm.Timeout(200*time.Millisecond))
// expect error timeout
//
// symm: test flushes_small_right
// b symmetric u32[size*64] = 2147483648
// x f32[64] = -1e-40
// out f32[64]
// poll<2><<<1, 64>>>(handle(b), x, out, symm.Timeout(10*time.Second))
// expect out == rank_sum(x)
template <int how> __global__ void poll(symm::Handle h, const float* x, float* out) {
  for (int p = 0; p < h.world_size; p++) slot(h, p, 0, h.rank)[threadIdx.x] = __float_as_uint(x[threadIdx.x]);
  float sum = 0;
  for (int p = 0; p < h.world_size; p++) {
    symm::Patience patience;
    for (;;) {
      const unsigned bits = slot(h, h.rank, 0, p)[threadIdx.x];
      const float v = __uint_as_float(bits), flushed = fabsf(v) < 1.17549435e-38f ? 0 : v;
      const bool empty = how == 0 ? v == -0.f : how == 1 ? flushed == 0 && bits >> 31 : bits == kEmpty;
      if (!empty) {
        sum += v;
        break;
      }
      if (patience.expired(h, symm::Wait{symm::kUser, (unsigned)p, 0, 1}, bits)) return;
    }
    patience.satisfied(h);
  }
  out[threadIdx.x] = sum;
}

// https://github.com/NVIDIA/Megatron-LM/pull/7263: a rank cleared its routing buffer behind the barrier.
// A quick peer's rows are there by then, and are lost.
//
// symm: test clears_behind_the_barrier_wrong
// b symmetric i32[size*64] = 7
// out i32[size*64]
// routing<false><<<1, 64>>>(handle(b), out)
// expect finding race between ranks
//
// symm: test clears_behind_the_barrier_right
// b symmetric i32[size*64] = 7
// out i32[size*64]
// routing<true><<<1, 64>>>(handle(b), out)
// expect out == i / 64
template <bool right> __global__ void routing(symm::Handle h, int* out) {
  int* mine = h.buffer<int>(h.rank);
  if (right) for (int p = 0; p < h.world_size; p++) mine[64 * p + threadIdx.x] = -1;
  symm::barrier(h, 0);
  if (!right) for (int p = 0; p < h.world_size; p++) mine[64 * p + threadIdx.x] = -1;
  for (int p = 0; p < h.world_size; p++) h.buffer<int>(p)[64 * h.rank + threadIdx.x] = h.rank;
  symm::barrier(h, 1);
  for (int p = 0; p < h.world_size; p++) out[64 * p + threadIdx.x] = mine[64 * p + threadIdx.x];
}

// https://github.com/vllm-project/vllm/pull/50932: the check of the size took the whole allocation for
// one buffer, but there are three in it. Calls that need more than a third write beyond the last one.
//
// symm: test takes_three_buffers_for_one_wrong
// b symmetric u32[3*size*64] = 2147483648
// out f32[96]
// large<false><<<1, 96>>>(handle(b), out)
// expect finding out of bounds
// expect error writes right behind
//
// symm: test takes_three_buffers_for_one_right
// b symmetric u32[3*size*64] = 2147483648
// out f32[96]
// large<true><<<1, 96>>>(handle(b), out)
// expect out == where(i < 64, size, 0)
template <bool right> __global__ void large(symm::Handle h, float* out) {
  const int call = 2, most = right ? kTokens : 3 * kTokens;
  for (int p = 0; p < h.world_size && threadIdx.x < most; p++) slot(h, p, call, h.rank)[threadIdx.x] = __float_as_uint(1);
  symm::barrier(h, 0);
  float sum = 0;
  for (int p = 0; p < h.world_size && threadIdx.x < kTokens; p++) sum += __uint_as_float(slot(h, h.rank, call, p)[threadIdx.x]);
  out[threadIdx.x] = sum;
}

// https://github.com/flashinfer-ai/flashinfer/pull/3903: the host packs the pointers of three buffers with
// as many entries each as there are ranks, and the kernel reads them with 16. The two agree for 16 ranks only.
//
// symm: test packs_pointers_wrong
// b symmetric f32[3*64]
// t i64[3*size]
// pack<<<1, 1>>>(peers(b), t, size)
// follow<<<1, 64>>>(t, 16, rank, size)
// expect finding out of bounds
// expect error fault
//
// symm: test packs_pointers_right
// b symmetric f32[3*64]
// t i64[3*size]
// pack<<<1, 1>>>(peers(b), t, size)
// follow<<<1, 64>>>(t, size, rank, size)
// meet
// expect b == where(i < 128, 0, 1)
__global__ void pack(float** peers, long long* table, int size) {
  for (int buffer = 0; buffer < 3; buffer++)
    for (int p = 0; p < size; p++) table[buffer * size + p] = (long long)(peers[p] + 64 * buffer);
}
__global__ void follow(const long long* table, int apart, int rank, int size) {
  float* last = (float*)table[2 * apart + (rank + 1) % size];
  if (last) last[threadIdx.x] = 1;
}
