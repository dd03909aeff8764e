// cuda_on_cpu.h: CUDA's language extensions and built-in functions for a C++ compiler, included
// first.
//
// Like the GPU's run-time compiler, it includes no system headers. Features without meaning on a
// processor (textures, clusters, tensor-core fragments, launches from kernels) are missing; text
// that uses them is refused before it is compiled. Inline PTX is translated before: see emu_ptx.h.
//
// On the cpu device: the threads of a block take turns on one core; each runs alone until it waits.
// The blocks of a grid run one after the other, or on several cores if they take long.
#pragma once

// SYMM_CPU is defined on the cpu device, and not on GPUs.
#define SYMM_CPU 1
#define __CUDACC__ 1
// The GPU whose instructions the cpu device has: without tensor memory copies, clusters, multimem.
#define __CUDA_ARCH__ 800

#include "emu_abi.h"
#include "emu_launch.h"

// Qualifiers. A block runs on one operating-system thread at a time, so shared memory is
// thread-local memory.
//
// On the cpu device: constant and managed variables are ordinary ones, and launch bounds say
// nothing.
//
// Example:
//
//   __shared__ float part[256];
//   part[threadIdx.x] = x[threadIdx.x];
//   __syncthreads();
//   if (threadIdx.x == 0) x[0] = part[1];
#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __shared__ thread_local
#ifndef __forceinline__  // the built-in operations leave it to the compiler, which then takes half the time
#define __forceinline__ inline __attribute__((always_inline))
#endif
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define __grid_constant__
#define __builtin_align__(n) __align__(n)

#include "emu_types.h"
#include "emu_math.h"
#include "emu_sync.h"
#include "emu_atomics.h"
#include "emu_ordered.h"
#include "emu_nv_atomic.h"
#include "emu_address.h"
#include "emu_print.h"
