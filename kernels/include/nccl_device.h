// nccl_device.h: NCCL's device API on symmrepl's own windows and barriers, for kernels on both
// devices.
//
// It has the names, signatures, defaults and semantics of NCCL 2.28 and of later versions, side by
// side. A kernel takes a ncclDevComm made by symm.DevComm, and windows made by symm.Window. These
// rules differ from NCCL's:
//
//   waits       end when the host aborts the call or its deadline passes, and record their rank and
//               peer. NCCL's functions return nothing, so a session remembers that it gave up: its
//               later waits return at once, and the launch fails. The threads of a block, a warp or
//               a part of one agree on this; with other coops each thread decides for itself.
//   pointers    to a peer outside the LSA team are nullptr, and the launch is refused; NCCL
//               computes an address there. The cpu device also refuses offsets beyond the window.
//   indices     of barriers, slots and signals that symm.DevComm did not create are refused by the
//               session that gets them.
//   multimem    of a barrier is accepted and changes nothing: peers signal each other one by one.
//               Multimem pointers exist where the device has multicast: symm.DevReqs{Multimem:
//               true}.
//
// With the back end NCCL, kernels that use only pointers and barriers get NCCL's own header
// instead: see symmem's Compile.
//
// The parts:
//
//   nccl/types.h         results, teams, handles, ncclDevComm
//   nccl/coop.h          threads that call together
//   nccl/pointer.h       pointers of windows, ncclSymPtr
//   nccl/lsa_barrier.h   ncclLsaBarrierSession
//   nccl/multimem.h      pointers to all at once
//   nccl/reduce_copy.h   sums and copies of several ranks
//   nccl/ll_a2a.h        ncclLLA2ASession
//   nccl/gin.h           ncclGin: puts, gets, signals, counters
//   nccl/barrier.h       ncclGinBarrierSession, ncclBarrierSession
//   nccl/missing.h       missing names and their replacements
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
