#include "sanitize_steps.h"

#include "block.h"
#include "sanitize.h"

namespace emu::sanitize {

Stepping& Block::stepping(unsigned i) {
  Stepping& s = stepping_[i];
  if (s.since != after_barrier_) s = Stepping{}, s.since = after_barrier_;
  return s;
}

void Block::step(std::uintptr_t p, unsigned size, bool stores, u32 pc) {
  if (stepping_.empty()) stepping_.resize(kMaxThreads);
  if (stepped_.size() < (shared_bytes_ + 3) / 4) stepped_.resize((shared_bytes_ + 3) / 4);
  Stepped& word = stepped_[(p - shared_) / 4];
  if (word.task != task_) word = Stepped{}, word.task = task_;
  const unsigned me = thread();
  Stepping& mine = stepping(me);
  const Step now{pc, time_of(me), static_cast<u16>(me), static_cast<u8>(size)};
  if (!stores) {
    const bool again = mine.last == p && mine.last_pc == pc;
    if (!again && unordered(word.store)) mine.word = p, mine.read = now, mine.store = word.store;
    else if (mine.word == p) mine.word = 0;
    mine.last = p, mine.last_pc = pc;
    if (word.read[0].thread != me) word.read[1] = word.read[0];
    word.read[0] = now;
    return;
  }
  mine.last = 0;
  mine.stores[mine.next++ % kStores] = pc;
  if (mine.word && mine.stores_at(mine.store.pc)) out_of_step(mine.word, mine.read, mine.store);
  mine.word = 0;
  for (const Step& read : word.read) {
    if (!unordered(read)) continue;
    const Stepping& other = stepping(read.thread);
    if (other.last != p && other.stores_at(pc)) out_of_step(p, read, now);
  }
  word.store = now;
}

// unordered: another thread of the warp has made an access that is not ordered with this one.
bool Block::unordered(const Step& s) {
  const unsigned me = thread();
  if (!s.size || s.thread == me || s.thread / 32 != me / 32) return false;
  Cell c{};
  c.task = task_, c.time = s.time, c.thread = s.thread;
  const Launch* l;
  return !knows(kLevels - 1, c, l, nullptr);
}

void Block::out_of_step(std::uintptr_t p, const Step& read, const Step& store) {
  Finding f{};
  f.kind = Kind::kRaceInBlock;
  f.why = kNotInStep;
  f.address = p, f.size = read.size;
  f.count = 1, f.accesses = 2;
  f.place[0] = {task_, read.pc, read.thread, kRead, *watched_->launch, index()};
  f.place[1] = {task_, store.pc, store.thread, kWrite, *watched_->launch, index()};
  watched_->by->found(f);
}

}  // namespace emu::sanitize
