// emu_poll.h: which loads are failed polls, after which other threads run.
//
// A loop that polls loads the same words in each turn, and in a turn in vain finds the same values
// as in the turn before. So of each thread one word is remembered, and a hash of what the thread has
// loaded since it loaded that word: if both are the same as in the turn before, a poll has failed. If
// the word does not come again for a while, another one is remembered, and it takes twice as long
// until the next one is. So loops over any number of words are found (Brent: BIT 1980).
//
// A turn may load the word several times, and finds other values between: some of these loads are
// failed polls, and the others are not. So a thread that waits is taken to wait until the word changes,
// or some loads of the word in a row are no failed polls.
#pragma once
#include "emu_abi.h"

namespace emu {

// gave_way reports whether other threads have run since the thread's last load, and forgets it.
inline bool gave_way() {
  Poll& t = worker()->poll[worker()->thread->linear];
  const bool gave = t.gave_way;
  t.gave_way = false;
  return gave;
}

// polled records a failed poll of a word, and lets other threads run. loaded records a load that may
// be a poll, and lets other threads run if it has failed.
void polled(const void* p, unsigned long long v);
void loaded(const void* p, unsigned long long v);

#ifndef SYMM_ONCE_ELSEWHERE
constexpr unsigned char kWaits = 4;

__attribute__((no_sanitize("thread"))) EMU_ONCE void polled(const void* p, unsigned long long v) {
  Poll& t = worker()->poll[worker()->thread->linear];
  t = {p, __builtin_return_address(0), v, 0, 0, 0, 0, kWaits, false, t.endless};
  run_time().yield();
}

__attribute__((no_sanitize("thread"))) EMU_ONCE void loaded(const void* p, unsigned long long v) {
  constexpr unsigned kFirstLimit = 16, kLastLimit = 1 << 16;
  Poll& t = worker()->poll[worker()->thread->linear];
  t.gave_way = false;
  if (t.p != p) {
    t.seen = (t.seen ^ (Size)p ^ v) * 0x9e3779b97f4a7c15ull;
    if (++t.loads <= t.limit) return;
    const unsigned limit = t.limit < kFirstLimit ? kFirstLimit : t.limit < kLastLimit ? 2 * t.limit : t.limit;
    t = {p, __builtin_return_address(0), v, 0, 0, 0, limit, 0, false, t.endless};
    return;
  }
  const bool in_vain = t.value == v && t.seen == t.before;
  if (in_vain) t.waits = kWaits;
  else if (t.waits && (t.value != v || --t.waits == 0)) t.waits = 0, run_time().found();
  t.value = v, t.before = t.seen, t.seen = 0, t.loads = 0, t.limit = kFirstLimit;
  if (!in_vain) return;
  t.pc = __builtin_return_address(0);
  run_time().yield();
  t.gave_way = true;
}
#endif

}  // namespace emu
