// two_shot_chunks: two_shot_all_reduce for messages so large that the bandwidth of the links limits
// them. Every rank owns a slice. It receives the elements of that slice from all ranks in inboxes,
// chunk by chunk, reduces them, and stores the result at all ranks; out may be in. All traffic on
// the links is stores: over NVLink, stores reach 350 GB/s and loads 325 GB/s
// (docs/notes/tuning.md).
//
// The blocks with the same index on all ranks work on the same chunks and meet on a channel of
// their own, once for each chunk: a block that has arrived at round i of a call has sent its chunk
// i. A block sends chunk i+1 before it waits for round i, so that the links are never idle, and its
// inboxes have four banks. Four banks are enough: a block that sends chunk i+1 knows that all ranks
// have arrived at round i-1. They arrive there after they have reduced chunk i-3, which used the
// same bank before. A last round announces that all results have been stored. If out is in, no
// element is overwritten too early: the result of a chunk is stored at a rank only after that rank
// has sent its own elements of the chunk.
#include "reduce/reduce.cuh"

constexpr int kUnits = 4;  // units of 16 bytes that a thread moves of a chunk
constexpr int kBanks = 4;
SYMM_VALUES(Chunks, kUnits, kBanks)

struct ChunkArgs {
  symm::Context context;         // channels: at least the grid's blocks
  symm::Signals signals;         // a block of its own, not the one of Handle.barrier
  const void* in;                // a multiple of 16; so are the addresses in out
  symm::u64 n;                   // elements
  symm::u64 op;                  // symm::ReduceOp
  symm::u64 units;               // of a slice
  void* out[symm::kMaxRanks];    // by rank
  uint4* inbox[symm::kMaxRanks]; // by rank: [block][bank][source, the owner left out][kUnits * blockDim.x]
};
SYMM_LAYOUT(ChunkArgs, context, signals, in, n, op, units, out, inbox)

// Chunks does the block's part of the work. A chunk is plain if it lies inside the slice and the
// message of every rank: a thread then moves all its units at once, without tests. It moves other
// chunks unit by unit.
template <class T, class A> class Chunks {
 public:
  __device__ __forceinline__ explicit Chunks(const ChunkArgs& a) : a_(a) {}

  __device__ __forceinline__ symm::u32 count() const {
    const symm::u64 all = (a_.units + size() - 1) / size();
    return (symm::u32)((all - 1 - blockIdx.x) / gridDim.x + 1);
  }

  // send stores chunk i of each slice into the inbox of the slice's owner.
  __device__ __forceinline__ void send(symm::u32 i) const {
    if (plain(i)) return send<kUnits, true>(i, 0);
#pragma unroll 1
    for (int u = 0; u < kUnits; u++) send<1, false>(i, u);
  }

  // reduce combines chunk i of this rank's slice with the chunks that the others sent, and stores
  // the result at all ranks.
  __device__ __forceinline__ void reduce(symm::u32 i) const {
    if (plain(i)) return reduce<kUnits, true>(i, 0);
#pragma unroll 1
    for (int u = 0; u < kUnits; u++) reduce<1, false>(i, u);
  }

 private:
  static constexpr int kCount = 16 / sizeof(T);
  typedef symm::Elements<T, kCount> Unit;

  __device__ __forceinline__ symm::u32 size() const { return kUnits * blockDim.x; }
  __device__ __forceinline__ symm::u64 first(symm::u32 i) const { return (blockIdx.x + i * (symm::u64)gridDim.x) * size(); }
  __device__ __forceinline__ symm::u32 lane(int u) const { return u * blockDim.x + threadIdx.x; }
  __device__ __forceinline__ bool plain(symm::u32 i) const {
    const symm::u64 end = first(i) + size();
    return end <= a_.units && ((a_.context.ranks() - 1) * a_.units + end) * kCount <= a_.n;
  }
  // box returns the place in owner's inbox of chunk i from source.
  __device__ __forceinline__ Unit* box(int owner, int source, symm::u32 i) const {
    const int others = a_.context.ranks() - 1, place = source - (source > owner);
    return (Unit*)(a_.inbox[owner] + ((blockIdx.x * kBanks + i % kBanks) * others + place) * (symm::u64)size());
  }
  template <bool Plain> __device__ __forceinline__ Unit take(int slice, symm::u64 unit) const {
    const symm::u64 at = slice * a_.units + unit;
    if (Plain) return ((const Unit*)a_.in)[at];
    return unit < a_.units ? symm::load<T, kCount>((const T*)a_.in, at, a_.n, true) : Unit{};
  }

  // These overloads of send and reduce handle U units, the first of which is number u.
  template <int U, bool Plain> __device__ __forceinline__ void send(symm::u32 i, int u) const {
    using namespace symm;
    const Context& c = a_.context;
    constexpr int kOthers = kTogether - 1;
#pragma unroll 1
    for (int k = 1; k < c.ranks(); k += kOthers) {
      Unit v[kOthers][U];
#pragma unroll
      for (int j = 0; j < kOthers; j++)
#pragma unroll
        for (int t = 0; t < U; t++)
          if (k + j < c.ranks()) v[j][t] = take<Plain>(neighbour(c, k + j), first(i) + lane(u + t));
#pragma unroll
      for (int j = 0; j < kOthers; j++)
#pragma unroll
        for (int t = 0; t < U; t++)
          if (k + j < c.ranks()) box(neighbour(c, k + j), c.rank, i)[lane(u + t)] = v[j][t];
    }
  }

  template <int U, bool Plain> __device__ __forceinline__ void reduce(symm::u32 i, int u) const {
    using namespace symm;
    const Context& c = a_.context;
    const u32 op = (u32)a_.op & 255;
    Elements<A, kCount> sum[U];
#pragma unroll 1
    for (int p = 0; p < c.ranks(); p += kTogether) {
      Unit v[kTogether][U];
#pragma unroll
      for (int j = 0; j < kTogether; j++)
#pragma unroll
        for (int t = 0; t < U; t++)
          if (p + j < c.ranks()) v[j][t] = p + j == c.rank ? take<Plain>(c.rank, first(i) + lane(u + t)) : box(c.rank, p + j, i)[lane(u + t)];
#pragma unroll
      for (int j = 0; j < kTogether; j++)
#pragma unroll
        for (int t = 0; t < U; t++) {
          if (p + j == 0) sum[t] = as<A>(v[j][t]);
          else if (p + j < c.ranks()) combine(sum[t], as<A>(v[j][t]), op);
        }
    }
#pragma unroll
    for (int t = 0; t < U; t++) {
      finish(sum[t], c.ranks(), op);
      const Unit result = as<T>(sum[t]);
      const u64 unit = first(i) + lane(u + t), at = c.rank * a_.units + unit;
#pragma unroll 1
      for (int k = 1; k <= c.ranks(); k++) {
        T* const out = (T*)a_.out[neighbour(c, k)];
        if (Plain) ((Unit*)out)[at] = result;
        else if (unit < a_.units) store<T, kCount>(out, at, a_.n, true, result);
      }
    }
  }

  const ChunkArgs& a_;
};

template <class T, class A> __device__ __forceinline__ void two_shot_chunks(const ChunkArgs& a) {
  using namespace symm;
  const Chunks<T, A> chunks(a);
  u32* const passed = rounds(a.signals, a.context, blockIdx.x);
  const u32 count = chunks.count(), round = load_relaxed(passed) + 1;
  // Step i sends chunk i and reduces chunk i-1, which was sent in the round before. The last two
  // steps send nothing: the first of them reduces the last chunk, the second is the round that
  // announces that all results have been stored.
  for (u32 i = 0; i < count + 2; i++) {
    if (i < count) chunks.send(i);
    if (i != count) {
      __syncthreads();
      arrive(a.signals, a.context, blockIdx.x, round + (i < count ? i : count));
    }
    if (i > 0 && !__syncthreads_and(arrived(a.signals, a.context, blockIdx.x, round + i - 1))) return;
    if (i > 0 && i <= count) chunks.reduce(i - 1);
  }
  if (threadIdx.x == 0) store_relaxed(passed, round + count);
}

#define TWO_SHOT_CHUNKS(T, dtype)                                                                                    \
  extern "C" __global__ void __launch_bounds__(512) two_shot_chunks_##dtype(const __grid_constant__ ChunkArgs a) { \
    symm::begin();                                                                                                   \
    if (sizeof(symm::Wide<T>) > sizeof(T) && a.op & symm::kWide) two_shot_chunks<T, symm::Wide<T>>(a);               \
    else two_shot_chunks<T, T>(a);                                                                                   \
  }                                                                                                                  \
  SYMM_KERNEL(two_shot_chunks_##dtype)
SYMM_FOR_DTYPES(TWO_SHOT_CHUNKS)
