// nccl/lsa_barrier.h: the barrier of the ranks that load from and store to each other's memory.
//
// The protocol. A handle has, in the resource window of every rank, 2 nBarriers epochs and behind them 2 nBarriers x lsaSize
// arrivals: one set for sessions with multimem and one for those without, which may be under way at the same time. A session
// loads the rank's epoch and stores it again when it ends. Arriving stores epoch + 1 among the arrivals of each peer; waiting
// polls the own ones. They are never reset while ranks run.
#pragma once
#include "nccl/pointer.h"

template <typename Coop>
struct ncclLsaBarrierSession {
  Coop coop;
  ncclDevComm const& comm;
  ncclTeam team;
  ncclLsaBarrierHandle handle;
  int index;           // among the handle's, with those of multimem behind the others
  unsigned int epoch;  // how often the rank was here
  bool over;           // it was refused or gave up

  NCCL_DEVICE_INLINE ncclLsaBarrierSession(Coop coop, ncclDevComm const& comm, ncclTeam team, ncclLsaBarrierHandle handle, unsigned int index,
                                           bool multimem = false, ncclMultimemHandle mmHandle = {})
      : coop(coop), comm(comm), team(team), handle(handle), index((int)index + (multimem ? handle.nBarriers : 0)), epoch(0), over(false) {
    if (index >= (unsigned int)handle.nBarriers) {
      if (coop.thread_rank() == 0) symm::nccl_refuse(comm.context.watch, comm.rank, symm::kNcclBarrier, comm.context.ordinal, comm.rank, index, (symm::u64)handle.nBarriers);
      over = true;
      return;
    }
    epoch = *words(comm.lsaRank);
  }
  NCCL_DEVICE_INLINE ncclLsaBarrierSession(Coop coop, ncclDevComm const& comm, ncclTeamTagLsa, unsigned int index, bool multimem = false)
      : ncclLsaBarrierSession(coop, comm, ncclTeamLsa(comm), comm.lsaBarrier, index, multimem) {}
  NCCL_DEVICE_INLINE ncclLsaBarrierSession(Coop coop, ncclDevComm const& comm, symm::NcclAbsent)
      : coop(coop), comm(comm), team(), handle(), index(0), epoch(0), over(true) {}
  ncclLsaBarrierSession(ncclLsaBarrierSession const&) = delete;
  NCCL_DEVICE_INLINE ~ncclLsaBarrierSession() {
    if (!over && coop.thread_rank() == 0) *words(comm.lsaRank) = epoch;
    coop.sync();
  }

  // arrive tells the peers. With an order that releases, what the coop wrote before is visible to whoever acquires in wait.
  NCCL_DEVICE_INLINE void arrive(Coop, cuda::memory_order order) {
    coop.sync();
    if (over || coop.thread_rank() >= team.nRanks) return;
    if (team.nRanks > 1 && symm::releases(order)) symm::fence();
    for (int i = coop.thread_rank(); i < team.nRanks; i += coop.size())
      if (i != team.rank) symm::store_relaxed(inbox(ncclTeamRankToLsa(comm, team, i), team.rank), epoch + 1);
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
  // words begins with the epoch of this barrier in a rank's memory.
  NCCL_DEVICE_INLINE symm::u32* words(int lsa) const { return (symm::u32*)(comm.resourceWindow->lsa[lsa] + ncclGetResourceBufferOffset(handle.bufHandle)) + index; }
  NCCL_DEVICE_INLINE symm::u32* inbox(int owner, int from) const { return words(owner) - index + 2 * handle.nBarriers + index * comm.lsaSize + from; }

  NCCL_DEVICE_INLINE ncclResult_t await(cuda::memory_order order, bool timed, unsigned long long cycles) {
    if (over) {
      coop.sync();
      return ncclRemoteError;
    }
    const long long began = timed ? clock64() : 0;
    ncclResult_t result = ncclSuccess;
    for (int i = coop.thread_rank(); i < team.nRanks && result == ncclSuccess; i += coop.size()) {
      if (i == team.rank) continue;
      const symm::u32* const word = inbox(comm.lsaRank, i);
      const symm::Wait w{symm::kLsaBarrier, (symm::u32)ncclTeamRankToWorld(comm, team, i), (symm::u32)(index % handle.nBarriers), epoch + 1};
      symm::Patience patience;
      symm::u32 seen;
      while ((int)((seen = symm::acquires(order) ? symm::load_acquire(word) : symm::load_relaxed(word)) - (epoch + 1)) < 0) {
        if (timed && (unsigned long long)(clock64() - began) >= cycles) {
          result = ncclTimeout;
          break;
        }
        if (patience.expired(comm.context, w, seen)) {
          result = ncclRemoteError;
          break;
        }
      }
      if (result != ncclRemoteError) patience.satisfied(comm.context);
    }
    epoch++;
    if (symm::nccl_all(coop, result == ncclSuccess)) return result;
    over = over || !timed;
    return result != ncclSuccess ? result : timed ? ncclTimeout : ncclRemoteError;
  }
};
