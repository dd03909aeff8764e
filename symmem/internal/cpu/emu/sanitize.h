// sanitize.h: finds accesses that are wrong on some device or in some order of events.
//
// Watched kernels are compiled so that every access first calls the functions of sanitize.cpp. They
// check three things: whether the bytes belong to a tensor (sanitize_shadow.h), whether they were
// written, and whether every earlier conflicting access is known to the thread, that is, happened
// before this one. Two accesses conflict if one of them writes and they are not both atomic. So a
// race is found whenever its two accesses are made, in either order and however far apart in time.
//
// # Happens-before
//
// The rules are those of CUDA's memory model. A thread knows its own accesses. __syncthreads gives
// all threads of a block what each of them knows, and __syncwarp does that for the lanes of its
// mask. A launch begins with the knowledge of its stream and of the host, and its end gives the
// launch's knowledge to the stream; an event passes it to another stream, a synchronisation to the
// host, and a barrier of the hosts to other ranks. Threads that run at the same time exchange
// knowledge through words. A store publishes, in a record for its word, what the thread knew at its
// last fence, or knows now if the store has release order. A thread that loads the word and then
// fences, or loads it with acquire order, learns it. Atomic operations of CUDA, and volatile
// accesses, are relaxed: without a fence on both sides they pass on no knowledge. Fences and atomic
// operations only act within their scope.
//
// Puts, gets and signals to another host are executed by the network's engine, at some time, in any
// order (kernels/include/symm/net.cuh). Each operation has its own tasks, which begin with the
// knowledge of the thread that posted it: one task reads the source here, and another writes at the
// peer, at the line of the put. No thread knows of these tasks until it learns of them through a
// word. A signal publishes the task of its own put and, if it is strong, those of all earlier puts
// to that peer; `done` and counters publish that sources were read and gets have arrived; a fence
// publishes everything. So a signal publishes what it guarantees for every order of messages, not
// what happens to have arrived. See sanitize_network.h.
//
// A thread that reads a word by an atomic operation knows the store that it saw, as a single
// access, and may overwrite it with a plain store. Votes and shuffles of a warp pass on no
// knowledge.
//
// If a thread reads a signal and then waits until the signal has been increased by some count, the
// read must come before others can add. If nothing orders the read and an add, that is a race when
// the wait is made, though both are atomic.
//
// Each thread's knowledge is kept at three levels: what is known on any GPU; what would be known if
// all fences had system scope; and what would be known with fences everywhere, as on a processor
// (weak signals count as strong there). A conflict that is unknown at the first level and known at
// a later one is not a race here, but is one on a GPU: "order too weak".
//
// # Orders
//
// With a seed, threads switch and pause at random, and loads are made late or early: a thread that
// loads a word may see the value before the last store, if that store was made after everything by
// which the thread has synchronised so far. That is what the thread would have seen had it run a
// little earlier. On a busy machine threads run late, find that all others are far ahead, and would
// learn so much from one word that no race is left.
//
// # Sources
//
// Recording accesses in cells of a few bytes for each word is from ThreadSanitizer (Serebryany,
// Iskhodzhanov: WBIA 2009); an epoch instead of a clock, with clocks only where needed, and that an
// access repeated in the same epoch needs no check, are from FastTrack (Flanagan, Freund: PLDI
// 2009); clocks in groups that follow the hierarchy of threads
// are from BARRACUDA (Eizenberg et al.: PLDI 2017); scopes as a cause of races are from ScoRD
// (Kamath et al.: ISCA 2020). It is new that all ranks share one shadow, so that a store of one GPU
// and a load of another are compared as if both were threads of the same one.
//
// # Missed races
//
// A granule of 8 bytes has four cells, so that if there are many readers, some are forgotten. All
// words outside of watched memory, such as those by which the host ends waits, count as one word: a
// release to any of them is visible to every acquire of any of them. Of the threads that have
// posted to a peer, the latest eight are remembered: a strong signal is assumed to publish
// everything posted before the latest of them that its thread knows of, and everything that
// forgotten threads have posted. A count to which weak signals add publishes those that have
// arrived; that others could have arrived instead is only seen with another order of messages. Of a
// block's reads of a first value, one is remembered. Long clocks are shortened by adding knowledge.
// All of these can hide races, and none can invent one.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "include/emu_abi.h"
#include "include/emu_apart.h"
#include "sanitize_shadow.h"
#include "sanitize_steps.h"

namespace emu::sanitize {

enum class Kind : u8 {
  kOutOfBounds, kUseAfterFree, kNeverWritten, kRaceInBlock, kRaceBetweenBlocks, kRaceBetweenStreams, kRaceBetweenRanks, kRaceWithHost, kOrderTooWeak,
  kDivergentBarrier, kSignalNotConsumed, kSharedBeyond
};

// Why is additional information about a finding.
enum Why : u8 {
  kNoReason,
  kNarrowScope,  // for an order too weak, as the next one
  kNoFence,
  kFirstValue,  // a signal is read as the first value of a count, and the other access changes it
  kTwoWidths,   // two atomic accesses overlap but are not of the same bytes
  // two signals change a word, one of them sets it, and they may arrive in the other order
  kSignalsPass,
  kNotInStep,  // threads of a warp rely on executing in lockstep
  kNoFenceBehind,  // as kNoFence, and the store of the word has its fence: the thread that loaded the word has none
  kNoFenceBefore,  // as kNoFence, and the thread that loaded the word has its fence: the store of the word has none
  kFenceTooEarly,  // as kNoFence, and the store of the word has a fence, which does not cover what other threads of the block did
  kPutAgain,   // a put writes bytes that an earlier put of that rank wrote and that were read since
};

// Place is one access of a finding.
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
  char memory[64];  // if it is not given by the address
  Place place[2];
};

class Sanitizer;

// Watched is a watched launch.
struct Watched {
  Sanitizer* by = nullptr;
  const Launch* launch = nullptr;
  std::uintptr_t code = 0;       // base address of the module
  Apart apart{};                 // the module's
  std::size_t shared_bytes = 0;  // bytes of shared memory, including the requested dynamic part
  bool has_dynamic_shared = false;
  Known start, end;
  Known grid[2];  // what blocks have passed on at barriers of the grid with even and odd numbers
  Lock lock;
};

constexpr unsigned kPending = 4;

// Hot is the data about a thread that every access needs.
struct Hot {
  u32 time;
  bool used;      // its ThreadState is in use
  bool accessed;  // it has accessed memory since time
  // a word that it reads by a volatile access; what the access sees is known only at its next
  // access
  const void* polled;
};

// ThreadState is the other data about a thread of a block.
struct ThreadState {
  bool listed;       // it is in the list of threads that know more than the block
  u8 scope;          // + 1, for the next atomic operation; + 4 if it has its own order
  u8 barrier, warp;  // at which it waits, and will learn from the others
  u8 waiting;        // number of entries of pending
  u8 far[kPending];
  u32 mask;
  u32 barrier_pc;             // of a barrier or a warp operation
  Known more;                 // knowledge beyond that of the block
  Release fence[3];           // what it may publish since its latest fences
  Release pending[kPending];  // what it has loaded and will know at its next fence
  // The word that it has loaded last, with the word's version and how it was loaded: to load it
  // again teaches nothing.
  const Sync* loaded;
  u64 version;
  u8 loaded_as;
  u64 acted;                  // when it last synchronised, apart from barriers of the block
};

// Block is an executor's data about the block that it runs.
class Block {
 public:
  Block();
  ~Block();
  Block(const Block&) = delete;

  void begin(const Worker&, unsigned threads, Watched&, unsigned long long index);
  // carry begins the engine's work for a thread, as a part of an existing task. `tells` is what its
  // words publish.
  void carry(const Worker&, Watched&, Task, const Known& tells);
  void end();

  void access(const void* p, unsigned size, unsigned how, const void* pc);
  void range(std::uintptr_t p, std::size_t n, unsigned how, const void* pc);
  // lock begins an atomic operation and atomic ends it. Between them the thread holds the lock of
  // the word's granule and must not be switched out.
  void lock(const void* p);
  bool in_atomic() const { return locked_; }
  // It returns the value that a load returns: see earlier.
  u64 atomic(const void* p, unsigned size, unsigned kind, int order, u64 old, u64 stored, const void* pc);
  void fence(unsigned scope);
  void scope(unsigned s) { current().scope = static_cast<u8>(s + 1); }

  void wants(const void* p, u64 value, const void* pc);
  void first(const void* p, const void* pc);
  void counts(const void* p);
  void index(long long i, const char* array, const void* pc);

  // call_of returns the place of a call in the module: see emu_apart.h.
  const void* call_of(const void* pc, const void* frame) const { return emu::call_of(watched_->apart, pc, frame); }

  // Barriers. arrive is called before a thread waits, and met afterwards: the first thread to
  // continue makes all learn.
  void arrive_barrier(const void* pc);
  void met_barrier();
  // In a warp operation that fences, the lanes learn of each other.
  void arrive_warp(u32 mask, const void* pc);
  void met_warp(bool fences);
  void arrive_span(unsigned id);
  void met_span(unsigned id);
  void tell_grid();
  void learn_grid();

 private:
  struct Where {
    Granule* granule;
    bool shared;  // the block's shared memory
  };

  void start(const Worker&, unsigned threads, Watched&, Task);
  ThreadState& current();
  unsigned thread() const;
  u32 index() const;
  u32 time_of(unsigned i) const { return hot_[i].time > after_barrier_ ? hot_[i].time : after_barrier_; }
  unsigned number(const ThreadState& t) const { return static_cast<unsigned>(&t - threads_); }
  bool locate(std::uintptr_t p, Where&);
  Cell cell(unsigned how, u32 pc, u8 mask) const;
  bool unknown(const Cell&) const;
  Why fenceless(const Cell&, const Launch&) const;
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
  void observe(const ThreadState&, Sync&, const Published& seen);
  void report(Kind, Why, std::uintptr_t p, unsigned size, unsigned how, u32 pc, const Cell* other, const Launch*, u32 block);
  void report(Kind, unsigned size, unsigned how, u32 pc, const char* memory);
  Place here(u32 pc, unsigned how) const;
  u32 offset(const void* pc) const { return pc ? static_cast<u32>(reinterpret_cast<std::uintptr_t>(pc) - 1 - watched_->code) & 0xffffff : 0; }
  // has_fibers is false if a stream, the host or the network's engine acts as a block of one
  // thread.
  bool has_fibers() const { return worker_->api; }
  void perhaps_switch();
  bool read_by_others(const Sync&) const;
  void perhaps_pause(unsigned one_in);
  void polled();
  void unlock();

  void stamp(unsigned thread, Release&);
  Release release(unsigned thread);
  void learn(ThreadState&, unsigned from, unsigned to, const Release&);
  void learn(ThreadState& t, unsigned level, const Release& r) { learn(t, level, level + 1, r); }
  void learn(ThreadState& t, const Release& r) { learn(t, 0, kLevels, r); }
  bool has(ThreadState&, unsigned level, const Release&);
  unsigned distance(Task other) const;
  void load(ThreadState&, Sync&, const Published& seen, bool acquire, unsigned scope);
  bool earlier(const ThreadState&, const Sync&, u64 value);
  void store(ThreadState&, Sync&, bool known, bool swap, bool release, unsigned scope);
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
  u32 grid_barriers_ = 0;
  u64 met_ = 0;  // when the threads last met at a barrier
  u64 random_ = 0;
  Known base_;
  const Known* tells_ = nullptr;  // what the carried operation publishes
  Release begun_;                 // what preceded the launch: its beginning is a fence
  ThreadState* threads_;
  Hot* hot_;
  unsigned count_ = 0;

  std::uintptr_t shared_ = 0, shared_bytes_ = 0;
  std::unique_ptr<Granule[]> shared_shadow_;
  std::vector<Task> shared_task_;  // the task to which it belongs

  // Unwritten is a read of shared memory that no thread had written.
  struct Unwritten {
    const Granule* granule;
    Cell read;
    Finding finding;
  };
  std::vector<Unwritten> unwritten_;
  std::vector<Stepped> stepped_;    // by word of shared memory
  std::vector<Stepping> stepping_;  // by thread

  std::vector<u16> learned_;  // threads that know more than the block
  // Memo is about a task of another block: base_ is ordered behind everything that its threads did until the time.
  // nothing_later: it knows of no thread more than that.
  struct Memo {
    Task task;
    u32 time;
    bool nothing_later;
  } memo_[64];
  // Page is the shadow of a page that was accessed lately.
  struct Page {
    std::uintptr_t number;
    Granule* shadow;
    u32 changed;  // ranges_changed when it was found
  } pages_[8] = {};
  Granule* locked_ = nullptr;
  Where locked_where_{};
};

// Sanitizer watches the kernels of one device of a process.
class Sanitizer {
 public:
  Sanitizer(unsigned rank, u64 seed);
  // follow takes over the knowledge and findings of the device's previous sanitizer.
  void follow(Sanitizer&);

  // Actor is a stream or the host, with its knowledge.
  struct Actor {
    u32 id = 0, sequence = 0;
    u32 stream = 0;  // its number among those of the device, from 1 on; 0 for the host
    Known known;
  };

  void found(Finding);
  std::vector<Finding> take();

  // Actions of streams. name gives a stream its name; begin begins a launch on it; moved records a
  // copy or a fill; tell and hear record a stream's store and wait.
  void name(Actor&);
  Launch& begin(Watched&, Actor&, const char* kernel, u32 module, std::int32_t caller, const Index3& grid, const Index3& block);
  void moved(Watched&, std::uintptr_t written, std::uintptr_t read, std::size_t bytes);
  void tell(Actor&, u32* word, u32 value, std::int32_t caller);
  void hear(Actor&, u32* word, u32 value, std::int32_t caller);

  // Actions of the host. submitted returns the knowledge with which a command given to a stream now
  // starts. synchronized: the host has waited for work with that knowledge. touched: it reads or
  // writes bytes, in rows whose beginnings are pitch bytes apart.
  Known submitted();
  void synchronized(const Known&);
  void publish();
  void observe();
  void end(u64 run);
  void begin(u64 run);
  void touched(std::uintptr_t p, std::size_t n, bool write, std::size_t rows = 1, std::size_t pitch = 0);

  const unsigned rank;
  const u64 seed;
  std::atomic<std::int32_t> caller{0};  // place in the program

 private:
  std::mutex mutex_;
  std::atomic<u32> named_{0};  // actors
  Actor host_;  // guarded by mutex_, as the following
  std::vector<Finding> findings_;
  struct Seen {
    std::size_t index;                // index in findings_
    std::unordered_set<u64> threads;  // threads that made the later access
  };
  std::unordered_map<u64, Seen> seen_;  // by kind and places

  std::mutex alone_;  // guards the following, which is used for accesses of a single thread
  Thread thread_{};
  Worker worker_;
  Block block_;
};

extern const emu::Sanitize hooks;

}  // namespace emu::sanitize
