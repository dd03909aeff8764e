// nccl/types.h: NCCL's results, teams and handles, and the communicator and windows that kernels
// get.
#pragma once
#include "cuda/atomic"
#include "symm/kernel.cuh"
#include "symm/wait.cuh"

namespace symm {
struct NetGroup;
}

// The newest version whose names these headers have; they also have the names of earlier versions.
#define NCCL_MAJOR 2
#define NCCL_MINOR 32
#define NCCL_PATCH 3
#define NCCL_VERSION(major, minor, patch) ((major) * 10000 + (minor) * 100 + (patch))
#define NCCL_VERSION_CODE NCCL_VERSION(NCCL_MAJOR, NCCL_MINOR, NCCL_PATCH)

#define NCCL_DEVICE_INLINE __device__ __forceinline__
#define NCCL_HOST_DEVICE_INLINE __host__ __device__ __forceinline__

// ncclResult_t is the result of functions with a timeout: ncclSuccess, ncclTimeout, or
// ncclRemoteError if the session has given up.
typedef enum {
  ncclSuccess = 0, ncclUnhandledCudaError = 1, ncclSystemError = 2, ncclInternalError = 3, ncclInvalidArgument = 4,
  ncclInvalidUsage = 5, ncclRemoteError = 6, ncclInProgress = 7, ncclTimeout = 8
} ncclResult_t;

// ncclTeam is nRanks ranks, stride apart, among which the caller is number rank.
struct ncclTeam { int nRanks, rank, stride; };
typedef ncclTeam ncclTeam_t;
struct ncclTeamTagWorld {};
struct ncclTeamTagLsa {};
struct ncclTeamTagRail {};

// A resource handle is a place in the communicator's resource window, in units of 128 bytes.
typedef unsigned int ncclDevResourceHandle;
typedef ncclDevResourceHandle ncclDevResourceHandle_t;

// Handles of the resources that symm.DevComm creates: barriers, slots, signals and counters.
struct ncclLsaBarrierHandle { ncclDevResourceHandle bufHandle; int nBarriers; };
typedef ncclLsaBarrierHandle ncclLsaBarrierHandle_t;
struct ncclLLA2AHandle { ncclDevResourceHandle bufHandle; unsigned int nSlots, nBlocks; };
typedef ncclLLA2AHandle ncclLLA2AHandle_t;
typedef unsigned int ncclGinSignal_t;
typedef unsigned int ncclGinCounter_t;
struct ncclGinBarrierHandle { ncclGinSignal_t signal0; int nBarriers; };
typedef ncclGinBarrierHandle ncclGinBarrierHandle_t;
struct ncclMultimemHandle { void* mcBasePtr; };
typedef ncclMultimemHandle ncclMultimemHandle_t;

// ncclWindow_vidmem is a window: the place of one symmetric tensor in the memory of all ranks. It
// lies in device memory.
struct ncclWindow_vidmem {
  char* local;              // this rank's part
  symm::u64 bytes;
  symm::Watch* watch;       // the page for reports of refused pointers
  int rank, nRanks;         // of the group
  int lsaRank, lsaSize;
  symm::u64 netStart;       // offset of this window in the network's window number
  unsigned int netWindow, reserved;
  char* multimem;              // multicast address of the LSA team's parts, or 0: see nccl/multimem.h
  char* lsa[symm::kMaxRanks];  // the parts of the LSA team; null behind the last
  char* none;                  // always null
};
typedef ncclWindow_vidmem ncclWindow_vidmem_t;
typedef ncclWindow_vidmem* ncclWindow_t;

// ncclDevComm is the argument by which a kernel receives a group, with the resources that
// symm.DevComm created. It is passed by value. The handles of barriers and slots are arguments of
// the sessions.
//
// Example:
//
//   if (threadIdx.x == 0) x[0] = (float)comm.lsaRank / (float)comm.nRanks;
struct ncclDevComm {
  int rank, nRanks;
  int lsaRank, lsaSize;
  ncclLsaBarrierHandle lsaBarrier;        // DevReqs.LsaBarriers of them
  ncclLsaBarrierHandle hybridLsaBarrier;  // DevReqs.Barriers
  ncclLLA2AHandle lsaLLA2A;
  ncclGinBarrierHandle worldGinBarrier;        // DevReqs.WorldGinBarriers
  ncclGinBarrierHandle railGinBarrier;         // DevReqs.RailGinBarriers
  ncclGinBarrierHandle hybridRailGinBarrier;   // DevReqs.Barriers
  ncclGinBarrierHandle hybridWorldGinBarrier;  // as many
  unsigned int ginContextCount;                // 0 without GIN
  int ginSignalCount, ginCounterCount;
  unsigned int ginWords;                       // signals of a context, those of barriers included
  ncclDevResourceHandle ginBase;               // the words of contexts: see nccl/gin.h
  unsigned int ginCounterWords, reserved;      // index of the counters behind the board of symm/net.cuh
  ncclMultimemHandle lsaMultimem;
  ncclWindow_t resourceWindow;
  char* resources;                        // this rank's part of resourceWindow
  const symm::NetGroup* net;              // set if the group spans hosts, otherwise 0
  symm::Context context;  // of the launch
};
typedef ncclDevComm ncclDevComm_t;

namespace symm {

using NcclWindow = ::ncclWindow_vidmem;
using NcclDevComm = ::ncclDevComm;
SYMM_LAYOUT(NcclWindow, local, bytes, watch, rank, nRanks, lsaRank, lsaSize, netStart, netWindow, multimem, lsa, none)
SYMM_LAYOUT(NcclDevComm, rank, nRanks, lsaRank, lsaSize, lsaBarrier, hybridLsaBarrier, lsaLLA2A, worldGinBarrier, railGinBarrier, hybridRailGinBarrier,
            hybridWorldGinBarrier, ginContextCount, ginSignalCount, ginCounterCount, ginWords, ginBase, ginCounterWords, lsaMultimem, resourceWindow, resources, net, context)

// NcclRefusal is the reason for which a function of NCCL's device API refuses a call, in the `kind`
// of the record.
enum NcclRefusal : u32 { kNcclPeer = 0x100, kNcclBytes = 0x101, kNcclBarrier = 0x102, kNcclBlock = 0x103, kNcclSlot = 0x104, kNcclMultimem = 0x105,
  kNcclGin = 0x106, kNcclRank = 0x107, kNcclSignal = 0x108, kNcclCounter = 0x109, kNcclGinBarrier = 0x10a,
  kNcclLsaTeam = 0x10b, kNcclGinTeam = 0x10c, kNcclHybridTeam = 0x10d };
SYMM_VALUES(NcclRefusal, kNcclPeer, kNcclBytes, kNcclBarrier, kNcclBlock, kNcclSlot, kNcclMultimem, kNcclGin, kNcclRank, kNcclSignal, kNcclCounter, kNcclGinBarrier, kNcclLsaTeam, kNcclGinTeam, kNcclHybridTeam)

__device__ constexpr bool acquires(cuda::memory_order o) { return o != cuda::memory_order_relaxed && o != cuda::memory_order_release; }
__device__ constexpr bool releases(cuda::memory_order o) {
  return o == cuda::memory_order_release || o == cuda::memory_order_acq_rel || o == cuda::memory_order_seq_cst;
}

}  // namespace symm

// ncclTeamWorld is all ranks, and ncclTeamLsa the ranks of the caller's host. The ranks of a group
// are numbered host by host, so the ranks of a host have consecutive numbers.
//
// Example:
//
//   const ncclTeam host = ncclTeamLsa(comm);
//   for (int r = 0; r < host.nRanks; r++) x[r] = (float)ncclTeamRankToWorld(comm, host, r);
NCCL_DEVICE_INLINE ncclTeam ncclTeamWorld(ncclDevComm const& c) { return {c.nRanks, c.rank, 1}; }
NCCL_DEVICE_INLINE ncclTeam ncclTeamLsa(ncclDevComm const& c) { return {c.lsaSize, c.lsaRank, 1}; }
// ncclTeamInnerFactor returns the team of innerSize neighbours that includes the caller;
// ncclTeamOuterFactor returns the team of every innerSize-th rank. ncclTeamRail is the ranks with
// the caller's number on the other hosts.
NCCL_DEVICE_INLINE ncclTeam ncclTeamInnerFactor(ncclTeam t, int innerSize) { return {innerSize, t.rank % innerSize, t.stride}; }
NCCL_DEVICE_INLINE ncclTeam ncclTeamOuterFactor(ncclTeam t, int innerSize) { return {t.nRanks / innerSize, t.rank / innerSize, t.stride * innerSize}; }
NCCL_DEVICE_INLINE ncclTeam ncclTeamRail(ncclDevComm const& c) { return ncclTeamOuterFactor(ncclTeamWorld(c), c.lsaSize); }

// ncclTeamRankToWorld and ncclTeamRankToLsa return the number of a team's rank among all ranks, and
// among the ranks of the caller's host.
NCCL_DEVICE_INLINE int ncclTeamRankToWorld(ncclDevComm const& c, ncclTeam t, int rank) { return c.rank + (rank - t.rank) * t.stride; }
NCCL_DEVICE_INLINE int ncclTeamRankToLsa(ncclDevComm const& c, ncclTeam t, int rank) { return c.lsaRank + (rank - t.rank) * t.stride; }
// ncclTeamRankToTeam returns the number in team a of rank bRank of team b; the rank has to be a
// member of both. ncclTeamRankIsMember reports whether the rank is a member of a.
NCCL_DEVICE_INLINE int ncclTeamRankToTeam(ncclTeam a, ncclTeam b, int bRank) { return a.rank + (bRank - b.rank) * b.stride / a.stride; }
NCCL_DEVICE_INLINE bool ncclTeamRankIsMember(ncclTeam a, ncclTeam b, int bRank) {
  const int away = (bRank - b.rank) * b.stride, at = a.rank + away / a.stride;
  return away % a.stride == 0 && at >= 0 && at < a.nRanks;
}
// ncclTeamRankInDifference returns the rank in parent of the index-th member of parent that is not
// in subset. subset is a part of parent.
NCCL_DEVICE_INLINE int ncclTeamRankInDifference(ncclTeam parent, ncclTeam subset, int index) {
  const int stride = subset.stride / parent.stride, first = parent.rank - subset.rank * stride, last = first + (subset.nRanks - 1) * stride;
  if (index < first) return index;
  const int gaps = (subset.nRanks - 1) * (stride - 1), inside = index - first;
  return inside < gaps ? first + inside / (stride - 1) * stride + inside % (stride - 1) + 1 : last + 1 + inside - gaps;
}
