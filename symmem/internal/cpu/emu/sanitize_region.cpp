#include "sanitize_region.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "machine.h"
#include "turn.h"

namespace emu::sanitize {

namespace {

// Above the beginning of Go's heap and below the addresses at which the system maps programs.
void* const kBase = reinterpret_cast<void*>(0x4400'0000'0000);
#ifndef EMU_SHADOW_BITS
#define EMU_SHADOW_BITS 44  // fewer for qemu-user, which keeps a record of every page
#endif
// bytes of addresses; those of freed memory are not reused
constexpr std::size_t kBytes = 1ull << EMU_SHADOW_BITS;

std::mutex mutex;  // guards the following, except for readers of the pointer
Region* mapped = nullptr;
int descriptor = -1;
char mapped_name[64];

// gone reports whether the process with a number has ended.
bool gone(u8 number) {
  const pid_t process = number > 0 ? mapped->processes[number - 1].load() : 0;
  return process != 0 && process != getpid() && kill(process, 0) != 0 && errno == ESRCH;
}

// number gives this process a number: one that was never used or, if there is none, that of a process that has ended.
bool number(const char** why) {
  for (const bool again : {false, true})
    for (unsigned i = 0; i < kProcesses; i++) {
      std::int32_t was = mapped->processes[i].load();
      if (was != 0 && !(again && gone(static_cast<u8>(i + 1)))) continue;
      if (!mapped->processes[i].compare_exchange_strong(was, getpid())) continue;
      me = static_cast<u8>(i + 1);
      return true;
    }
  *why = "too many processes have shared it: start the session anew";
  return false;
}

bool map(int fd, const char** why) {
  void* p = mmap(kBase, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_NORESERVE, fd, 0);
  if (p != kBase) {
    if (p != MAP_FAILED) munmap(p, kBytes);
    *why = "the addresses for the shadow of memory are taken, or limited (ulimit -v)";
    close(fd);
    return false;
  }
  madvise(p, kBytes, MADV_DONTDUMP);
  descriptor = fd;
  snprintf(mapped_name, sizeof mapped_name, "/proc/%d/fd/%d", getpid(), fd);
  mapped = static_cast<Region*>(p);
  return number(why);
}

double seconds() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

}  // namespace

u8 me = 0;

// The holder is soon done unless it does not run. Then it may not run for long, because others do,
// and a waiting thread must not be one of them.
void Lock::wait() {
  constexpr unsigned kSpins = 64, kYields = 8, kAsk = 100;
  constexpr double kLost = 30;  // seconds after which the holder's thread must have faulted
  const double began = seconds();
  Pauses pauses;
  for (unsigned turn = 0; !try_lock(); turn++) {
    for (unsigned i = 0; i < kSpins && held.load(std::memory_order_relaxed); i++) machine::pause();
    if (turn < kYields && quick_yield()) continue;
    pauses.pause();
    u8 holder = held.load();
    const bool lost = turn % kAsk == kAsk - 1 && (gone(holder) || seconds() - began > kLost);
    if (lost && held.compare_exchange_strong(holder, me, std::memory_order_acquire)) return;
  }
}

void detach() {
  std::lock_guard lock(mutex);
  if (!mapped) return;
  mapped->processes[me - 1].store(0);
  munmap(mapped, kBytes);
  close(descriptor);
  mapped = nullptr, descriptor = -1, me = 0;
}

Region* region() { return mapped; }

const char* name() {
  std::lock_guard lock(mutex);
  return mapped ? mapped_name : nullptr;
}

const char* create(const char** why) {
  std::lock_guard lock(mutex);
  if (mapped) return mapped_name;
  const int fd = memfd_create("symmrepl-shadow", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, kBytes) != 0) {
    if (fd >= 0) close(fd);
    *why = "there is no memory for the shadow of memory";
    return nullptr;
  }
  if (!map(fd, why)) return nullptr;
  mapped->next = (sizeof(Region) + (1 << 21)) >> 21 << 21;
  return mapped_name;
}

bool attach(const char* name, const char** why) {
  std::lock_guard lock(mutex);
  if (mapped && strcmp(name, mapped_name) == 0) return true;
  const int fd = open(name, O_RDWR | O_CLOEXEC);
  if (fd < 0) {
    *why = "the ranks are not on one machine, or may not look at each other's processes";
    return false;
  }
  struct stat mine, other;
  if (!mapped) {
    // an empty page is no shadow either
    if (fstat(fd, &other) == 0 && S_ISREG(other.st_mode) && other.st_size == static_cast<off_t>(kBytes) && lseek(fd, 0, SEEK_DATA) == 0) return map(fd, why);
    close(fd);
    *why = "there is no shadow by this name";
    return false;
  }
  const bool same = fstat(descriptor, &mine) == 0 && fstat(fd, &other) == 0 && mine.st_ino == other.st_ino;
  close(fd);
  if (!same) *why = "this process is watched with other ranks already";
  return same;
}

void* Region::take(std::size_t n) {
  n = (n + 4095) & ~std::size_t{4095};
  const u64 at = next.fetch_add(n);
  return at + n <= kBytes ? reinterpret_cast<char*>(this) + at : nullptr;
}

void Region::give(void* p, std::size_t n) {
  fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<char*>(p) - reinterpret_cast<char*>(this), static_cast<off_t>((n + 4095) & ~std::size_t{4095}));
}

void Region::each_used(void* p, std::size_t n, void (*f)(void* p, std::size_t n)) {
  char* const base = reinterpret_cast<char*>(this);
  off_t at = static_cast<char*>(p) - base;
  const off_t end = at + static_cast<off_t>(n);
  while (at < end && (at = lseek(descriptor, at, SEEK_DATA)) >= 0 && at < end) {
    const off_t hole = std::min(lseek(descriptor, at, SEEK_HOLE), end);
    f(base + at, static_cast<std::size_t>(hole - at));
    at = hole;
  }
}

const Launch* Region::launch_of(Task t, const TaskRecord** record) const {
  const Rank& r = rank[rank_of(t)];
  const u32 number = t & ((1u << kNumberBits) - 1);
  const TaskRecord& task = r.task[number % kTasks];
  if ((task.number & ((1u << kNumberBits) - 1)) != number) return nullptr;
  const Launch& l = task.launch & kOfMessage ? r.message[task.launch / 2 % kMessages].launch[task.launch % 2] : r.launch[task.launch % kLaunches];
  if (l.number != task.launch) return nullptr;
  if (record) *record = &task;
  return &l;
}

Launch& Region::begin_launch(unsigned r) {
  const u32 number = (rank[r].launches.fetch_add(1) + 1) & ~kOfMessage;
  Launch& l = rank[r].launch[number % kLaunches];
  l = Launch{};
  l.number = number;
  return l;
}

Task Region::begin_task(unsigned r, const Launch& l, u32 block) {
  u32 number;
  do number = rank[r].tasks.fetch_add(1) + 1;
  while ((number & ((1u << kNumberBits) - 1)) == 0);
  rank[r].task[number % kTasks] = {number, l.number, block};
  return task_id(r, number);
}

}  // namespace emu::sanitize
