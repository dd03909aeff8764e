// nccl/missing.h: names of NCCL that are missing here, and names that appear on slides but not in
// NCCL. Using one is a compile error that names the replacement.
#pragma once
#include "nccl/pointer.h"

namespace symm {
template <class...> struct NcclNever { static constexpr bool value = false; };
// NcclNothing converts to everything, so that the compiler reports only the call of the missing
// function.
struct NcclNothing {
  template <class T> __device__ operator T() const { return T(); }
};
}  // namespace symm

// SYMM_NCCL_MISSING(name, why) is a function that cannot be used.
#define SYMM_NCCL_MISSING(name, why) \
  /* why */ template <class... T> __device__ inline symm::NcclNothing name(T...) { static_assert(symm::NcclNever<T...>::value, why); return {}; }

SYMM_NCCL_MISSING(multimem_reduce_sum, "multimem_reduce_sum is no function of NCCL's: use ncclMultimemReduceSum, or symm::multimem_sum(p) with p of ncclGetLsaMultimemPointer(window, offset, devComm); without multicast, ncclLsaReduceSum")
SYMM_NCCL_MISSING(multimem_store, "multimem_store is no function of NCCL's: use ncclMultimemCopy, or symm::multimem_store(p, value) with p of ncclGetLsaMultimemPointer(window, offset, devComm); without multicast, ncclLsaCopy")
SYMM_NCCL_MISSING(ncclFindWindow, "ncclFindWindow is not here: give the kernel the window that symm.Window(t) returned")
SYMM_NCCL_MISSING(ncclDevCommCreate, "ncclDevCommCreate is called by the host: dc := symm.DevComm(symm.DevReqs{LsaBarriers: 16}), and give dc to Launch")
SYMM_NCCL_MISSING(ncclDevCommDestroy, "ncclDevCommDestroy is called by the host: dc.Free()")
SYMM_NCCL_MISSING(ncclCommWindowRegister, "ncclCommWindowRegister is called by the host: w := symm.Window(t), and give w to Launch")
SYMM_NCCL_MISSING(ncclDevCommCanGetPeerPointer, "ncclDevCommCanGetPeerPointer is not here: a peer has a pointer if ncclTeamRankIsMember(ncclTeamLsa(comm), ncclTeamWorld(comm), peer)")
#undef SYMM_NCCL_MISSING

// CFT needs later GPUs.
template <class Coop>
struct ncclCftBarrierSession {
  static_assert(symm::NcclNever<Coop>::value, "CFT is not here: use ncclLsaBarrierSession and pointers inside a host, ncclGin between hosts");
  template <class... T> __device__ ncclCftBarrierSession(Coop, T...) {}
};

// Internal: these overloads catch a common mistake: the functions that return a pointer take the
// window first.
template <class Peer> __device__ inline void* ncclGetPeerPointer(ncclDevComm const&, size_t, Peer) {
  static_assert(symm::NcclNever<Peer>::value, "ncclGetPeerPointer takes the window, not the communicator, first: ncclGetPeerPointer(window, offset, peer)");
  return nullptr;
}
template <class Peer> __device__ inline void* ncclGetLsaPointer(ncclDevComm const&, size_t, Peer) {
  static_assert(symm::NcclNever<Peer>::value, "ncclGetLsaPointer takes the window, not the communicator, first: ncclGetLsaPointer(window, offset, lsaPeer)");
  return nullptr;
}
