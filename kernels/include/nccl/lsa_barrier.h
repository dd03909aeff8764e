// nccl/lsa_barrier.h: the barrier of the ranks that load from and store to each other's memory.
//
// The protocol. A handle has, in the resource window of every rank, 2 nBarriers epochs and behind them 2 nBarriers x lsaSize
// arrivals: one set for sessions with multimem and one for those without, which may be under way at the same time. A session
// loads the rank's epoch and stores it again when it ends. Arriving stores epoch + 1 among the arrivals of each peer; waiting
// polls the own ones. They are never reset while ranks run.
#pragma once
#include "nccl/pointer.h"

namespace symm {

// nccl_came tells whether a word has come to a count.
__device__ __forceinline__ bool nccl_came(const u32* word, u32 count, bool acquires) {
  return (int)((acquires ? load_acquire(word) : load_relaxed(word)) - count) >= 0;
}

// nccl_await waits until a word has come to w.want. It is a call, so that kernels do not fetch what only those run that have to wait.
__device__ __noinline__ inline ncclResult_t nccl_await(Context c, Wait w, const u32* word, bool acquires, bool timed, unsigned long long cycles) {
  const long long began = timed ? clock64() : 0;
  Patience patience;
  ncclResult_t result = ncclSuccess;
  while (!nccl_came(word, (u32)w.want, acquires)) {
    if (timed && (unsigned long long)(clock64() - began) >= cycles) {
      result = ncclTimeout;
      break;
    }
    if (patience.expired(c, w, load_relaxed(word))) return ncclRemoteError;
  }
  patience.satisfied(c);
  return result;
}

}  // namespace symm

template <typename Coop>
struct ncclLsaBarrierSession {
  Coop coop;
  ncclDevComm const& comm;
  ncclTeam team;
  ncclLsaBarrierHandle handle;
  int index;           // among the handle's, with those of multimem behind the others
  unsigned int epoch;  // how often the rank had been here before
  unsigned int rounds; // of this session: counted apart, so that only those wait for the epoch who need it
  bool over;           // it was refused or gave up
  char* first;         // the resources of the peer whom this thread tells first: loaded early, beside the epoch

  NCCL_DEVICE_INLINE ncclLsaBarrierSession(Coop coop, ncclDevComm const& comm, ncclTeam team, ncclLsaBarrierHandle handle, unsigned int index,
                                           bool multimem = false, ncclMultimemHandle mmHandle = {})
      : coop(coop), comm(comm), team(team), handle(handle), index((int)index + (multimem ? handle.nBarriers : 0)), epoch(0), rounds(0), over(false), first(nullptr) {
    if (index >= (unsigned int)handle.nBarriers) {
      if (coop.thread_rank() == 0) symm::nccl_refuse(comm.context.watch, comm.rank, symm::kNcclBarrier, comm.context.ordinal, comm.rank, index, (symm::u64)handle.nBarriers);
      over = true;
      return;
    }
    epoch = *words(comm.resources);
    if (coop.thread_rank() < team.nRanks - 1) first = resources(coop.thread_rank());
  }
  NCCL_DEVICE_INLINE ncclLsaBarrierSession(Coop coop, ncclDevComm const& comm, ncclTeamTagLsa, unsigned int index, bool multimem = false)
      : ncclLsaBarrierSession(coop, comm, ncclTeamLsa(comm), comm.lsaBarrier, index, multimem) {}
  NCCL_DEVICE_INLINE ncclLsaBarrierSession(Coop coop, ncclDevComm const& comm, symm::NcclAbsent)
      : coop(coop), comm(comm), team(), handle(), index(0), epoch(0), rounds(0), over(true), first(nullptr) {}
  ncclLsaBarrierSession(ncclLsaBarrierSession const&) = delete;
  NCCL_DEVICE_INLINE ~ncclLsaBarrierSession() {
    if (!over && coop.thread_rank() == 0) *words(comm.resources) = epoch + rounds;
    coop.sync();
  }

  // arrive tells the peers. With an order that releases, what the coop wrote before is visible to whoever acquires in wait.
  NCCL_DEVICE_INLINE void arrive(Coop, cuda::memory_order order) {
    coop.sync();
    if (over || coop.thread_rank() >= team.nRanks - 1) return;
    if (symm::releases(order)) symm::fence();
    symm::store_relaxed(inbox(first, team.rank), epoch + rounds + 1);
    for (int i = coop.thread_rank() + coop.size(); i < team.nRanks - 1; i += coop.size()) symm::store_relaxed(inbox(resources(i), team.rank), epoch + rounds + 1);
  }
  NCCL_DEVICE_INLINE void wait(Coop, cuda::memory_order order) { await(order, false, 0); }
  NCCL_DEVICE_INLINE void sync(Coop c, cuda::memory_order order) {
    arrive(c, order);
    wait(c, order);
  }
  // With a timeout, in cycles of clock64, they return ncclTimeout when it is over; that is no fault of the launch.
  NCCL_DEVICE_INLINE ncclResult_t wait(Coop, cuda::memory_order order, unsigned long long timeoutCycles) { return await(order, true, timeoutCycles); }
  NCCL_DEVICE_INLINE ncclResult_t sync(Coop c, cuda::memory_order order, unsigned long long timeoutCycles) {
    arrive(c, order);
    return wait(c, order, timeoutCycles);
  }

 private:
  // words begins with the epoch of this barrier in a rank's part of the resource window.
  NCCL_DEVICE_INLINE symm::u32* words(const char* part) const { return (symm::u32*)(part + ncclGetResourceBufferOffset(handle.bufHandle)) + index; }
  // inbox is where a rank finds in its memory that another has arrived.
  NCCL_DEVICE_INLINE symm::u32* inbox(const char* part, int from) const { return words(part) - index + 2 * handle.nBarriers + index * comm.lsaSize + from; }

  // peer is the number in the team of the i-th of the others.
  NCCL_DEVICE_INLINE int peer(int i) const { return i + (i >= team.rank); }
  // resources is that one's part of the resource window.
  NCCL_DEVICE_INLINE char* resources(int i) const { return comm.resourceWindow->lsa[ncclTeamRankToLsa(comm, team, peer(i))]; }

  NCCL_DEVICE_INLINE ncclResult_t await(cuda::memory_order order, bool timed, unsigned long long cycles) {
    if (over) {
      coop.sync();
      return ncclRemoteError;
    }
    ncclResult_t result = ncclSuccess;
    for (int i = coop.thread_rank(); i < team.nRanks - 1 && result == ncclSuccess; i += coop.size()) {
      const symm::u32* const word = inbox(comm.resources, peer(i));
      const bool acquires = symm::acquires(order);
      if (symm::nccl_came(word, epoch + rounds + 1, acquires)) continue;
      const symm::Wait w{symm::kLsaBarrier, (symm::u32)ncclTeamRankToWorld(comm, team, peer(i)), (symm::u32)(index - (index < handle.nBarriers ? 0 : handle.nBarriers)), epoch + rounds + 1};
      result = symm::nccl_await(comm.context, w, word, acquires, timed, cycles);
    }
    rounds++;
    if (symm::nccl_all(coop, result == ncclSuccess)) return result;
    over = over || !timed;
    return result != ncclSuccess ? result : timed ? ncclTimeout : ncclRemoteError;
  }
};
