// hosts_reduce: all-reduce and reduce-scatter of a group that spans hosts, between and within the
// hosts (pipes.cuh has the protocol). A member reduces its inputs in the order of the ranks of its
// host and sends the result. Then it reduces the chunks of all members, host by host, to its piece
// of the result. by_host.cuh has the order in which values are combined.
#include "hosts/by_host.cuh"
#include "reduce/float8.cuh"

// produce_as computes elements [first, last) of chunk k for all targets, in groups of N.
template <class T, class A, int N>
static __device__ __forceinline__ void produce_as(const symm::HostsArgs& a, symm::u64 k, symm::u64 first, symm::u64 last) {
  using namespace symm;
  for (u32 j = 0; j < a.targets; j++) {
    A* const to = (A*)target_at(a, j, k);
    SYMM_SHARE(i, (last - first) / N, threadIdx.x, blockDim.x) {
      const u64 e = first + i * N, at = a.target[j].slice * a.slice + row_at(k * a.chunk + e, a.width, a.in_pitch);
      Elements<A, N> sum = as<A>(*(const Elements<T, N>*)((const T*)a.in[0] + at));
      for (u32 p = 1; p < a.ins; p++) combine(sum, as<A>(*(const Elements<T, N>*)((const T*)a.in[p] + at)), a.op & 255);
      *(Elements<A, N>*)(to + e) = sum;
    }
  }
}

// consume_as computes elements of the result in groups of N.
template <class T, class A, int N>
static __device__ __forceinline__ void consume_as(const symm::HostsArgs& a, int world, symm::u64 k, symm::u64 first, symm::u64 last) {
  using namespace symm;
  SYMM_SHARE(i, (last - first) / N, threadIdx.x, blockDim.x) {
    const u64 e = first + i * N;
    const Elements<T, N> result = as<T>(by_host<A, N>(a.pipes, a.source, a.sources, k, e, world, a.op & 255));
    for (u32 o = 0; o < a.outs; o++) *(Elements<T, N>*)((T*)a.out[o] + k * a.chunk + e) = result;
  }
}

template <class T, class A>
static __device__ __forceinline__ void reduce_between_hosts(const symm::HostsArgs& a) {
  using namespace symm;
  constexpr u64 N = 16 / sizeof(T);
  u64 skew = (a.slice | (a.in_pitch ? a.width | a.in_pitch : 0)) % N;
  for (u32 p = 0; p < a.ins; p++) skew |= (u64)a.in[p] & 15;
  for (u32 p = 0; p < a.outs; p++) skew |= (u64)a.out[p] & 15;
  const int world = a.pipes.between.world_size;
  auto whole = [&](u64 k) { return skew ? 0 : length_of(a, k) / N * N; };
  pump(
      a, sizeof(A),
      [&](u64 k) {
        produce_as<T, A, (int)N>(a, k, 0, whole(k));
        produce_as<T, A, 1>(a, k, whole(k), length_of(a, k));
      },
      [&](u64 k) {
        consume_as<T, A, (int)N>(a, world, k, 0, whole(k));
        consume_as<T, A, 1>(a, world, k, whole(k), length_of(a, k));
      });
}

#define REDUCE(T, dtype)                                                                                         \
  extern "C" __global__ void __launch_bounds__(512) hosts_reduce_##dtype(const __grid_constant__ symm::HostsArgs a) { \
    symm::begin();                                                                                               \
    if (a.op & symm::kWide) reduce_between_hosts<T, symm::Wide<T>>(a);                                           \
    else reduce_between_hosts<T, symm::Step<T>>(a);                                                              \
  }                                                                                                              \
  SYMM_KERNEL(hosts_reduce_##dtype)
SYMM_FOR_REDUCED(REDUCE)
