// cuda_runtime.h: the functions by which kernels of overlapping launches wait for each other, and
// the parts of C++'s headers that come with CUDA's. All other names that kernels use are already
// declared.
#pragma once
#include "algorithm"

#ifndef SYMM_CPU
__device__ __forceinline__ void cudaGridDependencySynchronize() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ __forceinline__ void cudaTriggerProgrammaticLaunchCompletion() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
#endif
