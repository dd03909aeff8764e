// symm.cuh: symmetric memory for kernels. Prepended to every snippet; it includes nothing.
//
// A kernel gets a symm::Handle by value. It knows the rank, the group's size, everybody's copy of one
// tensor, and the words by which ranks signal each other. Three ways to meet a peer, from the plainest to
// the quickest:
//
//   symm::barrier(h, channel)                       all ranks, by one block of each
//   symm::put_signal / symm::wait_signal            one peer, one bit, consumed by the wait
//   symm::put_with_signal / symm::wait_for_signal   data and then a 64-bit word of the tensor's own pad
//
// Every wait here returns a bool. It is false when the host raised the abort word or the deadline passed:
// the wait has then written who waited for what, and the kernel should return without touching user data.
// Nothing here traps, so the context and everybody's tensors survive a deadlock.
//
// The signal protocol (put_signal, wait_signal). A group has one block of 32-bit words in every rank's
// memory. One of them for each channel and peer is zero when nobody is in the middle of something:
//   slot[channel][src]    in the receiver's memory: 1 from the put of src until the receiver's wait
// A put swaps 0 for 1 in the peer's slot, after a fence, which makes it a release. A wait polls its own slot
// with acquire order and sets it to 0. The signal is there after one one-way trip; the answer to the swap,
// which the put waits for, comes while the peer goes on. Where a link has no atomics the put reads the slot and
// then stores: nobody else stores 1 there. What a rank wrote before its put is visible to the peer after its
// wait; and after a put returns, the peer has consumed the signal before it, but what the peer did before that
// wait need not be visible: it answers with a signal if it matters. Two puts without a wait between them: the
// second one tries again, over the link, until the first is consumed.
//
// The barrier protocol. Two more kinds of words count up and are never reset while ranks run:
//   rounds[channel]        in a rank's own memory: how many barriers it has passed on the channel
//   arrival[channel][src]  in everybody's memory:  the round that src has come to
// A rank stores its next round into every peer's arrival and polls its own until all peers have come to
// that round; a quick peer may already be one further, no more, since the next round needs this rank. One
// fence before the stores makes them releases; the polls are acquires. A block may come to the next round before
// it waits for the last one; then a peer may be up to three further.
//
// The packet protocol (store_packet, load_packet). A packet is 16 bytes, 12 of data and the epoch, stored and
// loaded by one access, which the memory model makes single. The receiver polls until the epoch is the one it
// expects; then the data is there: no fence, no barrier, one trip. Inboxes are double-buffered: a rank sends
// epoch e+2 only after it received e+1 from everybody, which they sent after they had consumed e. Epochs
// count up and are never reset while ranks run.
//
// The line protocol (store_line, load_line). A line is 128 aligned bytes, 120 of data and the epoch. Eight lanes
// of a warp store it, 16 bytes each, by one instruction, and load it likewise; the receivers' epoch counts as
// the packet's does, and the whole warp votes on it. It puts 15/16 of the links' bytes to use, packets 3/4. It
// rests on more than the memory model promises: that the stores of one instruction to one line arrive as one, and
// that its loads see them as one.
// GPUs do so over NVLink; NCCL's LL128 (src/device/prims_ll128.h, and the conditions under which src/graph/tuning.cc
// enables it) relies on the same. symmem uses it where every member is of Hopper or newer and reaches its peers by
// NVLink, and packets elsewhere. On the cpu device the epoch is stored last and read first.
#pragma once

#ifdef SYMM_CPU
#define SYMM_KERNEL(name) CPU_KERNEL(#name, name)
#define __grid_constant__
#else
#define SYMM_KERNEL(name)
#endif

namespace symm {

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char i8;
typedef int i32;
typedef long long i64;

constexpr int kMaxRanks = 16;

// SYMM_FOR_DTYPES applies a macro to (type, suffix) for every dtype that computes; fp8 is storage. The
// GPU's compiler is asked for one dtype at a time, as SYMM_ONLY.
#ifdef SYMM_ONLY
#define SYMM_FOR_DTYPES(M) SYMM_ONLY(M)
#else
#define SYMM_FOR_DTYPES(M)                                                                           \
  M(symm::f16, f16) M(symm::bf16, bf16) M(float, f32) M(double, f64) M(symm::i8, i8) M(symm::u8, u8) \
  M(symm::i32, i32) M(symm::u32, u32) M(symm::i64, i64) M(symm::u64, u64)
#endif

// SYMM_EACH(i, n) { ... } is the calling thread's part of n pieces of work, among the threads of a grid of one dimension;
// SYMM_SHARE is it for thread number me of all. On a GPU threads take turns, so that what a warp does lies together. On the
// cpu device a thread runs alone until it waits, and what it does by itself lies together.
#ifdef SYMM_CPU
__device__ __forceinline__ u64 part(u64 n, u64 me, u64 all) {
  const u64 at = (n + all - 1) / all * me;
  return at < n ? at : n;
}
#define SYMM_SHARE(i, n, me, all) for (symm::u64 i = symm::part(n, me, all), i##_end = symm::part(n, me + 1, all); i < i##_end; i++)
#else
#define SYMM_SHARE(i, n, me, all) for (symm::u64 i = me; i < n; i += all)
#endif
#define SYMM_EACH(i, n) SYMM_SHARE(i, n, blockIdx.x * (symm::u64)blockDim.x + threadIdx.x, gridDim.x * (symm::u64)blockDim.x)

// ---- 16-bit floats: storage with exact conversion; arithmetic rounds after every operation, as the
// hardware's does ----

struct f16 { u16 bits; };
struct bf16 { u16 bits; };

__device__ __forceinline__ float to_float(bf16 x) {
#ifdef SYMM_CPU
  u32 u = (u32)x.bits << 16;
  float f;
  __builtin_memcpy(&f, &u, 4);
  return f;
#else
  return __uint_as_float((u32)x.bits << 16);
#endif
}

__device__ __forceinline__ bf16 to_bf16(float f) {
#ifdef SYMM_CPU
  u32 u;
  __builtin_memcpy(&u, &f, 4);
  if ((u & 0x7fffffffu) > 0x7f800000u) return bf16{0x7fff};
  return bf16{(u16)((u + 0x7fffu + ((u >> 16) & 1)) >> 16)};
#else
  u16 r;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r) : "f"(f));
  return bf16{r};
#endif
}

__device__ __forceinline__ float to_float(f16 x) {
#ifdef SYMM_CPU
  u32 sign = (u32)(x.bits & 0x8000u) << 16, exp = (x.bits >> 10) & 31, man = x.bits & 0x3ffu, u;
  if (exp == 31) u = sign | 0x7f800000u | (man << 13);
  else if (exp) u = sign | ((exp + 112) << 23) | (man << 13);
  else {
    float f = (float)man * 0x1p-24f;
    return sign ? -f : f;
  }
  float f;
  __builtin_memcpy(&f, &u, 4);
  return f;
#else
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(x.bits));
  return f;
#endif
}

__device__ __forceinline__ f16 to_f16(float f) {
#ifdef SYMM_CPU
  u32 u;
  __builtin_memcpy(&u, &f, 4);
  u16 sign = (u >> 16) & 0x8000u;
  u &= 0x7fffffffu;
  if (u > 0x7f800000u) return f16{0x7fff};
  if (u >= 0x477ff000u) return f16{(u16)(sign | 0x7c00u)};  // 65520 and above round to infinity
  if (u < 0x38800000u) {                                    // below 2^-14: count in units of 2^-24
    float a;
    __builtin_memcpy(&a, &u, 4);
    return f16{(u16)(sign | (u16)__builtin_rintf(a * 0x1p24f))};
  }
  return f16{(u16)(sign | ((u + 0xfffu + ((u >> 13) & 1) - 0x38000000u) >> 13))};
#else
  u16 r;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(f));
  return f16{r};
#endif
}

// ---- memory order ---- acquire, release and relaxed are at system scope: they hold between GPUs, and
// between processes on the cpu device.

__device__ __forceinline__ u32 load_acquire(const u32* p) {
#ifdef SYMM_CPU
  return __atomic_load_n(p, __ATOMIC_ACQUIRE);
#else
  u32 v;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
#endif
}
__device__ __forceinline__ u64 load_acquire(const u64* p) {
#ifdef SYMM_CPU
  return __atomic_load_n(p, __ATOMIC_ACQUIRE);
#else
  u64 v;
  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
  return v;
#endif
}
__device__ __forceinline__ u32 load_relaxed(const u32* p) {
#ifdef SYMM_CPU
  return __atomic_load_n(p, __ATOMIC_RELAXED);
#else
  u32 v;
  asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
#endif
}
__device__ __forceinline__ u64 load_relaxed(const u64* p) {
#ifdef SYMM_CPU
  return __atomic_load_n(p, __ATOMIC_RELAXED);
#else
  u64 v;
  asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
  return v;
#endif
}
__device__ __forceinline__ void store_release(u32* p, u32 v) {
#ifdef SYMM_CPU
  __atomic_store_n(p, v, __ATOMIC_RELEASE);
#else
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
#endif
}
__device__ __forceinline__ void store_release(u64* p, u64 v) {
#ifdef SYMM_CPU
  __atomic_store_n(p, v, __ATOMIC_RELEASE);
#else
  asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
#endif
}
__device__ __forceinline__ void store_relaxed(u32* p, u32 v) {
#ifdef SYMM_CPU
  __atomic_store_n(p, v, __ATOMIC_RELAXED);
#else
  asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
#endif
}
__device__ __forceinline__ void store_relaxed(u64* p, u64 v) {
#ifdef SYMM_CPU
  __atomic_store_n(p, v, __ATOMIC_RELAXED);
#else
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
#endif
}

// swap_relaxed stores `to` if *p is `from`, as one access, and returns what *p was.
__device__ __forceinline__ u32 swap_relaxed(u32* p, u32 from, u32 to) {
#ifdef SYMM_CPU
  __atomic_compare_exchange_n(p, &from, to, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return from;
#else
  u32 was;
  asm volatile("atom.relaxed.sys.global.cas.b32 %0, [%1], %2, %3;" : "=r"(was) : "l"(p), "r"(from), "r"(to) : "memory");
  return was;
#endif
}

// fence orders everything before it against everything after it, at system scope.
__device__ __forceinline__ void fence() {
#ifdef SYMM_CPU
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#else
  asm volatile("fence.acq_rel.sys;" ::: "memory");
#endif
}

// ---- waits that end ----

// What one wait says about itself, and the page the host reads it from. device.Watch in Go is the same words.
struct WaitRecord {
  u32 state, kind, ordinal, rank, peer, channel;
  u64 want, seen, elapsed, began, reserved;  // began tells waits apart: when, by the clock of who waits
};
struct Watch {
  u32 abort, reserved[15];       // abort is of WatchBits
  WaitRecord fault;              // the first wait that gave up
  WaitRecord waits[kMaxRanks];   // by peer: waits that have lasted a while
};
static_assert(sizeof(WaitRecord) == 64 && sizeof(Watch) == 64 * (2 + kMaxRanks), "mirrors device.Watch");

// kAbort ends every wait, kTrace has each published from its first look on.
enum WatchBits : u32 { kAbort = 1, kTrace = 2 };
enum WaitState : u32 { kNone = 0, kPending = 1, kTimeout = 2, kAborted = 3, kClaimed = 4, kRefused = 5 };
enum WaitKind : u32 { kSignal = 1, kConsumed = 2, kPacket = 3, kWord = 4, kUser = 5, kBarrier = 6 };

// Who waits, and how long at most. The head of every kernel's arguments.
struct Context {
  Watch* watch;
  u64 timeout_ns;  // 0: until aborted
  i32 rank, world_size;
  u32 ordinal;     // of the call, for the host's record
  u32 channels;    // of the signal block
  u32 swaps;       // not 0: every member can swap words in the others' memory
  u32 reserved;

  // ranks is world_size: a constant in kernels that are compiled for groups of one size, which lets their loops
  // over ranks be unrolled.
  __device__ __forceinline__ int ranks() const {
#ifdef SYMM_RANKS
    return SYMM_RANKS;
#else
    return world_size;
#endif
  }
};

// neighbour is the k-th rank on the right, at k = ranks() this one itself: each rank starts at another peer, which spreads
// the traffic.
__device__ __forceinline__ int neighbour(const Context& c, int k) { return c.rank + k < c.ranks() ? c.rank + k : c.rank + k - c.ranks(); }

__device__ __forceinline__ u64 now_ns() {
#ifdef SYMM_CPU
  return symm_cpu_nanos();
#else
  u64 t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
#endif
}

struct Wait {
  u32 kind, peer, channel;
  u64 want;
};

// Patience of one wait: after each failed poll ask expired(). It looks at the clock and the abort word once
// in kSpins polls, so the quick path pays an increment. The abort word lies in the host's memory, where reads of
// one word are answered one after the other, 0.9 us each: blocks look at different times, or the last of 132 that
// wait for the same would be told up to 107 us late (docs/benchmarks.md).
class Patience {
 public:
  __device__ __forceinline__ bool expired(Context c, Wait w, u64 seen) {
#ifdef SYMM_CPU
    symm_cpu_yield();
    return look(c, w, seen);
#else
    if (++spins_ & (kSpins - 1)) return false;
    Patience copy = *this;  // so that this one stays in registers
    const bool over = copy.look(c, w, seen);
    *this = copy;
    return over;
#endif
  }
  // satisfied withdraws what the wait published. Call it once when the wait is over.
  __device__ __forceinline__ void satisfied(Context c) {
    if (!published_) return;
    Patience copy = *this;
    copy.withdraw(c);
    published_ = 0;
  }

 private:
  static constexpr u32 kSpins = 4096;  // of a quarter of a microsecond or more
  static constexpr u32 kApart = 32;    // between the looks of a block and the next
  static constexpr u64 kQuiet = 50000000;  // nanoseconds before a wait is worth publishing
  u32 spins_ = blockIdx.x * kApart;
  u32 published_ = 0;  // peers, one bit each
  u64 start_ = 0;

  __device__ __noinline__ void withdraw(Context c) {
    for (int p = 0; p < kMaxRanks; p++)
      if (published_ >> p & 1) store_relaxed(&c.watch->waits[p].state, kNone);
    published_ = 0;
  }

  __device__ static void write(WaitRecord* r, Context c, Wait w, u64 seen, u64 began, u64 elapsed, u32 state) {
    store_relaxed(&r->kind, w.kind);
    store_relaxed(&r->ordinal, c.ordinal);
    store_relaxed(&r->rank, (u32)c.rank);
    store_relaxed(&r->peer, w.peer);
    store_relaxed(&r->channel, w.channel);
    store_relaxed(&r->want, w.want);
    store_relaxed(&r->seen, seen);
    store_relaxed(&r->elapsed, elapsed);
    store_relaxed(&r->began, began);
    store_release(&r->state, state);
  }
#ifdef SYMM_CPU
  __device__ bool look(Context c, Wait w, u64 seen) {
#else
  __device__ __noinline__ bool look(Context c, Wait w, u64 seen) {
#endif
    u64 now = now_ns();
    if (start_ == 0) start_ = now;
    u64 elapsed = now - start_;
    u32 word = load_relaxed(&c.watch->abort);
    bool aborted = word & kAbort;
    bool late = c.timeout_ns != 0 && elapsed >= c.timeout_ns;
    if (aborted || late) {
      if (atomicCAS(&c.watch->fault.state, (u32)kNone, (u32)kClaimed) == kNone)
        write(&c.watch->fault, c, w, seen, start_, elapsed, aborted ? kAborted : kTimeout);
      satisfied(c);
      return true;
    }
    if (elapsed > kQuiet || word & kTrace) {
      write(&c.watch->waits[w.peer], c, w, seen, start_, elapsed, kPending);
      published_ |= 1u << w.peer;
    }
    return false;
  }
};

// refuse tells the host of a value in device memory that an operation cannot work with: what is the
// operation's own number for it, index its place in the list of rank. The first report is kept.
__device__ __forceinline__ void refuse(Context c, u32 what, u32 rank, u32 index, u64 value, u64 limit) {
  WaitRecord* r = &c.watch->fault;
  if (atomicCAS(&r->state, (u32)kNone, (u32)kClaimed) != kNone) return;
  store_relaxed(&r->kind, what);
  store_relaxed(&r->ordinal, c.ordinal);
  store_relaxed(&r->rank, (u32)c.rank);
  store_relaxed(&r->peer, rank);
  store_relaxed(&r->channel, index);
  store_relaxed(&r->want, limit);
  store_relaxed(&r->seen, value);
  store_release(&r->state, kRefused);
}

// What a polled word is compared by. kRound is for counts that go up by one and may wrap: the wanted one,
// or one of the next three.
enum Compare { kEqual, kAtLeast, kRound };

template <class Word>
__device__ __forceinline__ bool reached(Word seen, Word want, Compare compare) {
  return seen == want || (compare == kAtLeast && seen > want) || (compare == kRound && (Word)(seen - want) < 4);
}

// wait_until reads *word with acquire order until it compares with want: what its writer published is then
// visible.
template <class Word>
__device__ __forceinline__ bool wait_until(Context c, const Word* word, Word want, Compare compare, u32 kind, u32 peer, u32 channel) {
  Word v = load_acquire(word);
  if (reached(v, want, compare)) return true;
  Patience patience;
  Wait w{kind, peer, channel, want};
  do {
    if (patience.expired(c, w, v)) return false;
    v = load_acquire(word);
  } while (!reached(v, want, compare));
  patience.satisfied(c);
  return true;
}

// begin is the first thing that a kernel launched to overlap with its predecessor does: it returns when all
// that the stream did before is done and visible, and lets the kernel after this one be brought up. What is
// saved is the launch; nothing of the two runs at the same time.
__device__ __forceinline__ void begin() {
#if !defined(SYMM_CPU) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// ---- signals ----

// The group's signal blocks, one in each rank's memory.
struct Signals { u32* block[kMaxRanks]; };

__device__ __forceinline__ u32* slot(const Signals& s, Context c, int owner, u32 channel, int src) {
  return s.block[owner] + channel * (u32)c.ranks() + (u32)src;
}
__device__ __forceinline__ u32* arrival(const Signals& s, Context c, int owner, u32 channel, int src) {
  return s.block[owner] + (c.channels + channel) * (u32)c.ranks() + (u32)src;
}
__device__ __forceinline__ u32* rounds(const Signals& s, Context c, u32 channel) {
  return s.block[c.rank] + 2 * c.channels * (u32)c.ranks() + channel;
}

// raise sets a slot in another rank's memory from 0 to 1 and returns what it was; from 1 it stays.
__device__ __forceinline__ u32 raise(Context c, u32* theirs) {
  if (c.swaps) return swap_relaxed(theirs, 0, 1);
  const u32 seen = load_relaxed(theirs);
  if (seen == 0) store_relaxed(theirs, 1);
  return seen;
}

// put_signal: one thread signals dst on channel. False when it gave up because dst has not consumed the
// previous one.
__device__ __forceinline__ bool put_signal(const Signals& s, Context c, int dst, u32 channel) {
  u32* const theirs = slot(s, c, dst, channel, c.rank);
  fence();
  Patience patience;
  for (u32 seen; (seen = raise(c, theirs)) != 0;)
    if (patience.expired(c, Wait{kConsumed, (u32)dst, channel, 0}, seen)) return false;
  patience.satisfied(c);
  return true;
}

// wait_signal: one thread waits for src's signal on channel and consumes it.
__device__ __forceinline__ bool wait_signal(const Signals& s, Context c, int src, u32 channel) {
  u32* const mine = slot(s, c, c.rank, channel, src);
  if (!wait_until<u32>(c, mine, 1, kEqual, kSignal, (u32)src, channel)) return false;
  store_relaxed(mine, 0);
  return true;
}

// The halves of a barrier, for a block that has something to do between its arrival and its wait.
//
// arrive: all threads of a block, which have met by __syncthreads, say that it has come to a round.
__device__ __forceinline__ void arrive(const Signals& s, Context c, u32 channel, u32 round) {
  if ((int)threadIdx.x >= c.ranks()) return;
  fence();
  for (int p = (int)threadIdx.x; p < c.ranks(); p += (int)blockDim.x)
    if (p != c.rank) store_relaxed(arrival(s, c, p, channel, c.rank), round);
}

// arrived: all threads of a block wait until all ranks have come to a round. Then they meet by __syncthreads_and.
__device__ __forceinline__ bool arrived(const Signals& s, Context c, u32 channel, u32 round) {
  bool ok = true;
  for (int p = (int)threadIdx.x; p < c.ranks(); p += (int)blockDim.x)
    if (p != c.rank) ok = ok && wait_until<u32>(c, arrival(s, c, c.rank, channel, p), round, kRound, kBarrier, (u32)p, channel);
  return ok;
}

// barrier: all threads of one block of every rank. What any of them wrote before is visible to all after. The
// block needs no particular size; with fewer threads than ranks a thread serves several peers.
__device__ __forceinline__ bool barrier(const Signals& s, Context c, u32 channel) {
  bool ok = true;
  u32* const count = rounds(s, c, channel);
  u32 round = 0;
  __syncthreads();
  if ((int)threadIdx.x < c.ranks()) {
    round = load_relaxed(count) + 1;
    arrive(s, c, channel, round);
    ok = arrived(s, c, channel, round);
  }
  ok = __syncthreads_and(ok);
  if (threadIdx.x == 0 && ok) store_relaxed(count, round);
  return ok;
}

// ---- packets ----

struct alignas(16) Packet { u32 data[3], epoch; };

// store_packet needs CUDA 12.3 or newer, as does load_packet.
__device__ __forceinline__ void store_packet(Packet* to, const Packet& p) {
#ifdef SYMM_CPU
  __atomic_store_n((u64*)to, p.data[0] | (u64)p.data[1] << 32, __ATOMIC_RELAXED);
  __atomic_store_n((u64*)to + 1, p.data[2] | (u64)p.epoch << 32, __ATOMIC_RELEASE);
#else
  asm volatile(
      "{ .reg .b128 q; .reg .b64 a, b; mov.b64 a, {%1,%2}; mov.b64 b, {%3,%4}; mov.b128 q, {a,b};"
      " st.relaxed.sys.global.b128 [%0], q; }" ::"l"(to), "r"(p.data[0]), "r"(p.data[1]), "r"(p.data[2]), "r"(p.epoch) : "memory");
#endif
}

// load_packet reads a packet once; the data is there if the epoch is the expected one.
__device__ __forceinline__ Packet load_packet(const Packet* from) {
  Packet p;
#ifdef SYMM_CPU
  const u64 b = __atomic_load_n((const u64*)from + 1, __ATOMIC_ACQUIRE), a = __atomic_load_n((const u64*)from, __ATOMIC_RELAXED);
  p.data[0] = (u32)a, p.data[1] = (u32)(a >> 32), p.data[2] = (u32)b, p.epoch = (u32)(b >> 32);
#else
  asm volatile(
      "{ .reg .b128 q; .reg .b64 a, b; ld.relaxed.sys.global.b128 q, [%4]; mov.b128 {a,b}, q;"
      " mov.b64 {%0,%1}, a; mov.b64 {%2,%3}, b; }" : "=r"(p.data[0]), "=r"(p.data[1]), "=r"(p.data[2]), "=r"(p.epoch) : "l"(from) : "memory");
#endif
  return p;
}

// ---- lines ----

// Piece is one lane's 16 bytes of a line; the eighth of eight lanes has the epoch in place of its second word.
struct alignas(16) Piece { u64 word[2]; };

// carries_epoch says that this lane, of a one-dimensional block, is the eighth.
__device__ __forceinline__ bool carries_epoch() { return (threadIdx.x & 7) == 7; }

// store_line: all lanes of a warp store their pieces of four lines. `to` is this lane's place.
__device__ __forceinline__ void store_line(Piece* to, Piece p, u32 epoch) {
  if (carries_epoch()) p.word[1] = epoch;
#ifdef SYMM_CPU
  __atomic_store_n(&to->word[0], p.word[0], __ATOMIC_RELAXED);
  if (!carries_epoch()) __atomic_store_n(&to->word[1], p.word[1], __ATOMIC_RELAXED);
  __syncwarp();
  if (carries_epoch()) __atomic_store_n(&to->word[1], p.word[1], __ATOMIC_RELEASE);
#else
  asm volatile("st.volatile.global.v2.u64 [%0], {%1,%2};" ::"l"(to), "l"(p.word[0]), "l"(p.word[1]) : "memory");
#endif
}

// load_line: all lanes of a warp load their pieces once. The data of all is there if every lane's seen, which is
// `want` for lanes that cannot tell, is the expected epoch.
__device__ __forceinline__ Piece load_line(const Piece* from, u32 want, u32* seen) {
  Piece p;
#ifdef SYMM_CPU
  *seen = (u32)__atomic_load_n(&(from + (7 - (threadIdx.x & 7)))->word[1], __ATOMIC_ACQUIRE);
  p.word[0] = __atomic_load_n(&from->word[0], __ATOMIC_RELAXED), p.word[1] = __atomic_load_n(&from->word[1], __ATOMIC_RELAXED);
#else
  asm volatile("ld.volatile.global.v2.u64 {%0,%1}, [%2];" : "=l"(p.word[0]), "=l"(p.word[1]) : "l"(from) : "memory");
  *seen = carries_epoch() ? (u32)p.word[1] : want;
#endif
  return p;
}

// ---- what a user's kernel gets ----

// Handle is one tensor, rendezvoused by a group, as symm.Rendezvous returned it. Pass it to a kernel whose
// parameter is symm::Handle.
struct Handle : Context {
  u64 bytes;       // of the tensor
  u64 pad_bytes;   // of its signal pad
  char* buffers[kMaxRanks];
  u32* pads[kMaxRanks];
  Signals signals;

  // buffer<T>(p) is rank p's copy of the tensor.
  template <class T> __device__ __forceinline__ T* buffer(int p) const { return (T*)buffers[p]; }
  // pad(p) is rank p's pad of this tensor: pad_bytes/4 words, zero when allocated, for the kernel to use as
  // it likes.
  __device__ __forceinline__ u32* pad(int p) const { return pads[p]; }
  // word(p, i) is the i-th 64-bit signal of rank p's pad.
  __device__ __forceinline__ u64* word(int p, u32 i) const { return (u64*)pads[p] + i; }
};

__device__ __forceinline__ bool put_signal(const Handle& h, int dst, u32 channel) { return put_signal(h.signals, h, dst, channel); }
__device__ __forceinline__ bool wait_signal(const Handle& h, int src, u32 channel) { return wait_signal(h.signals, h, src, channel); }
__device__ __forceinline__ bool barrier(const Handle& h, u32 channel) { return barrier(h.signals, h, channel); }

// copy: the threads of a block copy n bytes, 16 at a time where both addresses allow it.
__device__ __forceinline__ void copy(void* dst, const void* src, u64 n) {
  u64 done = 0;
  if ((((u64)dst | (u64)src) & 15) == 0) {
    done = n & ~15ull;
    for (u64 i = threadIdx.x * 16ull; i < done; i += blockDim.x * 16ull) *(uint4*)((char*)dst + i) = *(const uint4*)((const char*)src + i);
  }
  for (u64 i = done + threadIdx.x; i < n; i += blockDim.x) ((char*)dst)[i] = ((const char*)src)[i];
}

// put_with_signal: the threads of a block copy n bytes into dst's copy of the tensor at byte offset, then
// set 64-bit signal i of dst to value.
__device__ __forceinline__ void put_with_signal(const Handle& h, int dst, u64 offset, const void* src, u64 n, u32 i, u64 value) {
  copy(h.buffers[dst] + offset, src, n);
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence_system();
    store_release(h.word(dst, i), value);
  }
}

// wait_for_signal: one thread waits until its own 64-bit signal i equals value, or with at_least is not
// below it. The signal keeps its value.
__device__ __forceinline__ bool wait_for_signal(const Handle& h, u32 i, u64 value, bool at_least) {
  return wait_until<u64>(h, h.word(h.rank, i), value, at_least ? kAtLeast : kEqual, kWord, (u32)h.rank, i);
}

}  // namespace symm
