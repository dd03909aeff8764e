// wait.cuh: waits that end. A wait polls a word until it has the wanted value, the host raises the abort bit, or the deadline of
// its Context passes. Then it returns false: it has described itself in the Watch page, and the kernel should return without
// touching user data. No wait traps, so a deadlock costs neither the GPU's context nor anybody's tensors.
#pragma once
#include "symm/context.cuh"
#include "symm/order.cuh"

namespace symm {

__device__ __forceinline__ u64 now_ns() {
#ifdef SYMM_CPU
  return symm_cpu_nanos();
#else
  u64 t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
#endif
}

// Wait says what is waited for: kind is a WaitKind, kUser in a user's kernel; the other fields are for the message.
struct Wait {
  u32 kind, peer, channel;
  u64 want;
};

// Patience belongs to one wait of one thread. Ask expired after each failed poll: true means that the wait gives up and has
// described itself. Otherwise call satisfied, once, when the word has the wanted value:
//
//   symm::Patience patience;
//   for (symm::u64 seen; (seen = symm::load_acquire(word)) != want;)
//     if (patience.expired(h, symm::Wait{symm::kUser, peer, index, want}, seen)) return;
//   patience.satisfied(h);
//
// It looks at the clock and the abort word once in kSpins polls, so that a short wait pays for an increment only. The abort
// word lies in the host's memory, where reads of one word are answered one after the other, 0.9 us each. Blocks therefore
// look at different times; otherwise the last of 132 that wait for the same would see an abort up to 107 us late
// (docs/notes/tuning.md).
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
  // satisfied withdraws what the wait published.
  __device__ __forceinline__ void satisfied(Context c) {
#ifdef SYMM_CPU
    if (start_) symm_cpu_found();
#endif
    if (!published_) return;
    Patience copy = *this;
    copy.withdraw(c);
    published_ = 0;
  }
  // looked tells whether the failed poll before looked at the page: other words that are slow to read are worth a look then too.
  __device__ __forceinline__ bool looked() const {
#ifdef SYMM_CPU
    return true;
#else
    return (spins_ & (kSpins - 1)) == 0;
#endif
  }
  // aborted gives up if the host has raised the abort bit: for what repeats itself without waiting.
  __device__ __forceinline__ bool aborted(Context c, Wait w, u64 seen) {
    if (!(load_relaxed(&c.watch->abort) & kAbort)) return false;
    Patience copy = *this;
    copy.give_up(c, w, seen, 0, kAborted);
    published_ = 0;
    return true;
  }
  // lose gives up as expired does, because the peer is gone.
  __device__ __forceinline__ void lose(Context c, Wait w, u64 seen) {
    Patience copy = *this;
    copy.give_up(c, w, seen, start_ ? now_ns() - start_ : 0, kLost);
    published_ = 0;
  }

 private:
  static constexpr u32 kSpins = 4096;  // of a quarter of a microsecond or more
  static constexpr u32 kApart = 32;    // between the looks of a block and the next
  static constexpr u64 kQuiet = 50000000;  // nanoseconds before a wait is worth publishing
  u32 spins_ = blockIdx.x * kApart;
  u64 published_ = 0;  // records of the page, one bit each
  u64 start_ = 0;

  __device__ __noinline__ void withdraw(Context c) {
    for (int i = 0; i < kMaxWaits; i++)
      if (published_ >> i & 1) store_relaxed(&c.watch->waits[i].state, kNone);
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
  __device__ __noinline__ void give_up(Context c, Wait w, u64 seen, u64 elapsed, u32 state) {
    if (atomicCAS(&c.watch->fault.state, (u32)kNone, (u32)kClaimed) == kNone) write(&c.watch->fault, c, w, seen, start_, elapsed, state);
    satisfied(c);
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
      give_up(c, w, seen, elapsed, aborted ? kAborted : kTimeout);
      return true;
    }
    if (elapsed > kQuiet || word & kTrace) {
      write(&c.watch->waits[w.peer % kMaxWaits], c, w, seen, start_, elapsed, kPending);
      published_ |= 1ull << w.peer % kMaxWaits;
    }
    return false;
  }
};

// Compare is how a polled word is compared with the wanted value. kRound is for counts that go up by one and wrap around: it
// accepts the wanted round and the next three.
enum Compare { kEqual, kAtLeast, kRound };

template <class Word>
__device__ __forceinline__ bool reached(Word seen, Word want, Compare compare) {
  return seen == want || (compare == kAtLeast && seen > want) || (compare == kRound && (Word)(seen - want) < 4);
}

// wait_until polls *word with acquire order until it compares with want: what its writer published is then visible to this
// thread. False if the wait gave up.
template <class Word>
__device__ __forceinline__ bool wait_until(Context c, const Word* word, Word want, Compare compare, u32 kind, u32 peer, u32 channel) {
  Word v = load_acquire(word);
  if (reached(v, want, compare)) return true;
  Patience patience;
  Wait w{kind, peer, channel, want};
  do {
#ifdef SYMM_SANITIZE
    if (compare == kEqual) symm_cpu_wants(word, want);
#endif
    if (patience.expired(c, w, v)) return false;
    v = load_acquire(word);
  } while (!reached(v, want, compare));
  patience.satisfied(c);
  return true;
}

}  // namespace symm
