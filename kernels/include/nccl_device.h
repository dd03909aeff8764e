// nccl_device.h: NCCL's device API on symmrepl's own windows and barriers, for kernels of both devices.
//
// It has NCCL's names, signatures, defaults and semantics, those of 2.28 and of later versions side by side. A kernel takes a
// ncclDevComm, which symm.DevComm made, and windows, which symm.Window made. What is NCCL's own business has other rules here:
//
//   waits       end when the host aborts the call or its deadline passes, and say who waited for what. NCCL's functions return
//               nothing, so a session remembers that it gave up: its later waits return at once, and the launch fails. The threads
//               of a block, a warp or a part of one agree on it; with other coops each thread knows for itself.
//   pointers    to a peer that is not in the LSA team are nullptr, and the launch is refused; NCCL computes an address there.
//               The cpu device refuses offsets beyond the window as well.
//   indices     of barriers, slots and signals that symm.DevComm was not asked for are refused by the session that is given them.
//   multimem    of a barrier is accepted and changes nothing: peers signal each other one by one. Pointers are where the device has
//               multicast: symm.DevReqs{Multimem: true}.
//
// With the back end NCCL, kernels of pointers and barriers have NCCL's own header instead: see symmem's Compile.
//
// The parts:
//
//   nccl/types.h        results, teams, handles, ncclDevComm     nccl/coop.h         threads that call together
//   nccl/pointer.h      pointers of windows, ncclSymPtr          nccl/lsa_barrier.h  ncclLsaBarrierSession
//   nccl/multimem.h     pointers to all at once          nccl/reduce_copy.h  sums and copies of several ranks
//   nccl/ll_a2a.h       ncclLLA2ASession                         nccl/gin.h          ncclGin: puts, gets, signals, counters
//   nccl/barrier.h      ncclGinBarrierSession, ncclBarrierSession  nccl/missing.h    what there is not, and what to write instead
#pragma once
#include "nccl/types.h"
#include "nccl/coop.h"
#include "nccl/pointer.h"
#include "nccl/multimem.h"
#include "nccl/reduce_copy.h"
#include "nccl/lsa_barrier.h"
#include "nccl/ll_a2a.h"
#include "nccl/gin.h"
#include "nccl/barrier.h"
#include "nccl/missing.h"
