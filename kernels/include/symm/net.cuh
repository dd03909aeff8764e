// net.cuh: what the kernels of a process and its network engine share.
//
// A peer on another host cannot be reached by a pointer. A kernel then describes what it wants, a NetOp, in a ring of slots, and the
// engine of the process, a thread of the host, carries it. Ring, counters and signals lie in one piece of host memory, the
// NetBoard, which both sides read and write.
//
//	post     a thread takes the next number of `posted`, waits until the slot of that number is free (number - done < kNetSlots),
//	         writes the slot, and stores number + 1 in its `ready` with release order: what the thread wrote before is visible to
//	         the engine. If the engine sleeps, the thread rings its bell; where kernels cannot, the engine is told beforehand
//	         how many operations to expect.
//	carry    the engine takes slots in the order of their numbers and sends their messages. Messages to one peer may arrive and
//	         finish in any order.
//	done     the engine counts the slots whose source may be overwritten, whose get has landed or whose fence is over, in order. A
//	         slot with a counter adds 1 to counters[counter] at its own completion.
//	signal   the engine of the peer changes the word when the data of the operation is in place; if the signal is strong, when all
//	         earlier operations of this rank to that peer are. Nobody but the engine writes to `signals`.
//
// `done` and a counter say nothing about the peer: a fence does. It completes when all earlier operations of this rank to its
// peer, or to all peers, are in place there.
#pragma once
#include "symm/types.cuh"

namespace symm {

constexpr u32 kNetSlots = 256;
constexpr u32 kNetCounters = 256;
constexpr u32 kNetPeers = 1024;      // the largest world that a network connects
constexpr u32 kNetAllPeers = ~0u;    // as the peer of a fence
constexpr u32 kNetNoCounter = ~0u;

enum NetKind : u32 { kNetPut = 1, kNetGet = 2, kNetFence = 3 };  // a put of 0 bytes carries only its signal
enum NetSignal : u32 { kNetNone = 0, kNetAddIndexed = 1, kNetSetWord = 2, kNetAddWord = 3 };
SYMM_VALUES(NetKind, kNetPut, kNetGet, kNetFence)
SYMM_VALUES(NetSignal, kNetNone, kNetAddIndexed, kNetSetWord, kNetAddWord)

// NetOp is one operation. A block of rows has width > 0: bytes/width rows, local_pitch bytes apart here and remote_pitch there;
// otherwise the bytes lie in one piece.
struct NetOp {
  u64 ready;                  // its number + 1, stored last
  u32 kind, peer;             // a NetKind; a rank of the world
  u64 local;                  // address of this rank's data
  u64 offset;                 // of the peer's data in its window
  u64 bytes;                  // of data, in all
  u64 width, local_pitch, remote_pitch;
  u32 window, counter;        // an id that both sides know; kNetNoCounter for none
  u32 signal, strong;         // a NetSignal; strong: after all earlier operations to the peer
  u32 signal_window, ordinal; // of a word; of the call, for the host's record
  u64 signal_at;              // the index of a word of `signals` of the peer, or its offset in signal_window
  u64 value;                  // to set, or to add
  u64 reserved[3];
};
SYMM_LAYOUT(NetOp, ready, kind, peer, local, offset, bytes, width, local_pitch, remote_pitch, window, counter, signal, strong, signal_window, ordinal, signal_at, value)

// NetBoard is the head of the host memory; `signals` words follow it.
struct NetBoard {
  u64 posted, apart0[15];            // taken numbers, on devices that count here: see NetPort
  u64 done, apart1[15];              // slots that are over, in order
  u32 asleep, bell, apart2[30];      // whether the engine sleeps; the descriptor that wakes it
  u32 lost[kNetPeers / 32];          // ranks that are gone, one bit each
  u64 counters[kNetCounters];
  NetOp slots[kNetSlots];
};
SYMM_LAYOUT(NetBoard, posted, done, asleep, bell, lost, counters, slots)
static_assert(sizeof(NetOp) == 128, "mirrors abi.NetOp");

// NetPort is how the kernels of a device reach the board.
struct NetPort {
  NetBoard* board;
  u64* posted;   // the count of taken numbers: of the board, or in device memory where atomics over the bus are slow
  u64* signals;  // behind the board
};
SYMM_LAYOUT(NetPort, board, posted, signals)

}  // namespace symm
