// nccl/barrier.h: barriers between ranks on several hosts.
//
// A GIN barrier has, for each index, a signal for each rank of its team: rank r raises signal r of
// every other rank, and counts in the shadows of its own signals. With Put it raises strong
// signals, so that a rank that sees them also sees the data of earlier puts; with Get it flushes. A
// hybrid barrier meets the LSA team first, and then the ranks on the same rail, one of each host.
// That says nothing about puts to other rails: with Put, all ranks signal each other instead.
//
// A session is refused if the index does not exist, or if the team has more ranks than the barriers
// of the handle. If a barrier without timeout is refused or gives up, the kernel ends there for all
// threads of the coop, as by symm::leave.
#pragma once
#include "nccl/gin.h"
#include "nccl/lsa_barrier.h"

// ncclGinFenceLevel selects the operations that a barrier covers: Put covers the caller's earlier
// puts, Get its earlier gets. None and Relaxed cover none.
enum ncclGinFenceLevel : unsigned int { None = 0, Put = 1, Get = 2, Relaxed = None };
__host__ __device__ constexpr ncclGinFenceLevel operator|(ncclGinFenceLevel a, ncclGinFenceLevel b) { return (ncclGinFenceLevel)((unsigned int)a | (unsigned int)b); }
__host__ __device__ constexpr ncclGinFenceLevel operator&(ncclGinFenceLevel a, ncclGinFenceLevel b) { return (ncclGinFenceLevel)((unsigned int)a & (unsigned int)b); }

// ncclGinBarrierSession is a barrier of a coop with the same coop of every rank of a team, through
// the network where the ranks share no memory.
//
// Order: the order of the argument of sync. With the fence level Put, the members see each other's
// earlier puts after it.
//
// Waits: for all ranks of the team, in sync.
//
// Example:
//
//   ncclGin net(comm, 0);
//   ncclGinBarrierSession<ncclCoopCta> bar(ncclCoopCta(), net, ncclTeamTagWorld(), blockIdx.x);
//   bar.sync(ncclCoopCta(), cuda::memory_order_acq_rel);
template <typename Coop>
struct ncclGinBarrierSession {
  Coop coop;
  ncclGin net;
  ncclTeam team;
  ncclGinSignal_t signal;
  bool over;

  NCCL_DEVICE_INLINE ncclGinBarrierSession(Coop coop, ncclGin net, ncclTeam team, ncclGinBarrierHandle handle, unsigned int index)
      : coop(coop), net(net), team(team), signal(handle.signal0 + index * (unsigned int)team.nRanks), over(index >= (unsigned int)handle.nBarriers || team.nRanks > members(net.comm, handle)) {
    if (over && coop.thread_rank() == 0) refuse(handle, index);
  }
  NCCL_DEVICE_INLINE ncclGinBarrierSession(Coop coop, ncclGin net, ncclTeamTagWorld, unsigned int index)
      : ncclGinBarrierSession(coop, net, ncclTeamWorld(net.comm), net.comm.worldGinBarrier, index) {}
  NCCL_DEVICE_INLINE ncclGinBarrierSession(Coop coop, ncclGin net, ncclTeamTagRail, unsigned int index)
      : ncclGinBarrierSession(coop, net, ncclTeamRail(net.comm), net.comm.railGinBarrier, index) {}
  NCCL_DEVICE_INLINE ncclGinBarrierSession(Coop coop, ncclGinAllContexts all, ncclTeam team, ncclGinBarrierHandle handle, unsigned int index)
      : ncclGinBarrierSession(coop, ncclGin(all.comm, 0), team, handle, index) {}
  NCCL_DEVICE_INLINE ncclGinBarrierSession(Coop coop, ncclGinAllContexts all, ncclTeamTagWorld tag, unsigned int index) : ncclGinBarrierSession(coop, ncclGin(all.comm, 0), tag, index) {}
  NCCL_DEVICE_INLINE ncclGinBarrierSession(Coop coop, ncclGinAllContexts all, ncclTeamTagRail tag, unsigned int index) : ncclGinBarrierSession(coop, ncclGin(all.comm, 0), tag, index) {}
  NCCL_DEVICE_INLINE ncclGinBarrierSession(Coop coop, ncclDevComm const& comm, symm::NcclAbsent absent) : coop(coop), net(comm, absent), team(), signal(0), over(true) {}
  ncclGinBarrierSession(ncclGinBarrierSession const&) = delete;

  NCCL_DEVICE_INLINE void sync(Coop, cuda::memory_order order, ncclGinFenceLevel fence = ncclGinFenceLevel::Put | ncclGinFenceLevel::Get) {
    if (meet(order, fence, false, 0) != ncclSuccess) symm::leave();
  }
  NCCL_DEVICE_INLINE ncclResult_t sync(Coop, cuda::memory_order order, ncclGinFenceLevel fence, unsigned long long timeoutCycles) { return meet(order, fence, true, timeoutCycles); }

  NCCL_DEVICE_INLINE ncclResult_t meet(cuda::memory_order order, ncclGinFenceLevel fence, bool timed, unsigned long long cycles) {
    coop.sync();
    if (over) return ncclRemoteError;
    ncclResult_t result = ncclSuccess;
    const symm::u32 strong = (fence & ncclGinFenceLevel::Put) != 0;
    for (int i = coop.thread_rank(); i < team.nRanks; i += coop.size())
      if (i != team.rank) net.raise(team, i, symm::NcclAction{1, signal + (unsigned int)team.rank, strong, nullptr, 0, 1}, ncclCoopThread());
    for (int i = coop.thread_rank(); i < team.nRanks && result == ncclSuccess; i += coop.size())
      if (i != team.rank) result = net.awaitSignal(ncclCoopThread(), signal + i, ++*net.getSignalShadowPtr(signal + i), 64, timed, cycles);
    if (fence & ncclGinFenceLevel::Get) net.flush(coop, order);
    if (symm::nccl_all(coop, result == ncclSuccess)) return result;
    over = over || !timed;
    return result != ncclSuccess ? result : timed ? ncclTimeout : ncclRemoteError;
  }

 private:
  // members returns the number of ranks of a handle's barriers: the ranks of the rail, or all
  // ranks.
  NCCL_DEVICE_INLINE static int members(ncclDevComm const& c, ncclGinBarrierHandle handle) {
    const bool rail = handle.signal0 == c.railGinBarrier.signal0 && c.railGinBarrier.nBarriers > 0 || handle.signal0 == c.hybridRailGinBarrier.signal0 && c.hybridRailGinBarrier.nBarriers > 0;
    return rail ? c.nRanks / c.lsaSize : c.nRanks;
  }
  // refuse reports why the session is invalid.
  NCCL_DEVICE_INLINE void refuse(ncclGinBarrierHandle handle, unsigned int index) const {
    ncclDevComm const& c = net.comm;
    const bool is = index < (unsigned int)handle.nBarriers, hybrid = handle.signal0 != c.railGinBarrier.signal0;
    symm::nccl_refuse(c.context.watch, c.rank, !is ? symm::kNcclGinBarrier : hybrid ? symm::kNcclHybridTeam : symm::kNcclGinTeam, c.context.ordinal, handle.nBarriers,
                      is ? (symm::u64)team.nRanks : index, is ? (symm::u64)members(c, handle) : (symm::u64)handle.nBarriers);
  }
};

// ncclBarrierSession is a barrier of a coop with the same coop of every rank: first inside the
// hosts, then between them.
//
// Order: the order of the argument of sync, for memory inside the host, and for puts with the fence
// level Put.
//
// Waits: for all ranks, in sync.
//
// Example:
//
//   ncclGin net(comm, 0);
//   ncclBarrierSession<ncclCoopCta> bar(ncclCoopCta(), ncclTeamTagWorld(), net, blockIdx.x);
//   bar.sync(ncclCoopCta(), cuda::memory_order_acq_rel);
template <typename Coop>
struct ncclBarrierSession {
  Coop coop;
  bool inner, outer;  // which of the two barriers the session has
  ncclLsaBarrierSession<Coop> lsa;
  ncclGinBarrierSession<Coop> gin, dense;

  NCCL_DEVICE_INLINE ncclBarrierSession(Coop coop, ncclTeam innerTeam, ncclTeam outerTeam, ncclGin net, ncclLsaBarrierHandle innerBarHandle,
                                        ncclGinBarrierHandle outerBarHandle, unsigned int index, bool multimem = false, ncclMultimemHandle = {})
      : coop(coop), inner(true), outer(outerTeam.nRanks > 1), lsa(coop, net.comm, innerTeam, innerBarHandle, index, multimem), gin(coop, net, outerTeam, outerBarHandle, index),
        dense(coop, net.comm, symm::NcclAbsent()) {}
  NCCL_DEVICE_INLINE ncclBarrierSession(Coop coop, ncclTeamTagWorld, ncclGin net, unsigned int index, bool multimem = false)
      : coop(coop), inner(true), outer(net.comm.nRanks > net.comm.lsaSize), lsa(coop, net.comm, ncclTeamLsa(net.comm), net.comm.hybridLsaBarrier, index, multimem),
        gin(coop, net, ncclTeamRail(net.comm), net.comm.hybridRailGinBarrier, index), dense(coop, net, ncclTeamWorld(net.comm), net.comm.hybridWorldGinBarrier, index) {}
  NCCL_DEVICE_INLINE ncclBarrierSession(Coop coop, ncclTeamTagLsa, ncclDevComm const& comm, unsigned int index, bool multimem = false)
      : coop(coop), inner(true), outer(false), lsa(coop, comm, ncclTeamLsa(comm), comm.hybridLsaBarrier, index, multimem), gin(coop, comm, symm::NcclAbsent()),
        dense(coop, comm, symm::NcclAbsent()) {}
  NCCL_DEVICE_INLINE ncclBarrierSession(Coop coop, ncclTeamTagRail, ncclGin net, unsigned int index)
      : coop(coop), inner(false), outer(true), lsa(coop, net.comm, symm::NcclAbsent()), gin(coop, net, ncclTeamRail(net.comm), net.comm.hybridRailGinBarrier, index),
        dense(coop, net.comm, symm::NcclAbsent()) {}
  ncclBarrierSession(ncclBarrierSession const&) = delete;

  NCCL_DEVICE_INLINE ncclLsaBarrierSession<Coop>& lsaBarrier() { return lsa; }
  NCCL_DEVICE_INLINE ncclGinBarrierSession<Coop>& ginBarrier() { return gin; }
  NCCL_DEVICE_INLINE void sync(Coop c, cuda::memory_order order, ncclGinFenceLevel fence = ncclGinFenceLevel::Put | ncclGinFenceLevel::Get) {
    if (outer && far(fence).over) {  // before the first barrier
      c.sync();
      symm::leave();
    }
    if (inner) lsa.sync(c, near(order, fence));
    if (outer) far(fence).sync(c, order, fence);
  }
  NCCL_DEVICE_INLINE ncclResult_t sync(Coop c, cuda::memory_order order, ncclGinFenceLevel fence, unsigned long long timeoutCycles) {
    const ncclResult_t result = inner ? lsa.sync(c, near(order, fence), timeoutCycles) : ncclSuccess;
    return result == ncclSuccess && outer ? far(fence).sync(c, order, fence, timeoutCycles) : result;
  }

 private:
  // near returns the memory order of the inner barrier: puts inside the host are stores, so a fence
  // of puts has to publish them.
  NCCL_DEVICE_INLINE static cuda::memory_order near(cuda::memory_order order, ncclGinFenceLevel fence) {
    return fence & ncclGinFenceLevel::Put ? cuda::memory_order_acq_rel : order;
  }
  NCCL_DEVICE_INLINE ncclGinBarrierSession<Coop>& far(ncclGinFenceLevel fence) { return fence & ncclGinFenceLevel::Put && !dense.over ? dense : gin; }
};

// A barrier in one call: a session and its sync.
//
// Order: as for the sessions.
//
// Waits: for all ranks of the team.
//
// Example:
//
//   ncclBarrier(ncclCoopCta(), ncclTeamTagWorld(), ncclGin(comm, 0), blockIdx.x);
template <typename Coop, typename Net>
NCCL_DEVICE_INLINE void ncclGinBarrier(Coop coop, Net net, ncclTeam team, ncclGinBarrierHandle handle, unsigned int index, cuda::memory_order order = cuda::memory_order_acq_rel,
                                       ncclGinFenceLevel fence = ncclGinFenceLevel::Put | ncclGinFenceLevel::Get) {
  ncclGinBarrierSession<Coop>(coop, net, team, handle, index).sync(coop, order, fence);
}
template <typename Coop, typename Net, typename Tag>
NCCL_DEVICE_INLINE void ncclGinBarrier(Coop coop, Net net, Tag tag, unsigned int index, cuda::memory_order order = cuda::memory_order_acq_rel,
                                       ncclGinFenceLevel fence = ncclGinFenceLevel::Put | ncclGinFenceLevel::Get) {
  ncclGinBarrierSession<Coop>(coop, net, tag, index).sync(coop, order, fence);
}
template <typename Coop>
NCCL_DEVICE_INLINE void ncclBarrier(Coop coop, ncclTeamTagWorld tag, ncclGin net, unsigned int index, cuda::memory_order order = cuda::memory_order_acq_rel,
                                    ncclGinFenceLevel fence = ncclGinFenceLevel::Put | ncclGinFenceLevel::Get, bool multimem = false) {
  ncclBarrierSession<Coop>(coop, tag, net, index, multimem).sync(coop, order, fence);
}
template <typename Coop>
NCCL_DEVICE_INLINE void ncclBarrier(Coop coop, ncclTeamTagRail tag, ncclGin net, unsigned int index, cuda::memory_order order = cuda::memory_order_acq_rel,
                                    ncclGinFenceLevel fence = ncclGinFenceLevel::Put | ncclGinFenceLevel::Get) {
  ncclBarrierSession<Coop>(coop, tag, net, index).sync(coop, order, fence);
}
