// nvshmem/sync.h: fence, quiet, waits and barriers.
#pragma once
#include "nvshmem/amo.h"

// The comparisons of waits.
enum { NVSHMEM_CMP_EQ = 0, NVSHMEM_CMP_NE = 1, NVSHMEM_CMP_GT = 2, NVSHMEM_CMP_LE = 3, NVSHMEM_CMP_LT = 4, NVSHMEM_CMP_GE = 5 };

namespace symm {

// shmem_quiet: one thread waits until the operations of this rank are complete everywhere.
__device__ __forceinline__ void shmem_quiet(ShmemSite s) {
  fence();
  if (!s.w->net) return;
  if (!fence_all(*s.w->net, s.context())) leave();
  fence();  // a thread that sees a later relaxed store sees this, too
}

template <class T> __device__ __forceinline__ T shmem_load(const T* p) {
  typedef typename ShmemBits<sizeof(T)>::type U;
  return shmem_value<T>(load_acquire((const U*)p));
}

template <class T> __device__ __forceinline__ bool shmem_holds(ShmemSite s, T seen, int cmp, T value) {
  switch (cmp) {
    case NVSHMEM_CMP_EQ: return seen == value;
    case NVSHMEM_CMP_NE: return seen != value;
    case NVSHMEM_CMP_GT: return seen > value;
    case NVSHMEM_CMP_LE: return seen <= value;
    case NVSHMEM_CMP_LT: return seen < value;
    case NVSHMEM_CMP_GE: return seen >= value;
  }
  shmem_refuse(s, kShmemOperation, s.w->context.rank, (u64)(i64)cmp, 0);
  return false;
}

// ShmemPatience is one wait of one thread for words of this rank.
template <class T> struct ShmemPatience {
  ShmemSite s;
  Patience patience;
  __device__ __forceinline__ explicit ShmemPatience(ShmemSite s) : s(s) {}
  // spent is called after a failed poll. It ends the kernel for the thread if the wait gives up.
  __device__ __forceinline__ void spent(const T* word, int cmp, T seen, T value) {
    const Context c = s.context();
    Wait w{kShmemWord, (u32)c.rank, 0, (u64)shmem_bits(value)};
#ifdef SYMM_SANITIZE
    if (cmp == NVSHMEM_CMP_EQ) symm_cpu_wants(word, (u64)shmem_bits(value));
#endif
    if (patience.expired(c, w, (u64)shmem_bits(seen))) leave();
    const int gone = s.w->net && patience.looked() ? lost_of(*s.w->net, c, kAnyFarMember) : -1;
    if (gone >= 0 && !shmem_holds(s, shmem_load(word), cmp, value)) {
      w.peer = (u32)gone;
      patience.lose(c, w, (u64)shmem_bits(seen));
      leave();
    }
  }
  __device__ __forceinline__ void satisfied() { patience.satisfied(s.context()); }
};

template <class T> __device__ __forceinline__ void shmem_own(ShmemSite s, const T* words, u64 n) { shmem_place(s, words, n * sizeof(T), sizeof(T), s.w->context.rank); }

template <class T> __device__ __forceinline__ T shmem_wait(ShmemSite s, const T* word, int cmp, T value) {
  shmem_own(s, word, 1);
  T seen = shmem_load(word);
  if (shmem_holds(s, seen, cmp, value)) return seen;
  ShmemPatience<T> p(s);
  do {
    p.spent(word, cmp, seen, value);
    seen = shmem_load(word);
  } while (!shmem_holds(s, seen, cmp, value));
  p.satisfied();
  return seen;
}

// ShmemValues is the value of each word: one for all, or one for each.
template <class T> struct ShmemValues {
  const T* each;
  T all;
  __device__ __forceinline__ T operator[](size_t i) const { return each ? each[i] : all; }
};

template <class T> __device__ __forceinline__ void shmem_wait_all(ShmemSite s, const T* words, size_t n, const int* status, int cmp, ShmemValues<T> values) {
  for (size_t i = 0; i < n; i++)
    if (!status || status[i] == 0) shmem_wait(s, words + i, cmp, values[i]);
}
template <class T> __device__ __forceinline__ bool shmem_test_all(ShmemSite s, const T* words, size_t n, const int* status, int cmp, ShmemValues<T> values) {
  for (size_t i = 0; i < n; i++)
    if ((!status || status[i] == 0) && !shmem_holds(s, shmem_load(words + i), cmp, values[i])) return false;
  return true;
}
// shmem_test_some stores the numbers of words that compare with their values, at most `most` of
// them, and returns how many they are; *left is the number of a word that does not compare, or n if
// there is no word to test.
template <class T> __device__ __forceinline__ size_t shmem_test_some(ShmemSite s, const T* words, size_t n, size_t* indices, size_t most, const int* status, int cmp, ShmemValues<T> values, size_t* left) {
  size_t found = 0;
  *left = n;
  for (size_t i = 0; i < n && found < most; i++) {
    if (status && status[i] != 0) continue;
    if (shmem_holds(s, shmem_load(words + i), cmp, values[i])) indices[found++] = i;
    else *left = i;
  }
  return found;
}
template <class T> __device__ __forceinline__ size_t shmem_wait_some(ShmemSite s, const T* words, size_t n, size_t* indices, size_t most, const int* status, int cmp, ShmemValues<T> values) {
  if (n) shmem_own(s, words, n);
  size_t left, found = shmem_test_some(s, words, n, indices, most, status, cmp, values, &left);
  if (found || left == n) return found;
  ShmemPatience<T> p(s);
  do {
    p.spent(words + left, cmp, shmem_load(words + left), values[left]);
    found = shmem_test_some(s, words, n, indices, most, status, cmp, values, &left);
  } while (!found);
  p.satisfied();
  return found;
}
constexpr size_t kShmemNone = ~(size_t)0;
template <class T> __device__ __forceinline__ size_t shmem_wait_any(ShmemSite s, const T* words, size_t n, const int* status, int cmp, ShmemValues<T> values) {
  size_t first;
  return shmem_wait_some(s, words, n, &first, 1, status, cmp, values) ? first : kShmemNone;
}
template <class T> __device__ __forceinline__ size_t shmem_test_any(ShmemSite s, const T* words, size_t n, const int* status, int cmp, ShmemValues<T> values) {
  size_t first, left;
  return shmem_test_some(s, words, n, &first, 1, status, cmp, values, &left) ? first : kShmemNone;
}

// shmem_meet: a team of every rank of this host meets at a round of symm/barrier.cuh.
template <class Team> __device__ SYMM_INLINE_TEMPLATE void shmem_meet(ShmemSite s, u32 channel, u32 round) {
  const Context c = s.context();
  const ShmemWorld& w = *s.w;
  fence();
  for (int i = (int)Team::rank(); i < w.near_count; i += (int)Team::size())
    if (w.near[i] != c.rank) store_relaxed(arrival(w.signals, c, w.near[i], channel, c.rank), round);
  bool ok = true;
  for (int i = (int)Team::rank(); i < w.near_count; i += (int)Team::size()) {
    const int p = w.near[i];
    if (p == c.rank || !ok) continue;
    const u32* const word = arrival(w.signals, c, c.rank, channel, p);
    const Wait wait{kShmemMeeting, (u32)p, channel, round};
    ok = w.net ? net_wait<u32>(*w.net, c, word, round, kRound, kAnyMember, wait) : wait_until<u32>(c, word, round, kRound, kShmemMeeting, (u32)p, channel);
  }
  if (!Team::all(ok)) leave();
}

// shmem_sync: a team of threads of every PE meets. If it completes, the operations of all PEs are
// in place then.
template <class Team> __device__ SYMM_INLINE_TEMPLATE void shmem_sync_of(ShmemSite s, nvshmem_team_t team, bool completes) {
  shmem_has_team(s, team);
  const Context c = s.context();
  const ShmemWorld& w = *s.w;
  const bool far = w.net && !shmem_is_near(team);
  const u32 channel = c.channels - (shmem_is_near(team) ? 2 : 1);
  Team::sync();
  u32* const count = rounds(w.signals, c, channel);
  u32 round = load_relaxed(count) + 1;
  if (completes && Team::rank() == 0) shmem_quiet(s);
  Team::sync();
  shmem_meet<Team>(s, channel, round);
  if (far) {
    const NetGroup& g = *w.net;
    u64* const met = g.counts + net_word(c, kMet, channel, (u32)c.rank);
    const u64 want = *met + 1;
    bool ok = true;
    for (u32 i = Team::rank(); i < g.partner_count; i += Team::size()) ok = ok && net_add(g, c, g.partners[i], kMet, channel, true);
    for (u32 i = Team::rank(); i < g.partner_count; i += Team::size()) {
      const u32 p = g.partners[i];
      ok = ok && net_wait<u64>(g, c, own_words(g, c) + net_word(c, kMet, channel, p), want, kAtLeast, kAnyMember, Wait{kShmemMeeting, p, channel, want});
    }
    if (!Team::all(ok)) leave();
    shmem_meet<Team>(s, channel, ++round);
    if (Team::rank() == 0) *met = want;
  }
  if (Team::rank() == 0) store_relaxed(count, round);
  Team::sync();
}
__device__ SYMM_INLINE void shmem_sync_by(Thread, ShmemSite s, nvshmem_team_t team, bool completes) { shmem_sync_of<Thread>(s, team, completes); }
__device__ SYMM_INLINE void shmem_sync_by(Warp, ShmemSite s, nvshmem_team_t team, bool completes) { shmem_sync_of<Warp>(s, team, completes); }
__device__ SYMM_INLINE void shmem_sync_by(Block, ShmemSite s, nvshmem_team_t team, bool completes) { shmem_sync_of<Block>(s, team, completes); }
template <class Team> __device__ __forceinline__ void shmem_sync(ShmemSite s, nvshmem_team_t team, bool completes) { shmem_sync_by(Team(), s, team, completes); }

}  // namespace symm

// nvshmem_fence orders the puts, signals and atomic operations of the calling thread to each PE:
// operations before the fence are at the PE before operations after it. nvshmem_quiet waits until
// all operations of this PE are complete: the puts are at their PEs, and the data of gets has
// arrived.
//
// Order: for the calling thread, and for other threads that it has synchronised with before.
//
// Waits: for nothing on this host; between hosts for the engines of all ranks.
//
// Example:
//
//   nvshmem_float_p(data, x[0], peer);
//   nvshmem_fence();
//   nvshmemx_signal_op(sig, 1, NVSHMEM_SIGNAL_SET, peer);
SYMM_SHMEM void nvshmem_fence(SYMM_SHMEM_LINE) { symm::shmem_quiet(symm::ShmemSite(symm::kShmemFence, line)); }
SYMM_SHMEM void nvshmem_quiet(SYMM_SHMEM_LINE) { symm::shmem_quiet(symm::ShmemSite(symm::kShmemQuiet, line)); }

// nvshmem_signal_wait_until waits until the 64-bit word sig_addr of this PE compares with
// cmp_value, and returns it. nvshmem_signal_fetch returns the word. cmp is NVSHMEM_CMP_EQ, NE, GT,
// GE, LT or LE.
//
// Order: acquire. The data that the signal covers is visible to the thread, and after a sync of its
// block to the other threads.
//
// Waits: for a rank to signal: until the deadline of the launch, an interrupt, or the end of a
// rank.
//
// Example:
//
//   if (threadIdx.x == 0) nvshmem_signal_wait_until(sig, NVSHMEM_CMP_GE, 1);
//   __syncthreads();
SYMM_SHMEM uint64_t nvshmem_signal_wait_until(uint64_t* sig_addr, int cmp, uint64_t cmp_value, SYMM_SHMEM_LINE) {
  return symm::shmem_wait<uint64_t>(symm::ShmemSite(symm::kShmemSignalWait, line), sig_addr, cmp, cmp_value);
}
SYMM_SHMEM uint64_t nvshmem_signal_fetch(uint64_t* sig_addr, SYMM_SHMEM_LINE) {
  symm::shmem_own(symm::ShmemSite(symm::kShmemSignalFetch, line), sig_addr, 1);
  return symm::shmem_load(sig_addr);
}

// nvshmem_TYPE_wait_until waits until a word of this PE compares with cmp_value, and
// nvshmem_TYPE_test reports whether it does. The forms with all, any and some test nelems words,
// except words whose status is not 0; status may be null. wait_until_any returns the number of a
// word that compares. wait_until_some stores the numbers of all words that compare in indices, and
// returns how many there are. With vector in the name each word has a value of its own.
//
// Order: acquire.
//
// Waits: for a rank to store the word: until the deadline of the launch, an interrupt, or the end
// of a rank. The test functions do not wait; if a kernel calls them in a loop, the loop has no
// deadline.
//
// Example:
//
//   int* const flag = (int*)data;
//   nvshmem_int_p(flag, 1, peer);
//   nvshmem_int_wait_until(flag, NVSHMEM_CMP_EQ, 1);
#define SYMM_SHMEM_WAIT(NAME, TYPE)                                                                                                                    \
  SYMM_SHMEM void nvshmem_##NAME##_wait_until(TYPE* ivar, int cmp, TYPE cmp_value, SYMM_SHMEM_LINE) {                                                  \
    symm::shmem_wait<TYPE>(symm::ShmemSite(symm::kShmemWait, line), ivar, cmp, cmp_value);                                                             \
  }                                                                                                                                                    \
  SYMM_SHMEM int nvshmem_##NAME##_test(TYPE* ivar, int cmp, TYPE cmp_value, SYMM_SHMEM_LINE) {                                                         \
    const symm::ShmemSite s(symm::kShmemTest, line);                                                                                                   \
    symm::shmem_own(s, ivar, 1);                                                                                                                       \
    return symm::shmem_holds<TYPE>(s, symm::shmem_load(ivar), cmp, cmp_value);                                                                         \
  }                                                                                                                                                    \
  SYMM_SHMEM_WAITS(NAME, TYPE, , TYPE cmp_value, nullptr, cmp_value)                                                                                   \
  SYMM_SHMEM_WAITS(NAME, TYPE, _vector, TYPE* cmp_values, cmp_values, (TYPE)0)
#define SYMM_SHMEM_WAITS(NAME, TYPE, SUFFIX, PARAMETER, EACH, ALL)                                                                                     \
  SYMM_SHMEM void nvshmem_##NAME##_wait_until_all##SUFFIX(TYPE* ivars, size_t nelems, const int* status, int cmp, PARAMETER, SYMM_SHMEM_LINE) {        \
    symm::shmem_wait_all<TYPE>(symm::ShmemSite(symm::kShmemWait, line), ivars, nelems, status, cmp, {EACH, ALL});                                      \
  }                                                                                                                                                    \
  SYMM_SHMEM size_t nvshmem_##NAME##_wait_until_any##SUFFIX(TYPE* ivars, size_t nelems, const int* status, int cmp, PARAMETER, SYMM_SHMEM_LINE) {      \
    return symm::shmem_wait_any<TYPE>(symm::ShmemSite(symm::kShmemWait, line), ivars, nelems, status, cmp, {EACH, ALL});                               \
  }                                                                                                                                                    \
  SYMM_SHMEM size_t nvshmem_##NAME##_wait_until_some##SUFFIX(TYPE* ivars, size_t nelems, size_t* indices, const int* status, int cmp, PARAMETER, SYMM_SHMEM_LINE) { \
    return symm::shmem_wait_some<TYPE>(symm::ShmemSite(symm::kShmemWait, line), ivars, nelems, indices, nelems, status, cmp, {EACH, ALL});             \
  }                                                                                                                                                    \
  SYMM_SHMEM int nvshmem_##NAME##_test_all##SUFFIX(TYPE* ivars, size_t nelems, const int* status, int cmp, PARAMETER, SYMM_SHMEM_LINE) {               \
    return symm::shmem_test_all<TYPE>(symm::ShmemSite(symm::kShmemTest, line), ivars, nelems, status, cmp, {EACH, ALL});                               \
  }                                                                                                                                                    \
  SYMM_SHMEM size_t nvshmem_##NAME##_test_any##SUFFIX(TYPE* ivars, size_t nelems, const int* status, int cmp, PARAMETER, SYMM_SHMEM_LINE) {            \
    return symm::shmem_test_any<TYPE>(symm::ShmemSite(symm::kShmemTest, line), ivars, nelems, status, cmp, {EACH, ALL});                               \
  }                                                                                                                                                    \
  SYMM_SHMEM size_t nvshmem_##NAME##_test_some##SUFFIX(TYPE* ivars, size_t nelems, size_t* indices, const int* status, int cmp, PARAMETER, SYMM_SHMEM_LINE) { \
    size_t left;                                                                                                                                       \
    return symm::shmem_test_some<TYPE>(symm::ShmemSite(symm::kShmemTest, line), ivars, nelems, indices, nelems, status, cmp, {EACH, ALL}, &left);      \
  }
SYMM_SHMEM_INTEGERS(SYMM_SHMEM_WAIT)
#undef SYMM_SHMEM_WAIT
#undef SYMM_SHMEM_WAITS

// nvshmem_barrier_all waits until all PEs have called it and the operations of all of them are
// complete. nvshmem_sync_all waits until all PEs have called it, and completes only the loads and
// stores of the callers. nvshmem_barrier and nvshmem_sync are for a team. One thread of each PE
// calls them, or with _warp and _block one warp or one block of each; not two at the same time.
//
// Order: acquire and release, among the threads that call it; of the whole block, after a
// __syncthreads.
//
// Waits: for all PEs of the team: until the deadline of the launch, an interrupt, or the end of a
// rank.
//
// Example:
//
//   nvshmem_float_p(data + threadIdx.x, x[threadIdx.x], peer);
//   nvshmemx_barrier_all_block();
//   x[threadIdx.x] = data[threadIdx.x];
#define SYMM_SHMEM_MEET(PREFIX, SUFFIX, TEAM)                                                                                            \
  SYMM_SHMEM void PREFIX##barrier_all##SUFFIX(SYMM_SHMEM_LINE) {                                                                         \
    symm::shmem_sync<symm::TEAM>(symm::ShmemSite(symm::kShmemBarrier, line), NVSHMEM_TEAM_WORLD, true);                                  \
  }                                                                                                                                      \
  SYMM_SHMEM void PREFIX##sync_all##SUFFIX(SYMM_SHMEM_LINE) {                                                                            \
    symm::shmem_sync<symm::TEAM>(symm::ShmemSite(symm::kShmemSync, line), NVSHMEM_TEAM_WORLD, false);                                    \
  }                                                                                                                                      \
  SYMM_SHMEM int PREFIX##barrier##SUFFIX(nvshmem_team_t team, SYMM_SHMEM_LINE) {                                                         \
    symm::shmem_sync<symm::TEAM>(symm::ShmemSite(symm::kShmemBarrier, line), team, true);                                                \
    return 0;                                                                                                                            \
  }                                                                                                                                      \
  SYMM_SHMEM int PREFIX##team_sync##SUFFIX(nvshmem_team_t team, SYMM_SHMEM_LINE) {                                                       \
    symm::shmem_sync<symm::TEAM>(symm::ShmemSite(symm::kShmemSync, line), team, false);                                                  \
    return 0;                                                                                                                            \
  }
SYMM_SHMEM_MEET(nvshmem_, , Thread)
SYMM_SHMEM_MEET(nvshmemx_, _warp, Warp)
SYMM_SHMEM_MEET(nvshmemx_, _block, Block)
#undef SYMM_SHMEM_MEET
