// recording.h: when the commands of a device's streams run, and for what their kernels wait.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <vector>

#include "api.h"

namespace emu {

// Recording has room for a number of activities; it counts the others.
class Recording {
 public:
  // waits are the records of the page that kernels share with the host: see device.Watch.
  Recording(const emu_wait* waits, std::size_t count, std::size_t room) : waits_(waits), count_(count), room_(room), latest_(count, kNone) { list_.reserve(room < 4096 ? room : 4096); }

  void add(const emu_activity& a) {
    std::lock_guard lock(mutex_);
    push(a);
  }

  // waited notes the waits that are under way at this moment, at which one of them ends. A thread
  // withdraws its record after this call, so that its wait is among them.
  void waited(std::uint64_t now);

  // take moves at most n activities to out and returns how many there were, with those that had no
  // room.
  std::size_t take(emu_activity* out, std::size_t n, std::uint64_t* lost);

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};

  std::size_t push(const emu_activity& a);

  const emu_wait* const waits_;
  const std::size_t count_, room_;
  std::mutex mutex_;  // guards the following
  std::vector<emu_activity> list_;
  std::vector<std::size_t> latest_;  // the last activity of each record of the page
  std::uint64_t lost_ = 0;
};

}  // namespace emu
