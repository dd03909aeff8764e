// tile_reduce: the blocks with the same index on all ranks meet on a channel of their own. Every
// rank then reads its tiles from all ranks, reduces them in rank order and stores the results in
// its own memory. Finally the blocks meet again: the inputs may then be overwritten. A tile is a
// rectangle of elements; its rows may lie further apart than they are wide. A rank without a tile
// only meets the others.
#include "reduce/reduce.cuh"

constexpr int kTiles = 16;  // maximum number of tiles of a rank
SYMM_VALUES(Tiles, kTiles)

struct Tile {
  symm::u64 from;                  // elements from in
  void* out;
  symm::u64 rows, cols;
  symm::u64 in_pitch, out_pitch;   // elements from row to row
};
SYMM_LAYOUT(Tile, from, out, rows, cols, in_pitch, out_pitch)

struct TileReduceArgs {
  symm::Context context;               // channels: at least the grid's blocks
  symm::Signals signals;               // a block of its own, not the one of Handle.barrier
  const void* in[symm::kMaxRanks];     // by rank
  symm::u64 op;                        // symm::ReduceOp
  symm::u64 tiles;
  Tile tile[kTiles];
};
SYMM_LAYOUT(TileReduceArgs, context, signals, in, op, tiles, tile)

// reduce_columns reduces count groups of N columns of every row, the first at column first.
template <class T, class A, int N>
__device__ __forceinline__ void reduce_columns(const TileReduceArgs& a, const Tile& tile, symm::u64 first, symm::u64 count) {
  using namespace symm;
  const int world = a.context.ranks();
  const u32 op = (u32)a.op & 255;
  SYMM_EACH(i, tile.rows * count) {
    const u64 row = i / count, col = first + i % count * N, from = tile.from + row * tile.in_pitch + col;
    *(Elements<T, N>*)((T*)tile.out + row * tile.out_pitch + col) = reduce_ranks<T, A, N>(a.in, from, world, op);
  }
}

template <class T, class A>
__device__ __forceinline__ void reduce_tiles(const TileReduceArgs& a) {
  using namespace symm;
  if (!barrier(a.signals, a.context, blockIdx.x)) return;
  constexpr u64 N = 16 / sizeof(T);
  for (int k = 0; k < (int)a.tiles; k++) {
    const Tile& tile = a.tile[k];
    u64 skew = (u64)tile.out % 16 | (tile.in_pitch % N) | (tile.out_pitch % N);
    for (int p = 0; p < a.context.ranks(); p++) skew |= (u64)((const T*)a.in[p] + tile.from) % 16;
    const u64 groups = skew ? 0 : tile.cols / N;
    if (groups) reduce_columns<T, A, (int)N>(a, tile, 0, groups);
    if (tile.cols > groups * N) reduce_columns<T, A, 1>(a, tile, groups * N, tile.cols - groups * N);
  }
  barrier(a.signals, a.context, blockIdx.x);
}

#define TILE_REDUCE(T, dtype)                                                                                      \
  extern "C" __global__ void __launch_bounds__(512) tile_reduce_##dtype(const __grid_constant__ TileReduceArgs a) { \
    symm::begin();                                                                                                 \
    if (a.op & symm::kWide) reduce_tiles<T, symm::Wide<T>>(a);                                                     \
    else reduce_tiles<T, T>(a);                                                                                    \
  }                                                                                                                \
  SYMM_KERNEL(tile_reduce_##dtype)
SYMM_FOR_DTYPES(TILE_REDUCE)
