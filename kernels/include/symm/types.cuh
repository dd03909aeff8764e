// types.cuh: integers by their size, and the largest group.
#pragma once

namespace symm {

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char i8;
typedef int i32;
typedef long long i64;

constexpr int kMaxRanks = 16;  // of a group whose members share memory

}  // namespace symm
