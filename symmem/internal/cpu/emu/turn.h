// turn.h: how a waiting thread lets others run.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace emu {

// quick_yield lets another thread run, and returns true. While that takes long, it returns false at
// once: the caller sleeps instead. If more threads want to run than there are processors, Linux lets
// a thread that yields run again after each of the others has had a turn, which is about 20 ms with
// 13 others on 2 processors, and lets one in soon that has slept. There, two processes that take
// turns through a word of memory take 155 ms for a turn if they yield, and 3.3 ms if they sleep.
bool quick_yield();

// Pauses are the pauses between the failed polls of one wait. A pause lasts a 20th of the time since the
// first began, at least 50 us and at most 5 ms, so that the wait ends at most by that part, and by 5 ms, too
// late, and a long wait uses little of a processor. In a crowd of threads that wait, pauses are longer by
// a part that grows with their number, so that all of them together use as little.
class Pauses {
 public:
  static constexpr std::chrono::nanoseconds kTurn{20'000};  // of functions that the run time knows

  // pause pauses. turn is how long the caller runs between two pauses.
  void pause(std::chrono::nanoseconds turn = kTurn);
  void restart() { began_ = {}; }
  // crowded reports whether so many threads of this process wait that the next one pauses at once.
  static bool crowded();

 private:
  std::chrono::steady_clock::time_point began_;  // of the first pause
};

// A Tally is a count that threads of this process wait for.
class Tally {
 public:
  std::uint32_t load() const { return count_.load(std::memory_order_acquire); }

  // add adds one, and wakes the threads that wait.
  void add();

  // await_change waits until the count is no longer old: it polls for the time of a short kernel, about
  // 15 us, and then sleeps. Polling for longer takes the processor from the awaited threads, if threads
  // share processors: with ten times as many polls the operations of 2 and of 4 ranks on 2 processors take
  // about 1.1 times as long.
  void await_change(std::uint32_t old);

 private:
  std::atomic<std::uint32_t> count_{0}, sleepers_{0};
};

}  // namespace emu
