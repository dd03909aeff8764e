// hosts_copy: all-gather, all-to-all and broadcast of a group that spans hosts, between and within
// the hosts (pipes.cuh has the protocol). A member sends slices of its input, or of the inputs on
// its host, and stores the chunks that it receives as pieces of one or more outputs. Slices or
// pieces may be of rows that lie apart.
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

// Rows are bytes of rows (row_at), from byte `first` on.
struct Rows {
  char* at;
  symm::u64 first, width, pitch;
  __device__ __forceinline__ char* byte(symm::u64 i) const { return at + symm::row_at(first + i, width, pitch); }
  __device__ __forceinline__ symm::u64 skew() const { return (symm::u64)at | first | (pitch ? width | pitch : 0); }
};

// copy_rows: the threads of a block copy n bytes, by words that do not cross rows.
template <class W>
static __device__ __forceinline__ void copy_rows(const Rows& to, const Rows& from, symm::u64 n) {
  using namespace symm;
  SYMM_SHARE(i, n / sizeof(W), threadIdx.x, blockDim.x) *(W*)to.byte(i * sizeof(W)) = *(const W*)from.byte(i * sizeof(W));
}
static __device__ __forceinline__ void copy(const Rows& to, const Rows& from, symm::u64 n) {
  using namespace symm;
  if (!to.pitch && !from.pitch) return copy_bytes(to.byte(0), from.byte(0), n);
  const u64 skew = to.skew() | from.skew() | n;
  if (skew % 16 == 0) copy_rows<u128>(to, from, n);
  else if (skew % 4 == 0) copy_rows<u32>(to, from, n);
  else if (skew % 2 == 0) copy_rows<u16>(to, from, n);
  else copy_rows<u8>(to, from, n);
}

extern "C" __global__ void __launch_bounds__(512) hosts_copy(const __grid_constant__ symm::HostsArgs a) {
  using namespace symm;
  begin();
  pump(
      a, 1,
      [&](u64 k) {
        const u64 n = length_of(a, k), part = a.parts > 1 ? a.pipes.inside.rank * n : 0;
        for (u32 j = 0; j < a.targets; j++)
          copy(Rows{target_at(a, j, k) + part, 0, 0, 0}, Rows{(char*)a.in[0] + a.target[j].slice * a.slice, k * a.chunk, a.width, a.in_pitch}, n);
      },
      [&](u64 k) {
        const u64 n = length_of(a, k);
        for (u32 s = 0; s < a.sources; s++) {
          const Rows from = {source_at(a.pipes, a.source[s], k) + a.source[s].part * n, 0, 0, 0};
          for (u32 o = 0; o < a.outs; o++) copy(Rows{(char*)a.out[o] + a.source[s].mark * a.stride, k * a.chunk, a.width, a.out_pitch}, from, n);
        }
      });
}
SYMM_KERNEL(hosts_copy)
