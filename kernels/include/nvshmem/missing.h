// nvshmem/missing.h: names of NVSHMEM that are missing here. Using one is a compile error that
// names the replacement.
#pragma once
#include "nvshmem/collectives.h"

namespace symm {
template <class...> struct ShmemNever { static constexpr bool value = false; };
// ShmemNothing converts to everything, so that the compiler reports only the call of the missing
// function.
struct ShmemNothing {
  template <class T> __device__ operator T() const { return T(); }
};
}  // namespace symm

// SYMM_SHMEM_MISSING(name, why) is a function that cannot be used.
#define SYMM_SHMEM_MISSING(name, why) \
  /* why */ template <class... T> __device__ inline symm::ShmemNothing name(T...) { static_assert(symm::ShmemNever<T...>::value, why); return {}; }

SYMM_SHMEM_MISSING(nvshmem_init, "nvshmem_init is not needed: the session has started the ranks")
SYMM_SHMEM_MISSING(nvshmem_finalize, "nvshmem_finalize is not needed: the session ends the ranks")
SYMM_SHMEM_MISSING(nvshmemx_init_attr, "nvshmemx_init_attr is not needed: the session has started the ranks")
SYMM_SHMEM_MISSING(nvshmemx_hostlib_init_attr, "nvshmemx_hostlib_init_attr is not needed: the session has started the ranks")
SYMM_SHMEM_MISSING(nvshmemx_cumodule_init, "nvshmemx_cumodule_init is not needed: symm.Compile does it")
SYMM_SHMEM_MISSING(nvshmemx_collective_launch, "nvshmemx_collective_launch is called by the host: k.Launch(symm.Grid(n), symm.Block(m), ...)")
SYMM_SHMEM_MISSING(nvshmem_malloc, "nvshmem_malloc is called by the host: t := symm.Empty(symm.F32, n), symm.Rendezvous(t), and give t to Launch")
SYMM_SHMEM_MISSING(nvshmem_calloc, "nvshmem_calloc is called by the host: t := symm.Empty(symm.F32, n), symm.Rendezvous(t), and give t to Launch")
SYMM_SHMEM_MISSING(nvshmem_align, "nvshmem_align is called by the host: t := symm.Empty(symm.F32, n), symm.Rendezvous(t), and give t to Launch")
SYMM_SHMEM_MISSING(nvshmem_free, "nvshmem_free is called by the host: t.Free()")
SYMM_SHMEM_MISSING(nvshmemx_buffer_register, "nvshmemx_buffer_register is not here: pointers of this rank's own memory need no registration")
SYMM_SHMEM_MISSING(nvshmemx_buffer_register_symmetric, "nvshmemx_buffer_register_symmetric is called by the host: symm.Rendezvous(t)")
SYMM_SHMEM_MISSING(nvshmem_team_split_strided, "nvshmem_team_split_strided is not here: write NVSHMEM_TEAM_WORLD or NVSHMEM_TEAM_SHARED, or use symm::barrier with the handle of a group of symm.NewGroup")
SYMM_SHMEM_MISSING(nvshmem_team_split_2d, "nvshmem_team_split_2d is not here: write NVSHMEM_TEAM_WORLD or NVSHMEM_TEAM_SHARED, or use symm::barrier with the handle of a group of symm.NewGroup")
SYMM_SHMEM_MISSING(nvshmem_team_destroy, "nvshmem_team_destroy is not here: no team is made")
SYMM_SHMEM_MISSING(nvshmem_team_get_config, "nvshmem_team_get_config is not here: the teams have no settings")
SYMM_SHMEM_MISSING(nvshmemx_mc_ptr, "nvshmemx_mc_ptr is not here: include nccl_device.h, and use ncclGetLsaMultimemPointer with symm.Window(t) and symm.DevReqs{Multimem: true}")
SYMM_SHMEM_MISSING(nvshmemx_barrier_all_on_stream, "nvshmemx_barrier_all_on_stream is called by the host: h.Barrier(0)")
SYMM_SHMEM_MISSING(nvshmemx_putmem_on_stream, "nvshmemx_putmem_on_stream is called by the host: h.Put(peer, src)")
SYMM_SHMEM_MISSING(nvshmemx_getmem_on_stream, "nvshmemx_getmem_on_stream is called by the host: h.Get(peer, dst)")
SYMM_SHMEM_MISSING(nvshmemx_putmem_signal_on_stream, "nvshmemx_putmem_signal_on_stream is called by the host: h.PutWithSignal(peer, src, word, value)")
SYMM_SHMEM_MISSING(nvshmemx_signal_wait_until_on_stream, "nvshmemx_signal_wait_until_on_stream is called by the host: h.WaitForSignal(word, \">=\", value)")
SYMM_SHMEM_MISSING(nvshmem_info_get_version, "nvshmem_info_get_version is not here: NVSHMEM_VENDOR_MAJOR_VERSION and NVSHMEM_VENDOR_MINOR_VERSION are the version of these names")
SYMM_SHMEM_MISSING(nvshmem_info_get_name, "nvshmem_info_get_name is not here: NVSHMEM_VENDOR_MAJOR_VERSION and NVSHMEM_VENDOR_MINOR_VERSION are the version of these names")
SYMM_SHMEM_MISSING(nvshmem_global_exit, "nvshmem_global_exit is not here: return from the kernel, and let the cell panic")
SYMM_SHMEM_MISSING(nvshmem_set_lock, "nvshmem_set_lock is not here: take a lock by nvshmem_int_atomic_compare_swap(lock, 0, 1, pe), and give it back by nvshmem_quiet and nvshmem_int_atomic_set(lock, 0, pe)")
SYMM_SHMEM_MISSING(nvshmem_clear_lock, "nvshmem_clear_lock is not here: give a lock back by nvshmem_quiet and nvshmem_int_atomic_set(lock, 0, pe)")
#undef SYMM_SHMEM_MISSING
