// device.h: the operating-system threads of one emulated device, and the monitor that watches over them.
//
// Each stream has an executor of its own. More executors are started when a grid has more blocks than one can run: up to the number of
// processors because it is quicker, and beyond when a block waits for one that has not begun.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "block.h"

namespace emu {

struct Grid;

namespace sanitize {
class Sanitizer;
class Network;
}

struct Device {
  // bit 0 of abort is how the host ends every wait.
  explicit Device(const std::uint32_t* abort);
  ~Device();
  Device(const Device&) = delete;

  // help asks up to n more executors to run blocks of the grid. dismiss waits until they are gone.
  void help(Grid&, unsigned n);
  void dismiss(Grid&);

  void enlist(Executor*);   // the monitor watches it
  void discharge(Executor*);
  // wake_monitor is called before work begins.
  void wake_monitor();

  // running calls f with every executor that runs a kernel, when that began, and a sample of it, or null if none came soon.
  template <class F>
  void running(F f) {
    std::lock_guard lock(watch_mutex_);
    take_samples();
    for (Watched& w : watched_) {
      if (!w.executor->active.load()) continue;
      Sample& s = w.executor->sample;
      const bool taken = s.state.load(std::memory_order_acquire) == Sample::kTaken;
      f(w.executor, w.executor->began.load(), taken ? const_cast<const Sample*>(&s) : nullptr);
      if (taken) s.state.store(Sample::kNone);
    }
  }

  bool aborted() const { return __atomic_load_n(abort_, __ATOMIC_ACQUIRE) & 1; }

  const unsigned processors;
  std::atomic<std::uint64_t> done{0};  // commands of its streams

  // watch lets a sanitizer look at what is launched from now on, or nobody; watcher is that, or null.
  void watch(std::shared_ptr<sanitize::Sanitizer> s) {
    sanitizer_.store(s);
    watched_over_.store(s != nullptr);
  }
  // network is what the device's network engine tells, made when it is first asked for.
  std::shared_ptr<sanitize::Network> network;
  std::shared_ptr<sanitize::Sanitizer> watcher() const { return watched_over_.load(std::memory_order_relaxed) ? sanitizer_.load() : nullptr; }

 private:
  struct Watched {
    Executor* executor;
    std::uint64_t progress;
    std::uint64_t blocks;
    std::int64_t cpu;  // nanoseconds the thread had used when it last made progress
    int late;          // ticks in which it made progress although the host had aborted
  };

  void serve();
  void monitor();
  void take_samples();
  void inspect(Watched&, bool aborted);

  std::atomic<bool> watched_over_{false};
  std::atomic<std::shared_ptr<sanitize::Sanitizer>> sanitizer_{};

  const std::uint32_t* const abort_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable calls_, left_, monitor_wake_;
  std::deque<Grid*> wanted_;
  unsigned idle_ = 0;
  bool closing_ = false;
  std::vector<std::thread> helpers_;

  std::mutex watch_mutex_;
  std::vector<Watched> watched_;
  std::atomic<bool> monitor_asleep_{false};
  std::atomic<std::uint64_t> works_{0};
  std::thread monitor_;
};

// start_thread starts a thread that takes no signals but faults and the preempt signal: all others are Go's.
std::thread start_thread(void (*body)(void*), void* argument);

}  // namespace emu
