// sanitize_shadow.h: the record of accesses for every 8 bytes of memory.
#pragma once

#include "sanitize_clock.h"

namespace emu::sanitize {

// Kinds of access. An atomic operation may be atomic only between threads of a device, or of a
// block.
enum How : u8 { kRead = 0, kWrite = 1, kAtomic = 2, kOfDevice = 4, kOfBlock = 8 };

// How far apart the threads are that synchronise by a word, and how far a fence or an atomic
// operation reaches.
enum Scope : u8 { kBlockScope = 0, kDeviceScope = 1, kSystemScope = 2 };

inline u8 narrow(unsigned scope) { return scope == kBlockScope ? kOfBlock : scope == kDeviceScope ? kOfDevice : 0; }
inline unsigned reach(unsigned how) { return how & kOfBlock ? kBlockScope : how & kOfDevice ? kDeviceScope : kSystemScope; }

// Cell is an access: its thread and task, its time by the task's clock, and its place in the
// module.
struct __attribute__((packed)) Cell {
  u64 task : 29, time : 21, thread : 10, how : 4;
  u32 pc : 24, mask : 8;  // mask: the accessed bytes
};
constexpr u64 kTimes = 1 << 21;
constexpr unsigned kCells = 4;

// Granule is the shadow of 8 bytes. All zero, as without any mark, means that the memory may be
// accessed and is written.
struct Granule {
  u32 sync[2];                   // for either 4 bytes: index + 1 of the first Sync
  u8 invalid, unwritten, freed;  // bytes
  Lock lock;
  u8 next;
  u8 unused[3];
  Cell cells[kCells];
};
static_assert(sizeof(Cell) == 12 && sizeof(Granule) == 64);

constexpr unsigned kLevels = 3;  // see sanitize.h

// Known is knowledge at each level.
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

// ended returns the knowledge of a rank's host at the end of one of the last two cells that it ran;
// the cell's number is in run next to it.
inline Known& ended(unsigned rank, unsigned i) { return *reinterpret_cast<Known*>(region()->ended[rank].known[i]); }
// The knowledge that the hosts of all ranks have published, and that was released to words outside of watched
// memory. Locks of the region guard them.
inline Known& met() { return *reinterpret_cast<Known*>(region()->met); }
inline Known& outside() { return *reinterpret_cast<Known*>(region()->outside); }

// Release is the knowledge that a thread publishes by a word: the block's knowledge at its last barrier, what the
// thread has learned since, and what it has done so far.
struct Release {
  Known base, more;
  Task task = 0;  // 0: nothing
  u32 block_time = 0, warp_time = 0, time = 0;
  u16 thread = 0;
  bool joined = false;  // it publishes more than its thread knew then

  // set assigns, and is fast where nothing changes.
  void set(const Release& o) {
    for (unsigned i = 0; i < kLevels; i++) base.level[i].set(o.base.level[i]), more.level[i].set(o.more.level[i]);
    name(o);
    joined = o.joined;
  }
  // name gives it the thread and the times of another one.
  void name(const Release& o) {
    task = o.task, thread = o.thread;
    block_time = o.block_time, warp_time = o.warp_time, time = o.time;
  }
  // alike reports whether it publishes the same at two levels, if that shows at a glance.
  bool alike(unsigned i, unsigned k) const { return base.level[i].same(base.level[k]) && more.level[i].same(more.level[k]); }
};

// Times are the entries of a clock for what the thread of a release has done, and its warp and its
// block when they last met.
struct Times {
  Entry entry[3];
  u32 n = 0;

  explicit Times(const Release& r) {
    if (r.time == 0) return;
    entry[n++] = {task_key(r.task, r.thread), r.time};
    if (r.warp_time > 0) entry[n++] = {task_key(r.task, kWarp | r.thread / 32), r.warp_time};
    if (r.block_time > 0) entry[n++] = {task_key(r.task, kAll), r.block_time};
  }
};

// told_by returns everything that a release publishes, at one level or at each.
Knowledge told_by(const Release&, unsigned level);
Known told_by(const Release&);
// join makes a release publish also what a later one does, whose name it gets.
void join(Release&, const Release& later);

// First is a thread's read of a word as the first value of a count, and a store, if there is one,
// that is not ordered with it.
struct First {
  Task task;  // 0: none
  u32 time, pc;
  u16 thread, by_thread;
  Task by;  // 0: none
  u32 by_pc;
};
constexpr unsigned kFirsts = 4;

// Stores are atomic stores of one word: the last one, and those before it that form a chain with
// it, because each read the previous one and stored.
struct Stores {
  Knowledge earlier;
  Task task = 0;  // the task of the last store; 0: none
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

// Lost is a value that was overwritten before any thread had seen it, and the task that overwrote it. A sender
// may overwrite several values, one after another, before the receiver looks for the first of them.
struct Lost {
  u64 value;
  Task by;  // 0: none
  u32 pc;
  u16 thread;
};
constexpr unsigned kLosts = 8;

// Published is the state of a word after a store: what it publishes at each scope, and what it would
// publish if fences did not matter, which has the last level only.
struct Published {
  Release strong[3], weak;
  Stores stores;
  u64 last;  // the last stored value
  u32 last_pc;
};

// Sync is a word by which threads synchronise.
struct Sync : Published {
  u64 version;  // another one after each store, and of each Sync that was ever made
  Published before;  // the state before the last store
  u64 stored_at;     // when the last store was made, in nanoseconds; 0: `before` is not valid
  u8 at;             // the word's first byte in the granule
  enum : u8 { kNoMessage, kSets, kAdds } carried;  // whether and how the last store was a message's
  u8 next_first, next_observer;
  Observer observer[kObservers];
  First first[kFirsts];
  Lost lost[kLosts];  // the latest values that were overwritten unseen
  u8 next_lost;
  bool seen;  // last was loaded
  u32 next;   // the next of the same 4 bytes, or the next free one

  // lose records that a store overwrites the last value, which no thread has seen.
  void lose(Task by, u32 pc, u16 thread) { lost[next_lost++ % kLosts] = Lost{last, by, pc, thread}; }
  // loss returns the record of a value that was lost and has not come again, or null.
  const Lost* loss(u64 value) const {
    for (const Lost& l : lost)
      if (l.by && l.value == value) return &l;
    return nullptr;
  }
  // comes ends the record of a value, which is stored again. A plain store of zero ends all records:
  // a new count begins.
  void comes(u64 value, bool plain) {
    for (Lost& l : lost)
      if (l.value == value || (plain && !value)) l = Lost{};
  }
};

// Range is a piece of watched memory, at multiples of 4096.
struct Range {
  std::uintptr_t base;
  std::size_t bytes;
  Granule* shadow;  // null if the memory was freed
  bool guarded;     // between guard pages

  Granule& at(std::uintptr_t p) const { return shadow[(p - base) / 8]; }
};

// find returns the range that contains an address, or null. ranges_changed is another number after
// each change of ranges.
const Range* find(std::uintptr_t p);
extern std::atomic<u32> ranges_changed;
// add makes a range; guarded if there are guard pages around it. inode identifies memory that
// processes share, and is 0 for a process's own. remove ends the range; owner: the memory was made
// by this process.
void add(std::uintptr_t p, std::size_t bytes, u64 inode, bool guarded);
void remove(std::uintptr_t p, u64 inode, bool owner);
// retire makes a range of freed pages, until remove.
void retire(std::uintptr_t p, std::size_t bytes);

// mark sets the state of bytes from now on, and forgets their accesses.
void mark(std::uintptr_t p, std::size_t bytes, unsigned state);
// forget forgets all marks and accesses of memory that this process watches, and what ranks have
// published. No watched accesses may be made meanwhile. Processes that share memory may do so at the
// same time.
void forget();

// sync_of returns the Sync of the word that begins at a byte of a granule. If there is none, it
// makes one if make is set. The granule must be locked.
Sync* sync_of(Granule&, unsigned at, bool make);
// clear forgets all accesses.
void clear(Granule&);

}  // namespace emu::sanitize
