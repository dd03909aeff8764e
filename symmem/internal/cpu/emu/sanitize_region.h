// sanitize_region.h: what the processes of a world share while their kernels are watched.
//
// It is one sparse file of memory, mapped at the same address in every process, so that what lies in it may point into it. In it are the shadow of the memory
// that is watched, the clocks, and the records of launches and modules by which a finding of one process names what another one did.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace emu::sanitize {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

// Lock is held for a few instructions. Whoever waits for one of a process that has ended takes it after a second.
struct Lock {
  std::atomic<u8> held{0};
  void lock() {
    if (held.exchange(1, std::memory_order_acquire)) wait();
  }
  void unlock() { held.store(0, std::memory_order_release); }

 private:
  void wait();
};

class Held {
 public:
  explicit Held(Lock& l) : l_(l) { l.lock(); }
  ~Held() { l_.unlock(); }
  Held(const Held&) = delete;

 private:
  Lock& l_;
};

struct Clock;
struct Sync;

constexpr unsigned kRanks = 128;
constexpr unsigned kClasses = 20;            // of sizes of clocks
constexpr unsigned kSegments = 1 << 17;      // of all ranks, that lie in memory at one time
constexpr unsigned kModules = 4096;
constexpr unsigned kTasks = 1 << 18;         // of a rank, that are remembered
constexpr unsigned kLaunches = 1 << 14;
constexpr unsigned kSyncs = 1 << 24;         // words that threads meet by
constexpr unsigned kMessages = 1 << 14;      // operations of a rank's network engine, that are remembered

// A task is a block of a launch, a copy or fill of a stream, something that the host does, or one side of an operation of the network's engine. Its id has the rank and a number that counts up.
constexpr unsigned kNumberBits = 22;
using Task = u32;  // 0: none
inline Task task_id(unsigned rank, u32 number) { return rank << kNumberBits | (number & ((1u << kNumberBits) - 1)); }
inline unsigned rank_of(Task t) { return t >> kNumberBits; }

// What of an operation of the network's engine a task is: a put reads here and writes there, a get does both.
enum Carried : u8 { kNotCarried = 0, kPutReads = 1, kPutWrites = 2, kGets = 3 };

// An actor is a stream, or the host's side of a rank. What one does is in order, by sequence. Another sort of actor is what the engine of a rank does of one kind for one peer: that is
// numbered in the order in which it was posted, and done in any.
struct Launch {
  u32 number, actor, sequence, module;  // module: its index + 1, or 0
  std::int32_t caller;
  bool host;
  Carried carried;
  u32 grid[3], block[3];
  char kernel[64];
};

struct TaskRecord {
  u32 number, launch, block;
};

// Message is an operation of the network's engine, of which other ranks' engines do a part. What it has of the launch that posted it is in those of its tasks.
constexpr u32 kOfMessage = 1u << 31;  // in the number of such a launch
struct Message {
  Lock lock;
  u32 number;             // 0: none
  Launch launch[2];
  Task here, there;       // there: of a put only
  u32 pc, block;          // of whoever posted it
  u16 thread;
  u64 posted[3], over[3], landed[3];  // see sanitize_network.h
};

struct Module {
  char library[512];  // its file
  char name[128];     // of the snippet
  u32 line;           // on which the snippet starts
  char* text;         // the snippet, or null
};

struct Segment {
  u64 inode, bytes;
  u64 shadow;
};

struct Region {
  std::atomic<u64> next;  // the first byte that nobody has
  std::atomic<u32> actors, modules, syncs;
  Lock segment_lock, clock_lock[kClasses], sync_lock, met_lock, outside_lock;
  Clock* free_clocks[kClasses];
  u32 free_syncs;
  u64 met[3], outside[3];  // see sanitize_shadow.h
  struct {
    u64 run[2], known[2][3];
  } ended[kRanks];  // likewise
  u64 sync_base;   // kSyncs of them
  Segment segments[kSegments];
  Module module[kModules];
  struct Rank {
    std::atomic<u32> tasks, launches, messages;
    TaskRecord task[kTasks];
    Launch launch[kLaunches];
    Message message[kMessages];
  } rank[kRanks];

  // take returns n zeroed bytes at a multiple of 4096, or null when there are no more.
  void* take(std::size_t n);
  // give makes bytes that take returned zero, and gives their memory back. each_used calls f(p, n) for the pages among such bytes that have memory.
  void give(void* p, std::size_t n);
  void each_used(void* p, std::size_t n, void (*f)(void* p, std::size_t n));

  // launch_of returns the launch of a task; null if it is so long ago that it was forgotten.
  const Launch* launch_of(Task t, const TaskRecord** record = nullptr) const;
  // begin_launch and begin_task record something new of a rank.
  Launch& begin_launch(unsigned rank);
  Task begin_task(unsigned rank, const Launch&, u32 block);
};

// region is that of this process; null before attach or create.
Region* region();
// name is what it is called by other processes, null if there is none. create makes one unless there is, and attach maps that of another process; they say why not.
const char* name();
const char* create(const char** why);
bool attach(const char* name, const char** why);

}  // namespace emu::sanitize
