// nvshmem/table.h: the data that the host and the functions of nvshmem.h share: the table of
// symmetric tensors, and the numbers of calls and refusals.
#pragma once
#include "symm/remote.cuh"

namespace symm {

// ShmemWindow is one symmetric tensor in the memory of all ranks. Its bytes are 0 if the entry of
// the table is not in use.
struct ShmemWindow {
  char* local;                  // this rank's copy
  u64 bytes;
  u32 net_window, reserved;     // ID of the window between hosts
  char* peers[kMaxRanks];       // null for ranks on other hosts
};

constexpr u32 kShmemWindows = 1024;   // largest number of tensors in the table
constexpr u32 kShmemFetches = 256;    // values from other hosts that are under way at a time
constexpr u32 kShmemChunk = 16 << 10; // bytes of a piece of a reduction between hosts

// ShmemWorld describes the world to the functions of nvshmem.h. It lies in device memory; the host
// keeps it current. ordinal and patience are of the latest launch.
struct ShmemWorld {
  u32 ordinal, patience;        // of the call; the deadline of waits, in units of 2^20 ns, 0 for none
  Context context;              // without timeout_ns and ordinal
  u32 count, reserved;          // entries of windows that were used
  const NetGroup* net;          // set if the ranks are on several hosts, otherwise 0
  ShmemWindow* windows;
  char* chunks;                 // two pieces of a reduction between hosts
  i32 near_rank, near_count;    // number of this rank on its host
  i32 near[kMaxRanks];          // the ranks of this host
  Signals signals;
  u64 fetched[kShmemFetches];   // where values from other hosts arrive
  u32 claimed[kShmemFetches];   // which of them are in use
};
SYMM_LAYOUT(ShmemWindow, local, bytes, net_window, peers)
SYMM_LAYOUT(ShmemWorld, ordinal, patience, context, count, net, windows, chunks, near_rank, near_count, near, signals, fetched, claimed)

// ShmemRefusal is the reason for which a call is refused; the record has the ShmemCall in the upper
// half of its kind, the line in its channel.
enum ShmemRefusal : u32 { kShmemPe = 0x200, kShmemAddress = 0x201, kShmemBytes = 0x202, kShmemAligned = 0x203, kShmemTeam = 0x204, kShmemOperation = 0x205, kShmemSource = 0x206, kShmemStride = 0x207 };
enum ShmemCall : u32 {
  kShmemPut = 1, kShmemGet = 2, kShmemP = 3, kShmemG = 4, kShmemIput = 5, kShmemIget = 6, kShmemPutSignal = 7, kShmemSignalOp = 8, kShmemSignalFetch = 9, kShmemSignalWait = 10,
  kShmemWait = 11, kShmemTest = 12, kShmemAtomic = 13, kShmemFence = 14, kShmemQuiet = 15, kShmemBarrier = 16, kShmemSync = 17, kShmemBroadcast = 18, kShmemFcollect = 19, kShmemAlltoall = 20,
  kShmemReduce = 21, kShmemReduceScatter = 22, kShmemTeamCall = 23
};
SYMM_VALUES(ShmemLimits, kShmemWindows, kShmemFetches, kShmemChunk)
SYMM_VALUES(ShmemRefusal, kShmemPe, kShmemAddress, kShmemBytes, kShmemAligned, kShmemTeam, kShmemOperation, kShmemSource, kShmemStride)
SYMM_VALUES(ShmemCall, kShmemPut, kShmemGet, kShmemP, kShmemG, kShmemIput, kShmemIget, kShmemPutSignal, kShmemSignalOp, kShmemSignalFetch, kShmemSignalWait, kShmemWait, kShmemTest, kShmemAtomic, kShmemFence, kShmemQuiet, kShmemBarrier, kShmemSync, kShmemBroadcast, kShmemFcollect, kShmemAlltoall, kShmemReduce, kShmemReduceScatter, kShmemTeamCall)

// ShmemAtomic is an atomic operation, as it travels between hosts too: net/proxy/board.h.
enum ShmemAtomic : u32 { kShmemFetch = 1, kShmemSet = 2, kShmemAdd = 3, kShmemAnd = 4, kShmemOr = 5, kShmemXor = 6, kShmemCompareSwap = 7 };
SYMM_VALUES(ShmemAtomic, kShmemFetch, kShmemSet, kShmemAdd, kShmemAnd, kShmemOr, kShmemXor, kShmemCompareSwap)

}  // namespace symm
