// cooperative_groups.h: blocks, tiles of a warp or of several, coalesced threads, and grids, on
// both devices.
//
// Clusters are not here, and neither are asynchronous copies and multi-device groups.
#pragma once

namespace cooperative_groups {

#define SYMM_CG __device__ __forceinline__

namespace details {

SYMM_CG unsigned linear() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
SYMM_CG unsigned lane() { return linear() % 32; }
SYMM_CG unsigned block_size() { return blockDim.x * blockDim.y * blockDim.z; }

// Words holds a value as words of 4 bytes, for shuffles.
template <class T>
union Words {
  static constexpr int n = (int)((sizeof(T) + 3) / 4);
  unsigned w[n];
  T value;
  __device__ Words() {}
};
template <class T, class F>
SYMM_CG T by_words(T v, F shuffle) {
  Words<T> words;
  words.w[Words<T>::n - 1] = 0;
  words.value = v;
#pragma unroll
  for (int i = 0; i < Words<T>::n; i++) words.w[i] = shuffle(words.w[i]);
  return words.value;
}

template <class...> struct Never { static constexpr bool value = false; };

}  // namespace details

// block_tile_memory is the memory by which the threads of tiles larger than a warp meet. The kernel
// passes a variable of this type in shared memory to this_thread_block.
template <unsigned max_threads = 1024>
struct block_tile_memory {
  unsigned words[3 * (max_threads / 64) + 1];
  unsigned long long values[max_threads / 32 + 1];
};

// thread_block is the block. this_thread_block() returns it.
//
// Order: sync orders the memory accesses of the block's threads, as __syncthreads.
//
// Waits: sync, for the threads of the block.
//
// Example:
//
//   cooperative_groups::thread_block block = cooperative_groups::this_thread_block();
//   x[block.thread_rank()] = 1;
//   block.sync();
class thread_block {
 public:
  SYMM_CG thread_block() : words_(nullptr), values_(nullptr) {}
  SYMM_CG thread_block(unsigned* words, unsigned long long* values) : words_(words), values_(values) {}
  SYMM_CG unsigned* words() const { return words_; }
  SYMM_CG unsigned long long* values() const { return values_; }
  static SYMM_CG void sync() { __syncthreads(); }
  static SYMM_CG unsigned size() { return details::block_size(); }
  static SYMM_CG unsigned num_threads() { return size(); }
  static SYMM_CG unsigned thread_rank() { return details::linear(); }
  static SYMM_CG dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  static SYMM_CG dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  static SYMM_CG dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  static SYMM_CG dim3 dim_threads() { return group_dim(); }

 private:
  unsigned* words_;
  unsigned long long* values_;
};
SYMM_CG thread_block this_thread_block() { return {}; }
// All threads of the block call it with memory.
template <unsigned max_threads>
SYMM_CG thread_block this_thread_block(block_tile_memory<max_threads>& memory) {
  for (unsigned i = details::linear(); i < sizeof memory.words / 4; i += details::block_size()) memory.words[i] = 0;
  __syncthreads();
  return {memory.words, memory.values};
}

// grid_group is the grid. this_grid() returns it.
//
// On the cpu device: sync meets all blocks. On a GPU it is a compile error, because blocks need not
// run at once: launch a kernel for each phase, or one block.
//
// Example:
//
//   const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
//   if (grid.thread_rank() < n) x[grid.thread_rank()] = 1;
class grid_group {
 public:
#ifdef SYMM_CPU
  static void sync() { ::emu::run_time().grid_barrier(); }
  static bool is_valid() { return true; }
#else
  template <class... None>
  static SYMM_CG void sync(None...) {
    static_assert(details::Never<None...>::value, "a grid cannot meet on a GPU, where its blocks need not run at once: launch a kernel for each phase, or one block");
  }
  static SYMM_CG bool is_valid() { return false; }
#endif
  static SYMM_CG unsigned long long num_blocks() { return 1ull * gridDim.x * gridDim.y * gridDim.z; }
  static SYMM_CG unsigned long long size() { return num_blocks() * thread_block::size(); }
  static SYMM_CG unsigned long long num_threads() { return size(); }
  static SYMM_CG unsigned long long block_rank() { return (1ull * blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x; }
  static SYMM_CG unsigned long long thread_rank() { return block_rank() * thread_block::size() + thread_block::thread_rank(); }
  static SYMM_CG dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  static SYMM_CG dim3 dim_blocks() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  static SYMM_CG dim3 group_dim() { return dim_blocks(); }
};
SYMM_CG grid_group this_grid() { return {}; }

// thread_block_tile is an aligned part of a warp, made by tiled_partition. Shuffles take values of
// any size.
//
// Order: sync orders the memory accesses of the tile's threads; shuffles and votes order none.
//
// Waits: every function, for the threads of the tile.
//
// Example:
//
//   auto tile = cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());
//   const float first = tile.shfl(x[threadIdx.x], 0);
//   if (tile.any(first > 1)) x[threadIdx.x] = first;
template <unsigned Size, class Parent = void>
class thread_block_tile {
  static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0, "a tile has a power of two of threads, at most 512");

 public:
  SYMM_CG thread_block_tile(unsigned meta_rank, unsigned meta_size) : meta_rank_(meta_rank), meta_size_(meta_size) {}
  template <class Other>
  SYMM_CG thread_block_tile(const thread_block_tile<Size, Other>& o) : meta_rank_(o.meta_group_rank()), meta_size_(o.meta_group_size()) {}
  static SYMM_CG constexpr unsigned size() { return Size; }
  static SYMM_CG constexpr unsigned num_threads() { return Size; }
  static SYMM_CG unsigned thread_rank() { return details::lane() % Size; }
  SYMM_CG unsigned meta_group_rank() const { return meta_rank_; }
  SYMM_CG unsigned meta_group_size() const { return meta_size_; }
  static SYMM_CG void sync() { __syncwarp(mask()); }
  template <class T> static SYMM_CG T shfl(T v, int from) { return details::by_words(v, [=](unsigned w) { return __shfl_sync(mask(), w, from, Size); }); }
  template <class T> static SYMM_CG T shfl_up(T v, unsigned delta) { return details::by_words(v, [=](unsigned w) { return __shfl_up_sync(mask(), w, delta, Size); }); }
  template <class T> static SYMM_CG T shfl_down(T v, unsigned delta) { return details::by_words(v, [=](unsigned w) { return __shfl_down_sync(mask(), w, delta, Size); }); }
  template <class T> static SYMM_CG T shfl_xor(T v, unsigned lanes) { return details::by_words(v, [=](unsigned w) { return __shfl_xor_sync(mask(), w, (int)lanes, Size); }); }
  static SYMM_CG unsigned ballot(int p) { return (__ballot_sync(mask(), p) & mask()) >> first(); }
  static SYMM_CG int any(int p) { return __any_sync(mask(), p); }
  static SYMM_CG int all(int p) { return __all_sync(mask(), p); }
  template <class T> static SYMM_CG unsigned match_any(T v) { return __match_any_sync(mask(), v) >> first(); }
  template <class T> static SYMM_CG unsigned match_all(T v, int& same) { return __match_all_sync(mask(), v, &same) >> first(); }

 private:
  static SYMM_CG unsigned first() { return details::lane() & ~(Size - 1); }
  static SYMM_CG unsigned mask() { return ~0u >> (32 - Size) << first(); }
  unsigned meta_rank_, meta_size_;
};
// Larger is a tile of several warps, which meet by words of shared memory: a count of arrivals, and
// of meetings.
template <unsigned Size>
class Larger {
 public:
  SYMM_CG Larger(const thread_block& b) : words_(b.words() + 3 * meta_group_rank()), values_(b.values() + meta_group_rank() * (Size / 32)) {}
  static SYMM_CG constexpr unsigned size() { return Size; }
  static SYMM_CG constexpr unsigned num_threads() { return Size; }
  static SYMM_CG unsigned thread_rank() { return details::linear() % Size; }
  static SYMM_CG unsigned meta_group_rank() { return details::linear() / Size; }
  static SYMM_CG unsigned meta_group_size() { return (details::block_size() + Size - 1) / Size; }
  SYMM_CG void sync() const {
    __syncwarp();
    if (details::lane() == 0) {
      volatile unsigned* const met = words_ + 1;
      const unsigned before = *met;
      __threadfence_block();
      if (atomicAdd(words_, 1u) == Size / 32 - 1) {
        *(volatile unsigned*)words_ = 0;
        __threadfence_block();
        *met = before + 1;
      } else {
        while (*met == before) __nanosleep(20);
      }
      __threadfence_block();
    }
    __syncwarp();
  }
  // These move values of up to 8 bytes from one warp to the others.
  template <class T>
  SYMM_CG T shfl(T v, unsigned from) const {
    static_assert(sizeof(T) <= 8, "a tile of more than 32 threads exchanges values of up to 8 bytes here");
    T r;
    if (thread_rank() == from % Size) *(T*)values_ = v;
    sync();
    r = *(const T*)values_;
    sync();
    return r;
  }
  SYMM_CG int any(int p) const { return count(p) > 0; }
  SYMM_CG int all(int p) const { return count(p) == Size; }
  // combine gives every thread the values of all warps, each of which one lane provides.
  template <class T, class F>
  SYMM_CG T combine(T of_warp, F f) const {
    static_assert(sizeof(T) <= 8, "a tile of more than 32 threads exchanges values of up to 8 bytes here");
    if (details::lane() == 0) *(T*)(values_ + thread_rank() / 32) = of_warp;
    sync();
    T r = *(const T*)values_;
    for (unsigned w = 1; w < Size / 32; w++) r = f(r, *(const T*)(values_ + w));
    sync();
    return r;
  }

 private:
  SYMM_CG unsigned count(int p) const {
    return combine((unsigned)__popc(__ballot_sync(~0u, p)), [](unsigned a, unsigned b) { return a + b; });
  }
  unsigned* words_;
  unsigned long long* values_;
};
#define SYMM_CG_LARGER(n)                                                    \
  template <class Parent>                                                    \
  class thread_block_tile<n, Parent> : public Larger<n> {                    \
   public:                                                                   \
    SYMM_CG thread_block_tile(const thread_block& b) : Larger<n>(b) {}       \
  };
SYMM_CG_LARGER(64)
SYMM_CG_LARGER(128)
SYMM_CG_LARGER(256)
SYMM_CG_LARGER(512)
#undef SYMM_CG_LARGER

template <unsigned Size>
SYMM_CG thread_block_tile<Size, thread_block> tiled_partition(const thread_block& b) {
  if constexpr (Size > 32) return thread_block_tile<Size, thread_block>(b);
  else return {details::linear() / Size, (details::block_size() + Size - 1) / Size};
}
template <unsigned Size, unsigned Of, class Parent>
SYMM_CG thread_block_tile<Size, thread_block_tile<Of, Parent>> tiled_partition(const thread_block_tile<Of, Parent>&) {
  static_assert(Size <= Of, "a tile's part is not larger than the tile");
  return {details::lane() % Of / Size, Of / Size};
}

// coalesced_group is a set of threads of a warp. coalesced_threads() returns the threads that run
// together.
//
// On the cpu device: coalesced_threads() contains only the caller, because threads run by
// themselves.
//
// Example:
//
//   const cooperative_groups::coalesced_group group = cooperative_groups::coalesced_threads();
//   if (group.thread_rank() == 0) atomicAdd(x, (float)group.size());
class coalesced_group {
 public:
  explicit SYMM_CG coalesced_group(unsigned mask) : mask_(mask) {}
  SYMM_CG unsigned size() const { return (unsigned)__popc(mask_); }
  SYMM_CG unsigned num_threads() const { return size(); }
  SYMM_CG unsigned thread_rank() const { return (unsigned)__popc(mask_ & ((1u << details::lane()) - 1)); }
  SYMM_CG unsigned meta_group_rank() const { return 0; }
  SYMM_CG unsigned meta_group_size() const { return 1; }
  SYMM_CG void sync() const { __syncwarp(mask_); }
  // A shuffle from a thread that does not exist returns the caller's own value.
  template <class T> SYMM_CG T shfl(T v, unsigned from) const { return from_lane(v, from < size() ? of(from) : details::lane()); }
  template <class T> SYMM_CG T shfl_up(T v, unsigned delta) const { return shfl(v, thread_rank() >= delta ? thread_rank() - delta : thread_rank()); }
  template <class T> SYMM_CG T shfl_down(T v, unsigned delta) const { return shfl(v, thread_rank() + delta); }
  SYMM_CG unsigned ballot(int p) const { return packed(__ballot_sync(mask_, p)); }
  SYMM_CG int any(int p) const { return __any_sync(mask_, p); }
  SYMM_CG int all(int p) const { return __all_sync(mask_, p); }
  template <class T> SYMM_CG unsigned match_any(T v) const { return packed(__match_any_sync(mask_, v)); }
  template <class T> SYMM_CG unsigned match_all(T v, int& same) const { return packed(__match_all_sync(mask_, v, &same)); }

 private:
  // of returns the lane of the group's thread number i.
  SYMM_CG unsigned of(unsigned i) const {
    unsigned left = mask_;
    for (; i > 0; i--) left &= left - 1;
    return (unsigned)__ffs((int)left) - 1;
  }
  SYMM_CG unsigned packed(unsigned lanes) const {
    unsigned r = 0;
    for (unsigned left = mask_, i = 0; left; left &= left - 1, i++) r |= (lanes >> (__ffs((int)left) - 1) & 1) << i;
    return r;
  }
  template <class T> SYMM_CG T from_lane(T v, unsigned lane) const {
    const unsigned mask = mask_;
    return details::by_words(v, [=](unsigned w) { return __shfl_sync(mask, w, (int)lane); });
  }
  unsigned mask_;
};
SYMM_CG coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

// sync, thread_rank and group_size call the function of a group.
template <class Group> SYMM_CG void sync(const Group& g) { g.sync(); }
template <class Group> SYMM_CG unsigned thread_rank(const Group& g) { return (unsigned)g.thread_rank(); }
template <class Group> SYMM_CG unsigned group_size(const Group& g) { return (unsigned)g.size(); }

}  // namespace cooperative_groups
