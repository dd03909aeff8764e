// sanitize_region.h: the memory that the processes of a world share while their kernels are
// watched.
//
// It is one sparse file in memory, mapped at the same address in every process, so that it can
// contain pointers into itself. It has the shadow of watched memory, the clocks, and the records of
// launches and modules, by which a finding of one process can name what another one did.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace emu::sanitize {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

// me is the number of this process among those that share the region, from 1 on, or 0 if there is no region.
extern u8 me;

// Lock is held for a few instructions, by a process with a number: which may be long, if the machine has more to do
// than the thread that holds the lock. If the process has ended, a thread that waits takes the lock.
struct Lock {
  std::atomic<u8> held{0};
  bool try_lock() {
    u8 nobody = 0;
    return held.compare_exchange_strong(nobody, me, std::memory_order_acquire, std::memory_order_relaxed);
  }
  void lock() {
    if (!try_lock()) wait();
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
constexpr unsigned kProcesses = 255;     // that have shared the region, restarted ranks included
constexpr unsigned kClasses = 20;        // size classes of clocks
constexpr unsigned kSegments = 1 << 17;  // of all ranks, in memory at one time
constexpr unsigned kModules = 4096;
constexpr unsigned kTasks = 1 << 18;  // remembered for a rank
constexpr unsigned kLaunches = 1 << 14;
constexpr unsigned kSyncs = 1 << 24;     // words by which threads synchronise
constexpr unsigned kMessages = 1 << 14;  // remembered operations of a rank's network engine

// A task is a block of a launch, a copy or fill of a stream, an action of the host, or one side of
// an operation of the network's engine. Its id consists of the rank and a counter.
constexpr unsigned kNumberBits = 22;
using Task = u32;  // 0: none
inline Task task_id(unsigned rank, u32 number) { return rank << kNumberBits | (number & ((1u << kNumberBits) - 1)); }
inline unsigned rank_of(Task t) { return t >> kNumberBits; }

// Which part of an engine's operation a task is: a put reads here and writes there, a get does
// both.
enum Carried : u8 { kNotCarried = 0, kPutReads = 1, kPutWrites = 2, kGets = 3 };

// An actor is a stream, or the host's side of a rank. Its actions are ordered, by sequence. Another
// sort of actor stands for the operations of one kind of a rank's engine for one peer, which are
// numbered in the order of posting but executed in any order.
struct Launch {
  u32 number, actor, sequence, module;  // module: its index + 1, or 0
  u32 stream;                           // the rank's number of the actor, from 1 on; 0 for its host
  std::int32_t caller;
  bool host;
  Carried carried;
  u32 grid[3], block[3];
  char kernel[64];
};

struct TaskRecord {
  u32 number, launch, block;
};

// Message is an operation of the network's engine, part of which another rank's engine executes.
// The data about the launch that posted it is in the launches of its tasks.
constexpr u32 kOfMessage = 1u << 31;  // a flag in the number of such a launch
struct Message {
  Lock lock;
  u32 number;             // 0: none
  Launch launch[2];
  Task here, there;  // there: for a put only
  u32 pc, block;     // of the poster
  u16 thread;
  u64 posted[3], over[3], landed[3];  // see sanitize_network.h
};

struct Module {
  char library[512];  // its file
  char name[128];     // the snippet's
  u32 line;           // the line of the snippet's start
  char* text;         // the snippet, or null
};

struct Segment {
  u64 inode, bytes;
  u64 shadow;
};

struct Region {
  std::atomic<u64> next;  // the first free byte
  std::atomic<u32> actors, modules, syncs;
  std::atomic<std::int32_t> processes[kProcesses];  // by number - 1
  Lock segment_lock, clock_lock[kClasses], sync_lock, met_lock, outside_lock;
  Clock* free_clocks[kClasses];
  u32 free_syncs, made_syncs;
  u64 met[3], outside[3];  // see sanitize_shadow.h
  struct {
    u64 run[2], known[2][3];
  } ended[kRanks];  // likewise
  u64 sync_base;    // address of kSyncs of them
  Segment segments[kSegments];
  Module module[kModules];
  struct Rank {
    std::atomic<u32> tasks, launches, messages;
    TaskRecord task[kTasks];
    Launch launch[kLaunches];
    Message message[kMessages];
  } rank[kRanks];

  // take allocates n zeroed bytes at a multiple of 4096, or returns null.
  void* take(std::size_t n);
  // give zeroes bytes that take returned, and returns their memory to the system. each_used calls
  // f(p, n) for the pages among such bytes that have memory.
  void give(void* p, std::size_t n);
  void each_used(void* p, std::size_t n, void (*f)(void* p, std::size_t n));

  // launch_of returns the launch of a task, or null if it was forgotten.
  const Launch* launch_of(Task t, const TaskRecord** record = nullptr) const;
  // begin_launch and begin_task create a record for a rank.
  Launch& begin_launch(unsigned rank);
  Task begin_task(unsigned rank, const Launch&, u32 block);
};

// region returns the region of this process, or null before attach or create.
Region* region();
// name returns the region's name for other processes, or null if there is no region. create makes
// one unless there is one, and attach maps the region of another process. If they fail, they return the reason.
// detach unmaps the region, in a process that watches nothing.
const char* name();
const char* create(const char** why);
bool attach(const char* name, const char** why);
void detach();

}  // namespace emu::sanitize
