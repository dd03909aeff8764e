// How a waiting thread lets others run.

#include "turn.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>

#include "machine.h"

namespace emu {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

bool quick_yield() {
  constexpr std::chrono::milliseconds kLong{1};
  constexpr int kRest = 10;  // so that at most a tenth of the time goes into long yields
  thread_local Clock::time_point again;
  const Clock::time_point before = Clock::now();
  if (before < again) return false;
  sched_yield();
  const Clock::time_point after = Clock::now();
  if (after - before > kLong) again = after + kRest * (after - before);
  return true;
}

namespace {

constexpr unsigned kFew = 32;
std::atomic<unsigned> pausing{0};  // threads in a pause

}  // namespace

bool Pauses::crowded() { return pausing.load(std::memory_order_relaxed) > kFew; }

void Pauses::pause(std::chrono::nanoseconds turn) {
  constexpr int kPart = 5;  // a crowd uses at most this part of a processor
  const Clock::time_point now = Clock::now();
  if (began_ == Clock::time_point{}) began_ = now;
  const unsigned others = pausing.fetch_add(1);
  std::chrono::nanoseconds t = std::clamp<std::chrono::nanoseconds>((now - began_) / 20, 50us, 5ms);
  if (others > kFew) t += std::min<std::chrono::nanoseconds>((others - kFew) * kPart * turn, 200ms);
  const timespec pause{0, t.count()};
  nanosleep(&pause, nullptr);
  pausing.fetch_sub(1);
}

void Tally::add() {
  count_.fetch_add(1);
  if (sleepers_.load()) syscall(SYS_futex, &count_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

// std::atomic's wait yields four times before it sleeps.
void Tally::await_change(std::uint32_t old) {
  constexpr int kSpins = 100;
  for (int i = 0; i < kSpins; i++) {
    if (load() != old) return;
    if (i % 4 != 3) machine::pause();
    else if (!quick_yield()) break;
  }
  sleepers_.fetch_add(1);
  while (count_.load() == old) syscall(SYS_futex, &count_, FUTEX_WAIT_PRIVATE, old, nullptr, nullptr, 0);
  sleepers_.fetch_sub(1);
}

}  // namespace emu
