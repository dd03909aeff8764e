// row_packets.cuh: rows travel as packets (packets/packets.cuh), beside the splits that say where
// they go.
//
// A rank knows which rows it sends before it has the splits of the others. It sends them at once,
// so that a call takes the latency of one message and needs no barrier. The rows for a rank are
// counted in words of 4 bytes, in the order of the plan, and a packet carries three. These packets
// take the slots of the inboxes behind the slots of the splits, in the same epoch. When a rank
// sends an epoch, it has received the splits of the previous epoch from all ranks, and each of
// these ranks had left the call before the previous one. So no rank still reads the packets that
// are overwritten.
//
// The packets count only if the rows of every rank for every rank fit. A rank announces by kFits in
// the marks of its splits that its rows fit. Otherwise nobody reads the packets, and the rows go to
// their places.
#pragma once
#include "all_to_all_vdev/rows.cuh"
#include "packets/packets.cuh"

namespace symm {
namespace rows {

constexpr u32 kFits = 1u << 31;  // in a mark, beside a RowsRefused
constexpr int kWords = 3;        // of a packet

// first_slot returns the first slot that the splits of a call leave free.
__device__ __forceinline__ u32 first_slot(const RowsArgs& a) { return ((u32)a.n + 31) & ~31u; }

// Parcel is the rows that go from one rank to another: the splits [low, high) of a plan.
class Parcel {
 public:
  __device__ __forceinline__ Parcel(const RowsArgs& a, const Plan& plan, u32 low, u32 high)
      : plan_(plan), row_(a.row), low_(low), high_(high), bytes_((plan.start[high] - plan.start[low]) * a.row) {}

  __device__ __forceinline__ u64 bytes() const { return bytes_; }

  // carries reports whether this block carries a packet of the parcel in its k-th free slot. The
  // blocks share the packets out, whole warps to each.
  __device__ __forceinline__ bool carries(u32 k) const {
    const u32 each = share();
    return k < each && blockIdx.x * each + k < packets();
  }

  // words calls f(j, place) for each word j of the packet in the k-th free slot. A place is the
  // address of a word; base(split) is the address of the first row of a split.
  template <class Base, class F>
  __device__ __forceinline__ void words(u32 k, Base base, F f) const {
    u32 at = (blockIdx.x * share() + k) * (4 * kWords);
    u32 split = find(plan_, row_, low_, high_, plan_.start[low_] * row_ + at), first = begin(split), end = begin(split + 1);
    char* rows = base(split);
#pragma unroll
    for (int j = 0; j < kWords; j++, at += 4) {
      if (at >= (u32)bytes_) return;
      while (end <= at) first = end, end = begin(++split + 1), rows = base(split);
      f(j, rows + (at - first));
    }
  }

 private:
  // begin returns the byte at which a split begins, counted from the first of the parcel.
  __device__ __forceinline__ u32 begin(u32 split) const { return (u32)((plan_.start[split] - plan_.start[low_]) * row_); }
  __device__ __forceinline__ u32 packets() const { return ((u32)bytes_ + 4 * kWords - 1) / (4 * kWords); }
  __device__ __forceinline__ u32 share() const { return ((packets() + gridDim.x - 1) / gridDim.x + 31) & ~31u; }

  const Plan& plan_;
  u64 row_;
  u32 low_, high_;
  u64 bytes_;
};

// fit reports whether a parcel can travel as packets, if room is the maximum number of its bytes.
__device__ __forceinline__ bool fit(const Parcel& p, u64 room) { return p.bytes() <= room; }

// send_rows sends the block's share of the rows for each rank, this one included, if they fit. The
// plan has the rows that this rank sends.
template <class Args>
__device__ __forceinline__ void send_rows(const Args& args, const RowsArgs& a, const Plan& plan, u64 room, u32 epoch) {
  const Context& c = args.context;
  const u32 experts = (u32)a.n / (u32)c.ranks(), free = first_slot(a);
  const bool aligned = ((u64)a.in & 3) == 0;
  for (u32 k = threadIdx.x; k < kThreads - free; k += blockDim.x) {
#pragma unroll 1
    for (int first = 0; first < c.ranks(); first += kTogether) {
      Packet q[kTogether];
      u32 sent = 0;  // a bit for each packet
#pragma unroll
      for (int j = 0; j < kTogether; j++) {
        q[j] = Packet{{}, epoch};
        if (first + j >= c.ranks()) break;
        const u32 p = (u32)neighbour(c, first + j);
        const Parcel parcel(a, plan, p * experts, (p + 1) * experts);
        if (!fit(parcel, room) || !parcel.carries(k)) continue;
        sent |= 1u << j;
        parcel.words(k, [&](u32 split) { return (char*)a.in + plan.from[split] * a.row; }, [&](int word, const char* place) {
          if (aligned) q[j].data[word] = *(const u32*)place;
          else memcpy(&q[j].data[word], place, 4);
        });
      }
#pragma unroll
      for (int j = 0; j < kTogether; j++)
        if (sent >> j & 1) store_packet(inbox(args, neighbour(c, first + j), c.rank, epoch, free + k), q[j]);
    }
  }
}

// plan_received replaces the plan by the plan of the rows that this rank receives, in the order of
// their sources. The first block stores the offsets. All threads of the block call it after
// make_plan.
__device__ __forceinline__ void plan_received(const Context& c, const RowsArgs& a, Plan& plan) {
  const u32 n = (u32)a.n, world = (u32)c.ranks(), experts = n / world, i = threadIdx.x;
  const bool mine = i < n;
  // the i-th in the order of out
  const u32 split = a.layout == kCombine ? i : i % world * experts + i / world;
  const u64 offset = offset_in_out(c, a, plan, mine ? plan.received[split] : 0);
  const u64 rows = mine ? plan.received[i] : 0, start = scan(plan, n, rows);
  if (mine) {
    if (blockIdx.x == 0) a.out_offsets[i] = (i64)offset;
    plan.to[split] = (u64)a.out[c.rank] + offset * a.row;
    plan.start[i] = start;
    if (i == n - 1) plan.start[n] = start + rows;
  }
  __syncthreads();
}

// receive_rows stores the block's share of the rows that each rank has sent to their places.
// plan_received has made the plan. It returns false if a wait gave up.
template <class Args>
__device__ __forceinline__ bool receive_rows(const Args& args, const RowsArgs& a, const Plan& plan, u32 epoch) {
  const Context& c = args.context;
  const u32 experts = (u32)a.n / (u32)c.ranks(), free = first_slot(a);
  const auto from = [&](int p) { return Parcel(a, plan, (u32)p * experts, (u32)(p + 1) * experts); };
  for (u32 k = threadIdx.x; k < kThreads - free; k += blockDim.x) {
#pragma unroll 1
    for (int first = 0; first < c.ranks(); first += kTogether) {
      u32 sent = 0;  // a bit for each packet
#pragma unroll
      for (int j = 0; j < kTogether; j++)
        if (first + j < c.ranks() && from(first + j).carries(k)) sent |= 1u << j;
      Packet q[kTogether];
      if (!sent) continue;
      if (!receive(q, args, first, epoch, free + k, [&](int p) { return sent >> (p - first) & 1; })) return false;
#pragma unroll
      for (int j = 0; j < kTogether; j++) {
        if (!(sent >> j & 1)) continue;
        from(first + j).words(k, [&](u32 split) { return (char*)plan.to[split]; }, [&](int word, char* place) { *(u32*)place = q[j].data[word]; });
      }
    }
  }
  return true;
}

}  // namespace rows
}  // namespace symm
