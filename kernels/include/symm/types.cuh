// types.cuh: integers by their size, the largest group, and how declarations are held to their copies in Go.
#pragma once

// SYMM_LAYOUT(type, field...) and SYMM_VALUES(group, constant...) name what is declared in Go as well. The cpu device's build makes
// tables of them, which a test compares with Go. Elsewhere they expand to nothing.
#ifndef SYMM_LAYOUT
#define SYMM_LAYOUT(type, ...)
#define SYMM_VALUES(group, ...)
#endif

// SYMM_INLINE and SYMM_APART are for functions by which kernels reach the network: inlined as the compiler likes, and never. Where accesses are watched each is
// named by the line of its call, so that these are inlined all the way.
#ifdef SYMM_SANITIZE
#define SYMM_INLINE __forceinline__
#define SYMM_APART __forceinline__
#else
#define SYMM_INLINE inline
#define SYMM_APART __noinline__ inline
#endif

namespace symm {

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char i8;
typedef int i32;
typedef long long i64;

constexpr int kMaxRanks = 72;  // of a group whose members share memory, and of any that a kernel gets a Handle of
constexpr int kMaxWaits = 64;  // that a process publishes at a time
constexpr int kMaxOutside = 16;  // accesses that a process publishes at a time: see context.cuh
constexpr int kCounters = 64;  // of a group: see remote.cuh
constexpr int kAbiVersion = 1;  // of Context, Handle, Watch and the signal block: see abi.cuh
SYMM_VALUES(Limits, kMaxRanks, kMaxWaits, kMaxOutside, kCounters, kAbiVersion)

}  // namespace symm
