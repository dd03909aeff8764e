// sanitize_shadow.h: what is remembered of every 8 bytes of memory.
#pragma once

#include "sanitize_clock.h"

namespace emu::sanitize {

// How memory is accessed. An atomic operation may hold only between threads of a device, or of a block.
enum How : u8 { kRead = 0, kWrite = 1, kAtomic = 2, kOfDevice = 4, kOfBlock = 8 };

// How far the threads that meet by a word are apart, which is also how far a fence or an atomic operation reaches.
enum Scope : u8 { kBlockScope = 0, kDeviceScope = 1, kSystemScope = 2 };

inline u8 narrow(unsigned scope) { return scope == kBlockScope ? kOfBlock : scope == kDeviceScope ? kOfDevice : 0; }
inline unsigned reach(unsigned how) { return how & kOfBlock ? kBlockScope : how & kOfDevice ? kDeviceScope : kSystemScope; }

// Cell is an access: by which thread of which task, when by the task's own clock, and where in the module.
struct __attribute__((packed)) Cell {
  u64 task : 29, time : 21, thread : 10, how : 4;
  u32 pc : 24, mask : 8;  // mask: of the bytes
};
constexpr u64 kTimes = 1 << 21;
constexpr unsigned kCells = 4;

// Granule is the shadow of 8 bytes. Memory of which nothing was said may be accessed and is written: all zero.
struct Granule {
  u32 sync[2];  // of either 4 bytes: index + 1 of the first Sync
  u8 invalid, unwritten, freed;  // bytes
  Lock lock;
  u8 next;
  u8 unused[3];
  Cell cells[kCells];
};
static_assert(sizeof(Cell) == 12 && sizeof(Granule) == 64);

constexpr unsigned kLevels = 3;  // see sanitize.h

// Known is what somebody knows, at each level.
struct Known {
  Knowledge level[kLevels];

  void learn(const Known& o) {
    for (unsigned i = 0; i < kLevels; i++) level[i].learn(o.level[i]);
  }
  void learn(u64 key, u64 value) {
    for (Knowledge& k : level) k.learn(key, value);
  }
  void forget() {
    for (Knowledge& k : level) k.forget();
  }
};

// ended is what the host of a rank knew at the end of one of the last two cells that it ran, whose number is in run beside it.
inline Known& ended(unsigned rank, unsigned i) { return *reinterpret_cast<Known*>(region()->ended[rank].known[i]); }
// What the hosts of all ranks have published, and what was released to words outside of watched memory. They are guarded by locks of the region.
inline Known& met() { return *reinterpret_cast<Known*>(region()->met); }
inline Known& outside() { return *reinterpret_cast<Known*>(region()->outside); }

// Release is what somebody lets others know by a word: what the block knew when it met last, what the thread has learned since, and what was done so far.
struct Release {
  Known base, more;
  Task task = 0;  // 0: nothing
  u32 block_time = 0, warp_time = 0, time = 0;
  u16 thread = 0;
  bool joined = false;  // it tells more than its thread knew then
};

// told_by is all that a release lets others know.
Known told_by(const Release&);

// First is a thread's read of a word as the beginning of a count, and, if there is one, a store that may come before or behind it.
struct First {
  Task task;  // 0: none
  u32 time, pc;
  u16 thread, by_thread;
  Task by;  // 0: none
  u32 by_pc;
};
constexpr unsigned kFirsts = 4;

// Stores are atomic stores of one word: the last one, and those before it that are one chain with it, because each read the one before and stored.
struct Stores {
  Knowledge earlier;
  Task task = 0;  // that made the last; 0: none
  u32 time = 0;

  void add(Task, u32 time, bool chained);
  bool include(Task, const Launch&, unsigned thread, u64 time) const;
};

// Observer is a thread's atomic read of a word, and the stores that it saw.
struct Observer {
  Task task;  // 0: none
  u32 time;
  u16 thread;
  Stores saw;
};
constexpr unsigned kObservers = 4;

// Sync is a word by which threads meet: what it releases to others so far apart, and what it would release if fences did not matter.
struct Sync {
  Release strong[3], weak;
  u64 last;   // value that was stored
  u32 last_pc;
  u8 at;      // of the granule's bytes, the word's first
  enum : u8 { kNoMessage, kSets, kAdds } carried;  // the last store was a message's
  u8 next_first, next_observer;
  Stores stores;
  Observer observer[kObservers];
  First first[kFirsts];
  // A value that was stored over by another one before anybody had seen it: the value, and who stored over it.
  u64 lost;
  Task by;
  u32 by_pc;
  u16 by_thread;
  bool seen, missed;  // last was loaded; lost is valid
  u32 next;   // of the same 4 bytes, or of the free ones
};

// Range is a piece of memory that is watched, at multiples of 4096.
struct Range {
  std::uintptr_t base;
  std::size_t bytes;
  Granule* shadow;  // null if it was freed
  bool guarded;     // between pages that nobody may touch

  Granule& at(std::uintptr_t p) const { return shadow[(p - base) / 8]; }
};

// find returns the range of an address, or null.
const Range* find(std::uintptr_t p);
// add makes a range, guarded if pages that nobody may touch are around it. inode tells memory that processes share from other memory, and is 0 for a process's own. remove ends it; owner: whoever made that memory.
void add(std::uintptr_t p, std::size_t bytes, u64 inode, bool guarded);
void remove(std::uintptr_t p, u64 inode, bool owner);
// retire makes a range of pages that were freed, until remove.
void retire(std::uintptr_t p, std::size_t bytes);

// mark says what bytes are from now on, and forgets their accesses.
void mark(std::uintptr_t p, std::size_t bytes, unsigned state);
// forget forgets what was said and done of all memory that this process watches, and what ranks have let each other know. Nobody makes accesses that are watched.
void forget();

// sync_of returns the Sync of the word that begins at a byte of a granule, a fresh one if it has none and make; the granule is locked.
Sync* sync_of(Granule&, unsigned at, bool make);
// clear forgets all accesses.
void clear(Granule&);

}  // namespace emu::sanitize
