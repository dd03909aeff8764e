// float8.cuh: reductions of 8-bit floats. 8-bit floats are always combined as float and rounded
// once at the end, with kWide or without.
#pragma once
#include "reduce/reduce.cuh"
#include "symm/calculate.cuh"

// SYMM_FOR_REDUCED applies a macro to the dtypes of SYMM_FOR_DTYPES and to the 8-bit floats.
#ifdef SYMM_ONLY
#define SYMM_FOR_REDUCED(M) SYMM_ONLY(M)
#else
#define SYMM_FOR_REDUCED(M) SYMM_FOR_DTYPES(M) M(symm::calculate::f8e4m3, f8e4m3) M(symm::calculate::f8e5m2, f8e5m2)
#endif

namespace symm {
template <> struct WideOf<calculate::f8e4m3> { typedef float type; };
template <> struct WideOf<calculate::f8e5m2> { typedef float type; };
template <> struct StepOf<calculate::f8e4m3> { typedef float type; };
template <> struct StepOf<calculate::f8e5m2> { typedef float type; };

namespace calculate {
__device__ __forceinline__ void convert(float x, f8e4m3* y) { *y = round<f8e4m3>(x); }
__device__ __forceinline__ void convert(float x, f8e5m2* y) { *y = round<f8e5m2>(x); }
__device__ __forceinline__ void convert(f8e4m3 x, float* y) { *y = load(x); }
__device__ __forceinline__ void convert(f8e5m2 x, float* y) { *y = load(x); }
}  // namespace calculate
}  // namespace symm
