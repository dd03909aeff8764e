// nccl/gin.h: ncclGin, puts, gets and signals between all ranks of a communicator, on this host and
// on others.
//
// A kernel reaches a rank on the same host by loads and stores, and a rank on another host through
// the ring of symm/net.cuh. A context is a set of signals and counters; all contexts share the one
// ring and its order. The value of a signal is the sum of two words of the rank's resource window:
// ranks on its host add to the first, the network adds to the second. Two more words behind them
// are written only by the rank itself: the value from which resetSignal counts, and the shadow. A
// counter has two words as well: the rank's own kernels add to the first, its engine adds to the
// second, behind the board of symm/net.cuh.
//
// The guarantees are NCCL's: a weak signal means that its own put has landed, a strong signal that
// all earlier puts to that rank have landed too. A signal whose name says neither strong nor weak
// is strong.
#pragma once
#include "nccl/pointer.h"
#include "symm/net.cuh"

// ncclGinRequest_t is a flush that has begun.
struct ncclGinRequest_t { unsigned long long opaque[2]; };

// What a put changes when its data has arrived: a signal of the peer (RemoteAction), by its number
// or, with VA, a word of a window, which goes up by one (Inc) or by a value (Add); and a counter of
// this rank (LocalAction). ncclGin_None changes nothing.
struct ncclGin_None {};
#define SYMM_GIN_ACTIONS(kind)                                                                                             \
  struct ncclGin_##kind##SignalInc { ncclGinSignal_t signal; };                                                            \
  struct ncclGin_##kind##SignalAdd { ncclGinSignal_t signal; unsigned long long value; };                                  \
  struct ncclGin_##kind##VASignalInc { ncclWindow_t signalWindow; size_t signalOffset; };                                  \
  struct ncclGin_##kind##VASignalAdd { ncclWindow_t signalWindow; size_t signalOffset; unsigned long long value; };
SYMM_GIN_ACTIONS(Strong)
SYMM_GIN_ACTIONS(Weak)
SYMM_GIN_ACTIONS()
#undef SYMM_GIN_ACTIONS
struct ncclGin_CounterInc { ncclGinCounter_t counter; };
struct ncclGin_WeakCounterInc { ncclGinCounter_t counter; };

// NCCL's back ends; here all of them are the same.
enum ncclNetDeviceType {
  NCCL_NET_DEVICE_HOST = 0, NCCL_NET_DEVICE_UNPACK = 1, NCCL_NET_DEVICE_GIN_PROXY = 2, NCCL_NET_DEVICE_GIN_GDAKI = 3, NCCL_NET_DEVICE_GIN_GPI = 4, NCCL_NET_DEVICE_GIN_EFA_GDA = 5
};

// A descriptor in shared memory is accepted and not used: the ring has its own.
struct ncclGinDescriptorSmem { unsigned long long space[16]; };
struct ncclGin_DescriptorSmem { ncclGinDescriptorSmem* descriptor; };

// SegmentType of puts and gets: windows are device memory here.
struct ncclGin_SegmentDevice {};
struct ncclGin_SegmentMixed {};
struct ncclGin_SegmentHostNuma {};

// Options of NCCL that have no effect here.
enum ncclGinResourceSharingMode : unsigned char { NCCL_GIN_RESOURCE_SHARING_GPU, NCCL_GIN_RESOURCE_SHARING_CTA, NCCL_GIN_RESOURCE_SHARING_THREAD };
constexpr unsigned int ncclGinOptFlagsDefault = 0;

namespace symm {

// NcclAction describes how a put changes a signal of its peer.
struct NcclAction {
  u32 kind = 0, id = 0, strong = 1;  // kind 1: signal number id; 2: the word at `offset` of `window`
  ncclWindow_t window = nullptr;
  u64 offset = 0, add = 0;
};
__device__ __forceinline__ NcclAction nccl_action(ncclGin_None) { return {}; }
#define SYMM_GIN_ACTION(kind, strong)                                                                                      \
  __device__ __forceinline__ NcclAction nccl_action(ncclGin_##kind##SignalInc s) { return {1, s.signal, strong, nullptr, 0, 1}; }               \
  __device__ __forceinline__ NcclAction nccl_action(ncclGin_##kind##SignalAdd s) { return {1, s.signal, strong, nullptr, 0, s.value}; }         \
  __device__ __forceinline__ NcclAction nccl_action(ncclGin_##kind##VASignalInc s) { return {2, 0, strong, s.signalWindow, s.signalOffset, 1}; } \
  __device__ __forceinline__ NcclAction nccl_action(ncclGin_##kind##VASignalAdd s) { return {2, 0, strong, s.signalWindow, s.signalOffset, s.value}; }
SYMM_GIN_ACTION(Strong, 1)
SYMM_GIN_ACTION(Weak, 0)
SYMM_GIN_ACTION(, 1)
#undef SYMM_GIN_ACTION

// Internal: kNcclNoCounter names no counter.
constexpr u32 kNcclNoCounter = ~0u;
__device__ __forceinline__ u32 nccl_counter(ncclGin_None) { return kNcclNoCounter; }
__device__ __forceinline__ u32 nccl_counter(ncclGin_CounterInc c) { return c.counter; }
__device__ __forceinline__ u32 nccl_counter(ncclGin_WeakCounterInc c) { return c.counter; }

template <class Segment> struct NcclSegment { static constexpr bool device = false; };
template <> struct NcclSegment<ncclGin_SegmentDevice> { static constexpr bool device = true; };

// nccl_reached compares as NCCL does, by the low bits, so that a value may wrap around.
__device__ __forceinline__ bool nccl_reached(u64 least, u64 seen, int bits) {
  const u64 mask = ~0ull >> (64 - bits);
  return ((seen - least) & mask) <= mask >> 1;
}

// Internal: Bits8 holds a value of up to 8 bytes as a word.
template <class T>
union Bits8 {
  T value;
  u64 word;
  __device__ Bits8() : word(0) {}
};

}  // namespace symm

// ncclGin_BackendMask is one context of a communicator: ncclGin net(comm, 0). Coop is the threads
// that call a function together, one thread by default.
//
// Order: a thread that sees a strong signal sees the data of this rank's earlier puts to that rank.
// A thread that sees a weak signal sees the data of the signal's own put. waitSignal and readSignal
// are acquires.
//
// Waits: waitSignal and waitCounter, for the peer or the engine; flush, for the engine; put, get
// and signal, between hosts, for a place in the ring.
//
// Cost: between two simulated hosts of an H100 each, a put of 8 bytes with its signal, both ways at
// once, takes 47 to 49 us over the null network in a graph (docs/benchmarks.md, Between hosts).
//
// Example:
//
//   ncclGin net(comm, 0);
//   net.put(ncclTeamWorld(comm), peer, window, 0, window, 0, 4 * n, ncclGin_SignalInc{0},
//           ncclGin_None{}, ncclCoopCta());
//   net.waitSignal(ncclCoopCta(), 0, 1);
//   net.flush(ncclCoopCta());
template <unsigned int backendMask>
struct ncclGin_BackendMask {
  ncclDevComm const& comm;
  unsigned int contextId;

  NCCL_DEVICE_INLINE ncclGin_BackendMask(ncclDevComm const& comm, int contextIndex, ncclGinResourceSharingMode = NCCL_GIN_RESOURCE_SHARING_GPU)
      : comm(comm), contextId(0) {
    if (comm.ginContextCount == 0) refuse(symm::kNcclGin, comm.rank, 0, 0);
    else contextId = (unsigned int)contextIndex % comm.ginContextCount;
  }
  NCCL_DEVICE_INLINE ncclGin_BackendMask(ncclDevComm const& comm, symm::NcclAbsent) : comm(comm), contextId(0) {}

  // put copies bytes to a peer; then the peer's signal and this rank's counter change.
  template <typename RemoteAction = ncclGin_None, typename LocalAction = ncclGin_None, typename Coop = ncclCoopThread, typename DescriptorSmem = ncclGin_None,
            typename SegmentType = ncclGin_SegmentDevice>
  NCCL_DEVICE_INLINE void put(ncclTeam team, int peer, ncclWindow_t dstWnd, size_t dstOffset, ncclWindow_t srcWnd, size_t srcOffset, size_t bytes,
                              RemoteAction remoteAction = {}, LocalAction localAction = {}, Coop coop = {}, DescriptorSmem = {},
                              cuda::thread_scope = cuda::thread_scope_thread, cuda::thread_scope = cuda::thread_scope_device,
                              unsigned int optFlags = ncclGinOptFlagsDefault, SegmentType = {}) const {
    static_assert(symm::NcclSegment<SegmentType>::device, "windows are device memory here: leave the segment type out");
    const symm::NcclAction action = symm::nccl_action(remoteAction);
    const symm::u32 counter = symm::nccl_counter(localAction);
    const int to = ncclTeamRankToWorld(comm, team, peer);
    coop.sync();
    if (!there(coop, to) || !within(coop, dstWnd, to, dstOffset, bytes) || !within(coop, srcWnd, comm.rank, srcOffset, bytes) || !known(coop, action, counter)) return;
    const char* const src = srcWnd->local + srcOffset;
    if (near(to)) {
      copy(coop, dstWnd->lsa[lsa(to)] + dstOffset, src, bytes);
      finish(coop, to, action, counter);
    } else {
      if (coop.thread_rank() == 0) post(to, symm::kNetPut, dstWnd, (symm::u64)src, dstOffset, bytes, action, counter);
      coop.sync();
    }
  }
  template <typename T, typename RemoteAction = ncclGin_None, typename LocalAction = ncclGin_None, typename Coop = ncclCoopThread, typename DescriptorSmem = ncclGin_None,
            typename SegmentType = ncclGin_SegmentDevice>
  NCCL_DEVICE_INLINE void put(ncclTeam team, int peer, ncclSymPtr<T> dst, ncclSymPtr<T> src, size_t nElts, RemoteAction remoteAction = {}, LocalAction localAction = {},
                              Coop coop = {}, DescriptorSmem descriptor = {}, cuda::thread_scope given = cuda::thread_scope_thread,
                              cuda::thread_scope required = cuda::thread_scope_device, unsigned int optFlags = ncclGinOptFlagsDefault, SegmentType segment = {}) const {
    put(team, peer, dst.window, dst.offset, src.window, src.offset, nElts * sizeof(T), remoteAction, localAction, coop, descriptor, given, required, optFlags, segment);
  }

  // putValue puts a value of at most 8 bytes, which needs no memory of this rank.
  template <typename T, typename RemoteAction = ncclGin_None, typename Coop = ncclCoopThread, typename DescriptorSmem = ncclGin_None>
  NCCL_DEVICE_INLINE void putValue(ncclTeam team, int peer, ncclWindow_t dstWnd, size_t dstOffset, T value, RemoteAction remoteAction = {}, Coop coop = {}, DescriptorSmem = {},
                                   cuda::thread_scope = cuda::thread_scope_thread, cuda::thread_scope = cuda::thread_scope_device,
                                   unsigned int optFlags = ncclGinOptFlagsDefault) const {
    static_assert(sizeof(T) <= 8, "putValue puts at most 8 bytes");
    const symm::NcclAction action = symm::nccl_action(remoteAction);
    const int to = ncclTeamRankToWorld(comm, team, peer);
    coop.sync();
    if (!there(coop, to) || !within(coop, dstWnd, to, dstOffset, sizeof(T)) || !known(coop, action, symm::kNcclNoCounter)) return;
    if (near(to)) {
      if (coop.thread_rank() == 0) copy(ncclCoopThread(), dstWnd->lsa[lsa(to)] + dstOffset, (const char*)&value, sizeof(T));
      finish(coop, to, action, symm::kNcclNoCounter);
    } else {
      if (coop.thread_rank() == 0) {
        symm::Bits8<T> bits;
        bits.value = value;
        post(to, symm::kNetValue, dstWnd, bits.word, dstOffset, sizeof(T), action, symm::kNcclNoCounter);
      }
      coop.sync();
    }
  }
  template <typename T, typename RemoteAction = ncclGin_None, typename Coop = ncclCoopThread, typename DescriptorSmem = ncclGin_None>
  NCCL_DEVICE_INLINE void putValue(ncclTeam team, int peer, ncclSymPtr<T> dst, T value, RemoteAction remoteAction = {}, Coop coop = {}, DescriptorSmem descriptor = {},
                                   cuda::thread_scope given = cuda::thread_scope_thread, cuda::thread_scope required = cuda::thread_scope_device,
                                   unsigned int optFlags = ncclGinOptFlagsDefault) const {
    putValue(team, peer, dst.window, dst.offset, value, remoteAction, coop, descriptor, given, required, optFlags);
  }

  // signal changes a signal of a peer.
  template <typename RemoteAction, typename Coop = ncclCoopThread, typename DescriptorSmem = ncclGin_None>
  NCCL_DEVICE_INLINE void signal(ncclTeam team, int peer, RemoteAction remoteAction, Coop coop = {}, DescriptorSmem = {}, cuda::thread_scope = cuda::thread_scope_thread,
                                 cuda::thread_scope = cuda::thread_scope_device, unsigned int optFlags = ncclGinOptFlagsDefault) const {
    raise(team, peer, symm::nccl_action(remoteAction), coop);
  }

  // get copies bytes of a peer's part of a window; they have arrived after flush.
  template <typename Coop = ncclCoopThread, typename DescriptorSmem = ncclGin_None, typename SegmentType = ncclGin_SegmentDevice>
  NCCL_DEVICE_INLINE void get(ncclTeam team, int peer, ncclWindow_t remoteWnd, size_t remoteOffset, ncclWindow_t localWnd, size_t localOffset, size_t bytes, Coop coop = {},
                              DescriptorSmem = {}, unsigned int optFlags = ncclGinOptFlagsDefault, SegmentType = {}) const {
    static_assert(symm::NcclSegment<SegmentType>::device, "windows are device memory here: leave the segment type out");
    const int from = ncclTeamRankToWorld(comm, team, peer);
    coop.sync();
    if (!there(coop, from) || !within(coop, remoteWnd, from, remoteOffset, bytes) || !within(coop, localWnd, comm.rank, localOffset, bytes)) return;
    char* const dst = localWnd->local + localOffset;
    if (near(from)) copy(coop, dst, remoteWnd->lsa[lsa(from)] + remoteOffset, bytes);
    else if (coop.thread_rank() == 0) post(from, symm::kNetGet, remoteWnd, (symm::u64)dst, remoteOffset, bytes, symm::NcclAction(), symm::kNcclNoCounter);
    coop.sync();
  }

  // flush waits until the sources of the coop's puts may be overwritten, and the data of its gets
  // has arrived. It says nothing about the peers.
  template <typename Coop, typename DescriptorSmem = ncclGin_None>
  NCCL_DEVICE_INLINE void flush(Coop coop, cuda::memory_order = cuda::memory_order_acquire, DescriptorSmem = {}) const { drain(coop, posted(), false, 0); }
  template <typename Coop, typename DescriptorSmem = ncclGin_None>
  NCCL_DEVICE_INLINE ncclResult_t flush(Coop coop, cuda::memory_order, DescriptorSmem, unsigned long long timeoutCycles) const { return drain(coop, posted(), true, timeoutCycles); }
  // flushAsync begins a flush, and wait ends it.
  template <typename Coop = ncclCoopThread, typename DescriptorSmem = ncclGin_None>
  NCCL_DEVICE_INLINE void flushAsync(ncclTeam, unsigned int peer, ncclGinRequest_t* outRequest, Coop coop = {}, unsigned int optFlags = ncclGinOptFlagsDefault, DescriptorSmem = {}) const {
    coop.sync();
    outRequest->opaque[0] = posted();
  }
  template <typename Coop = ncclCoopThread, typename DescriptorSmem = ncclGin_None>
  NCCL_DEVICE_INLINE void wait(ncclGinRequest_t& request, Coop coop = {}, DescriptorSmem = {}, cuda::memory_order = cuda::memory_order_acquire) const {
    drain(coop, request.opaque[0], false, 0);
  }

  NCCL_DEVICE_INLINE unsigned long long readSignal(ncclGinSignal_t signal, int bits = 64, cuda::memory_order = cuda::memory_order_acquire) const {
    if (!known(ncclCoopThread(), symm::NcclAction{1, signal}, symm::kNcclNoCounter)) return 0;
    first(signal);
    return value(signal) & ~0ull >> (64 - bits);
  }
  NCCL_DEVICE_INLINE unsigned long long readSignal(ncclWindow_t w, size_t offset, int bits = 64, cuda::memory_order = cuda::memory_order_acquire) const {
    return symm::load_acquire((const symm::u64*)(w->local + offset)) & ~0ull >> (64 - bits);
  }
  NCCL_DEVICE_INLINE unsigned long long readCounter(ncclGinCounter_t counter, int bits = 56, cuda::memory_order = cuda::memory_order_acquire) const {
    if (!known(ncclCoopThread(), symm::NcclAction(), counter)) return 0;
    return count(counter) & ~0ull >> (64 - bits);
  }

  // The waits return when the value is not below least, by NCCL's comparison (nccl_reached).
  template <typename Coop>
  NCCL_DEVICE_INLINE void waitSignal(Coop coop, ncclGinSignal_t signal, unsigned long long least, int bits = 64, cuda::memory_order = cuda::memory_order_acquire) const {
    awaitSignal(coop, signal, least, bits, false, 0);
  }
  template <typename Coop>
  NCCL_DEVICE_INLINE ncclResult_t waitSignal(Coop coop, ncclGinSignal_t signal, unsigned long long least, int bits, cuda::memory_order, unsigned long long timeoutCycles) const {
    return awaitSignal(coop, signal, least, bits, true, timeoutCycles);
  }
  template <typename Coop>
  NCCL_DEVICE_INLINE void waitSignal(Coop coop, ncclWindow_t w, size_t offset, unsigned long long least, int bits = 64, cuda::memory_order = cuda::memory_order_acquire) const {
    const symm::u64* const word = (const symm::u64*)(w->local + offset);
    await(coop, symm::kGinSignal, (symm::u32)(offset / 8), least, bits, false, 0, [=] { return symm::load_acquire(word); });
  }
  template <typename Coop>
  NCCL_DEVICE_INLINE void waitCounter(Coop coop, ncclGinCounter_t counter, unsigned long long least, int bits = 56, cuda::memory_order = cuda::memory_order_acquire) const {
    awaitCounter(coop, counter, least, bits, false, 0);
  }
  template <typename Coop>
  NCCL_DEVICE_INLINE ncclResult_t waitCounter(Coop coop, ncclGinCounter_t counter, unsigned long long least, int bits, cuda::memory_order, unsigned long long timeoutCycles) const {
    return awaitCounter(coop, counter, least, bits, true, timeoutCycles);
  }

  // A shadow is a word for the kernels of this rank, beside the signal.
  NCCL_DEVICE_INLINE unsigned long long* getSignalShadowPtr(ncclGinSignal_t signal) const { return words(comm.lsaRank) + 3 * comm.ginWords + signal; }
  NCCL_DEVICE_INLINE void increaseSignalShadow(ncclGinSignal_t signal, unsigned long long delta) const { *getSignalShadowPtr(signal) += delta; }
  template <typename Coop>
  NCCL_DEVICE_INLINE void waitSignalMeetShadow(Coop coop, ncclGinSignal_t signal, int bits = 64, cuda::memory_order order = cuda::memory_order_acquire) const {
    coop.sync();
    waitSignal(coop, signal, *getSignalShadowPtr(signal), bits, order);
  }
  // waitSignalFollowShadow waits until the signal is leastDelta beyond its shadow, which it sets to
  // the signal.
  template <typename Coop, typename Uint>
  NCCL_DEVICE_INLINE void waitSignalFollowShadow(Coop coop, ncclGinSignal_t signal, Uint leastDelta, Uint* before, Uint* delta, int bits = 64,
                                                 cuda::memory_order order = cuda::memory_order_acquire) const {
    coop.sync();
    const unsigned long long was = *getSignalShadowPtr(signal);
    waitSignal(coop, signal, was + leastDelta, bits, order);
    unsigned long long now = coop.thread_rank() == 0 ? value(signal) : 0;
    now = ncclCoopBcast(coop, now, 0);
    if (coop.thread_rank() == 0) *getSignalShadowPtr(signal) = now;
    coop.sync();
    *before = (Uint)was;
    *delta = (Uint)(now - was);
  }
  NCCL_DEVICE_INLINE void resetCounter(ncclGinCounter_t counter) const {
    if (known(ncclCoopThread(), symm::NcclAction(), counter)) counters()[comm.ginCounterCount + counter] += count(counter);
  }
  NCCL_DEVICE_INLINE void resetSignal(ncclGinSignal_t signal) const {
    if (!known(ncclCoopThread(), symm::NcclAction{1, signal}, symm::kNcclNoCounter)) return;
    words(comm.lsaRank)[2 * comm.ginWords + signal] += value(signal);
    *getSignalShadowPtr(signal) = 0;
  }
  NCCL_DEVICE_INLINE void resetSignal(ncclWindow_t w, size_t offset) const { symm::store_relaxed((symm::u64*)(w->local + offset), 0); }

  // raise changes a signal of a peer, as the action describes.
  template <typename Coop>
  NCCL_DEVICE_INLINE void raise(ncclTeam team, int peer, symm::NcclAction action, Coop coop) const {
    const int to = ncclTeamRankToWorld(comm, team, peer);
    coop.sync();
    if (!there(coop, to) || !known(coop, action, symm::kNcclNoCounter)) return;
    if (coop.thread_rank() == 0) {
      if (near(to)) complete(to, action, symm::kNcclNoCounter);
      else post(to, symm::kNetPut, comm.resourceWindow, 0, 0, 0, action, symm::kNcclNoCounter);
    }
    coop.sync();
  }
  // awaitSignal is waitSignal with a result.
  template <typename Coop>
  NCCL_DEVICE_INLINE ncclResult_t awaitSignal(Coop coop, ncclGinSignal_t signal, unsigned long long least, int bits, bool timed, unsigned long long cycles) const {
    if (!known(coop, symm::NcclAction{1, signal}, symm::kNcclNoCounter)) return ncclInvalidArgument;
    counts(coop, signal);
    const ncclResult_t result = await(coop, symm::kGinSignal, signal, least, bits, timed, cycles, [&] { return value(signal); });
    counts(coop, signal);
    return result;
  }

 private:
  NCCL_DEVICE_INLINE int lsa(int rank) const { return comm.lsaRank + rank - comm.rank; }
  NCCL_DEVICE_INLINE bool near(int rank) const { return (unsigned int)lsa(rank) < (unsigned int)comm.lsaSize; }
  // words returns the context's words: signals added by ranks on this host, signals added by the
  // network, the values from which resetSignal counts, shadows; then counters.
  NCCL_DEVICE_INLINE symm::u64* words(int lsa) const {
    return (symm::u64*)(comm.resourceWindow->lsa[lsa] + ncclGetResourceBufferOffset(comm.ginBase)) + (size_t)contextId * (4 * comm.ginWords + 2 * comm.ginCounterCount);
  }
  NCCL_DEVICE_INLINE symm::u64* counters() const { return words(comm.lsaRank) + 4 * comm.ginWords; }
  NCCL_DEVICE_INLINE symm::u64 value(ncclGinSignal_t s) const {
    const symm::u64* const w = words(comm.lsaRank) + s;
    return symm::load_acquire(w) + symm::load_acquire(w + comm.ginWords) - w[2 * comm.ginWords];
  }
  // first reports to the sanitizer that a thread reads a signal's value, from which it may count;
  // counts reports that the thread waits, or has waited, for a count.
  NCCL_DEVICE_INLINE void first(ncclGinSignal_t s) const {
#ifdef SYMM_SANITIZE
    symm_cpu_first(words(comm.lsaRank) + s);
    symm_cpu_first(words(comm.lsaRank) + s + comm.ginWords);
#endif
  }
  template <typename Coop> NCCL_DEVICE_INLINE void counts(Coop coop, ncclGinSignal_t s) const {
#ifdef SYMM_SANITIZE
    if (coop.thread_rank() != 0) return;
    symm_cpu_counts(words(comm.lsaRank) + s);
    symm_cpu_counts(words(comm.lsaRank) + s + comm.ginWords);
#endif
  }
  // counterWord returns the index of the word in which the network counts, beside the counter.
  NCCL_DEVICE_INLINE symm::u32 counterWord(ncclGinCounter_t c) const { return comm.ginCounterWords + contextId * (symm::u32)comm.ginCounterCount + c; }
  NCCL_DEVICE_INLINE symm::u64 count(ncclGinCounter_t c) const {
    const symm::u64 far = comm.net ? symm::load_acquire(comm.net->port.signals + counterWord(c)) : 0;
    return symm::load_acquire(counters() + c) + far - counters()[comm.ginCounterCount + c];
  }

  NCCL_DEVICE_INLINE void refuse(symm::u32 what, int peer, symm::u64 value, symm::u64 limit) const {
    symm::nccl_refuse(comm.context.watch, comm.rank, what, comm.context.ordinal, peer, value, limit);
  }
  // there, within and known refuse ranks, places, signals and counters that do not exist, by the
  // coop's first thread.
  template <typename Coop> NCCL_DEVICE_INLINE bool there(Coop coop, int rank) const {
    const bool on = comm.ginContextCount != 0 && (near(rank) || comm.net), ok = on && (unsigned int)rank < (unsigned int)comm.nRanks;
    if (!ok && coop.thread_rank() == 0) refuse(on || comm.ginContextCount != 0 && (unsigned int)rank >= (unsigned int)comm.nRanks ? symm::kNcclRank : symm::kNcclGin, rank, (symm::u64)(symm::i64)rank, (symm::u64)comm.nRanks);
    return ok;
  }
  template <typename Coop> NCCL_DEVICE_INLINE bool within(Coop coop, ncclWindow_t w, int rank, size_t offset, size_t bytes) const {
    const bool ok = bytes <= w->bytes && offset <= w->bytes - bytes;
    if (!ok && coop.thread_rank() == 0) refuse(symm::kNcclBytes, rank, offset + bytes, w->bytes);
    return ok;
  }
  template <typename Coop> NCCL_DEVICE_INLINE bool known(Coop coop, symm::NcclAction const& a, symm::u32 counter) const {
    if (a.kind == 1 && a.id >= comm.ginWords) {
      if (coop.thread_rank() == 0) refuse(symm::kNcclSignal, comm.rank, a.id, (symm::u64)comm.ginSignalCount);
      return false;
    }
    if (a.kind == 2 && !within(coop, a.window, comm.rank, a.offset, 8)) return false;
    if (counter != symm::kNcclNoCounter && counter >= (symm::u32)comm.ginCounterCount) {
      if (coop.thread_rank() == 0) refuse(symm::kNcclCounter, comm.rank, counter, (symm::u64)comm.ginCounterCount);
      return false;
    }
    return true;
  }

  template <typename Coop> NCCL_DEVICE_INLINE static void copy(Coop coop, char* dst, const char* src, size_t n) {
    size_t done = 0;
    if ((((symm::u64)dst | (symm::u64)src) & 15) == 0) {
      done = n & ~(size_t)15;
      for (size_t i = coop.thread_rank() * (size_t)16; i < done; i += coop.size() * (size_t)16) *(symm::u128*)(dst + i) = *(const symm::u128*)(src + i);
    }
    for (size_t i = done + coop.thread_rank(); i < n; i += coop.size()) dst[i] = src[i];
  }
  // finish ends a copy: the coop has copied, and its first thread signals and counts.
  template <typename Coop> NCCL_DEVICE_INLINE void finish(Coop coop, int to, symm::NcclAction const& a, symm::u32 counter) const {
    coop.sync();
    if (a.kind == 0 && counter == symm::kNcclNoCounter) return;
    if (coop.thread_rank() == 0) complete(to, a, counter);
    coop.sync();
  }
  NCCL_DEVICE_INLINE void complete(int to, symm::NcclAction const& a, symm::u32 counter) const {
    symm::fence();
    if (a.kind == 1) atomicAdd_system(words(lsa(to)) + a.id, a.add);
    else if (a.kind == 2) atomicAdd_system((symm::u64*)(a.window->lsa[lsa(to)] + a.offset), a.add);
    if (counter != symm::kNcclNoCounter) atomicAdd_system(counters() + counter, 1ull);
  }
  // post posts an operation for a rank on another host; local is the address of this rank's data,
  // or the value itself.
  __device__ SYMM_APART_TEMPLATE void post(int to, symm::NetKind kind, ncclWindow_t w, symm::u64 local, size_t offset, size_t bytes, symm::NcclAction a, symm::u32 counter) const {
    symm::NetOp op = {};
    op.kind = kind;
    op.peer = comm.net->members[to].rank;
    op.window = w->netWindow;
    (kind == symm::kNetValue ? op.data : op.local) = local;
    op.offset = w->netStart + offset;
    op.bytes = bytes;
    op.strong = a.strong;
    op.value = a.add;
    // the resource window's words lie in its signal pad, the window after the window of its data
    if (a.kind == 1) {
      op.signal = symm::kNetAddWord;
      op.signal_window = comm.resourceWindow->netWindow + 1;
      op.signal_at = (symm::u64)((const char*)(words(comm.lsaRank) + comm.ginWords + a.id) - comm.resourceWindow->local);
    } else if (a.kind == 2) {
      op.signal = symm::kNetAddWord;
      op.signal_window = a.window->netWindow;
      op.signal_at = a.window->netStart + a.offset;
    }
    symm::post(comm.net->port, comm.context, (symm::u32)to, op, nullptr, counter == symm::kNcclNoCounter ? symm::kNetNoCounter : symm::kNetCounters + counterWord(counter));
  }

  NCCL_DEVICE_INLINE symm::u64 posted() const { return comm.net ? symm::load_relaxed(comm.net->port.posted) : 0; }
  template <typename Coop> NCCL_DEVICE_INLINE ncclResult_t drain(Coop coop, symm::u64 until, bool timed, unsigned long long cycles) const {
    if (!comm.net) {
      coop.sync();
      return ncclSuccess;
    }
    const symm::u64* const done = &comm.net->port.board->done;
    return await(coop, symm::kNetFlush, 0, until, 64, timed, cycles, [=] { return symm::load_acquire(done); });
  }
  template <typename Coop>
  NCCL_DEVICE_INLINE ncclResult_t awaitCounter(Coop coop, ncclGinCounter_t counter, unsigned long long least, int bits, bool timed, unsigned long long cycles) const {
    if (!known(coop, symm::NcclAction(), counter)) return ncclInvalidArgument;
    return await(coop, symm::kGinCounter, counter, least, bits, timed, cycles, [&] { return count(counter); });
  }
  // await lets the coop's first thread poll. It gives up like all waits, and also if a rank is
  // gone.
  template <typename Coop, typename Read>
  NCCL_DEVICE_INLINE ncclResult_t await(Coop coop, symm::u32 kind, symm::u32 id, symm::u64 least, int bits, bool timed, unsigned long long cycles, Read read) const {
    ncclResult_t result = ncclSuccess;
    coop.sync();
    if (coop.thread_rank() == 0) {
      symm::Patience patience;
      symm::Wait w{kind, (symm::u32)comm.rank, id, least};
      const long long began = timed ? clock64() : 0;
      for (symm::u64 seen; !symm::nccl_reached(least, seen = read(), bits);) {
        if (timed && (unsigned long long)(clock64() - began) >= cycles) {
          result = ncclTimeout;
          break;
        }
        if (patience.expired(comm.context, w, seen)) {
          result = ncclRemoteError;
          break;
        }
        const int gone = comm.net && patience.looked() ? symm::lost_of(*comm.net, comm.context, symm::kAnyMember) : -1;
        if (gone >= 0 && !symm::nccl_reached(least, read(), bits)) {
          w.peer = (symm::u32)gone;
          patience.lose(comm.context, w, seen);
          result = ncclRemoteError;
          break;
        }
      }
      if (result != ncclRemoteError) patience.satisfied(comm.context);
    }
    const bool ok = symm::nccl_all(coop, result == ncclSuccess);
    return ok || result != ncclSuccess ? result : timed ? ncclTimeout : ncclRemoteError;
  }
};

// ncclGin is a context with any of NCCL's back ends, and ncclGin_BackendOne a context with a
// certain back end. Here all back ends are the same.
using ncclGin = ncclGin_BackendMask<~0u>;
template <ncclNetDeviceType backend> using ncclGin_BackendOne = ncclGin_BackendMask<1u << (unsigned int)backend>;

// ncclGinAllContexts replaces an ncclGin if a barrier's fence is to cover all contexts; here they
// share one order.
struct ncclGinAllContexts {
  ncclDevComm const& comm;
  NCCL_DEVICE_INLINE constexpr ncclGinAllContexts(ncclDevComm const& comm) : comm(comm) {}
  NCCL_DEVICE_INLINE operator ncclGin() const { return ncclGin(comm, 0); }
};
