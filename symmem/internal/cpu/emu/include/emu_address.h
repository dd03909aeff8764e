// emu_address.h: addresses of memory spaces, and what a kernel says about launches after its own.
//
// Shared addresses are offsets in the block's shared memory. All other spaces are generic.
#pragma once
#include "emu_abi.h"

inline size_t __cvta_generic_to_shared(const void* p) { return (size_t)((const char*)p - ::emu::worker()->shared); }
inline void* __cvta_shared_to_generic(size_t p) { return ::emu::worker()->shared + p; }
inline size_t __cvta_generic_to_global(const void* p) { return (size_t)p; }
inline void* __cvta_global_to_generic(size_t p) { return (void*)p; }
inline size_t __cvta_generic_to_constant(const void* p) { return (size_t)p; }
inline size_t __cvta_generic_to_local(const void* p) { return (size_t)p; }

// Launches of a stream do not overlap here, so a dependent launch begins when this one has ended.
inline void cudaGridDependencySynchronize() {}
inline void cudaTriggerProgrammaticLaunchCompletion() {}
