#include "device.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <unordered_map>

#include "block.h"
#include "fault.h"
#include "grid.h"

namespace emu {

namespace {

// A GPU of today has room for so many blocks, and threads, at one time. Others begin when some have ended.
constexpr unsigned kMaxHelpers = 132 * 32, kMaxResident = 132 * 2048;
constexpr auto kTick = std::chrono::milliseconds(10);
constexpr int kIdleTicks = 100;  // after these the monitor sleeps
// nanoseconds of computing without progress, since the abort, after which force is used
constexpr std::int64_t kStuck = 15'000'000;
// ticks after an abort after which force is used in any case, if there was progress in some of them
constexpr int kOverdue = 10, kSeen = 1;
constexpr int kWake = 8;  // ticks after which an abort wakes those who pause
// nanoseconds of computing without progress after which an executor is suspected to spin
constexpr std::int64_t kSuspect = 20'000'000;

std::int64_t clock_ns(clockid_t c) {
  timespec t{};
  clock_gettime(c, &t);
  return t.tv_sec * 1'000'000'000ll + t.tv_nsec;
}

std::int64_t cpu_ns(pthread_t thread) {
  clockid_t c;
  return pthread_getcpuclockid(thread, &c) == 0 ? clock_ns(c) : 0;
}

unsigned count_processors() {
  const unsigned n = std::thread::hardware_concurrency();
  return n ? n : 1;
}

}  // namespace

bool start_thread(pthread_t& thread, void* (*body)(void*), void* argument) {
  sigset_t all, old;
  sigfillset(&all);
  for (int s : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, preempt_signal()}) sigdelset(&all, s);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  const bool started = pthread_create(&thread, nullptr, body, argument) == 0;
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  return started;
}

void need_thread(pthread_t& thread, void* (*body)(void*), void* argument) {
  if (start_thread(thread, body, argument)) return;
  std::fputs("symmrepl: the system starts no more threads (ulimit -u), and a stream of the cpu device needs one\n", stderr);
  std::abort();
}

Device::Device(const std::uint32_t* abort) : processors(count_processors()), abort_(abort) {
  install_handlers();
  need_thread(monitor_, [](void* d) { return static_cast<Device*>(d)->monitor(), d; }, this);
}

Device::~Device() {
  {
    std::lock_guard lock(mutex_);
    closing_ = true;
  }
  calls_.notify_all();
  monitor_wake_.notify_all();
  for (pthread_t t : helpers_) pthread_join(t, nullptr);
  pthread_join(monitor_, nullptr);
}

void Device::help(Grid& g, unsigned n) {
  const unsigned room = std::min(kMaxHelpers, kMaxResident / (g.block_dim.x * g.block_dim.y * g.block_dim.z));
  // without the lock: thousands of blocks that poll ask again and again
  if (g.uncalled() == 0 || g.helpers.load() >= room) return;
  std::unique_lock lock(mutex_);
  n = static_cast<unsigned>(std::min<unsigned long long>(n, g.uncalled()));
  for (; n > 0 && g.helpers.load() < room && !aborted(); n--) {  // to start thousands of threads takes a while
    if (wanted_.size() >= idle_) {
      pthread_t t;
      if (helpers_.size() == kMaxHelpers || !start_thread(t, [](void* d) { return static_cast<Device*>(d)->serve(), d; }, this)) return;
      helpers_.push_back(t);
      idle_++;  // it counts as idle
    }
    wanted_.push_back(&g);
    g.helpers++, g.called++;
    calls_.notify_one();
  }
}

void Device::dismiss(Grid& g) {
  std::unique_lock lock(mutex_);
  if (g.helpers == 0) return;
  g.helpers -= static_cast<unsigned>(std::erase(wanted_, &g));
  left_.wait(lock, [&] { return g.helpers == 0; });
}

void Device::serve() {
  Executor e(this);
  e.adopt();
  enlist(&e);
  std::unique_lock lock(mutex_);
  for (;;) {
    calls_.wait(lock, [&] { return closing_ || !wanted_.empty(); });
    if (wanted_.empty()) break;
    Grid* g = wanted_.front();
    wanted_.pop_front();
    g->called--;
    idle_--;
    lock.unlock();
    g->work(e);
    lock.lock();
    idle_++;
    if (--g->helpers == 0) left_.notify_all();
  }
  lock.unlock();
  discharge(&e);
  e.retire();
}

void Device::enlist(Executor* e) {
  std::lock_guard lock(watch_mutex_);
  watched_.push_back({e, 0, 0, 0, 0, 0, 0, false, false});
}

void Device::discharge(Executor* e) {
  std::lock_guard lock(watch_mutex_);
  std::erase_if(watched_, [e](const Watched& w) { return w.executor == e; });
}

bool Device::stands(const Grid* g, Standing& s, std::uint64_t& number, std::uint64_t& looks) {
  std::lock_guard lock(watch_mutex_);
  s.begin();
  for (const Watched& w : watched_)
    if (w.executor->active.load() == g) s.add(*w.executor);
  if (!s.end()) return false;
  number = s.number, looks = s.looks;
  return true;
}

void Device::wake_monitor() {
  works_.fetch_add(1);
  if (!monitor_asleep_.load()) return;
  std::lock_guard lock(mutex_);
  monitor_asleep_.store(false);
  monitor_wake_.notify_one();
}

// monitor inspects every executor at each tick, and sleeps when there has been no work for a while.
void Device::monitor() {
  std::unique_lock lock(mutex_);
  std::uint64_t works = 0;
  for (int idle = 0; !closing_;) {
    if (idle >= kIdleTicks) {
      monitor_asleep_.store(true);
      if (works_.load() == works) monitor_wake_.wait(lock, [&] { return closing_ || !monitor_asleep_.load(); });
      monitor_asleep_.store(false);
      idle = 0;
    }
    monitor_wake_.wait_for(lock, kTick);
    lock.unlock();
    const bool aborted = this->aborted();
    bool busy = works_.load() != works;
    works = works_.load();
    {
      std::lock_guard watch(watch_mutex_);
      for (Watched& w : watched_) {
        busy |= w.executor->active.load() != nullptr;
        inspect(w, aborted);
      }
    }
    idle = busy ? 0 : idle + 1;
    lock.lock();
  }
}

// take_samples requests samples of some busy executors of each launch, and waits a while. A sample
// that came too late the last time is also used. After an abort it requests none. A watched kernel is not
// disturbed: its accesses take the sample, and one that makes none is interrupted by the monitor's next tick.
void Device::take_samples() {
  constexpr int kTries = 20, kOfLaunch = 4;
  std::unordered_map<std::uint64_t, int> launches;  // by start: number of samples
  for (Watched& w : watched_) {
    Executor* e = w.executor;
    Sample& s = e->sample;
    w.sampled = !aborted() && e->active.load(std::memory_order_acquire) && launches[e->began.load()]++ < kOfLaunch;
    const int state = s.state.load();
    const bool lasts = state == Sample::kTaken || (state == Sample::kStepping && e->watched());
    if (!w.sampled) s.state.store(Sample::kNone);
    else if (!lasts || s.began != e->began.load()) s.state.store(Sample::kWanted);
  }
  for (int i = 0; i < kTries; i++) {
    bool lacks = false;
    for (Watched& w : watched_) {
      const int state = w.executor->sample.state.load(std::memory_order_acquire);
      if (!w.sampled || !w.executor->active.load() || state == Sample::kTaken) continue;
      lacks = true;
      if (state == Sample::kWanted && !w.executor->watched()) pthread_kill(w.executor->os_thread, preempt_signal());
    }
    if (!lacks) return;
    timespec t{0, 1'000'000};
    nanosleep(&t, nullptr);
  }
}

// inspect lets other threads run if an executor has only computed since the last tick, and requests
// a stop of its grid if the host wants that. It does not touch the grid, which may end at any
// moment. Time in which an executor had no processor does not count, because the executor could not
// see the abort; nor does the time that the single steps of a sample took. An abort ends the sample.
void Device::inspect(Watched& w, bool aborted) {
  Executor* e = w.executor;
  if (!aborted) w.ticks = w.late = 0, w.noticed = false;
  if (!e->active.load(std::memory_order_acquire)) return;
  const std::uint64_t progress = e->progress.load(std::memory_order_relaxed);
  const bool still = progress == w.progress, resting = e->resting.load();
  // one that pauses is left alone, except that it is to see an abort
  if (still && resting && !e->closing.load() && !(aborted && w.ticks++ % kWake == 0)) return;
  const std::int64_t cpu = cpu_ns(e->os_thread);
  if (aborted && (!w.noticed || e->sample.active())) e->sample.state.store(Sample::kNone), w.cpu = cpu, w.noticed = true;
  if (!still) w.progress = progress, w.cpu = w.suspected = cpu, w.ticks += aborted, w.late += aborted, e->spins.store(false);
  const bool stop = e->closing.load() || (w.ticks > kOverdue && w.late > kSeen) || (aborted && still && cpu - w.cpu > kStuck);
  e->stop_wanted.store(stop);
  const std::uint64_t blocks = e->blocks.load(std::memory_order_relaxed);
  if (stop || blocks == w.blocks) e->attention.store(true, std::memory_order_relaxed);
  w.blocks = blocks;
  // A sample shows whether the thread spins. It may cost thousands of single steps, so a thread that computes is suspected
  // again only after twice the time.
  const bool suspect = !aborted && still && !resting && cpu - w.suspected > std::max(kSuspect, w.suspected - w.cpu) && !e->spins.load();
  if (suspect && !e->sample.active()) {
    w.suspected = cpu;
    e->sample.state.store(Sample::kWanted);
  }
  if (still || stop) pthread_kill(e->os_thread, preempt_signal());
}

}  // namespace emu
