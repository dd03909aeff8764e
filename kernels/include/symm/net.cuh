// net.cuh: the data that the kernels of a process share with its network engine.
//
// A kernel cannot reach a peer on another host by a pointer. Instead it posts an operation, a
// NetOp, in a ring of slots, and the engine of the process, a thread of the host, carries it out.
// Ring, counters and signals lie in one piece of host memory, the NetBoard, which both sides read
// and write.
//
//	post     a thread waits until the slot of the next number of `posted` is free (number - done <
//	         kNetSlots), takes the number, writes the slot, and stores number + 1 in its `ready`
//	         with release order: the engine then sees the thread's earlier writes. A thread that has
//	         taken a number must not give up, because the engine waits for its slot. If the engine
//	         sleeps, the thread rings its bell; on devices whose kernels cannot, the host announces
//	         the number of operations to the engine beforehand.
//	carry    the engine takes slots in the order of their numbers and sends their messages. Messages
//	         to one peer may arrive and finish in any order. A launch of a user's kernel, which may
//	         post any number of operations, keeps such an engine awake until the launch is over; these
//	         operations are not announced.
//	done     the engine counts, in order, the slots whose source may be overwritten, whose get has
//	         landed or whose fence is over. A slot with a counter adds 1 to counters[counter] at its
//	         own completion, or to signals[counter - kNetCounters] if the number is kNetCounters or
//	         more.
//	atomic   the engine of the peer does an atomic operation on a word of a window, and answers with
//	         the previous value, as with the data of a get.
//	signal   the engine of the peer changes the word when the data of the operation is in place; if
//	         the signal is strong, when all earlier operations of this rank to that peer are in
//	         place. Only the engine writes to `signals`.
//
// `done` and a counter say nothing about the peer. A fence does: it completes when all earlier
// operations of this rank to its peer, or to all peers, are in place there.
//
// Channels. A group that spans hosts has words in the `signals` of every member, all counting up.
// For each word this rank keeps a count in device memory, which records its own progress:
//
//	raised[channel][src]    number of signals that src has put to the owner; the owner counts the
//	                        signals that it has consumed
//	consumed[channel][dst]  number of the owner's signals that dst has consumed; the owner counts
//	                        the signals that it has put
//	met[channel][src]       number of barriers that src has reached, for the partners of a barrier;
//	                        the owner counts its own
//
// A put waits until its peer has consumed all earlier signals, then posts a strong addition to the
// peer's `raised`: a rank that sees it also sees the data of the stream's earlier puts to that
// peer. A wait polls its own `raised`, and posts an addition to `consumed` at the sender of the
// signal. A wait that gives up leaves all counts unchanged.
//
// Behind these words, the group has kCounters words that count the completions requested by its
// kernels: see remote.cuh.
//
// Barriers. Each member fences its own operations, so that they are in place everywhere. The
// members of a host then meet by the arrival words of barrier.cuh; one member of each host signals
// one member of every other host, its partner there, by `met`; and the members of a host meet once
// more.
//
// Peers that are gone. The engine sets their bits in `lost`. Operations to lost peers are over at
// once, including those under way: they count in `done`, and the counters stay unchanged. A fence
// to all peers is over when it has completed at the peers that are not lost, and then adds to its
// counter. A wait that depends on a lost rank ends with the record kLost; other waits go on.
//
// After a failure the ranks connect anew, in another epoch. The whole board, `signals` included, is
// then 0, and the counts in device memory must be set to 0 as well.
#pragma once
#include "symm/barrier.cuh"

namespace symm {

constexpr u32 kNetSlots = 256;
constexpr u32 kNetCounters = 256;
constexpr u32 kNetPeers = 1024;      // the largest world that a network connects
constexpr u32 kNetAllPeers = ~0u;    // the peer of a fence to all ranks
constexpr u32 kNetNoCounter = ~0u;
constexpr u32 kNetValueBytes = 8;    // maximum bytes of a value, which travels in its slot

// A put of 0 bytes carries only its signal. The bytes of a kNetValue are in `data`. A kNetAtomic is
// a symm::ShmemAtomic, in `signal`, on a word of 4 or 8 bytes, with `value` and, to compare,
// `data`; the previous value lands at `local`, if that is not 0.
enum NetKind : u32 { kNetPut = 1, kNetGet = 2, kNetFence = 3, kNetValue = 4, kNetAtomic = 5 };
enum NetSignal : u32 { kNetNone = 0, kNetAddIndexed = 1, kNetSetWord = 2, kNetAddWord = 3 };
SYMM_VALUES(NetKind, kNetPut, kNetGet, kNetFence, kNetValue, kNetAtomic)
SYMM_VALUES(NetSignal, kNetNone, kNetAddIndexed, kNetSetWord, kNetAddWord)

// NetOp is one operation. A block of rows has width > 0: bytes/width rows, local_pitch bytes apart
// here and remote_pitch there; otherwise the bytes lie in one piece.
struct NetOp {
  u64 ready;                  // its number + 1, stored last
  u32 kind, peer;             // a NetKind; a rank of the world
  u64 local;                  // address of this rank's data
  u64 offset;                 // of the peer's data in its window
  u64 bytes;                  // of data, in all
  u64 width, local_pitch, remote_pitch;
  u32 window, counter;        // window: an ID that both sides know; counter: kNetNoCounter for none
  u32 signal, strong;         // a NetSignal; strong: after all earlier operations to the peer
  u32 signal_window, ordinal; // window of a signal word; ordinal of the call, for the host's record
  u64 signal_at;              // the word's index in the peer's `signals`, or its offset in signal_window
  u64 value;                  // the value to set, or to add
  u64 data;                   // the bytes of a kNetValue
  u64 unannounced;            // not 0: not among the operations that the host announced to the engine
  u64 reserved;
};
SYMM_LAYOUT(NetOp, ready, kind, peer, local, offset, bytes, width, local_pitch, remote_pitch, window, counter, signal, strong, signal_window, ordinal, signal_at, value, data, unannounced)

// NetBoard is the head of the host memory; `signals` words follow it.
struct NetBoard {
  u64 posted, apart0[15];            // number of slots taken, on devices that count here: see NetPort
  u64 done, apart1[15];              // number of slots that are over, in order
  u32 asleep, bell, apart2[30];      // whether the engine sleeps; the descriptor that wakes it
  u32 lost[kNetPeers / 32];          // ranks that are gone, one bit each
  u64 counters[kNetCounters];
  NetOp slots[kNetSlots];
};
SYMM_LAYOUT(NetBoard, posted, done, asleep, bell, lost, counters, slots)
static_assert(sizeof(NetOp) == 128, "mirrors abi.NetOp");

// NetPort holds the addresses by which the kernels of a device reach the board.
struct NetPort {
  NetBoard* board;
  u64* posted;   // slots taken: on the board, or in device memory where atomics over the bus are slow
  u64* signals;  // behind the board
};
SYMM_LAYOUT(NetPort, board, posted, signals)

// NetMember is a member of a group that spans hosts.
struct NetMember {
  u32 rank;    // of the world
  u32 words;   // index of the group's first word in the member's `signals`
  u32* block;  // the member's signal block if the member is on this host, or 0
};
SYMM_LAYOUT(NetMember, rank, words, block)

// NetGroup holds the addresses by which a rank reaches the members of a group that spans hosts.
// They point to device memory.
struct NetGroup {
  NetPort port;
  u64* counts;               // this rank's counts for the group's words
  const NetMember* members;  // by rank of the group
  const u32* partners;       // members that this one signals in a barrier on behalf of its host
  u64 partner_count;
};
SYMM_LAYOUT(NetGroup, port, counts, members, partners, partner_count)
constexpr u32 kAnyMember = ~0u;     // a wait depends on all members
constexpr u32 kAnyFarMember = ~1u;  // a wait depends on all members on other hosts

// NetWord are the kinds of a group's words.
enum NetWord : u32 { kRaised = 0, kConsumedBy = 1, kMet = 2, kNetWords = 3 };
SYMM_VALUES(NetWord, kRaised, kConsumedBy, kMet, kNetWords)

// NetTicket identifies a posted operation: its number, and the value of its counter before.
struct NetTicket {
  u64 number, before;
};

__device__ __forceinline__ bool lost(const NetPort& n, u32 rank) { return load_acquire(&n.board->lost[rank / 32]) >> rank % 32 & 1; }

// lost_of returns `member` if it is gone or, for kAnyMember and kAnyFarMember, some member that is
// gone; -1 if none is.
__device__ __forceinline__ int lost_of(const NetGroup& g, Context c, u32 member) {
  if (member < kAnyFarMember) return lost(g.port, g.members[member].rank) ? (int)member : -1;
  for (int p = 0; p < c.ranks(); p++)
    if (p != c.rank && !(member == kAnyFarMember && g.members[p].block) && lost(g.port, g.members[p].rank)) return p;
  return -1;
}

// post: one thread posts an operation for a member of its group. With a ticket the operation
// counts, at its own completion, in the counter of its slot; otherwise in the counter of the
// operation, if any. It returns false if it gave up while no slot was free.
__device__ SYMM_INLINE bool post(const NetPort& n, Context c, u32 member, NetOp op, NetTicket* ticket, u32 counter = kNetNoCounter) {
  NetBoard* const b = n.board;
  Patience patience;
  u64 at;
  for (;;) {
    at = load_relaxed(n.posted);
    const u64 done = load_acquire(&b->done);  // may have passed `at` meanwhile
    if ((i64)(at - done) >= (i64)kNetSlots) {
      if (patience.expired(c, Wait{kNetFlush, member, 0, at - kNetSlots + 1}, done)) return false;
    } else if (atomicCAS(n.posted, at, at + 1) == at) {
      break;
    }
  }
  patience.satisfied(c);
  op.counter = counter;
  op.ordinal = c.ordinal;
  op.unannounced = c.unannounced;
  if (ticket) {
    op.counter = (u32)(at % kNetCounters);
    *ticket = NetTicket{at, load_relaxed(&b->counters[op.counter])};
  }
  u64* const slot = (u64*)&b->slots[at % kNetSlots];
  for (u32 i = 1; i < sizeof op / 8; i++) store_relaxed(slot + i, ((const u64*)&op)[i]);
  store_release(slot, at + 1);
#ifdef SYMM_CPU
  fence();
  if (load_relaxed(&b->asleep)) symm_cpu_ring((int)b->bell);
#endif
  return true;
}
static_assert(kNetSlots == kNetCounters, "every slot has a counter");

// net_wait polls *word with acquire order until it compares with want. It returns false if it gave
// up, or if a member that the wait depends on is gone.
template <class Word>
__device__ SYMM_INLINE_TEMPLATE bool net_wait(const NetGroup& g, Context c, const Word* word, Word want, Compare compare, u32 member, Wait w) {
  Word v = load_acquire(word);
  if (reached(v, want, compare)) return true;
  Patience patience;
  do {
#ifdef SYMM_SANITIZE
    if (compare == kEqual) symm_cpu_wants(word, want);
#endif
    if (patience.expired(c, w, v)) return false;
    const int gone = patience.looked() ? lost_of(g, c, member) : -1;
    v = load_acquire(word);  // a signal that came before the loss counts
    if (gone >= 0 && !reached(v, want, compare)) {
      w.peer = (u32)gone;
      patience.lose(c, w, v);
      return false;
    }
  } while (!reached(v, want, compare));
  patience.satisfied(c);
  return true;
}

// landed: one thread waits for the completion of an operation that was posted with a ticket. It
// returns false if it gave up. If the operation ended without completing, because a peer is gone,
// *whole is false and the caller has to report it.
__device__ SYMM_INLINE bool landed(const NetPort& n, Context c, u32 member, NetTicket t, u32 kind, bool* whole) {
  const u64* const counter = &n.board->counters[t.number % kNetCounters];
  Patience patience;
  *whole = true;
  while (load_acquire(counter) == t.before) {
    const u64 done = load_acquire(&n.board->done);
    if (done > t.number) {
      *whole = load_acquire(counter) != t.before;
      break;
    }
    if (patience.expired(c, Wait{kind, member, 0, t.number + 1}, done)) return false;
  }
  patience.satisfied(c);
  return true;
}

// lose gives up because a member is gone, before any wait.
__device__ __forceinline__ void lose(Context c, Wait w) {
  Patience patience;
  patience.lose(c, w, 0);
}

__device__ __forceinline__ u32 net_word(Context c, u32 word, u32 channel, u32 rank) { return (word * c.channels + channel) * (u32)c.ranks() + rank; }

// own_words returns the group's words of this rank, which the peers change.
__device__ __forceinline__ const u64* own_words(const NetGroup& g, Context c) { return g.port.signals + g.members[c.rank].words; }

// net_add posts an addition of 1 to one of the group's words at a peer.
__device__ __forceinline__ bool net_add(const NetGroup& g, Context c, u32 peer, u32 word, u32 channel, bool strong) {
  NetOp op = {};
  op.kind = kNetPut;
  op.peer = g.members[peer].rank;
  op.signal = kNetAddIndexed;
  op.strong = strong;
  op.signal_at = g.members[peer].words + net_word(c, word, channel, (u32)c.rank);
  op.value = 1;
  return post(g.port, c, peer, op, nullptr);
}

// put_signal: one thread signals member dst, on another host, on a channel. It returns false if it
// gave up.
__device__ SYMM_INLINE bool put_signal(const NetGroup& g, Context c, u32 dst, u32 channel) {
  const u32 at = net_word(c, kConsumedBy, channel, dst);
  u64* const put = g.counts + at;
  if (!net_wait<u64>(g, c, own_words(g, c) + at, *put, kAtLeast, dst, Wait{kConsumed, dst, channel, *put})) return false;
  if (lost(g.port, g.members[dst].rank)) return lose(c, Wait{kNetFlush, dst, channel, 0}), false;
  if (!net_add(g, c, dst, kRaised, channel, true)) return false;
  ++*put;
  return true;
}

// gave_up returns the word of signal.cuh that is set when an operation of this rank has given up.
__device__ __forceinline__ u32* gave_up(const NetGroup& g, Context c) {
  return g.members[c.rank].block + c.channels * (2 * (u32)c.ranks() + 1);
}

// wait_signal: one thread waits for the signal of member src, on another host, on a channel and
// consumes it. It returns false if it gave up.
__device__ SYMM_INLINE bool wait_signal(const NetGroup& g, Context c, u32 src, u32 channel) {
  const u32 at = net_word(c, kRaised, channel, src);
  u64* const taken = g.counts + at;
  if (!net_wait<u64>(g, c, own_words(g, c) + at, *taken + 1, kAtLeast, src, Wait{kNetSignal, src, channel, *taken + 1})) return false;
  if (!net_add(g, c, src, kConsumedBy, channel, false)) return false;
  ++*taken;
  return true;
}

// meet_host: all threads of one block of every member of a host meet at a round of barrier.cuh. It
// returns false if it gave up, or if a member of the group is gone.
__device__ SYMM_INLINE bool meet_host(const NetGroup& g, Context c, u32 channel, u32 round) {
  fence();
  bool ok = true;
  const u32 row = (c.channels + channel) * (u32)c.ranks();  // of the arrivals: see barrier.cuh
  for (u32 p = threadIdx.x; p < (u32)c.ranks(); p += blockDim.x)
    if (g.members[p].block && (int)p != c.rank) store_relaxed(g.members[p].block + row + c.rank, round);
  for (u32 p = threadIdx.x; p < (u32)c.ranks(); p += blockDim.x)
    if (g.members[p].block && (int)p != c.rank)
      ok = ok && net_wait<u32>(g, c, g.members[c.rank].block + row + p, round, kRound, kAnyMember, Wait{kNetBarrier, p, channel, round});
  return __syncthreads_and(ok);
}

// fence_all: one thread waits until the data of all operations that this rank has posted is in
// place. It returns false if it gave up, or if a member is gone.
__device__ SYMM_INLINE bool fence_all(const NetGroup& g, Context c) {
  NetOp op = {};
  op.kind = kNetFence;
  op.peer = kNetAllPeers;
  NetTicket ticket;
  bool whole;
  if (!post(g.port, c, (u32)c.rank, op, &ticket) || !landed(g.port, c, (u32)c.rank, ticket, kNetFlush, &whole)) return false;
  const int gone = lost_of(g, c, kAnyMember);
  if (gone >= 0) lose(c, Wait{kNetFlush, (u32)gone, 0, 0});
  return gone < 0;
}

// barrier: called by all threads of one block of every member, in a group that spans hosts. It
// returns false, to all threads, if it gave up.
__device__ SYMM_INLINE bool barrier(const NetGroup& g, Context c, u32 channel) {
  // this rank's rounds: see barrier.cuh
  u32* const count = g.members[c.rank].block + 2 * c.channels * (u32)c.ranks() + channel;
  u64* const met = g.counts + net_word(c, kMet, channel, (u32)c.rank);
  __syncthreads();
  const u32 round = load_relaxed(count) + 1;
  const u64 want = *met + 1;
  bool ok = true;
  if (threadIdx.x == 0) ok = fence_all(g, c);
  if (!__syncthreads_and(ok) || !meet_host(g, c, channel, round)) return false;
  for (u32 i = threadIdx.x; i < g.partner_count; i += blockDim.x) ok = ok && net_add(g, c, g.partners[i], kMet, channel, true);
  for (u32 i = threadIdx.x; i < g.partner_count; i += blockDim.x) {
    const u32 p = g.partners[i];
    ok = ok && net_wait<u64>(g, c, own_words(g, c) + net_word(c, kMet, channel, p), want, kAtLeast, kAnyMember, Wait{kNetBarrier, p, channel, want});
  }
  if (!__syncthreads_and(ok) || !meet_host(g, c, channel, round + 1)) return false;
  if (threadIdx.x == 0) {
    store_relaxed(count, round + 1);
    *met = want;
  }
  return true;
}

}  // namespace symm
