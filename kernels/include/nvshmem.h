// nvshmem.h: NVSHMEM's names on symmrepl's symmetric tensors, for kernels on both devices.
//
// It has the device functions of NVSHMEM 3, with their names, signatures and semantics. A kernel
// that includes it takes symmetric tensors as plain pointers, as programs of NVSHMEM take memory of
// nvshmem_malloc. A processing element, PE, is a rank of all ranks. A call finds the peer's copy of
// an address by a table of all tensors that all ranks have allocated by symm.Empty and mapped by
// symm.Rendezvous; the pointer may have come to the kernel in any way, as an argument, in memory or
// in a struct. A put or a get to a PE on this host is a copy by loads and stores, and one to a PE
// on another host goes through the ring of symm/net.cuh.
//
// These rules differ from NVSHMEM's:
//
//   addresses   that are not symmetric, that are not aligned for their type, or whose bytes reach
//               beyond the tensor, and PEs that do not exist: the call is refused, the kernel ends
//               for the calling threads as by symm::leave, and the launch fails with the name of
//               the function, the address and the line of the call. NVSHMEM computes an address.
//   waits       end when the host aborts the call or its deadline passes. The kernel then ends for
//               the calling threads, and the launch fails.
//   order       as NVSHMEM promises it, and no more: a put and a later nvshmemx_signal_op or atomic
//               operation need an nvshmem_fence or nvshmem_quiet between them. Between hosts a fence
//               takes as long as a quiet.
//   teams       NVSHMEM_TEAM_WORLD, and NVSHMEM_TEAM_SHARED, the PEs of this host. Other teams are
//               refused.
//   barriers    and collectives use the last two channels of the group of all ranks.
//   types       TYPE in a name is float, double, char, schar, uchar, short, ushort, int, uint, long,
//               ulong, longlong, ulonglong, int8, uint8, int16, uint16, int32, uint32, int64, uint64,
//               size or ptrdiff; of atomic operations and waits it is one of the integers of 32 and 64
//               bits. half and bfloat16 are not among them: nvshmem_putmem copies them.
//
// The host's functions are symmrepl's: symm.Empty, symm.Rendezvous, Launch.
//
// The parts:
//
//   nvshmem/world.h         PEs, teams, nvshmem_ptr
//   nvshmem/sync.h          fence, quiet, waits, barriers
//   nvshmem/rma.h           puts, gets, signals
//   nvshmem/collectives.h   broadcast, fcollect, alltoall, reductions
//   nvshmem/amo.h           atomic operations
//   nvshmem/missing.h       missing names and their replacements
#pragma once
#include "nvshmem/world.h"
#include "nvshmem/rma.h"
#include "nvshmem/amo.h"
#include "nvshmem/sync.h"
#include "nvshmem/collectives.h"
#include "nvshmem/missing.h"
