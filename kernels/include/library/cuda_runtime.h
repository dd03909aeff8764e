// cuda_runtime.h: what a kernel says about launches after its own, and the parts of C++'s headers that
// come with CUDA's. All else that kernels use is already declared.
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
