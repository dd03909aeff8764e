// Flags in peers' memory: what they order, and when an old one passes for a new one.
#include <cuda/atomic>

#include "symm.cuh"

// https://github.com/vllm-project/vllm/issues/57059 and https://github.com/vllm-project/vllm/issues/8404:
// the flags at the start of an all-reduce are relaxed, and nothing orders the data with them.
//
// symm: test relaxed_start_wrong
// x symmetric f32[64]
// out f32[64]
// stage<<<1, 64>>>(x, rank)
// relaxed_start<false><<<1, 64>>>(handle(x), out)
// expect finding order too weak
//
// symm: test relaxed_start_right
// x symmetric f32[64]
// out f32[64]
// stage<<<1, 64>>>(x, rank)
// relaxed_start<true><<<1, 64>>>(handle(x), out)
// expect out == rank_sum(rank + i)
__global__ void stage(float* x, int rank) { x[threadIdx.x] = rank + threadIdx.x; }

__device__ float sum_of(symm::Handle& h) {
  float sum = 0;
  for (int p = 0; p < h.world_size; p++) sum += h.buffer<float>(p)[threadIdx.x];
  return sum;
}

template <bool right> __global__ void relaxed_start(symm::Handle h, float* out) {
  const int p = threadIdx.x;
  if (p < h.world_size) {
    if (right) __threadfence_system();
    *(volatile unsigned*)(h.pad(p) + h.rank) = 1;
    while (*(volatile unsigned*)(h.pad(h.rank) + p) < 1) {}
    if (right) __threadfence_system();
  }
  __syncthreads();
  out[threadIdx.x] = sum_of(h);
}

// https://github.com/ROCm/aiter/pull/4786: the flag is loaded with the scope of the device, although a
// peer stores it.
//
// symm: test loads_for_the_device_wrong
// x symmetric f32[64]
// out f32[64]
// stage<<<1, 64>>>(x, rank)
// device_scope<cuda::thread_scope_system, cuda::thread_scope_device><<<1, 64>>>(handle(x), out)
// expect finding order too weak
//
// symm: test loads_for_the_device_right
// x symmetric f32[64]
// out f32[64]
// stage<<<1, 64>>>(x, rank)
// device_scope<cuda::thread_scope_system, cuda::thread_scope_system><<<1, 64>>>(handle(x), out)
// expect out == rank_sum(rank + i)

// https://github.com/ROCm/iris/issues/462: the lock is released with the scope of the GPU, which is the
// default of Triton's atomics, and peers wait for it.
//
// symm: test releases_for_the_device_wrong
// x symmetric f32[64]
// out f32[64]
// stage<<<1, 64>>>(x, rank)
// device_scope<cuda::thread_scope_device, cuda::thread_scope_system><<<1, 64>>>(handle(x), out)
// expect finding order too weak
//
// symm: test releases_for_the_device_right
// x symmetric f32[64]
// out f32[64]
// stage<<<1, 64>>>(x, rank)
// device_scope<cuda::thread_scope_system, cuda::thread_scope_system><<<1, 64>>>(handle(x), out)
// expect out == rank_sum(rank + i)
template <cuda::thread_scope store, cuda::thread_scope load> __global__ void device_scope(symm::Handle h, float* out) {
  const int p = threadIdx.x;
  if (p < h.world_size) {
    cuda::atomic_ref<unsigned, store>(h.pad(p)[h.rank]).store(1, cuda::memory_order_release);
    while (cuda::atomic_ref<unsigned, load>(h.pad(h.rank)[p]).load(cuda::memory_order_acquire) < 1) {}
  }
  __syncthreads();
  out[threadIdx.x] = sum_of(h);
}

// https://github.com/ROCm/aiter/pull/2890: between the two stages stood the barrier of the end, which is
// relaxed. The second stage reads what peers have written in the first.
//
// symm: test end_barrier_in_the_middle_wrong
// x symmetric f32[64]
// out f32[64]
// two_stages<false><<<1, 64>>>(handle(x), out)
// expect finding order too weak
//
// symm: test end_barrier_in_the_middle_right
// x symmetric f32[64]
// out f32[64]
// two_stages<true><<<1, 64>>>(handle(x), out)
// expect out == i % size
template <bool right> __global__ void two_stages(symm::Handle h, float* out) {
  for (int p = 0; p < h.world_size; p++)
    if (threadIdx.x % h.world_size == h.rank) h.buffer<float>(p)[threadIdx.x] = h.rank;
  __syncthreads();
  const int p = threadIdx.x;
  if (p < h.world_size && right) {
    symm::store_release(h.pad(p) + h.rank, 1u);
    while (symm::load_acquire(h.pad(h.rank) + p) < 1) {}
  } else if (p < h.world_size) {
    symm::store_relaxed(h.pad(p) + h.rank, 1u);
    while (symm::load_relaxed(h.pad(h.rank) + p) < 1) {}
  }
  __syncthreads();
  out[threadIdx.x] = h.buffer<float>(h.rank)[threadIdx.x];
}

// https://github.com/vllm-project/vllm/pull/2760: each rank sets a byte of its own, and the reader loads
// the word of all. Accesses that overlap in part do not synchronise.
//
// symm: test bytes_of_a_word_wrong
// ranks 2, 4
// x symmetric f32[64]
// out f32[64]
// stage<<<1, 64>>>(x, rank)
// bytes<false><<<1, 64>>>(handle(x), out)
// expect finding race
//
// symm: test bytes_of_a_word_right
// ranks 2, 4
// x symmetric f32[64]
// out f32[64]
// stage<<<1, 64>>>(x, rank)
// bytes<true><<<1, 64>>>(handle(x), out)
// expect out == rank_sum(rank + i)
template <bool right> __global__ void bytes(symm::Handle h, float* out) {
  const int p = threadIdx.x;
  __threadfence_system();
  if (right && p < h.world_size) {
    *(volatile unsigned*)(h.pad(p) + h.rank) = 1;
    while (*(volatile unsigned*)(h.pad(h.rank) + p) == 0) {}
  }
  if (!right && p < h.world_size) {
    ((volatile unsigned char*)h.pad(p))[h.rank] = 1;
    const unsigned all = h.world_size == 2 ? 0x0101 : 0x01010101;
    while (*(volatile unsigned*)h.pad(h.rank) != all) {}
  }
  __threadfence_system();
  __syncthreads();
  out[threadIdx.x] = sum_of(h);
}

// https://github.com/ROCm/aiter/pull/3928, https://github.com/vllm-project/vllm/pull/46913: the value of
// the flag is an argument of the launch. A graph keeps the first one, so in the next replay the flag of the
// last one passes for new.
//
// symm: test flag_in_a_graph_wrong
// x symmetric f32[64*size]
// out f32[64]
// replay<false><<<1, 64>>>(handle(x), out, 7) repeat 3
// expect finding race between ranks
//
// symm: test flag_in_a_graph_right
// x symmetric f32[64*size]
// out f32[64]
// replay<true><<<1, 64>>>(handle(x), out, 7) repeat 3
// expect out == rank_sum(rank)
template <bool right> __global__ void replay(symm::Handle h, float* out, unsigned flag) {
  unsigned* rounds = h.pad(h.rank) + 2 * h.world_size;  // read by this rank only
  if (right) flag = *rounds + 1;
  const int p = threadIdx.x;
  for (int q = 0; q < h.world_size; q++) h.buffer<float>(q)[64 * h.rank + threadIdx.x] = h.rank;
  __syncthreads();
  if (p < h.world_size) {
    symm::store_release(h.pad(p) + h.rank, flag);
    while (symm::load_acquire(h.pad(h.rank) + p) != flag) {}
  }
  __syncthreads();
  float sum = 0;
  for (int q = 0; q < h.world_size; q++) sum += h.buffer<float>(h.rank)[64 * q + threadIdx.x];
  out[threadIdx.x] = sum;
  if (right) {  // no rank writes again before all have read
    __syncthreads();
    if (p < h.world_size) {
      symm::store_release(h.pad(p) + h.world_size + h.rank, flag);
      while (symm::load_acquire(h.pad(h.rank) + h.world_size + p) != flag) {}
    }
    __syncthreads();
    if (p == 0) *rounds = flag;
  }
}

// https://github.com/microsoft/mscclpp/pull/502: the flag moved into the kernel. The first version let
// block 0 count it up while other blocks had yet to read it.
//
// symm: test counts_before_all_have_read_wrong
// x symmetric f32[64]
// out f32[256]
// counts u32[2]
// counted<false><<<4, 64>>>(handle(x), out, counts)
// expect finding race between blocks
//
// symm: test counts_before_all_have_read_right
// x symmetric f32[64]
// out f32[256]
// counts u32[2]
// counted<true><<<4, 64>>>(handle(x), out, counts)
// expect out == size
// expect counts == where(i == 0, 1, 4)
template <bool right> __global__ void counted(symm::Handle h, float* out, unsigned* n) {
  const unsigned flag = n[0] + 1;
  const int p = threadIdx.x;
  unsigned* const block = h.pad(h.rank) + h.world_size * blockIdx.x;
  if (p < h.world_size) {
    symm::store_release(h.pad(p) + h.world_size * blockIdx.x + h.rank, flag);
    while (symm::load_acquire(block + p) == 0) {}
  }
  __syncthreads();
  out[64 * blockIdx.x + threadIdx.x] = h.world_size;
  if (p != 0) return;
  if (right) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> arrived(n[1]);
    if (arrived.fetch_add(1, cuda::memory_order_acq_rel) == gridDim.x - 1) n[0] = flag;
  } else if (blockIdx.x == 0) {
    n[0] = flag;
  }
}

// https://github.com/NVIDIA/nvshmem/pull/98: each rank resets its flag and launches the next round. The
// slower rank erases the first signal of the quicker one.
//
// symm: test reset_between_rounds_wrong
// f symmetric u32[1]
// ping<<<1, 1>>>(handle(f), 1) on 0, 1
// go if rank == 1 { time.Sleep(20 * time.Millisecond) }
// reset<<<1, 1>>>(f)
// ping<<<1, 1>>>(handle(f), 1, symm.Timeout(300*time.Millisecond)) on 0, 1
// expect finding race between ranks
// expect error timeout
//
// symm: test reset_between_rounds_right
// f symmetric u32[1]
// ping<<<1, 1>>>(handle(f), 1) on 0, 1
// meet
// reset<<<1, 1>>>(f)
// meet
// ping<<<1, 1>>>(handle(f), 1) on 0, 1
__global__ void reset(unsigned* f) { *f = 0; }
__global__ void ping(symm::Handle h, unsigned round) {
  const int peer = h.rank ^ 1;
  unsigned* const mine = h.buffer<unsigned>(h.rank);
  if (h.rank == 0) symm::store_release(h.buffer<unsigned>(peer), round);
  if (!symm::wait_until<unsigned>(h, mine, round, symm::kEqual, symm::kUser, (unsigned)peer, 0)) return;
  if (h.rank == 1) symm::store_release(h.buffer<unsigned>(peer), round);
}

// https://github.com/pytorch/pytorch/pull/196546: the allocation is collective, so peers may signal as soon
// as it returns. Each rank zeroed its own pad after that.
//
// symm: test pad_zeroed_late_wrong
// x symmetric u32[16]
// zero<<<1, 16>>>(pad(x))
// add<<<1, 1>>>(handle(x))
// expect finding race
//
// symm: test pad_zeroed_late_right
// x symmetric u32[16]
// zero<<<1, 16>>>(pad(x))
// meet
// add<<<1, 1>>>(handle(x))
__global__ void zero(unsigned* pad) { pad[threadIdx.x] = 0; }
__global__ void add(symm::Handle h) { atomicAdd_system(h.pad((h.rank + 1) % h.world_size), 1); }

// https://github.com/pytorch/pytorch/pull/188051: the pad of one backend was never zeroed. A barrier that
// waits for a 1 passes at once if there is one.
//
// symm: test pad_not_zeroed_wrong
// x symmetric f32[64]
// f symmetric u32[16] = 1
// out f32[64]
// stage<<<1, 64>>>(x, rank)
// first<<<1, 64>>>(handle(x), peers(f), out)
// expect finding race between ranks
//
// symm: test pad_not_zeroed_right
// x symmetric f32[64]
// f symmetric u32[16] = 0
// out f32[64]
// stage<<<1, 64>>>(x, rank)
// first<<<1, 64>>>(handle(x), peers(f), out)
// expect out == rank_sum(rank + i)
__global__ void first(symm::Handle h, unsigned** flags, float* out) {
  const int p = threadIdx.x;
  if (p < h.world_size) {
    symm::store_release(flags[p] + h.rank, 1u);
    while (symm::load_acquire(flags[h.rank] + p) != 1) {}
  }
  __syncthreads();
  out[threadIdx.x] = sum_of(h);
}

// https://github.com/alibaba/rtp-llm/pull/1418: the epoch of the barrier wraps around, and "less than" is
// wrong then: of signed numbers the wait never ends, of unsigned ones it ends at once.
//
// symm: test epoch_wraps_wrong
// x symmetric f32[64]
// f symmetric u32[16] = 4294967295
// out f32[64]
// epoch<false><<<1, 64>>>(handle(x), peers(f), out, uint32(4294967295))
// expect finding race between ranks
//
// symm: test epoch_wraps_right
// x symmetric f32[64]
// f symmetric u32[16] = 4294967295
// out f32[64]
// epoch<true><<<1, 64>>>(handle(x), peers(f), out, uint32(4294967295))
// expect out == rank_sum(rank + i)
template <bool right> __global__ void epoch(symm::Handle h, unsigned** flags, float* out, unsigned last) {
  h.buffer<float>(h.rank)[threadIdx.x] = h.rank + threadIdx.x;
  __syncthreads();
  const unsigned now = last + 1, p = threadIdx.x;
  if (p < h.world_size) {
    symm::store_release(flags[p] + h.rank, now);
    unsigned seen;
    do seen = symm::load_acquire(flags[h.rank] + p);
    while (right ? (int)(seen - now) < 0 : seen < now);
  }
  __syncthreads();
  out[threadIdx.x] = sum_of(h);
}

// https://github.com/vllm-project/vllm/pull/25892: two calls with different sizes lay their flags over the
// data of each other, because the place of the flags depends on the size.
//
// symm: test place_depends_on_the_size_wrong
// x symmetric u32[512]
// out u32[128]
// sized<false><<<1, 128>>>(handle(x), out, 128, 1)
// sized<false><<<1, 128>>>(handle(x), out, 64, 2)
// expect finding race between ranks
//
// symm: test place_depends_on_the_size_right
// x symmetric u32[512]
// out u32[128]
// sized<true><<<1, 128>>>(handle(x), out, 128, 1)
// sized<true><<<1, 128>>>(handle(x), out, 64, 2)
// expect out == where(i < 64, size*2, size*1)
template <bool right> __global__ void sized(symm::Handle h, unsigned* out, int n, unsigned call) {
  const int flags = right ? 500 : n, p = threadIdx.x, data = right ? 128 * (call - 1) : 0;
  if (p < n) h.buffer<unsigned>(h.rank)[data + p] = call;
  __syncthreads();
  if (p < h.world_size) {
    symm::store_release(h.buffer<unsigned>(p) + flags + h.rank, call);
    while (symm::load_acquire(h.buffer<unsigned>(h.rank) + flags + p) < call) {}
  }
  __syncthreads();
  unsigned sum = 0;
  for (int q = 0; q < h.world_size && p < n; q++) sum += h.buffer<unsigned>(q)[data + p];
  if (p < n) out[p] = sum;
}
