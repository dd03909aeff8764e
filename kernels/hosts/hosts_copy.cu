// hosts_copy: all-gather, all-to-all and broadcast of a group that spans hosts, between and within
// the hosts (pipes.cuh has the protocol). A member sends slices of its input, or of the inputs on
// its host, and stores the chunks that it receives as pieces of one or more outputs.
#include "hosts/pipes.cuh"

// copy_bytes: the threads of a block copy n bytes, by the widest words that both addresses allow.
template <class W>
static __device__ __forceinline__ void copy_words(char* to, const char* from, symm::u64 n) {
  using namespace symm;
  const u64 words = n / sizeof(W);
  SYMM_SHARE(i, words, threadIdx.x, blockDim.x) ((W*)to)[i] = ((const W*)from)[i];
  for (u64 i = words * sizeof(W) + threadIdx.x; i < n; i += blockDim.x) to[i] = from[i];
}
static __device__ __forceinline__ void copy_bytes(char* to, const char* from, symm::u64 n) {
  using namespace symm;
  const u64 skew = (u64)to | (u64)from;
  if (skew % 16 == 0) copy_words<u128>(to, from, n);
  else if (skew % 8 == 0) copy_words<u64>(to, from, n);
  else if (skew % 4 == 0) copy_words<u32>(to, from, n);
  else copy_words<u8>(to, from, n);
}

extern "C" __global__ void __launch_bounds__(512) hosts_copy(const __grid_constant__ symm::HostsArgs a) {
  using namespace symm;
  begin();
  pump(
      a, 1,
      [&](u64 k) {
        const u64 n = length_of(a, k), part = a.parts > 1 ? a.pipes.inside.rank * n : 0;
        for (u32 j = 0; j < a.targets; j++) copy_bytes(target_at(a, j, k) + part, (const char*)a.in[0] + a.target[j].slice * a.slice + k * a.chunk, n);
      },
      [&](u64 k) {
        const u64 n = length_of(a, k);
        for (u32 s = 0; s < a.sources; s++) {
          const char* const from = source_at(a, s, k) + a.source[s].part * n;
          for (u32 o = 0; o < a.outs; o++) copy_bytes((char*)a.out[o] + a.source[s].mark * a.stride + k * a.chunk, from, n);
        }
      });
}
SYMM_KERNEL(hosts_copy)
