#include "stand.h"

#include <algorithm>

#include "block.h"
#include "grid.h"

namespace emu {

namespace {

enum class Polls { kMayEnd, kOld, kNew };

// polls_of tells what all threads do that can run: one may leave its loop by itself, or all are in loops without end,
// where one has not polled since the look before, or all have.
Polls polls_of(const Executor& e) {
  if (e.started < e.count || static_cast<const Grid*>(e.grid)->pending()) return Polls::kMayEnd;
  unsigned char least = e.poll[e.thread->linear].endless;
  for (const Fiber* f = e.ready.head; f && least; f = f->next) least = std::min(least, e.poll[e.linear(f)].endless);
  return least == kPolledAgain ? Polls::kNew : least ? Polls::kOld : Polls::kMayEnd;
}

}  // namespace

void look_whether_stands(Executor& e) {
  switch (polls_of(e)) {
    case Polls::kMayEnd:
      if (e.stood) end_stand(e);
      return;
    case Polls::kOld:
      return;
    case Polls::kNew:
      e.poll[e.thread->linear].endless--;
      for (const Fiber* f = e.ready.head; f; f = f->next) e.poll[e.linear(f)].endless--;
      e.stood++;
      e.stand.store(e.stand.load(std::memory_order_relaxed) + 1);
  }
}

void end_stand(Executor& e) {
  const std::uint64_t number = e.stand.load(std::memory_order_relaxed) >> 32;
  e.stood = 0;
  e.stand.store((number + 1) << 32);
}

void Standing::begin() {
  now_.clear();
  all_ = true;
}

void Standing::add(const Executor& e) {
  const std::uint64_t published = e.stand.load();
  now_.push_back({&e, static_cast<std::uint32_t>(published >> 32), static_cast<std::uint32_t>(published)});
  all_ = all_ && now_.back().looks > 0;
}

bool Standing::end() {
  // The values that a thread finds in vain after one look may be from before it, because other threads run
  // between its load and the comparison.
  constexpr std::uint32_t kLooks = 3;
  if (!all_ || now_.empty()) return false;
  const bool same = std::equal(now_.begin(), now_.end(), blocks_.begin(), blocks_.end(),
                               [](const Block& a, const Block& b) { return a.executor == b.executor && a.number == b.number; });
  if (!same) number++;
  if (!same || std::equal(now_.begin(), now_.end(), blocks_.begin(), [](const Block& a, const Block& b) { return a.looks - b.looks >= kLooks; })) {
    looks++;
    blocks_ = now_;
  }
  return true;
}

}  // namespace emu
