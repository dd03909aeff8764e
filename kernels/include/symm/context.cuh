// context.cuh: the data about rank and call that every waiting kernel gets, and the page through
// which it communicates with the host.
//
// The page, a Watch, lies in the host's memory and belongs to one process. The host raises a bit of
// Watch::abort to end all waits of the process. A wait that lasts for a while publishes a record in
// Watch::waits, in the entry of the peer it waits for, and withdraws the record when it is over;
// from these records a session shows which rank waits for which. The first wait that gives up
// claims Watch::fault and fills in the record there. All words are read and written one by one; a
// record's state is stored last, with release order. With bounds.cuh, an access outside of the
// memory given to a launch is recorded in Watch::outside, in the entry of its line.
#pragma once
#include "symm/types.cuh"

namespace symm {

// Internal: WaitRecord is one wait. `began` distinguishes two waits for the same peer: it is the
// start of the wait by the clock of the waiting rank.
struct WaitRecord {
  u32 state, kind, ordinal, rank, peer, channel;
  u64 want, seen, elapsed, began, reserved;
};
SYMM_LAYOUT(WaitRecord, state, kind, ordinal, rank, peer, channel, want, seen, elapsed, began)
// Internal: Outside is an access outside of the memory given to a launch.
struct Outside {
  // line: of the access, kNoLine if it is not known; call: Extent::call; reads: not 0 if it cannot write
  u32 state, line, call, bytes, reads, reserved;
  u32 block[3], thread[3];
  u64 address, first;  // of the access; Extent::first
};
SYMM_LAYOUT(Outside, state, line, call, bytes, reads, block, thread, address, first)
// Internal: Extent is the memory behind a pointer argument of a launch; it travels beside the
// pointer.
struct Extent {
  u64 first, bytes;
  struct Watch* watch;  // 0: the extent is not known
  u32 call, reserved;   // call: the number of the launch, for the host
};
SYMM_LAYOUT(Extent, first, bytes, watch, call)
// Internal: Watch is the page.
struct Watch {
  u32 abort, reserved[7];       // WatchBits
  u32 ended, spare;             // NCCL's own kernels poll it
  u64 absent;                   // a peer whose memory a kernel asked for and cannot reach, and the number of
                                // reachable ones: see nccl/pointer.h
  u32 more[4];
  WaitRecord fault;             // the first wait that gave up
  WaitRecord waits[kMaxWaits];  // by peer % kMaxWaits: waits that last for a while
  Outside outside[kMaxOutside]; // by line % kMaxOutside: the first access at each line
};
SYMM_LAYOUT(Watch, abort, ended, absent, fault, waits, outside)
static_assert(sizeof(WaitRecord) == 64 && sizeof(Outside) == 64 && sizeof(Watch) == 64 * (2 + kMaxWaits + kMaxOutside), "mirrors device.Watch");

// Internal: kAbort ends every wait. With kTrace a wait publishes its record when it first looks at
// the page, not only after a while.
enum WatchBits : u32 { kAbort = 1, kTrace = 2 };
enum WaitState : u32 { kNone = 0, kPending = 1, kTimeout = 2, kAborted = 3, kClaimed = 4, kRefused = 5, kLost = 6 };

// WaitKind is the kind of awaited event, in the message about a wait that gives up. A wait of a user's
// kernel is a kUser.
enum WaitKind : u32 {
  // 7 and 8 are waits of the host
  kSignal = 1, kConsumed = 2, kPacket = 3, kWord = 4, kUser = 5, kBarrier = 6,
  kNetSignal = 9, kNetCounter = 10, kNetFlush = 11, kNetBarrier = 12, kCounter = 13, kNetChunk = 14, kNetUsed = 15, kNetRows = 16, kNetTokens = 17,
  kLsaBarrier = 20, kLowLatency = 21, kGinSignal = 22, kGinCounter = 23, kShmemWord = 24, kShmemMeeting = 25
};
SYMM_VALUES(WatchBits, kAbort, kTrace)
SYMM_VALUES(WaitState, kNone, kPending, kTimeout, kAborted, kClaimed, kRefused, kLost)
SYMM_VALUES(WaitKind, kSignal, kConsumed, kPacket, kWord, kUser, kBarrier, kNetSignal, kNetCounter, kNetFlush, kNetBarrier, kCounter, kNetChunk, kNetUsed, kNetRows, kNetTokens, kLsaBarrier, kLowLatency, kGinSignal, kGinCounter, kShmemWord, kShmemMeeting)

// Context is the head of the arguments of every kernel that waits; a symm::Handle is one. The host
// fills it at each launch.
struct Context {
  Watch* watch;
  u64 timeout_ns;  // of each wait; 0: until aborted
  i32 rank, world_size;
  u32 ordinal;     // of the call, for the host's record
  u32 channels;    // of the signal block
  u32 swaps;       // not 0: every member can swap words atomically in the others' memory
  u32 unannounced; // not 0: the host does not know how many network operations the kernel posts

  // ranks returns world_size. In kernels that are compiled for groups of one size it is a constant,
  // so that the compiler unrolls loops over ranks.
  __device__ __forceinline__ int ranks() const {
#ifdef SYMM_RANKS
    return SYMM_RANKS;
#else
    return world_size;
#endif
  }
};
SYMM_LAYOUT(Context, watch, timeout_ns, rank, world_size, ordinal, channels, swaps, unannounced)

// neighbour returns the k-th rank to the right, and this rank for k = ranks(). So each rank begins
// with a different peer, which spreads the traffic.
//
// Example:
//
//   for (int k = 1; k <= h.ranks(); k++) x[k] = h.buffer<float>(symm::neighbour(h, k))[h.rank];
__device__ __forceinline__ int neighbour(const Context& c, int k) { return c.rank + k < c.ranks() ? c.rank + k : c.rank + k - c.ranks(); }

}  // namespace symm
