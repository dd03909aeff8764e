// wait.cuh: waits that end. A wait polls a word until it has the wanted value, the host raises the
// abort bit, or the deadline of its Context passes. In the last two cases it returns false: it has
// recorded itself in the Watch page, and the kernel should return without touching user data. No
// wait traps, so after a deadlock the GPU's context and the tensors of all ranks are intact.
#pragma once
#include "symm/context.cuh"
#include "symm/order.cuh"

namespace symm {

// now_ns returns a time in nanoseconds, for differences on one rank. On a GPU it is %globaltimer.
//
// On the cpu device: the host's monotonic clock, which starts at another time.
__device__ __forceinline__ u64 now_ns() {
#ifdef SYMM_CPU
  return symm_cpu_nanos();
#else
  u64 t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
#endif
}

// Wait describes a wait: kind is a WaitKind, kUser in a user's kernel; the other fields are for the
// message.
struct Wait {
  u32 kind, peer, channel;
  u64 want;
};

// Patience belongs to one wait of one thread. Ask expired after each failed poll: true means that
// the wait gives up and has recorded itself. Otherwise call satisfied, once, when the word has the
// wanted value.
//
// Waits: until the deadline of the launch, an interrupt, or the end of the peer.
//
// Example:
//
//   const symm::u64* const word = h.word(h.rank, 0);
//   symm::Patience patience;
//   for (symm::u64 seen; (seen = symm::load_acquire(word)) != 7;)
//     if (patience.expired(h, symm::Wait{symm::kUser, (symm::u32)peer, channel, 7}, seen)) return;
//   patience.satisfied(h);
//
// It looks at the clock and the abort word once in kSpins polls, so that a short wait costs only an
// increment. The abort word lies in the host's memory, which answers reads of one word one after
// the other, 0.9 us each. Blocks therefore look at different times; otherwise the last of 132
// blocks that wait for the same event would see an abort up to 107 us late (docs/notes/tuning.md).
class Patience {
 public:
  // expired reports whether the wait gives up. w is for the message, and seen is the polled value.
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
  // satisfied withdraws the record that the wait published.
  __device__ __forceinline__ void satisfied(Context c) {
#ifdef SYMM_CPU
    if (start_) symm_cpu_found();
#endif
    if (!published_) return;
    Patience copy = *this;
    copy.withdraw(c);
    published_ = 0;
  }
  // looked reports whether the last failed poll looked at the page. The caller may then also look
  // at other words that are slow to read.
  __device__ __forceinline__ bool looked() const {
#ifdef SYMM_CPU
    return true;
#else
    return (spins_ & (kSpins - 1)) == 0;
#endif
  }
  // aborted gives up if the host has raised the abort bit: for loops that repeat without a wait.
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
  static constexpr u32 kSpins = 4096;  // polls, each of a quarter of a microsecond or more
  static constexpr u32 kApart = 32;    // polls between the looks of one block and of the next
  static constexpr u64 kQuiet = 50000000;  // nanoseconds before a wait is worth publishing
  u32 spins_ = blockIdx.x * kApart;
  u64 published_ = 0;  // records of the page, one bit each
  u64 start_ = 0;

  __device__ WaitRecord record(Context c, Wait w, u64 seen, u64 elapsed, u32 state) const {
    return {state, w.kind, c.ordinal, (u32)c.rank, w.peer, w.channel, w.want, seen, elapsed, start_, 0};
  }

  // patience.cuh defines these.
  __device__ void withdraw(Context c);
  __device__ void give_up(Context c, Wait w, u64 seen, u64 elapsed, u32 state);
  __device__ bool look(Context c, Wait w, u64 seen);
};

// Internal: endless is called after a failed poll of a loop that nothing but another value of the
// polled words ends, or what ends a wait of Patience. A kernel on the cpu device stands still if all its
// threads are in such loops without a deadline.
__device__ __forceinline__ void endless(Context c) {
#ifdef SYMM_CPU
  if (c.timeout_ns == 0) symm_cpu_endless();
#endif
}

// Compare selects the comparison of a polled word with the wanted value. kRound is for counts that
// go up by one and wrap around: it accepts the wanted round and the next three.
enum Compare { kEqual, kAtLeast, kRound };

// Internal: reached compares.
template <class Word>
__device__ __forceinline__ bool reached(Word seen, Word want, Compare compare) {
  return seen == want || (compare == kAtLeast && seen > want) || (compare == kRound && (Word)(seen - want) < 4);
}

// wait_until polls *word with acquire order until it compares with want: the data that the word's
// writer published is then visible to this thread. It returns false if the wait gave up.
//
// Order: acquire.
//
// Waits: for the rank that stores the word: until the deadline of the launch, an interrupt, or the
// end of the peer. kind is symm::kUser; peer and channel are for the message.
//
// Cost: a flag between two H200s takes 0.64 us one way (docs/benchmarks.md, Signals and barriers).
//
// Example:
//
//   const symm::u32* const word = h.pad(h.rank) + peer;
//   if (!symm::wait_until<symm::u32>(h, word, 1, symm::kEqual, symm::kUser, (symm::u32)peer, channel))
//     return;
//   x[0] = h.buffer<float>(h.rank)[0];
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
    endless(c);
    if (patience.expired(c, w, v)) return false;
    v = load_acquire(word);
  } while (!reached(v, want, compare));
  patience.satisfied(c);
  return true;
}

}  // namespace symm

#include "symm/patience.cuh"
