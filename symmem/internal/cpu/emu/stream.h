// stream.h: queues of work, served in order by one executor each.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "block.h"
#include "current.h"
#include "fault.h"
#include "grid.h"
#include "sanitize.h"
#include "stand.h"
#include "turn.h"

namespace emu {

class Recording;

// Module is a library of kernels; it stays loaded while work that needs it is queued.
struct Module {
  void* library = nullptr;  // null for the built-in kernels
  std::string path;
  Entry* entries = nullptr;
  Code code{};
  SharedNeed shared{};
  bool has_dynamic_shared = false;
  Apart apart{};            // of a watched module
  std::uint32_t watched = 0;  // its index in the records, if it can be watched
  ~Module();
};

// Mark is a place in a stream.
struct Mark {
  Tally reached;
  sanitize::Known known{};  // at that place; written before it is reached
  void wait();
};

// Event is a place in a stream. Recording it again moves it, perhaps to another stream; earlier
// waits still wait for the old place.
struct Event {
  Current<Mark> latest{};                   // null until recorded
  std::atomic<unsigned long long> time{0};  // nanoseconds, of the last time it was reached
  void wait() const;
  bool reached() const;
};

// Bytes is a copy of the caller's bytes, aligned for any argument.
using Bytes = std::shared_ptr<char[]>;
Bytes copy_bytes(const void*, std::size_t);

struct Command {
  enum Kind { kLaunch, kRecord, kWait, kStore, kAwait, kMark } kind;
  std::shared_ptr<Module> module{};
  const Entry* entry = nullptr;
  Index3 dim{}, block_dim{};
  Bytes arguments{}, data{};
  std::shared_ptr<Event> event{};
  std::shared_ptr<Mark> mark{};   // for kRecord and kWait, once submitted
  std::uint32_t* word = nullptr;  // for kStore and kAwait
  std::uint32_t value = 0;
  std::uint32_t shared = 0;  // bytes of dynamic shared memory
  std::uint64_t call = 0;    // that issued it, for a recording
  std::int32_t caller = 0;   // the place in the program, while accesses are watched
  // For a copy, a fill or a mark, whose value is the state.
  std::uintptr_t written = 0, read = 0;
  std::size_t bytes = 0;
  sanitize::Known known{};  // the host's knowledge at submission
};

using Graph = std::vector<Command>;

class Stream {
 public:
  static constexpr std::uint32_t kQueued = 1024;  // maximum number of queued commands

  explicit Stream(Device*);
  ~Stream();
  Stream(const Stream&) = delete;

  // add queues a command, or records it while a graph is captured. It waits while the queue is full.
  void add(Command);
  void replay(const Graph&);
  // synchronize waits for all added commands. It returns true if there was a fault since its last
  // call, with the kernel and its library.
  bool synchronize(Fault&, std::string& kernel, std::string& library);
  // known returns the knowledge of the stream when it was last idle.
  sanitize::Known known();
  Device* device() const { return device_; }
  // call names the call that issues what is added from now on.
  void call(std::uint64_t number) { call_ = number; }
  // awaits reports whether the stream waits for an event at this moment.
  bool awaits() const { return awaits_.load(); }
  // stands reports whether the stream runs a kernel that stands still: see stand.h.
  bool stands(std::uint64_t& number, std::uint64_t& looks);
  bool idle() const { return completed_.load() == submitted_.load(); }

  void begin_capture() { capture_ = std::make_unique<Graph>(); }
  std::unique_ptr<Graph> end_capture() { return std::move(capture_); }

 private:
  void serve();
  void perform(Command&, Executor&);
  void launch(Command&, Executor&, sanitize::Sanitizer*);
  void know(const Command&, sanitize::Sanitizer&);
  void hold_back(Grid&, sanitize::Sanitizer&);
  void await(const Command&) const;
  void record(const Command&, Recording&, std::uint64_t began) const;
  void submit(Command);
  void make_room();

  Device* const device_;
  Executor executor_;
  sanitize::Sanitizer::Actor actor_;  // of the stream's thread
  std::unique_ptr<Graph> capture_;
  std::uint64_t call_ = 0;
  std::mutex mutex_;  // guards queue_ and fault_
  std::deque<Command> queue_;
  Fault fault_;
  std::string fault_kernel_, fault_library_;
  std::atomic<bool> failed_{false};
  std::atomic<std::uint32_t> submitted_{0};
  Tally completed_, bell_;
  std::atomic<const Grid*> grid_{nullptr};  // that runs
  Standing standing_;                       // of it; the device's lock guards it
  std::atomic<bool> closing_{false}, awaits_{false};
  pthread_t thread_{};
};

// Copies and fills are kernels of one thread, so that a bad address is a fault like any other.
Command copy_command(std::uintptr_t dst, std::uintptr_t src, std::size_t n);
Command fill_command(std::uintptr_t dst, int value, std::size_t n);
Command fill_words_command(std::uintptr_t dst, std::uint32_t value, std::size_t n);

}  // namespace emu
