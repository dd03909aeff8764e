// remote.cuh: puts, gets, signals and counters between the members of a group, on this host and on
// others. A kernel reaches a member on this host by loads and stores, and a member on another host
// through the ring of net.cuh; the functions and their promises are the same.
//
//   put, put_value     data to a member's copy of the tensor, and then a signal
//   get                data from it
//   signal             a signal alone: set or add to a 64-bit word of the member's pad
//   wait_for_signal    wait until a word of this rank has a value
//   flush, counters    wait until the operations of this rank are complete on this side
//   put_signal, wait_signal, barrier    on the group's channels, as in signal.cuh and barrier.cuh
//
// Ordering. A call posts an operation, which proceeds by itself; operations to one member may
// complete in any order.
//
//   after                        the program may rely on
//   put, get, signal return      nothing but that the operation was posted
//   flush, or a counter that     the sources of these puts may be overwritten, and the data of
//                                these
//   counts the operations        gets has arrived; nothing about the peer
//   a weak signal is seen        the data of its own put
//   a strong signal is seen      its own put, and every earlier put and signal of this rank to that
//                                member
//   two ranks' signals           nothing about each other
//   barrier                      all earlier puts of all members are in place, everywhere
//
// A signal is strong unless symm::weak makes it weak. "Earlier" means earlier in program order: in
// the calling team, and in threads that it has synchronised with. A get may overtake a put to the
// same member; a barrier between them keeps the order. The end of a kernel does not wait for its
// operations: the next kernel may overwrite the source of a put, unless the kernel flushes or the
// host synchronises.
//
// Every function returns a bool. It is false, for the whole team, if a wait gave up or the call was
// refused. A call is refused if a member, a place, a signal or a counter does not exist: that is
// reported to the host, and nothing is posted. Operations to a member that is gone are dropped; a
// flush and the waits of the group then end as kLost, and so does a kernel that keeps posting.
#pragma once
#include "symm/handle.cuh"
#include "symm/kernel.cuh"
#include "symm/team.cuh"

namespace symm {

// SignalOp describes how a put changes a 64-bit word of the member's pad when its data has arrived:
// not at all by default; signal_set, signal_add and weak make others. signal_set(index, value) sets
// the word, signal_add(index, n) adds to it.
//
// Example:
//
//   symm::signal(h, peer, symm::signal_add(3, 1));
struct SignalOp {
  u32 kind = kNetNone;  // or kNetSetWord, kNetAddWord
  u32 index = 0;
  u64 value = 0;
  u32 strong = 1;
};
__device__ __forceinline__ SignalOp signal_set(u32 index, u64 value) { return SignalOp{kNetSetWord, index, value, 1}; }
__device__ __forceinline__ SignalOp signal_add(u32 index, u64 n) { return SignalOp{kNetAddWord, index, n, 1}; }
// weak makes a signal wait for the data of its own put only.
//
// Order: a thread that sees a weak signal sees the data of its put, and nothing else.
//
// Example:
//
//   symm::put(h, peer, 0, x, 4 * n, symm::weak(symm::signal_set(0, 1)));
__device__ __forceinline__ SignalOp weak(SignalOp s) {
  s.strong = 0;
  return s;
}

// A Counter is one of the group's kCounters, by its number. It goes up by one when an operation
// that names it is complete on this side. The kernels of one rank share it; the host resets it when
// ranks recover. kNoCounter names none.
//
// Example:
//
//   symm::put(h, peer, 0, x, 4 * n, symm::SignalOp{}, symm::Counter{2});
//   if (threadIdx.x == 0) symm::wait_counter(h, symm::Counter{2}, 1);
constexpr u32 kNoCounter = ~0u;
struct Counter {
  u32 id = kNoCounter;
};

// Internal: Refusal are the reasons for which a call is refused. The report has the call, the
// member, the value and its limit.
enum Refusal : u32 { kBadMember = 1, kBadPlace = 2, kBadSignal = 3, kBadCounter = 4, kBadChannel = 5 };
enum RemoteCall : u32 {
  kCallPut = 1, kCallPutValue = 2, kCallGet = 3, kCallSignal = 4, kCallWaitForSignal = 5, kCallCounter = 6, kCallPutSignal = 7,
  kCallWaitSignal = 8, kCallBarrier = 9
};
SYMM_VALUES(Refusal, kBadMember, kBadPlace, kBadSignal, kBadCounter, kBadChannel)
SYMM_VALUES(RemoteCall, kCallPut, kCallPutValue, kCallGet, kCallSignal, kCallWaitForSignal, kCallCounter, kCallPutSignal, kCallWaitSignal, kCallBarrier)

// Internal: the checks of a call's arguments.
template <class Team>
__device__ __forceinline__ bool refused(const Handle& h, Refusal what, RemoteCall call, int member, u64 value, u64 limit) {
  if (Team::rank() == 0) refuse(h, what, (u32)member, call, value, limit);
  return false;
}
template <class Team>
__device__ __forceinline__ bool has_member(const Handle& h, RemoteCall call, int member) {
  return (u32)member < (u32)h.world_size || refused<Team>(h, kBadMember, call, member, (u64)member, (u64)h.world_size);
}
template <class Team>
__device__ __forceinline__ bool has_place(const Handle& h, RemoteCall call, int member, u64 offset, u64 n) {
  return (n <= h.bytes && offset <= h.bytes - n) || refused<Team>(h, kBadPlace, call, member, offset + n < offset ? ~0ull : offset + n, h.bytes);
}
template <class Team>
__device__ __forceinline__ bool has_signal(const Handle& h, RemoteCall call, int member, u32 index) {
  return index < h.pad_bytes / 8 || refused<Team>(h, kBadSignal, call, member, index, h.pad_bytes / 8);
}
template <class Team>
__device__ __forceinline__ bool has_counter(const Handle& h, RemoteCall call, u32 id) {
  return id < (u32)kCounters || refused<Team>(h, kBadCounter, call, h.rank, id, (u64)kCounters);
}
template <class Team>
__device__ __forceinline__ bool has_channel(const Handle& h, RemoteCall call, int member, u32 channel) {
  return channel < h.channels || refused<Team>(h, kBadChannel, call, member, channel, h.channels);
}

// Internal: admits reports whether member, place, signal and counter of a call exist, and refuses
// the call if not.
template <class Team>
__device__ __forceinline__ bool admits(const Handle& h, RemoteCall call, int member, u64 offset, u64 n, const SignalOp& s, Counter c) {
  return has_member<Team>(h, call, member) && has_place<Team>(h, call, member, offset, n) &&
         (s.kind == kNetNone || has_signal<Team>(h, call, member, s.index)) && (c.id == kNoCounter || has_counter<Team>(h, call, c.id));
}

// copy: the threads of a team copy n bytes, 16 at a time where both addresses are multiples of 16.
//
// Order: none. The team synchronises before others read the bytes.
//
// Waits: for nothing.
//
// Cost: 355 GB/s when every rank of 4 H200s stores to a different peer (docs/benchmarks.md, Rows by
// splits on the device).
//
// Example:
//
//   symm::copy(h.buffers[peer], x, 4 * n);
template <class Team = Block>
__device__ __forceinline__ void copy(void* dst, const void* src, u64 n) {
  u64 done = 0;
  if ((((u64)dst | (u64)src) & 15) == 0) {
    done = n & ~15ull;
    for (u64 i = Team::rank() * 16ull; i < done; i += Team::size() * 16ull) *(u128*)((char*)dst + i) = *(const u128*)((const char*)src + i);
  }
  for (u64 i = done + Team::rank(); i < n; i += Team::size()) ((char*)dst)[i] = ((const char*)src)[i];
}

// Internal: first_counter returns the number, for a NetOp, of the group's first counter.
__device__ __forceinline__ u32 first_counter(const NetGroup& g, Context c) {
  return g.members[c.rank].words + kNetWords * c.channels * (u32)c.ranks();
}

// far.cuh defines the next functions.

// Internal: useless checks, in one of every kLook operations, whether the member is gone or all
// waits have to end. Operations to a member that is gone are over at once and never fill the ring,
// so a kernel that only posts would notice neither without this check.
__device__ bool useless(const NetGroup& g, Context c, u32 member);

// Internal: post_far: one thread posts an operation for a member on another host. For a put, a get
// and a value, the offset counts from the start of the window. It returns false if it gave up.
__device__ bool post_far(const NetGroup& g, Context c, u32 member, NetKind kind, u32 window, u64 local, u64 offset, u64 bytes, SignalOp s, Counter counter);

// Internal: wait_posted: one thread waits until all operations that this rank has posted are
// complete on this side. It returns false if it gave up, or if a member is gone.
__device__ bool wait_posted(const NetGroup& g, Context c);

// Internal: the ways to other hosts. They return false if they gave up.
__device__ bool far_barrier(const NetGroup& g, Context c, u32 channel);
__device__ bool far_put_signal(const NetGroup& g, Context c, u32 dst, u32 channel);
__device__ bool far_wait_signal(const NetGroup& g, Context c, u32 src, u32 channel);
__device__ bool far_wait_for_signal(const NetGroup& g, Context c, const u64* word, u64 value, Compare compare, u32 i);

// Internal: complete_near: after the team has synchronised, one of its threads signals a member on
// this host and counts.
__device__ __forceinline__ void complete_near(const Handle& h, int member, const SignalOp& s, Counter c) {
  if (s.kind != kNetNone) {
    fence();
    if (s.kind == kNetSetWord)
      store_release(h.word(member, s.index), s.value);
    else
      atomicAdd_system(h.word(member, s.index), s.value);
  }
  if (c.id != kNoCounter) {
    fence();
    atomicAdd_system(counters(h.signals, h) + c.id, 1ull);
  }
}

// put: a team copies n bytes from src, memory of this rank, into dst's copy of the tensor, at byte
// offset; a signal follows the data. The put includes the team's earlier writes to src, without a
// sync by the caller. If the member is on another host, the bytes leave src after the call.
//
// Order: a thread that sees the signal sees the bytes, and if the signal is strong, all earlier
// puts of this rank to dst. Without a signal, the bytes are there after a barrier, or when a later
// strong signal is seen.
//
// Waits: for nothing inside a host; between hosts for a place in the ring, which the engine frees.
//
// Cost: inside a host, the stores; a flag between two H200s takes 0.64 us one way
// (docs/benchmarks.md, Signals and barriers). Between hosts: see docs/benchmarks.md, Between hosts.
//
// Example:
//
//   symm::put(h, peer, 0, x, 4 * n, symm::signal_set(0, 1));
//   if (threadIdx.x == 0) symm::wait_for_signal(h, 0, 1, false);
//   __syncthreads();
template <class Team = Block>
__device__ __forceinline__ bool put(const Handle& h, int dst, u64 offset, const void* src, u64 n, SignalOp signal = {}, Counter counter = {}) {
  if (!admits<Team>(h, kCallPut, dst, offset, n, signal, counter)) return false;
  Team::sync();
  if (h.far(dst)) {
    bool ok = true;
    if (Team::rank() == 0) ok = post_far(*h.net, h, (u32)dst, kNetPut, h.window, (u64)src, h.start + offset, n, signal, counter);
    return Team::all(ok);
  }
  copy<Team>(h.buffers[dst] + offset, src, n);
  if (signal.kind != kNetNone || counter.id != kNoCounter) {
    Team::sync();
    if (Team::rank() == 0) complete_near(h, dst, signal, counter);
  }
  return true;
}

// put_value: one thread puts a value of at most 8 bytes, which travels with the operation: no
// memory has to stay unchanged.
//
// Order: as for put.
//
// Waits: as put does.
//
// Example:
//
//   if (threadIdx.x == 0) symm::put_value(h, peer, 8 * h.rank, 3.5, symm::signal_add(0, 1));
template <class T>
__device__ __forceinline__ bool put_value(const Handle& h, int dst, u64 offset, T value, SignalOp signal = {}, Counter counter = {}) {
  static_assert(sizeof(T) <= kNetValueBytes, "a value has at most 8 bytes");
  if (!admits<Thread>(h, kCallPutValue, dst, offset, sizeof(T), signal, counter)) return false;
  if (h.far(dst)) {
    u64 data = 0;
    for (u32 i = 0; i < sizeof(T); i++) ((char*)&data)[i] = ((const char*)&value)[i];
    return post_far(*h.net, h, (u32)dst, kNetValue, h.window, data, h.start + offset, sizeof(T), signal, counter);
  }
  char* const to = h.buffers[dst] + offset;
  if ((u64)to % alignof(T) == 0)
    *(T*)to = value;
  else
    copy<Thread>(to, &value, sizeof(T));
  complete_near(h, dst, signal, counter);
  return true;
}

// get: a team fetches n bytes of src's copy of the tensor, from byte offset, to dst, memory of this
// rank. The bytes have arrived after a flush, or when the counter has counted the get.
//
// Order: a get may overtake an earlier put to the same member.
//
// Waits: as put does.
//
// Example:
//
//   symm::get(h, peer, 0, x, 4 * n);
//   if (!symm::flush(h)) return;
template <class Team = Block>
__device__ __forceinline__ bool get(const Handle& h, int src, u64 offset, void* dst, u64 n, Counter counter = {}) {
  if (!admits<Team>(h, kCallGet, src, offset, n, SignalOp{}, counter)) return false;
  Team::sync();  // threads may still read the old contents of dst
  if (h.far(src)) {
    bool ok = true;
    if (Team::rank() == 0) ok = post_far(*h.net, h, (u32)src, kNetGet, h.window, (u64)dst, h.start + offset, n, SignalOp{}, counter);
    return Team::all(ok);
  }
  copy<Team>(dst, h.buffers[src] + offset, n);
  if (counter.id != kNoCounter) {
    Team::sync();
    if (Team::rank() == 0) complete_near(h, src, SignalOp{}, counter);
  }
  return true;
}

// signal: one thread signals dst, without data.
//
// Order: as for the signal of a put: a strong one follows all earlier puts and signals to dst.
//
// Waits: as put does.
//
// Example:
//
//   if (threadIdx.x == 0) symm::signal(h, peer, symm::signal_add(3, 1));
__device__ __forceinline__ bool signal(const Handle& h, int dst, SignalOp s) {
  if (!admits<Thread>(h, kCallSignal, dst, 0, 0, s, Counter{})) return false;
  if (h.far(dst)) return post_far(*h.net, h, (u32)dst, kNetPut, h.window, 0, 0, 0, s, Counter{});
  complete_near(h, dst, s, Counter{});
  return true;
}

// put_with_signal: the threads of a block put n bytes and then set 64-bit signal i of dst to value.
// A rank that waits for that value sees the bytes. put_with_signal does not wait for dst.
//
// Order: strong: a thread that sees the value sees these bytes and this rank's earlier puts to dst.
//
// Waits: as put does.
//
// Cost: see put.
//
// Example:
//
//   symm::put_with_signal(h, peer, 0, x, 4 * n, 0, 1);
//   if (threadIdx.x == 0) symm::wait_for_signal(h, 0, 1, true);
//   __syncthreads();
__device__ __forceinline__ bool put_with_signal(const Handle& h, int dst, u64 offset, const void* src, u64 n, u32 i, u64 value) {
  return put<Block>(h, dst, offset, src, n, signal_set(i, value));
}

// wait_for_signal: one thread waits until 64-bit signal i of its own rank equals value, or with
// at_least is not below it. The signal keeps its value. It returns false if it gave up.
//
// Order: acquire: the data that the signal covers is visible to this thread, and after a sync of
// the team to the others.
//
// Waits: for a rank to signal: until the deadline of the launch, an interrupt, or the end of a
// member.
//
// Example:
//
//   bool ok = true;
//   if (threadIdx.x == 0) ok = symm::wait_for_signal(h, 3, 7, true);
//   if (!__syncthreads_and(ok)) return;
__device__ __forceinline__ bool wait_for_signal(const Handle& h, u32 i, u64 value, bool at_least) {
  if (!has_signal<Thread>(h, kCallWaitForSignal, h.rank, i)) return false;
  const Compare compare = at_least ? kAtLeast : kEqual;
  if (h.net) return far_wait_for_signal(*h.net, h, h.word(h.rank, i), value, compare, i);
  return wait_until<u64>(h, h.word(h.rank, i), value, compare, kWord, (u32)h.rank, i);
}

// flush: a team waits until all earlier operations of this rank, including operations of other
// blocks, are complete on this side: the sources of puts may be overwritten, and the data of gets
// has arrived. It says nothing about the peers.
//
// Order: the data of gets is visible to the team.
//
// Waits: for the engine of this rank; for nothing in a group inside one host, where every call is
// complete when it returns.
//
// Example:
//
//   symm::put(h, peer, 0, x, 4 * n);
//   if (!symm::flush(h)) return;
//   x[threadIdx.x] = 0;
template <class Team = Block>
__device__ __forceinline__ bool flush(const Handle& h) {
  Team::sync();
  if (!h.net) return true;
  bool ok = true;
  if (Team::rank() == 0) ok = wait_posted(*h.net, h);
  return Team::all(ok);
}

// read_counter returns the value of a counter.
//
// Order: acquire, for the data of the gets that it has counted.
//
// Waits: for nothing.
//
// Example:
//
//   if (symm::read_counter(h, symm::Counter{2}) == 0) x[0] = 1;
__device__ __forceinline__ u64 read_counter(const Handle& h, Counter counter) {
  if (!has_counter<Thread>(h, kCallCounter, counter.id)) return 0;
  const u64 near = load_acquire(counters(h.signals, h) + counter.id);
  return h.net ? near + load_acquire(h.net->port.signals + first_counter(*h.net, h) + counter.id) : near;
}

// wait_counter: one thread waits until a counter is not below `least`. It returns false if it gave
// up.
//
// Order: acquire, for the data of the gets that it has counted.
//
// Waits: for the operations of this rank that name the counter.
//
// Example:
//
//   symm::get(h, peer, 0, x, 4 * n, symm::Counter{2});
//   if (threadIdx.x == 0) symm::wait_counter(h, symm::Counter{2}, 1);
//   __syncthreads();
__device__ inline bool wait_counter(const Handle& h, Counter counter, u64 least) {
  if (!has_counter<Thread>(h, kCallCounter, counter.id)) return false;
  Patience patience;
  Wait w{kCounter, (u32)h.rank, counter.id, least};
  for (u64 v; (v = read_counter(h, counter)) < least;) {
    if (patience.expired(h, w, v)) return false;
    const int gone = h.net && patience.looked() ? lost_of(*h.net, h, kAnyMember) : -1;
    if (gone >= 0 && read_counter(h, counter) < least) {
      w.peer = (u32)gone;
      patience.lose(h, w, v);
      return false;
    }
  }
  patience.satisfied(h);
  return true;
}

// reset_counter: one thread sets a counter to 0. No operation that names it may be under way.
//
// Order: the next operations of this thread count from 0.
//
// Waits: for nothing.
//
// Example:
//
//   if (threadIdx.x == 0) symm::reset_counter(h, symm::Counter{2});
__device__ __forceinline__ bool reset_counter(const Handle& h, Counter counter) {
  if (!has_counter<Thread>(h, kCallCounter, counter.id)) return false;
  store_relaxed(counters(h.signals, h) + counter.id, 0ull);
  if (h.net) store_relaxed(h.net->port.signals + first_counter(*h.net, h) + counter.id, 0ull);
  fence();
  return true;
}

// Met is the result of a barrier: a bool that is false, for all threads of the block, if the
// barrier was refused or gave up. If the kernel does not test a false result, it ends at the
// barrier, as if it had tested it and returned.
class Met {
 public:
  __device__ __forceinline__ explicit Met(bool all) : all_(all), asked_(false) {}
  Met(const Met&) = delete;
  __device__ __forceinline__ ~Met() {
    if (!all_ && !asked_) leave();
  }
  __device__ __forceinline__ operator bool() const {
    asked_ = true;
    return all_;
  }

 private:
  const bool all_;
  mutable bool asked_;
};

// barrier: all threads of one block of every rank meet on a channel. Their writes and puts before
// the barrier are visible to all of them after it. Blocks that meet at the same time use different
// channels. It returns false if it gave up: the kernel should then return, and ends here if it does
// not test the result.
//
// Order: acquire and release, among all threads of these blocks, for memory and for puts.
//
// Waits: for one block of every member: until the deadline of the launch, an interrupt, or the end
// of a member.
//
// Cost: a kernel with one barrier takes 2.55 us on 4 H200s in a captured graph, and 2.36 on 2; 0.47
// of it are the kernel (docs/benchmarks.md, Signals and barriers).
//
// Example:
//
//   h.buffer<float>(h.rank)[threadIdx.x] = x[threadIdx.x];
//   if (!symm::barrier(h, channel)) return;
//   x[threadIdx.x] = h.buffer<float>(peer)[threadIdx.x];
//   symm::barrier(h, channel);
__device__ __forceinline__ Met barrier(const Handle& h, u32 channel) {
  if (!has_channel<Block>(h, kCallBarrier, h.rank, channel)) {
    Block::sync();  // a barrier of the block all the same
    return Met(false);
  }
  return Met(h.net ? far_barrier(*h.net, h, channel) : barrier(h.signals, h, channel));
}

// arrive and arrived are the halves of a barrier, for a block that has work between them that needs
// no other rank. All threads of one block of every rank call both, in turn, on one channel; a
// barrier on the channel is not called between them. arrive returns false if it was refused.
//
// Order: arrive releases, arrived acquires: the writes of a block before its arrive are visible to
// all blocks after their arrived. Its writes between the two are not.
//
// Waits: arrive for nothing, arrived for the arrive of every member. In a group that spans hosts
// arrive only synchronises the block, and arrived is the whole barrier, which waits for the arrived
// of every member.
//
// Cost: both together cost as much as a barrier (docs/benchmarks.md, Signals and barriers).
//
// Example:
//
//   h.buffer<float>(h.rank)[threadIdx.x] = x[threadIdx.x];
//   symm::arrive(h, channel);
//   x[threadIdx.x] *= 2;
//   if (!symm::arrived(h, channel)) return;
//   x[threadIdx.x] += h.buffer<float>(peer)[threadIdx.x];
//   symm::barrier(h, channel);
__device__ __forceinline__ bool arrive(const Handle& h, u32 channel) {
  if (!has_channel<Block>(h, kCallBarrier, h.rank, channel)) return false;
  __syncthreads();
  if (!h.net && (int)threadIdx.x < h.ranks()) arrive(h.signals, h, channel, load_relaxed(rounds(h.signals, h, channel)) + 1);
  return true;
}
__device__ __forceinline__ Met arrived(const Handle& h, u32 channel) {
  if (!has_channel<Block>(h, kCallBarrier, h.rank, channel)) {
    Block::sync();
    return Met(false);
  }
  if (h.net) return Met(far_barrier(*h.net, h, channel));
  u32* const count = rounds(h.signals, h, channel);
  u32 round = 0;
  bool ok = true;
  if ((int)threadIdx.x < h.ranks()) {
    round = load_relaxed(count) + 1;
    ok = arrived(h.signals, h, channel, round);
  }
  ok = __syncthreads_and(ok);
  if (threadIdx.x == 0 && ok) store_relaxed(count, round);
  return Met(ok);
}

// put_signal: one thread signals dst on a channel; its earlier writes, and this rank's earlier puts
// to dst, are visible to dst after the wait. It first waits until dst has consumed the previous
// signal. It returns false if it gave up.
//
// Order: release. For writes of other threads of the block, __syncthreads before it.
//
// Waits: for dst, until it has consumed the previous signal on the channel.
//
// Cost: a round trip of two signals, each a put_signal and a wait_signal in kernels of their own,
// takes 4.05 us between two of 4 H200s in a captured graph (docs/benchmarks.md, Signals and
// barriers).
//
// Example:
//
//   h.buffer<float>(peer)[threadIdx.x] = x[threadIdx.x];
//   __syncthreads();
//   if (threadIdx.x == 0) symm::put_signal(h, peer, channel);
__device__ __forceinline__ bool put_signal(const Handle& h, int dst, u32 channel) {
  if (!has_member<Thread>(h, kCallPutSignal, dst) || !has_channel<Thread>(h, kCallPutSignal, dst, channel)) return false;
  return h.far(dst) ? far_put_signal(*h.net, h, (u32)dst, channel) : put_signal(h.signals, h, dst, channel);
}

// wait_signal: one thread waits for the signal of src on a channel and consumes it. It returns
// false if it gave up.
//
// Order: acquire. For other threads of the block, __syncthreads after it.
//
// Waits: for src: until the deadline of the launch, an interrupt, or the end of src.
//
// Cost: see put_signal.
//
// Example:
//
//   bool ok = true;
//   if (threadIdx.x == 0) ok = symm::wait_signal(h, peer, channel);
//   if (!__syncthreads_and(ok)) return;
//   x[threadIdx.x] = h.buffer<float>(h.rank)[threadIdx.x];
__device__ __forceinline__ bool wait_signal(const Handle& h, int src, u32 channel) {
  if (!has_member<Thread>(h, kCallWaitSignal, src) || !has_channel<Thread>(h, kCallWaitSignal, src, channel)) return false;
  return h.far(src) ? far_wait_signal(*h.net, h, (u32)src, channel) : wait_signal(h.signals, h, src, channel);
}

}  // namespace symm

#include "symm/far.cuh"
