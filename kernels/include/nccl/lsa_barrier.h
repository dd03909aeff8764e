// nccl/lsa_barrier.h: the barrier between ranks that load from and store to each other's memory.
//
// The protocol. In the resource window of every rank a handle has 2 nBarriers epochs and behind
// them 2 nBarriers x lsaSize arrivals: one set for sessions with multimem and one for sessions
// without, which may be under way at the same time. A session loads the rank's epoch, and stores it
// after every wait. arrive stores epoch + 1 among the arrivals of each peer; wait polls the
// arrivals of its own rank. These words are never reset while ranks run.
//
// A session is refused if the index does not exist, or if the team has members outside the LSA
// team. If a wait without timeout is refused or gives up, the kernel ends there for all threads of
// the coop, as by symm::leave.
#pragma once
#include "nccl/pointer.h"

namespace symm {

// nccl_comes polls a word, at most the given number of times, and reports whether it has reached a
// count.
__device__ __forceinline__ bool nccl_comes(const u32* word, u32 count, bool acquires, int polls) {
#pragma unroll 1
  do
    if ((int)((acquires ? load_acquire(word) : load_relaxed(word)) - count) >= 0) return true;
  while (--polls > 0);
  return false;
}

// nccl_await waits until a word has reached w.want. It is not inlined, so that a kernel with short
// waits does not fetch its instructions.
__device__ __noinline__ inline ncclResult_t nccl_await(Context c, Wait w, const u32* word, bool acquires, bool timed, unsigned long long cycles) {
  const long long began = timed ? clock64() : 0;
  Patience patience;
  ncclResult_t result = ncclSuccess;
  for (u32 seen; (int)((seen = acquires ? load_acquire(word) : load_relaxed(word)) - (u32)w.want) < 0;) {
    if (timed && (unsigned long long)(clock64() - began) >= cycles) {
      result = ncclTimeout;
      break;
    }
    if (patience.expired(c, w, seen)) return ncclRemoteError;
  }
  patience.satisfied(c);
  return result;
}

}  // namespace symm

// ncclLsaBarrierSession is a barrier of a coop with the same coop of every rank of the LSA team. A
// session may be used for any number of barriers; sync is arrive and wait.
//
// Order: the order of the argument: with acq_rel, each rank sees after wait the other ranks' writes
// before arrive.
//
// Waits: for all ranks of the LSA team, in wait and sync.
//
// Cost: a kernel with two barriers takes 1.17 us on one H200 with one rank, where NCCL's takes
// 1.10, and with ten 2.08, where NCCL's takes 1.67 (docs/benchmarks.md, A kernel of NCCL's device
// API).
//
// Example:
//
//   ncclLsaBarrierSession<ncclCoopCta> bar(ncclCoopCta(), comm, ncclTeamTagLsa(), blockIdx.x);
//   bar.sync(ncclCoopCta(), cuda::memory_order_relaxed);
//   x[threadIdx.x] = ((float*)ncclGetLsaPointer(window, 0, peer))[threadIdx.x];
//   bar.sync(ncclCoopCta(), cuda::memory_order_release);
template <typename Coop>
struct ncclLsaBarrierSession {
  Coop coop;
  ncclDevComm const& comm;
  ncclTeam team;
  ncclLsaBarrierHandle handle;
  int index;                // index among the handle's barriers; barriers with multimem lie behind the others
  const int thread;         // rank in the coop: this thread serves number thread of the other ranks, and
                            // every coop.size()-th after it
  int others;               // number of other ranks; -1 in a thread that takes no part, because the session
                            // was refused or the thread's wait gave up
  symm::u32* const count;   // the rank's count of its barriers
  unsigned int epoch;       // the value of *count when the session began
  unsigned int rounds;      // of this session: counted apart from epoch, so that only the threads that need
                            // epoch wait for its load
  char* first;              // resources of the first peer to signal: loaded early, with the epoch

  NCCL_DEVICE_INLINE ncclLsaBarrierSession(Coop coop, ncclDevComm const& comm, ncclTeam team, ncclLsaBarrierHandle handle, unsigned int index,
                                           bool multimem = false, ncclMultimemHandle mmHandle = {})
      : coop(coop), comm(comm), team(team), handle(handle), index((int)index + (multimem ? handle.nBarriers : 0)), thread(coop.thread_rank()),
        others(index < (unsigned int)handle.nBarriers && near(comm, team) ? team.nRanks - 1 : -1), count(words(comm.resources) + this->index), epoch(0), rounds(0), first(nullptr) {
    if (others >= 0) epoch = *count;
    else if (thread == 0) refuse(index);
    if (thread < others) first = resources(thread);
  }
  NCCL_DEVICE_INLINE ncclLsaBarrierSession(Coop coop, ncclDevComm const& comm, ncclTeamTagLsa, unsigned int index, bool multimem = false)
      : ncclLsaBarrierSession(coop, comm, ncclTeamLsa(comm), comm.lsaBarrier, index, multimem) {}
  NCCL_DEVICE_INLINE ncclLsaBarrierSession(Coop coop, ncclDevComm const& comm, symm::NcclAbsent)
      : coop(coop), comm(comm), team(), handle(), index(0), thread(0), others(-1), count(nullptr), epoch(0), rounds(0), first(nullptr) {}
  ncclLsaBarrierSession(ncclLsaBarrierSession const&) = delete;
  NCCL_DEVICE_INLINE ~ncclLsaBarrierSession() { coop.sync(); }

  // arrive signals the peers. With a releasing order, the coop's earlier writes are visible to the
  // threads that acquire in wait.
  NCCL_DEVICE_INLINE void arrive(Coop, cuda::memory_order order) {
    coop.sync();
    if (thread >= others) return;
    if (symm::releases(order)) symm::fence();
    symm::store_relaxed(inbox(first, team.rank), epoch + rounds + 1);
#pragma unroll 1
    for (int i = thread + coop.size(); i < others; i += coop.size()) symm::store_relaxed(inbox(resources(i), team.rank), epoch + rounds + 1);
  }
  // wait returns when the peers have arrived. If it gives up, the launch fails and wait does not
  // return.
  NCCL_DEVICE_INLINE void wait(Coop, cuda::memory_order order) {
    if (!symm::nccl_all(coop, await(order, false, 0) == ncclSuccess)) symm::leave();
  }
  NCCL_DEVICE_INLINE void sync(Coop c, cuda::memory_order order) {
    arrive(c, order);
    wait(c, order);
  }
  // With a timeout, in cycles of clock64, wait and sync return ncclTimeout when it is over; the
  // launch does not fail. Either all threads of a block or warp return ncclSuccess, or none does.
  // Threads of a ncclCoopWarpSpan or ncclCoopAny return the result of their own wait, as with NCCL.
  NCCL_DEVICE_INLINE ncclResult_t wait(Coop, cuda::memory_order order, unsigned long long timeoutCycles) {
    const ncclResult_t result = await(order, true, timeoutCycles);
    return symm::nccl_all(coop, result == ncclSuccess) || result != ncclSuccess ? result : ncclTimeout;
  }
  NCCL_DEVICE_INLINE ncclResult_t sync(Coop c, cuda::memory_order order, unsigned long long timeoutCycles) {
    arrive(c, order);
    return wait(c, order, timeoutCycles);
  }

 private:
  // kPolls is the number of polls of a wait without timeout before it checks whether to give up: a
  // poll takes a quarter of a microsecond or more.
#ifdef SYMM_CPU
  static constexpr int kPolls = 1;  // other threads run between two polls
#else
  static constexpr int kPolls = 256;
#endif

  // words returns the handle's words in a rank's part of the resource window: its epochs, and
  // behind them the arrivals.
  NCCL_DEVICE_INLINE symm::u32* words(const char* part) const { return (symm::u32*)(part + ncclGetResourceBufferOffset(handle.bufHandle)); }
  // inbox returns the word, in a rank's part, that another rank sets when it arrives.
  NCCL_DEVICE_INLINE symm::u32* inbox(const char* part, int from) const { return words(part) + (2 * handle.nBarriers + index * comm.lsaSize + from); }

  // near reports whether all ranks of a team belong to the LSA team.
  NCCL_DEVICE_INLINE static bool near(ncclDevComm const& comm, ncclTeam team) {
    const int first = ncclTeamRankToLsa(comm, team, 0), last = ncclTeamRankToLsa(comm, team, team.nRanks - 1);
    return first >= 0 && last < comm.lsaSize;
  }
  // refuse reports why the session is invalid.
  NCCL_DEVICE_INLINE void refuse(unsigned int index) const {
    const bool is = index < (unsigned int)handle.nBarriers;
    symm::nccl_refuse(comm.context.watch, comm.rank, is ? symm::kNcclLsaTeam : symm::kNcclBarrier, comm.context.ordinal, comm.rank, is ? (symm::u64)team.nRanks : index,
                      is ? (symm::u64)comm.lsaSize : (symm::u64)handle.nBarriers);
  }

  // peer returns the rank in the team of the i-th other member.
  NCCL_DEVICE_INLINE int peer(int i) const { return i + (i >= team.rank); }
  // resources returns the i-th other member's part of the resource window.
  NCCL_DEVICE_INLINE char* resources(int i) const { return comm.resourceWindow->lsa[ncclTeamRankToLsa(comm, team, peer(i))]; }

  // await is the calling thread's share of a wait, before it synchronises with the coop.
  NCCL_DEVICE_INLINE ncclResult_t await(cuda::memory_order order, bool timed, unsigned long long cycles) {
    ncclResult_t result = others < 0 ? ncclRemoteError : ncclSuccess;
#pragma unroll 1
    for (int i = thread; i < others; i += coop.size()) {
      const symm::u32* const word = inbox(comm.resources, peer(i));
      const bool acquires = symm::acquires(order);
      if (symm::nccl_comes(word, epoch + rounds + 1, acquires, timed ? 1 : kPolls)) continue;
      const symm::Wait w{symm::kLsaBarrier, (symm::u32)ncclTeamRankToWorld(comm, team, peer(i)), (symm::u32)(index - (index < handle.nBarriers ? 0 : handle.nBarriers)), epoch + rounds + 1};
      result = symm::nccl_await(comm.context, w, word, acquires, timed, cycles);
      if (result == ncclRemoteError) others = -1;
      if (result != ncclSuccess) break;
    }
    rounds++;
    if (thread == 0 && others >= 0) *count = epoch + rounds;
    return result;
  }
};
