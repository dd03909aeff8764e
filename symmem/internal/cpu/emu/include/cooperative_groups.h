// cooperative_groups.h for the cpu device: blocks, tiles of a warp, and grids, all of whose blocks can meet.
#pragma once

namespace cooperative_groups {

class thread_block {
 public:
  static void sync() { __syncthreads(); }
  static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned num_threads() { return size(); }
  static unsigned thread_rank() { return ::emu::worker()->thread->linear; }
  static dim3 group_index() { return blockIdx; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 group_dim() { return blockDim; }
};
inline thread_block this_thread_block() { return {}; }

class grid_group {
 public:
  static void sync() { ::emu::run_time().grid_barrier(); }
  static bool is_valid() { return true; }
  static unsigned long long num_blocks() { return 1ull * gridDim.x * gridDim.y * gridDim.z; }
  static unsigned long long size() { return num_blocks() * thread_block::size(); }
  static unsigned long long block_rank() { return (1ull * blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x; }
  static unsigned long long thread_rank() { return block_rank() * thread_block::size() + thread_block::thread_rank(); }
};
inline grid_group this_grid() { return {}; }

// thread_block_tile is an aligned part of a warp.
template <unsigned Size>
class thread_block_tile {
  static_assert(Size <= 32 && (Size & (Size - 1)) == 0, "a tile has a power of two of threads, at most a warp's");

 public:
  static unsigned size() { return Size; }
  static unsigned num_threads() { return Size; }
  static unsigned thread_rank() { return ::emu::lane() % Size; }
  static unsigned meta_group_rank() { return ::emu::worker()->thread->linear / Size; }
  static unsigned meta_group_size() { return (thread_block::size() + Size - 1) / Size; }
  static void sync() { __syncwarp(mask()); }
  template <class T>
  static T shfl(T v, unsigned from) { return __shfl_sync(mask(), v, (int)from, Size); }
  template <class T>
  static T shfl_up(T v, unsigned delta) { return __shfl_up_sync(mask(), v, delta, Size); }
  template <class T>
  static T shfl_down(T v, unsigned delta) { return __shfl_down_sync(mask(), v, delta, Size); }
  template <class T>
  static T shfl_xor(T v, unsigned lanes) { return __shfl_xor_sync(mask(), v, (int)lanes, Size); }
  static unsigned ballot(int p) { return __ballot_sync(mask(), p) >> first(); }
  static int any(int p) { return __any_sync(mask(), p); }
  static int all(int p) { return __all_sync(mask(), p); }

 private:
  static unsigned first() { return ::emu::lane() & ~(Size - 1); }
  static unsigned mask() { return (Size == 32 ? ~0u : (1u << Size % 32) - 1) << first(); }
};
template <unsigned Size, class Parent>
inline thread_block_tile<Size> tiled_partition(const Parent&) { return {}; }

template <class T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {
  T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
  T operator()(T a, T b) const { return a < b ? b : a; }
};
template <unsigned Size, class T, class Op>
inline T reduce(const thread_block_tile<Size>& tile, T v, Op op) {
  for (unsigned d = Size / 2; d > 0; d /= 2) v = op(v, tile.shfl_xor(v, d));
  return v;
}

template <class Group>
inline void sync(const Group& g) { g.sync(); }

}  // namespace cooperative_groups
