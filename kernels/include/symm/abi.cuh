// abi.cuh: the version of the layouts that a module was compiled with, for programs that fill a
// symm::Handle themselves. An exported module includes this header once; its loader reads symm_abi
// and refuses a module of another version. docs/abi.md describes the layouts.
#pragma once
#include "symm/handle.cuh"

extern "C" {
#ifdef SYMM_CPU
__attribute__((visibility("default")))
#endif
__device__ unsigned symm_abi[4] = {symm::kAbiVersion, sizeof(symm::Context), sizeof(symm::Handle), symm::kMaxRanks};
}
