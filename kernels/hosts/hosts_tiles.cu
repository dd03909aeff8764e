// hosts_tiles: reductions of tiles in a group that spans hosts, between and within the hosts
// (pipes.cuh has the protocol). Every member may be the root of one tile, and the tiles may differ
// in shape. A member reduces each root's tile of its inputs, in the order of the ranks of its host,
// and sends it to the root. Then it reduces the chunks of its own tile from all members, host by
// host. by_host.cuh has the order in which values are combined.
#include "hosts/by_host.cuh"

// HostsTile is a tile to send or to keep: n elements in rows of a width that lie `pitch` apart.
struct HostsTile {
  symm::u64 n;                        // 0: there is none
  symm::u32 width, pitch;
};
SYMM_LAYOUT(HostsTile, n, width, pitch)

struct HostsTilesArgs {
  symm::PipeArgs pipes;
  symm::u32 chunk;                    // elements of a chunk
  symm::u32 meets;                    // of symm::PipeMeets
  symm::u32 op;                       // symm::ReduceOp
  symm::u32 sources;
  symm::u32 ins;                      // for each place
  symm::u32 out_pitch;                // from row to row of out
  symm::u64 longest;                  // elements of the largest tile of all members
  void* out;
  HostsTile tile[symm::kMaxRanks];    // by place: of the root there
  const void* in[symm::kMaxRanks];    // by place, and then by member on this host: where its tile begins
  symm::Source source[symm::kMaxRanks];
};
SYMM_LAYOUT(HostsTilesArgs, pipes, chunk, meets, op, sources, ins, out_pitch, longest, out, tile, in, source)
static_assert(sizeof(HostsTilesArgs) <= 4096, "fits the parameters of a kernel");

// part_of returns the number of elements of chunk k of a tile.
static __device__ __forceinline__ symm::u64 part_of(const HostsTilesArgs& a, const HostsTile& tile, symm::u64 k) {
  const symm::u64 at = k * a.chunk;
  return tile.n <= at ? 0 : tile.n - at < a.chunk ? tile.n - at : a.chunk;
}

// reduce_part writes elements [first, last) of chunk k of the tile for a place into the outbox, in
// groups of N.
template <class T, class A, int N>
static __device__ __forceinline__ void reduce_part(const HostsTilesArgs& a, symm::u32 place, symm::u64 k, symm::u64 first, symm::u64 last) {
  using namespace symm;
  A* const to = (A*)slot_at(a.pipes, a.pipes.outbox, place, k);
  const void* const* const in = a.in + place * a.ins;
  SYMM_SHARE(i, (last - first) / N, threadIdx.x, blockDim.x) {
    const u64 e = first + i * N, at = row_at(k * a.chunk + e, a.tile[place].width, a.tile[place].pitch);
    Elements<A, N> sum = as<A>(*(const Elements<T, N>*)((const T*)in[0] + at));
    for (u32 p = 1; p < a.ins; p++) combine(sum, as<A>(*(const Elements<T, N>*)((const T*)in[p] + at)), a.op & 255);
    *(Elements<A, N>*)(to + e) = sum;
  }
}

// finish_part computes elements of this member's tile in groups of N.
template <class T, class A, int N>
static __device__ __forceinline__ void finish_part(const HostsTilesArgs& a, int world, symm::u64 k, symm::u64 first, symm::u64 last) {
  using namespace symm;
  SYMM_SHARE(i, (last - first) / N, threadIdx.x, blockDim.x) {
    const u64 e = first + i * N, at = row_at(k * a.chunk + e, a.tile[a.pipes.place].width, a.out_pitch);
    *(Elements<T, N>*)((T*)a.out + at) = as<T>(by_host<A, N>(a.pipes, a.source, a.sources, k, e, world, a.op & 255));
  }
}

template <class T, class A>
static __device__ __forceinline__ void reduce_tiles_between_hosts(const HostsTilesArgs& a) {
  using namespace symm;
  constexpr u64 N = 16 / sizeof(T);
  const int world = a.pipes.between.world_size;
  auto chunks = [&](u64 n) { return (n + a.chunk - 1) / a.chunk; };
  const HostsTile& own = a.tile[a.pipes.place];
  pump(
      a.pipes, a.meets, chunks(a.longest), chunks(own.n), [&](u32 place, u64 k) { return part_of(a, a.tile[place], k) * sizeof(A); },
      [&](u64 k) {
        for (u32 place = 0; place < a.pipes.places; place++) {
          const u64 n = part_of(a, a.tile[place], k);
          u64 skew = (a.tile[place].width | a.tile[place].pitch) % N;
          for (u32 p = 0; p < a.ins; p++) skew |= (u64)a.in[place * a.ins + p] & 15;
          const u64 whole = skew ? 0 : n / N * N;
          reduce_part<T, A, (int)N>(a, place, k, 0, whole);
          reduce_part<T, A, 1>(a, place, k, whole, n);
        }
      },
      [&](u64 k) {
        const u64 n = part_of(a, own, k), whole = (own.width | a.out_pitch) % N || ((u64)a.out & 15) ? 0 : n / N * N;
        finish_part<T, A, (int)N>(a, world, k, 0, whole);
        finish_part<T, A, 1>(a, world, k, whole, n);
      });
}

#define TILES(T, dtype)                                                                                        \
  extern "C" __global__ void __launch_bounds__(512) hosts_tiles_##dtype(const __grid_constant__ HostsTilesArgs a) { \
    symm::begin();                                                                                             \
    if (a.op & symm::kWide) reduce_tiles_between_hosts<T, symm::Wide<T>>(a);                                   \
    else reduce_tiles_between_hosts<T, T>(a);                                                                  \
  }                                                                                                            \
  SYMM_KERNEL(hosts_tiles_##dtype)
SYMM_FOR_DTYPES(TILES)
