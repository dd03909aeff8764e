// types.cuh: integers by their size, the largest group, and the macros that compare declarations
// with their copies in Go.
#pragma once

// SYMM_LAYOUT(type, field...) and SYMM_VALUES(group, constant...) list declarations that Go code
// repeats. The cpu device's build makes tables from them, which a test compares with the Go code.
// Elsewhere they expand to nothing.
#ifndef SYMM_LAYOUT
#define SYMM_LAYOUT(type, ...)
#define SYMM_VALUES(group, ...)
#endif

// SYMM_INLINE and SYMM_APART mark functions by which kernels reach the network. The compiler may
// inline the former and does not inline the latter. Under the sanitizer, which reports accesses by
// the line of the call, neither is inlined: see emu_apart.h. g++ ignores the section of a template
// and of a member of a class template, so these have marks of their own and are always inlined
// then.
//
// SYMM_ONCE marks functions that are not inlined and that the cpu device compiles once for all
// snippets, instead of in each: see emu_once.h. They are defined unless SYMM_ONCE_ELSEWHERE is.
#ifdef SYMM_SANITIZE
#define SYMM_INLINE EMU_APART
#define SYMM_APART EMU_APART
#define SYMM_INLINE_TEMPLATE __forceinline__
#define SYMM_APART_TEMPLATE __forceinline__
#else
#define SYMM_INLINE inline
#define SYMM_APART __noinline__ inline
#define SYMM_INLINE_TEMPLATE SYMM_INLINE
#define SYMM_APART_TEMPLATE SYMM_APART
#endif
#if defined(SYMM_SANITIZE)
#define SYMM_ONCE EMU_ONCE_APART
#elif defined(SYMM_CPU)
#define SYMM_ONCE EMU_ONCE
#else
#define SYMM_ONCE __noinline__ inline
#endif

namespace symm {

// Integers by their bits.
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;

// kMaxRanks is the largest number of ranks of a group whose members share memory, and of any group
// with a Handle.
constexpr int kMaxRanks = 72;

// Internal: kMaxWaits is the number of waits that a process publishes at a time, and kMaxOutside
// the number of accesses out of bounds: see context.cuh.
constexpr int kMaxWaits = 64;
constexpr int kMaxOutside = 16;

// kCounters is the number of a group's counters: see symm::Counter.
constexpr int kCounters = 64;

// kAbiVersion is the version of Context, Handle, Watch and the signal block: see abi.cuh.
constexpr int kAbiVersion = 1;

SYMM_VALUES(Limits, kMaxRanks, kMaxWaits, kMaxOutside, kCounters, kAbiVersion)

}  // namespace symm
