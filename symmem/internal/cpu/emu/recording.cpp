#include "recording.h"

#include <algorithm>

namespace emu {

static_assert(sizeof(emu_wait) == 64);

std::size_t Recording::push(const emu_activity& a) {
  if (list_.size() == room_) {
    lost_++;
    return kNone;
  }
  list_.push_back(a);
  return list_.size() - 1;
}

void Recording::waited(std::uint64_t now) {
  std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < count_; i++) {
    constexpr std::uint32_t kPending = 1;
    if (__atomic_load_n(&waits_[i].state, __ATOMIC_ACQUIRE) != kPending) continue;
    emu_wait w;
    w.kind = __atomic_load_n(&waits_[i].kind, __ATOMIC_RELAXED);
    w.ordinal = __atomic_load_n(&waits_[i].ordinal, __ATOMIC_RELAXED);
    w.rank = __atomic_load_n(&waits_[i].rank, __ATOMIC_RELAXED);
    w.peer = __atomic_load_n(&waits_[i].peer, __ATOMIC_RELAXED);
    w.channel = __atomic_load_n(&waits_[i].channel, __ATOMIC_RELAXED);
    w.want = __atomic_load_n(&waits_[i].want, __ATOMIC_RELAXED);
    w.began = __atomic_load_n(&waits_[i].began, __ATOMIC_RELAXED);
    if (w.began > now) continue;  // it is being written
    if (const std::size_t last = latest_[i]; last != kNone) {
      emu_activity& a = list_[last];
      if (a.wait.began == w.began && a.wait.ordinal == w.ordinal && a.wait.peer == w.peer) {
        a.ended = now;
        continue;
      }
    }
    emu_activity a{};
    a.kind = EMU_WAITED;
    a.began = w.began;
    a.ended = now;
    a.wait = w;
    latest_[i] = push(a);
  }
}

std::size_t Recording::take(emu_activity* out, std::size_t n, std::uint64_t* lost) {
  std::lock_guard lock(mutex_);
  *lost = lost_;
  std::copy_n(list_.begin(), std::min(n, list_.size()), out);
  return list_.size();
}

}  // namespace emu
