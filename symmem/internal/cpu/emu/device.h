// device.h: the operating-system threads of an emulated device, and the monitor of these threads.
//
// Each stream has its own executor. If a grid has several blocks, more executors are started: up to
// the number of processors to make it faster, and more than that if a block waits for one that has
// not begun.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "block.h"
#include "current.h"
#include "stand.h"

namespace emu {

struct Grid;
class Recording;

namespace sanitize {
class Sanitizer;
class Network;
}

struct Device {
  // By setting bit 0 of abort, the host ends every wait.
  explicit Device(const std::uint32_t* abort);
  ~Device();
  Device(const Device&) = delete;

  // help asks up to n more executors to run blocks of the grid. dismiss waits until they have left.
  void help(Grid&, unsigned n);
  void dismiss(Grid&);

  void enlist(Executor*);  // the monitor watches it from now on
  void discharge(Executor*);
  // wake_monitor is called when an executor has become active. Called earlier, by a thread that then gets no
  // processor for long, it would let the monitor sleep again before it sees the work.
  void wake_monitor();

  // running calls f for every executor that runs a kernel, with the start of the launch, whether a
  // sample of the executor was asked for, and the sample, or null if it was not taken in time. Of a
  // launch it asks a few executors.
  template <class F>
  void running(F f) {
    std::lock_guard lock(watch_mutex_);
    take_samples();
    for (Watched& w : watched_) {
      if (!w.executor->active.load()) continue;
      Sample& s = w.executor->sample;
      const bool taken = w.sampled && s.state.load(std::memory_order_acquire) == Sample::kTaken;
      f(w.executor, w.executor->began.load(), w.sampled, taken ? const_cast<const Sample*>(&s) : nullptr);
      if (taken) s.state.store(Sample::kNone);
    }
  }

  // stands reports whether all executors that run blocks of a grid stand still, and notes that in s. The grid may have
  // ended.
  bool stands(const Grid*, Standing& s, std::uint64_t& number, std::uint64_t& looks);

  bool aborted() const { return __atomic_load_n(abort_, __ATOMIC_ACQUIRE) & 1; }

  const unsigned processors;
  std::atomic<std::uint64_t> done{0};  // number of commands completed by its streams

  // watch sets the sanitizer of future launches, or none; watcher returns it, or null.
  void watch(std::shared_ptr<sanitize::Sanitizer> s) {
    sanitizer_.store(s);
    watched_over_.store(s != nullptr);
  }
  // record sets the recording of what runs from now on, or none; recording returns it, or null.
  void record(std::shared_ptr<Recording> r) {
    recording_.store(r);
    recorded_.store(r != nullptr);
  }
  std::shared_ptr<Recording> recording() const { return recorded_.load(std::memory_order_relaxed) ? recording_.load() : nullptr; }
  // network receives the calls of the device's network engine; made at its first use.
  std::shared_ptr<sanitize::Network> network;
  std::shared_ptr<sanitize::Sanitizer> watcher() const { return watched_over_.load(std::memory_order_relaxed) ? sanitizer_.load() : nullptr; }

 private:
  struct Watched {
    Executor* executor;
    std::uint64_t progress;
    std::uint64_t blocks;
    // nanoseconds of processor time that the thread had used when it last made progress, or when the host's
    // abort was noticed
    std::int64_t cpu;
    std::int64_t suspected;  // likewise when it was last suspected to spin
    int ticks, late;  // since the abort: ticks, and those with progress
    bool noticed;     // the abort was noticed
    bool sampled;     // a sample was asked for last time
  };

  void serve();
  void monitor();
  void take_samples();
  void inspect(Watched&, bool aborted);

  std::atomic<bool> recorded_{false};
  Current<Recording> recording_{};
  std::atomic<bool> watched_over_{false};
  Current<sanitize::Sanitizer> sanitizer_{};

  const std::uint32_t* const abort_;
  std::mutex mutex_;  // guards the following
  std::condition_variable calls_, left_, monitor_wake_;
  std::deque<Grid*> wanted_;
  unsigned idle_ = 0;
  bool closing_ = false;
  std::vector<pthread_t> helpers_;

  std::mutex watch_mutex_;
  std::vector<Watched> watched_;
  std::atomic<bool> monitor_asleep_{false};
  std::atomic<std::uint64_t> works_{0};
  pthread_t monitor_{};
};

// start_thread starts a thread that receives only fault signals and the preempt signal; all others
// are for Go's threads. It returns false if the system has no more threads; need_thread then ends the
// process.
bool start_thread(pthread_t& thread, void* (*body)(void*), void* argument);
void need_thread(pthread_t& thread, void* (*body)(void*), void* argument);

}  // namespace emu
