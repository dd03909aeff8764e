// sanitize.h: finding accesses that go wrong on some device or in some order of events.
//
// Watched kernels are compiled so that every access calls the functions of sanitize.cpp first. Three things are looked up there: whether the bytes belong to a tensor
// (sanitize_shadow.h), whether they were written, and whether every earlier access of them with which this one conflicts is known to the thread, that is, happened before it.
// Two accesses conflict if one writes and they are not both atomic. A race is so found whenever its two accesses are made, whichever comes first and however
// far apart they are in time.
//
// # What happens before what
//
// As in CUDA's memory model. A thread knows what it did itself; __syncthreads tells all threads of a block what each of them knows, __syncwarp the lanes of its mask; a launch
// begins with what its stream and the host knew, and its end tells the stream; an event takes that to another stream; a synchronisation, to the host; a meeting of the
// hosts, to other ranks. Between threads that run at the same time, knowledge goes by words: what a thread knew at its fence, or knows at a store with release order, is put down beside the word that it
// stores, and who loads the word and then fences, or loads it with acquire order, learns it. Atomic operations of CUDA, and volatile accesses, are relaxed: without a
// fence on both sides they tell nothing. A fence or an operation reaches its scope only.
//
// Puts, gets and signals that go to another host are done by the network's engine, at some time, in any order (kernels/include/symm/net.cuh). Each has tasks of its own, which begin with
// what the thread knew that posted it: one reads the source here, another one writes at the peer, at the line of the put. Nobody knows of them before a word tells. A signal tells of its own put
// and, if it is strong, of all puts before it to that peer; `done` and counters tell that sources were read and gets are here; a fence tells of all. So a signal that came tells what it must
// tell in any order of the messages, not what has arrived. See sanitize_network.h.
//
// Who reads a word by an atomic operation knows the store that it saw, as one access: it may store over it plainly. Votes and shuffles of a warp tell nothing.
//
// A thread that reads a signal and then waits until it has counted up from there must have read before others could add: the read and an add that nothing orders are a race, though both are
// atomic, when the wait is made.
//
// Each thread's knowledge is kept at three levels: what is known on any GPU; what would be known if all fences had system scope; and what would be known if fences were everywhere, as on a
// processor; there weak signals are strong. A conflict that is unknown at the first and known at a later one is not a race here, and is one on a GPU: "order too weak".
//
// # Where this comes from
//
// Accesses as cells of a few bytes beside each word are ThreadSanitizer's (Serebryany, Iskhodzhanov: WBIA 2009); an epoch in place of a clock, and only
// where needed more, is FastTrack's (Flanagan, Freund: PLDI 2009); clocks in groups that follow the hierarchy of threads are BARRACUDA's (Eizenberg et al.: PLDI 2017); scopes as a cause of races, ScoRD's
// (Kamath et al.: ISCA 2020). What is new is that all ranks share one shadow, so that a store of one GPU and a load of another are compared as if both were threads of one.
//
// # What is missed
//
// Cells are four a granule of 8 bytes, so that of many readers some are forgotten. Words outside of watched memory, such as those by which the host ends waits, are one word: who releases
// anything there is taken to tell all that acquire there. Of the threads that have posted to a peer the latest eight are remembered: a strong signal is taken to tell of all that was
// posted before the latest of these that its thread knows of, and of what those have posted that are forgotten. A count to which weak signals add tells of those that have come: that others could have come in their place shows in another
// order of the messages. Of a block's reads of a first value one is remembered.
// Clocks that grow long are shortened by knowing more. All of these hide races; none invents one.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "include/emu_abi.h"
#include "sanitize_shadow.h"
#include "sanitize_steps.h"

namespace emu::sanitize {

enum class Kind : u8 {
  kOutOfBounds, kUseAfterFree, kNeverWritten, kRaceInBlock, kRaceBetweenBlocks, kRaceBetweenStreams, kRaceBetweenRanks, kRaceWithHost, kOrderTooWeak,
  kDivergentBarrier, kSignalNotConsumed, kSharedBeyond
};

// Why is what else there is to say of a finding.
enum Why : u8 {
  kNoReason,
  kNarrowScope,   // of an order too weak, as is the next
  kNoFence,
  kFirstValue,    // a signal is read as the beginning of a count, which the other access changes
  kTwoWidths,     // two atomic accesses overlap and are not of the same bytes
  kSignalsPass,   // two signals change a word, one of them sets it, and they may arrive the other way round
  kNotInStep,     // threads of a warp rely on running in step
  kPutAgain,      // a put writes where one of that rank has written before, and what was read since
};

// Place is an access of a finding.
struct Place {
  Task task;
  u32 pc;
  unsigned thread;
  u8 how;
  Launch launch;
  u32 block;
};

struct Finding {
  Kind kind;
  Why why;
  unsigned count, accesses;
  unsigned size;
  std::uintptr_t address;
  char memory[64];  // if it is not known by the address
  Place place[2];
};

class Sanitizer;

// Watched is a launch that is watched.
struct Watched {
  Sanitizer* by = nullptr;
  const Launch* launch = nullptr;
  std::uintptr_t code = 0;  // where the module begins
  std::size_t shared_bytes = 0;     // of shared memory, with the dynamic part that was asked for
  bool has_dynamic_shared = false;
  Known start, end, grid;  // grid: what blocks have told each other at barriers of the grid
  Lock lock;
};

constexpr unsigned kPending = 4;

// Hot is what every access of a thread looks at.
struct Hot {
  u32 time;
  bool used;          // something of its ThreadState is set
  bool accessed;      // since time
  const void* polled; // a word that it reads, with a volatile access: what the access finds is not known until the next one
};

// ThreadState is what else is kept of a thread of a block.
struct ThreadState {
  bool listed;        // among those that know more than the block
  u8 scope;           // + 1, of the next atomic operation
  u8 barrier, warp;   // that it waits for: it is to learn from the others
  u8 waiting;         // of pending
  u8 far[kPending];
  u32 mask;
  u32 barrier_pc;     // of a barrier, or of a warp operation
  Known more;         // beyond what the block knows
  Release fence[3];   // what it let others know at its latest fences
  Release pending[kPending];  // what it has seen and will know at its next fence
};

// Block is what an executor keeps of the block that it runs.
class Block {
 public:
  Block();
  ~Block();
  Block(const Block&) = delete;

  void begin(const Worker&, unsigned threads, Watched&, unsigned long long index);
  // carry begins what the network's engine does for a thread: a part of a task that there is. What it lets others know by words is `tells`.
  void carry(const Worker&, Watched&, Task, const Known& tells);
  void end();

  void access(const void* p, unsigned size, unsigned how, const void* pc);
  void range(std::uintptr_t p, std::size_t n, unsigned how, const void* pc);
  // lock begins an atomic operation and atomic ends it. Between them the thread holds the lock of the word's granule: it must not be switched away.
  void lock(const void* p);
  bool in_atomic() const { return locked_; }
  void atomic(const void* p, unsigned size, unsigned kind, int order, u64 old, u64 stored, const void* pc);
  void fence(unsigned scope);
  void scope(unsigned s) { current().scope = static_cast<u8>(s + 1); }

  void wants(const void* p, u64 value, const void* pc);
  void first(const void* p, const void* pc);
  void counts(const void* p);
  void index(long long i, const char* array, const void* pc);

  // Meetings. arrive comes before a thread waits, and met behind it: whoever comes first lets all learn.
  void arrive_barrier(const void* pc);
  void met_barrier();
  // A warp operation that fences lets its lanes learn of each other.
  void arrive_warp(u32 mask, const void* pc);
  void met_warp(bool fences);
  void arrive_span(unsigned id);
  void met_span(unsigned id);
  void tell_grid();
  void learn_grid();

 private:
  struct Where {
    Granule* granule;
    bool shared;  // memory of the block
  };

  void start(const Worker&, unsigned threads, Watched&, Task);
  ThreadState& current();
  unsigned thread() const;
  u32 index() const;
  u32 time_of(unsigned i) const { return hot_[i].time > after_barrier_ ? hot_[i].time : after_barrier_; }
  unsigned number(const ThreadState& t) const { return static_cast<unsigned>(&t - threads_); }
  bool locate(std::uintptr_t p, Where&);
  void check(const Where&, std::uintptr_t p, unsigned size, u8 mask, unsigned how, u32 pc);
  void unwritten(const Where&, std::uintptr_t p, unsigned size, u8 mask, unsigned how, u32 pc);
  void written(const Granule&, u8 mask, unsigned how);
  void step(std::uintptr_t p, unsigned size, bool stores, u32 pc);
  Stepping& stepping(unsigned thread);
  bool unordered(const Step&);
  void out_of_step(std::uintptr_t p, const Step& read, const Step& store);
  void stray(std::uintptr_t p, unsigned size, unsigned how, u32 pc);
  void beyond_shared(std::uintptr_t p, unsigned size, unsigned how, u32 pc);
  void diverged(u32 pc, unsigned thread, const ThreadState* other);
  bool put_before(const Granule&, u8 mask) const;
  bool knows(unsigned level, const Cell&, const Launch*&, u32* block);
  bool saw(Granule&, const Cell&, const Launch&);
  void observe(const ThreadState&, Sync&);
  void report(Kind, Why, std::uintptr_t p, unsigned size, unsigned how, u32 pc, const Cell* other, const Launch*, u32 block);
  void report(Kind, unsigned size, unsigned how, u32 pc, const char* memory);
  Place here(u32 pc, unsigned how) const;
  u32 offset(const void* pc) const { return pc ? static_cast<u32>(reinterpret_cast<std::uintptr_t>(pc) - 1 - watched_->code) & 0xffffff : 0; }
  // has_fibers is false where a stream, the host or the network's engine stands for a block of one thread.
  bool has_fibers() const { return worker_->api; }
  void perhaps_switch();
  void perhaps_pause();
  void polled();
  void unlock();

  Release release(unsigned thread);
  void learn(ThreadState&, unsigned level, const Release&);
  void learn(ThreadState& t, const Release& r) {
    for (unsigned i = 0; i < kLevels; i++) learn(t, i, r);
  }
  bool has(ThreadState&, unsigned level, const Release&);
  unsigned distance(Task other) const;
  void load(ThreadState&, Sync&, bool acquire, unsigned scope);
  void store(ThreadState&, Sync&, bool swap, bool release, unsigned scope);
  bool knows(unsigned level, const First&);
  void overtakes(Sync&);
  void outrun(const Sync&, std::uintptr_t p, unsigned size, u32 pc);
  void settle(ThreadState&);
  void learned(ThreadState&);
  void share(const u16* who, unsigned n, u32 kind);

  const Worker* worker_ = nullptr;
  Watched* watched_ = nullptr;
  Task task_ = 0;
  u32 actor_ = 0, sequence_ = 0;
  u32 now_ = 1, block_time_ = 0, after_barrier_ = 1;
  u32 warp_time_[32];
  u32 polls_ = 0;
  u64 random_ = 0;
  Known base_;
  const Known* tells_ = nullptr;  // of what is carried
  Release begun_;  // what was before the launch: its beginning is a fence
  ThreadState* threads_;
  Hot* hot_;
  unsigned count_ = 0;

  std::uintptr_t shared_ = 0, shared_bytes_ = 0;
  std::unique_ptr<Granule[]> shared_shadow_;
  std::vector<Task> shared_task_;  // whose that is

  // Unwritten is a read of shared memory that nobody had written.
  struct Unwritten {
    const Granule* granule;
    Cell read;
    Finding finding;
  };
  std::vector<Unwritten> unwritten_;
  std::vector<Stepped> stepped_;    // by word of shared memory
  std::vector<Stepping> stepping_;  // by thread

  std::vector<u16> learned_;  // threads that know more than the block
  struct Memo {
    Task task;
    u32 time;
  } memo_[64];  // what base_ is known to know
  Granule* locked_ = nullptr;
  Where locked_where_{};
};

// Sanitizer is what one device of a process watches.
class Sanitizer {
 public:
  Sanitizer(unsigned rank, u64 seed);
  // follow takes over what another one of the device knew and found.
  void follow(Sanitizer&);

  // Actor is a stream, or the host, with what it knows.
  struct Actor {
    u32 id = 0, sequence = 0;
    Known known;
  };

  void found(Finding);
  std::vector<Finding> take();

  // What streams do. name gives a stream its name; begin begins a launch of it; moved is what a copy or a fill does; tell and hear are a store and a wait of a stream.
  void name(Actor&);
  Launch& begin(Watched&, Actor&, const char* kernel, u32 module, std::int32_t caller, const Index3& grid, const Index3& block);
  void moved(Watched&, std::uintptr_t written, std::uintptr_t read, std::size_t bytes);
  void tell(Actor&, u32* word, u32 value, std::int32_t caller);
  void hear(Actor&, u32* word, u32 value, std::int32_t caller);

  // The host's side. submitted is what a command that is given to a stream now starts with; synchronized: the host has waited for who knew that;
  // touched: it reads or writes bytes.
  Known submitted();
  void synchronized(const Known&);
  void publish();
  void observe();
  void end(u64 run);
  void begin(u64 run);
  void touched(std::uintptr_t p, std::size_t n, bool write);

  const unsigned rank;
  const u64 seed;
  std::atomic<std::int32_t> caller{0};  // where the program is

 private:
  std::mutex mutex_;
  Actor host_;           // guarded by mutex_, as are
  std::vector<Finding> findings_;
  struct Seen {
    std::size_t index;                // of findings_
    std::unordered_set<u64> threads;  // that made the later access
  };
  std::unordered_map<u64, Seen> seen_;  // by kind and places

  std::mutex alone_;  // guards what follows, by which one thread's accesses are made
  Thread thread_{};
  Worker worker_;
  Block block_;
};

extern const emu::Sanitize hooks;

}  // namespace emu::sanitize
