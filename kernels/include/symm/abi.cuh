// abi.cuh: what a compiled module says of the layouts that it was compiled with, to programs of others that fill a symm::Handle. An exported module includes
// it, once; its loader reads symm_abi and refuses a module that it does not know. docs/abi.md describes the layouts.
#pragma once
#include "symm/handle.cuh"

extern "C" {
#ifdef SYMM_CPU
__attribute__((visibility("default")))
#endif
__device__ unsigned symm_abi[4] = {symm::kAbiVersion, sizeof(symm::Context), sizeof(symm::Handle), symm::kMaxRanks};
}
