// Actions of a block, as reported by its hooks and barriers.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "block.h"
#include "grid.h"
#include "sanitize.h"

namespace emu::sanitize {

namespace {

u64 mix(u64 x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdull;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ull;
  return x ^ x >> 33;
}

// nanoseconds returns the time of a clock that all ranks of a host share, in nanoseconds.
u64 nanoseconds() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<u64>(t.tv_sec) * 1'000'000'000 + static_cast<u64>(t.tv_nsec);
}

constexpr std::uintptr_t kPage = 4096;

// number of volatile reads, and of atomic operations without effect, after which other threads run
constexpr u32 kPolls = 16;

enum { kLoad, kStore, kSwap, kFailedSwap };  // kinds of atomic operations

}  // namespace

// Zero is the initial state of a thread, and memory that no block has used costs nothing. end leaves
// every thread in this state.
Block::Block() : threads_(static_cast<ThreadState*>(std::calloc(kMaxThreads, sizeof(ThreadState)))), hot_(static_cast<Hot*>(std::calloc(kMaxThreads, sizeof(Hot)))) {}

Block::~Block() {
  std::free(hot_);
  std::free(threads_);
}

void Block::begin(const Worker& worker, unsigned threads, Watched& w, unsigned long long index) {
  start(worker, threads, w, region()->begin_task(w.by->rank, *w.launch, static_cast<u32>(index)));
  random_ = w.by->seed && has_fibers() ? mix(w.by->seed ^ mix(static_cast<u64>(w.by->rank) << 40 ^ static_cast<u64>(sequence_) << 20 ^ index)) | 1 : 0;
  if (random_) met_ = nanoseconds();
}

void Block::carry(const Worker& worker, Watched& w, Task task, const Known& tells) {
  start(worker, worker.thread->linear + 1, w, task);
  tells_ = &tells;
  random_ = 0;
}

void Block::start(const Worker& worker, unsigned threads, Watched& w, Task task) {
  worker_ = &worker;
  watched_ = &w;
  task_ = task;
  actor_ = w.launch->actor, sequence_ = w.launch->sequence;
  now_ = after_barrier_ = 1;
  block_time_ = grid_barriers_ = 0;
  std::memset(warp_time_, 0, sizeof warp_time_);
  std::memset(memo_, 0, sizeof memo_);
  count_ = threads;
  base_ = w.start;
  begun_ = Release{};
  begun_.base = w.start;
  begun_.task = task_;
  begun_.joined = true;
  shared_ = reinterpret_cast<std::uintptr_t>(worker.shared);
  shared_bytes_ = w.shared_bytes;
  const std::size_t granules = (shared_bytes_ + 7) / 8;
  if (granules > shared_task_.size()) {
    shared_shadow_.reset(new Granule[granules]());
    shared_task_.assign(granules, 0);
  }
}

void Block::end() {
  unlock();  // of an atomic operation that faulted
  for (u16 i : learned_) base_.learn(threads_[i].more);
  for (unsigned i = 0; i < count_; i++) {
    if (!hot_[i].used) {
      hot_[i] = Hot{};
      continue;
    }
    ThreadState& t = threads_[i];
    settle(t);
    hot_[i] = Hot{};
    for (unsigned k = 0; k < t.waiting; k++) learn(t, t.pending[k]);  // the end of a launch is a fence
    base_.learn(t.more);
    t = ThreadState{};
  }
  learned_.clear();
  for (const Unwritten& u : unwritten_) watched_->by->found(u.finding);
  unwritten_.clear();
  tells_ = nullptr;
  Held held(watched_->lock);
  watched_->end.learn(base_);
}

unsigned Block::thread() const { return worker_->thread->linear; }

u32 Block::index() const {
  const Index3& b = worker_->block;
  const Index3& d = worker_->grid_dim;
  return b.x + d.x * (b.y + d.y * b.z);
}

ThreadState& Block::current() {
  hot_[thread()].used = true;
  return threads_[thread()];
}

bool Block::locate(std::uintptr_t p, Where& w) {
  if (p - shared_ < shared_bytes_) {
    const std::size_t i = (p - shared_) / 8;
    Granule& g = shared_shadow_[i];
    if (shared_task_[i] != task_) {
      clear(g);
      g.unwritten = 0xff;
      shared_task_[i] = task_;
    }
    w = {&g, true};
    return true;
  }
  Page& page = pages_[p / kPage % std::size(pages_)];
  if (const u32 changed = ranges_changed.load(std::memory_order_acquire); page.number != p / kPage || page.changed != changed) {
    const Range* r = find(p);
    if (!r || !r->shadow) return false;
    page = {p / kPage, &r->at(p & ~(kPage - 1)), changed};
  }
  w = {page.shadow + p % kPage / 8, false};
  return true;
}

// cell returns the record of an access by the thread.
Cell Block::cell(unsigned how, u32 pc, u8 mask) const {
  const unsigned me = thread();
  const u32 time = time_of(me);
  Cell c;
  c.task = task_;
  c.time = time < kTimes ? time : 0;
  c.thread = me;
  c.how = how;
  c.pc = pc;
  c.mask = mask;
  return c;
}

namespace {

// recorded reports whether an access that may be made of bytes of a granule is there already, by the
// same thread, in the same epoch and from the same place. Then the access was checked, and whoever
// has made a conflicting one since has checked it against this record. So nothing is lost if the
// granule is not locked: a record that another thread replaces meanwhile was there before.
bool recorded(const Granule& g, const Cell& access) {
  if ((g.invalid | g.unwritten) & access.mask || access.time == 0) return false;
  for (const Cell& c : g.cells)
    if (std::memcmp(&c, &access, sizeof c) == 0) return true;
  return false;
}

}  // namespace

void Block::access(const void* at, unsigned size, unsigned how, const void* pc) {
  std::uintptr_t p = reinterpret_cast<std::uintptr_t>(at);
  Where w;
  if (!locate(p, w)) return stray(p, size, how, offset(pc));
  const unsigned me = thread();
  Hot& hot = hot_[me];
  ThreadState& t = threads_[me];
  if (hot.polled) settle(t);
  if (how & kAtomic) {
    hot.used = true;
    if (random_) perhaps_switch();
    if (how == (kRead | kAtomic)) polled();
    if (w.shared) step(p, size, how & kWrite, offset(pc));
  }
  for (unsigned done = 0; done < size;) {
    const unsigned low = p & 7, n = std::min(8 - low, size - done);
    const u8 mask = static_cast<u8>(((1u << n) - 1) << low);
    if (done > 0 && !locate(p, w)) return stray(p, size - done, how, offset(pc));
    if (how == (kWrite | kAtomic) || !recorded(*w.granule, cell(how, offset(pc), mask))) {
      Held held(w.granule->lock);
      check(w, p, size, mask, how, offset(pc));
      if (how == (kWrite | kAtomic))
        if (Sync* s = sync_of(*w.granule, low, true)) store(t, *s, false, false, false, kSystemScope);
    }
    p += n, done += n;
  }
  if ((how & kAtomic) && random_) t.acted = nanoseconds();
  if (how == (kRead | kAtomic)) hot.polled = at;
  if (how == (kWrite | kAtomic) && !w.shared) perhaps_pause(8);
}

void Block::range(std::uintptr_t p, std::size_t n, unsigned how, const void* pc) {
  for (const std::uintptr_t end = p + n; p < end;) {
    const std::uintptr_t next = std::min(end, (p & ~std::uintptr_t{7}) + 8);
    const u8 mask = static_cast<u8>(((1u << (next - p)) - 1) << (p & 7));
    Where w;
    if (!locate(p, w)) return stray(p, static_cast<unsigned>(next - p), how, pc ? offset(pc) : 0);
    Held held(w.granule->lock);
    check(w, p, static_cast<unsigned>(next - p), mask, how, pc ? offset(pc) : 0);
    p = next;
  }
}

bool Block::knows(unsigned level, const Cell& c, const Launch*& l, u32* block) {
  const unsigned me = thread();
  if (c.task == task_) {
    l = watched_->launch;
    return c.thread == me || c.time <= block_time_ || (c.thread / 32 == me / 32 && c.time <= warp_time_[me / 32]) ||
           threads_[me].more.level[level].knows(task_, *l, c.thread, c.time);
  }
  Memo& m = memo_[c.task % std::size(memo_)];
  if (level == 0 && m.task == c.task && c.time <= m.time) return true;
  const TaskRecord* record;
  l = region()->launch_of(c.task, &record);
  if (!l) return true;
  if (block) *block = record->block;
  if (m.task != c.task) m = {static_cast<Task>(c.task), 0, false};
  if (l->actor == actor_ && l->sequence != sequence_ && !l->carried) {
    m.time = ~u32{0};
    return true;
  }
  if (base_.level[level].knows(c.task, *l, c.thread, c.time)) {
    if (level == 0 && base_.level[0].knows_all(c.task, *l, c.time)) m.time = std::max<u32>(m.time, c.time);
    return true;
  }
  if (level == 0 && !base_.level[0].mentions(static_cast<Task>(c.task))) m.nothing_later = true;
  return threads_[me].more.level[level].knows(c.task, *l, c.thread, c.time);
}

// unknown reports that level 0 does not know an access, if that shows at a glance.
bool Block::unknown(const Cell& c) const {
  if (c.task == task_ || threads_[thread()].more.level[0]) return false;
  const Memo& m = memo_[c.task % std::size(memo_)];
  return m.task == c.task && m.nothing_later && c.time > m.time;
}

// fenceless says on which side of a word a fence is missing. Each thread of the block may have loaded the word. If what
// it has loaded and not fenced tells of the access, then the store was fenced. If nothing is left to fence, the load was.
Why Block::fenceless(const Cell& c, const Launch& l) const {
  bool waits = false, early = false;
  for (unsigned i = 0; i < count_; i++) {
    const ThreadState& t = threads_[i];
    for (unsigned k = 0; k < t.waiting; k++) {
      waits = true;
      const Knowledge told = told_by(t.pending[k], 1);
      if (told.knows(c.task, l, c.thread, c.time)) return kNoFenceBehind;
      early |= told.mentions(c.task);
    }
  }
  return early ? kFenceTooEarly : waits ? kNoFence : kNoFenceBefore;
}

// check checks an access of bytes of a granule, which is locked, and records it.
void Block::check(const Where& w, std::uintptr_t p, unsigned size, u8 mask, unsigned how, u32 pc) {
  Granule& g = *w.granule;
  if (w.shared && p + size > shared_ + shared_bytes_) return beyond_shared(p, size, how, pc);
  if (g.invalid & mask) return report(g.freed & mask ? Kind::kUseAfterFree : Kind::kOutOfBounds, kNoReason, p, size, how, pc, nullptr, nullptr, 0);
  if (g.unwritten & mask) {
    if (!(how & kWrite)) unwritten(w, p, size, mask, how, pc);
    g.unwritten = static_cast<u8>(g.unwritten & ~mask);
  }
  if (w.shared && (how & kWrite) && !unwritten_.empty()) written(g, mask, how);
  const unsigned me = thread();
  hot_[me].accessed = true;
  const bool again = watched_->launch->carried == kPutWrites && put_before(g, mask);
  int place = -1;
  for (unsigned i = 0; i < kCells; i++) {
    Cell& c = g.cells[i];
    if (!c.mask) {
      if (place < 0) place = static_cast<int>(i);
      continue;
    }
    if (!(c.mask & mask)) continue;
    const bool covers = !(c.mask & ~mask) && ((how & kWrite) || !(c.how & kWrite));
    if (c.task == task_ && c.thread == me) {
      if (covers && !((c.how ^ how) & kAtomic)) place = static_cast<int>(i);
      continue;
    }
    const bool both_atomic = c.how & how & kAtomic;
    const bool apart = both_atomic && distance(static_cast<Task>(c.task)) > std::min(reach(c.how), reach(how));
    const bool widths = both_atomic && c.mask != mask;
    const bool conflict = ((c.how | how) & kWrite) && (!both_atomic || apart || widths);
    if (!conflict && (!covers || unknown(c))) continue;
    const Launch* l = nullptr;
    u32 block = 0;
    if (knows(0, c, l, &block)) {
      if (covers) place = static_cast<int>(i);
      continue;
    }
    if (!conflict) continue;
    if (!widths && saw(g, c, *l)) {
      if (covers) place = static_cast<int>(i);
      continue;
    }
    Kind kind = l->host || watched_->launch->host  ? Kind::kRaceWithHost
                : c.task == task_                  ? Kind::kRaceInBlock
                : rank_of(c.task) != rank_of(task_) || l->carried || watched_->launch->carried ? Kind::kRaceBetweenRanks
                : l->actor != actor_               ? Kind::kRaceBetweenStreams
                                                   : Kind::kRaceBetweenBlocks;
    Why why = widths ? kTwoWidths : apart ? kNarrowScope : kNoReason;
    if (why == kNarrowScope) kind = Kind::kOrderTooWeak;
    for (const Why level : {kNarrowScope, kNoFence})
      if (why == kNoReason && knows(level, c, l, nullptr)) kind = Kind::kOrderTooWeak, why = level;
    if (why == kNoFence) why = fenceless(c, *l);
    if (why == kNoReason && again && !(c.how & kWrite)) why = kPutAgain;
    report(kind, why, p, size, how, pc, &c, l, block);
    c = Cell{};  // report it only once
    place = static_cast<int>(i);
  }
  if (place < 0) place = g.next++ % kCells;
  g.cells[place] = cell(how, pc, mask);
}

// put_before reports whether another put of the same rank has written some of these bytes of a
// granule.
bool Block::put_before(const Granule& g, u8 mask) const {
  for (const Cell& c : g.cells) {
    if (!(c.mask & mask) || !(c.how & kWrite) || c.task == task_ || rank_of(static_cast<Task>(c.task)) != rank_of(task_)) continue;
    const Launch* l = region()->launch_of(static_cast<Task>(c.task));
    if (l && l->carried == kPutWrites) return true;
  }
  return false;
}

// unwritten records a read of bytes that nothing has written. In shared memory it is reported when
// the block ends, because a thread that writes them later without having waited for the read races
// with it, and might as well come first.
void Block::unwritten(const Where& w, std::uintptr_t p, unsigned size, u8 mask, unsigned how, u32 pc) {
  if (!w.shared) return report(Kind::kNeverWritten, kNoReason, p, size, how, pc, nullptr, nullptr, 0);
  Unwritten u{w.granule, {}, {}};
  const unsigned me = thread();
  u.read.task = task_, u.read.time = time_of(me), u.read.thread = me, u.read.mask = mask, u.read.how = how;
  Finding& f = u.finding;
  f.kind = Kind::kNeverWritten;
  f.size = size;
  f.count = f.accesses = 1;
  f.place[0] = here(pc, how);
  snprintf(f.memory, sizeof f.memory, "byte %u of the block's shared memory", static_cast<unsigned>(p - shared_));
  unwritten_.push_back(u);
}

// written drops the reads of unwritten bytes of a granule that race with a write by the thread.
void Block::written(const Granule& g, u8 mask, unsigned how) {
  const Launch* l;
  std::erase_if(unwritten_, [&](const Unwritten& u) { return u.granule == &g && u.read.mask & mask && !(u.read.how & how & kAtomic) && !knows(0, u.read, l, nullptr); });
}

// stray handles an access of memory without shadow: freed memory, a page next to watched memory, an
// inaccessible area, or memory that is not watched.
void Block::stray(std::uintptr_t p, unsigned size, unsigned how, u32 pc) {
  if (shared_ && executor()->shared_memory.contains(p)) return beyond_shared(p, size, how, pc);
  if (find(p)) return report(Kind::kUseAfterFree, kNoReason, p, size, how, pc, nullptr, nullptr, 0);
  const Range* const before = find(p - 4096);
  const Range* const behind = find(p + 4096);
  if ((before && before->guarded) || (behind && behind->guarded)) report(Kind::kOutOfBounds, kNoReason, p, size, how, pc, nullptr, nullptr, 0);
}

void Block::beyond_shared(std::uintptr_t p, unsigned size, unsigned how, u32 pc) {
  const bool before = p < shared_;
  char memory[sizeof Finding::memory];
  if (before) snprintf(memory, sizeof memory, "%u bytes in front of the block's shared memory", static_cast<unsigned>(shared_ - p));
  else snprintf(memory, sizeof memory, "behind the block's shared memory, of %u bytes", static_cast<unsigned>(shared_bytes_));
  report(before || !watched_->has_dynamic_shared ? Kind::kOutOfBounds : Kind::kSharedBeyond, size, how, pc, memory);
}

void Block::index(long long i, const char* array, const void* pc) {
  char memory[sizeof Finding::memory];
  snprintf(memory, sizeof memory, "element %lld of %s", i, array);
  report(Kind::kOutOfBounds, 0, kRead, offset(pc), memory);
}

// here returns an access by the thread.
Place Block::here(u32 pc, unsigned how) const {
  return {task_, pc, thread(), static_cast<u8>(how), *watched_->launch, index()};
}

void Block::report(Kind kind, Why why, std::uintptr_t p, unsigned size, unsigned how, u32 pc, const Cell* other, const Launch* l, u32 block) {
  Finding f{};
  f.kind = kind;
  f.why = why;
  f.address = p;
  f.size = size;
  f.count = f.accesses = 1;
  f.place[0] = here(pc, how);
  if (other) {
    f.accesses = 2;
    f.place[1] = {static_cast<Task>(other->task), other->pc, static_cast<unsigned>(other->thread), static_cast<u8>(other->how), *l, other->task == task_ ? f.place[0].block : block};
  }
  watched_->by->found(f);
}

// report reports an access of memory that is best described in words.
void Block::report(Kind kind, unsigned size, unsigned how, u32 pc, const char* memory) {
  Finding f{};
  f.kind = kind;
  f.size = size;
  f.count = f.accesses = 1;
  f.place[0] = here(pc, how);
  snprintf(f.memory, sizeof f.memory, "%s", memory);
  watched_->by->found(f);
}

// polled: a thread that reads a word again and again may wait for another thread of its block.
void Block::polled() {
  if (has_fibers() && ++polls_ % kPolls == 0) emu_preempt();
}

void Block::perhaps_switch() {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  if (random_ % 4 == 0) emu_preempt();
}

// read_by_others reports whether other threads have read a word lately.
bool Block::read_by_others(const Sync& s) const {
  for (const Observer& o : s.observer)
    if (o.task && (o.task != task_ || o.thread != thread())) return true;
  return false;
}

// perhaps_pause delays a block that has stored a word which others read, so that they read it before
// the next store, or whose thread has learned from a word, so that others go on without what it does next. On
// a busy machine it takes milliseconds until they run: one seed in four has such pauses.
void Block::perhaps_pause(unsigned one_in) {
  if (!random_) return;
  perhaps_switch();
  if ((random_ >> 8) % one_in) return;
  const long longer = watched_->by->seed % 4 == 3 ? 20 : 1;
  const timespec t{0, longer * static_cast<long>(50'000 + (random_ >> 16) % 200'000)};
  nanosleep(&t, nullptr);
}

// Words by which threads synchronise.

unsigned Block::distance(Task other) const { return other == task_ ? kBlockScope : rank_of(other) == rank_of(task_) ? kDeviceScope : kSystemScope; }

// stamp names a release by a thread, whose next access is later than what it publishes.
void Block::stamp(unsigned i, Release& r) {
  r.task = task_;
  r.thread = static_cast<u16>(i);
  r.joined = tells_ != nullptr;
  if (tells_) return;
  r.block_time = block_time_, r.warp_time = warp_time_[i / 32];
  r.time = time_of(i) - 1;
  if (hot_[i].accessed) {
    r.time++;
    hot_[i].time = ++now_;
    hot_[i].accessed = false;
  }
}

Release Block::release(unsigned i) {
  Release r;
  stamp(i, r);
  r.base = tells_ ? *tells_ : base_;
  if (!tells_) r.more = threads_[i].more;
  return r;
}

bool Block::has(ThreadState& t, unsigned level, const Release& r) {
  // what preceded the launch, every thread knows
  if (r.task == task_ && r.time == 0 && !r.more.level[level] && !tells_) return true;
  if (r.joined) return false;
  if (r.task == task_)
    return r.thread == number(t) || r.time <= block_time_ || t.more.level[level].at(task_key(task_, r.thread)) >= r.time;
  const Launch* l = region()->launch_of(r.task);
  // it has done nothing itself, and may publish what preceded its launch
  if (l && r.time == 0) return false;
  return !l || base_.level[level].knows(r.task, *l, r.thread, r.time) || t.more.level[level].knows(r.task, *l, r.thread, r.time);
}

void Block::learned(ThreadState& t) {
  if (t.listed) return;
  t.listed = true;
  learned_.push_back(static_cast<u16>(number(t)));
}

// learn adds what a release publishes at some levels.
void Block::learn(ThreadState& t, unsigned from, unsigned to, const Release& r) {
  if (!r.task) return;
  const Times times(r);
  bool alike[kLevels] = {};  // the result is that of the level before
  for (unsigned i = from + 1; i < to; i++)
    alike[i] = r.alike(i, i - 1) && base_.level[i].same(base_.level[i - 1]) && t.more.level[i].same(t.more.level[i - 1]);
  for (unsigned i = from; i < to; i++) {
    Knowledge& k = t.more.level[i];
    if (alike[i]) {
      k.set(t.more.level[i - 1]);
    } else if (!has(t, i, r)) {
      learned(t);
      if (!r.base.level[i].same(base_.level[i])) k.learn(r.base.level[i]);
      k.learn(r.more.level[i]);
      k.learn(times.entry, times.n);
    }
  }
}

// observe: a thread has read a word, and so knows the stores that it saw, but not what preceded
// them.
void Block::observe(const ThreadState& t, Sync& s, const Published& seen) {
  if (!seen.stores.task) return;
  const unsigned me = number(t);
  Observer* mine = nullptr;
  for (Observer& o : s.observer)
    if (o.task == task_ && o.thread == me) mine = &o;
  if (!mine) mine = &s.observer[s.next_observer++ % kObservers];
  else if (mine->saw.task == seen.stores.task && mine->saw.time == seen.stores.time) return;
  *mine = {task_, time_of(me), static_cast<u16>(me), seen.stores};
}

// saw reports whether a known read has seen an atomic store that is not known.
bool Block::saw(Granule& g, const Cell& c, const Launch& l) {
  if ((c.how & (kWrite | kAtomic)) != (kWrite | kAtomic)) return false;
  const Sync* s = sync_of(g, static_cast<unsigned>(__builtin_ctz(c.mask)), false);
  if (!s) return false;
  for (const Observer& o : s->observer)
    if (o.task && o.saw.include(static_cast<Task>(c.task), l, c.thread, c.time) && knows(0, First{o.task, o.time, 0, o.thread, 0, 0, 0})) return true;
  return false;
}

// earlier decides whether a thread that loads a word sees the value before the last store. The
// thread has done nothing since that store by which it synchronises, so that nothing distinguishes
// this order of events from one in which it ran a little earlier.
bool Block::earlier(const ThreadState& t, const Sync& s, u64 value) {
  return random_ && s.last == value && s.stored_at > std::max(t.acted, met_) && (random_ >> 40) % 2;
}

// load: a thread has loaded a word, and seen a state of it.
void Block::load(ThreadState& t, Sync& s, const Published& seen, bool acquire, unsigned scope) {
  observe(t, s, seen);
  const u8 as = static_cast<u8>(acquire << 2 | scope);
  if (&seen == &s) {
    if (t.loaded == &s && t.version == s.version && t.loaded_as == as) return;
    t.loaded = &s, t.version = s.version, t.loaded_as = as;
  }
  const Release* strong = nullptr;
  unsigned far = 3;
  for (unsigned i = 0; i < 3 && !strong; i++)
    if (seen.strong[i].task && distance(seen.strong[i].task) <= i) strong = &seen.strong[i], far = distance(strong->task);
  if (far > scope) strong = nullptr;
  const Release& wide = seen.strong[kBlockScope];
  learn(t, 2, seen.weak);
  if (acquire) {
    if (strong == &wide) return learn(t, 0, 2, wide);
    if (strong) learn(t, 0, *strong);
    learn(t, 1, wide);
    return;
  }
  auto pend = [&](const Release& r, unsigned far) {
    if (!r.task || has(t, far > kSystemScope ? 1 : 0, r)) return;
    for (unsigned i = 0; i < t.waiting; i++)
      if (t.pending[i].task == r.task && t.pending[i].thread == r.thread && t.far[i] == far) {
        t.pending[i].set(r);
        return;
      }
    if (t.waiting == kPending) return learn(t, r);
    t.pending[t.waiting] = r;
    t.far[t.waiting++] = static_cast<u8>(far);
  };
  if (strong) pend(*strong, far);
  else pend(wide, 3);
}

// store: a thread stores a word; swap is set if it also reads the word, known if the word's value
// before is the value of the last store.
void Block::store(ThreadState& t, Sync& s, bool known, bool swap, bool release_order, unsigned scope) {
  if (watched_->by->seed) s.before = s, s.stored_at = known ? nanoseconds() : 0;
  s.version++;
  s.stores.add(task_, now_, swap);
  s.carried = !watched_->launch->carried ? Sync::kNoMessage : swap ? Sync::kAdds : Sync::kSets;
  const unsigned me = number(t);
  Release now;
  if (release_order) now = release(me);
  else stamp(me, now);
  constexpr unsigned kLast = kLevels - 1;
  Release& weak = s.weak;
  if (tells_) {
    now.base.level[kLast] = tells_->level[kLast];
    if (!swap) weak = Release{};
    join(weak, now);
  } else {  // a thread that swaps has learned at this level what was published before
    weak.base.level[kLast].set(base_.level[kLast]);
    weak.more.level[kLast].set(t.more.level[kLast]);
    weak.name(now);
    weak.joined = false;
  }
  for (unsigned i = 0; i < 3; i++) {
    const Release& told = release_order ? now : t.fence[i].task ? t.fence[i] : begun_;
    if (i > scope) {
      if (!swap) s.strong[i] = Release{};
    } else if (swap) {
      join(s.strong[i], told);
    } else {
      s.strong[i].set(told);
    }
  }
}

void Block::settle(ThreadState& t) {
  Hot& hot = hot_[number(t)];
  if (!hot.polled) return;
  const std::uintptr_t p = reinterpret_cast<std::uintptr_t>(hot.polled);
  hot.polled = nullptr;
  Where w;
  if (!locate(p, w)) return;
  Held held(w.granule->lock);
  if (Sync* s = sync_of(*w.granule, p & 7, false)) load(t, *s, *s, false, kSystemScope);
}

void Block::fence(unsigned scope) {
  ThreadState& t = current();
  settle(t);
  for (unsigned i = 0; i < t.waiting; i++) learn(t, t.far[i] <= scope ? 0 : 1, 2, t.pending[i]);
  unsigned left = 0;  // those that a fence of wider scope may still publish
  for (unsigned i = 0; i < t.waiting; i++)
    if (t.far[i] > scope && t.far[i] <= kSystemScope) {
      if (left != i) t.pending[left] = std::move(t.pending[i]);
      t.far[left++] = t.far[i];
    }
  t.waiting = static_cast<u8>(left);
  const Release now = release(number(t));
  for (unsigned i = 0; i <= scope; i++) t.fence[i].set(now);
  if (!stepping_.empty()) stepping_[number(t)] = Stepping{};
  if (random_) t.acted = nanoseconds();
}

void Block::lock(const void* p) {
  settle(current());
  if (random_) perhaps_switch();
  locked_ = locate(reinterpret_cast<std::uintptr_t>(p), locked_where_) ? locked_where_.granule : nullptr;
  if (locked_) locked_->lock.lock();
}

void Block::unlock() {
  if (!locked_) return;
  locked_->lock.unlock();
  locked_ = nullptr;
}

u64 Block::atomic(const void* at, unsigned size, unsigned kind, int order, u64 old, u64 stored, const void* pc) {
  const bool may_be_early = kind == kLoad;
  if (kind == kFailedSwap) kind = kLoad;
  ThreadState& t = current();
  const unsigned scope = t.scope ? (t.scope - 1u) & 3u : unsigned{kSystemScope};
  const bool relaxed = t.scope != 0 && t.scope <= 4;
  t.scope = 0;
  const bool acquire = !relaxed && kind != kStore && (order == __ATOMIC_CONSUME || order == __ATOMIC_ACQUIRE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST);
  const bool release_order = !relaxed && kind != kLoad && (order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST);
  auto learn_outside = [&] {
    Known all;
    {
      Held held(region()->outside_lock);
      all = outside();
    }
    learned(t);
    t.more.learn(all);
  };
  if (!locked_) {
    if (acquire) learn_outside();
    if (release_order) {
      const Known told = told_by(release(thread()));
      Held held(region()->outside_lock);
      outside().learn(told);
    }
    return old;
  }
  const std::uintptr_t p = reinterpret_cast<std::uintptr_t>(at);
  const u8 mask = static_cast<u8>(((1u << size) - 1) << (p & 7));
  if (kind == kSwap && locked_->unwritten & mask) unwritten(locked_where_, p, size, mask, kRead | kAtomic, offset(pc));
  check(locked_where_, p, size, mask, (kind == kLoad ? unsigned{kRead} : unsigned{kWrite}) | kAtomic | narrow(scope), offset(pc));
  hot_[thread()].accessed = true;
  Sync* const s = sync_of(*locked_, p & 7, kind != kLoad);
  const bool unknown = kind != kStore && (s && (s->strong[0].task || s->weak.task) ? s->last != old : old != 0);
  const bool early = s && may_be_early && earlier(t, *s, old);
  const Published* const seen = early ? &s->before : s;
  const bool learns = s && acquire && kind == kLoad && seen->strong[kBlockScope].task && !has(t, 1, seen->strong[kBlockScope]);
  if (early) old = stored = seen->last;
  if (s && kind != kStore) load(t, *s, *seen, acquire, scope);
  if (s && kind != kStore && s->last == old) s->seen = true;
  if (s && kind != kLoad) {
    s->comes(stored, kind == kStore);
    if (kind == kStore && !s->seen && s->weak.task && s->last != 0 && s->last != stored) s->lose(task_, offset(pc), static_cast<u16>(thread()));
    if (watched_->launch->carried && s->carried && (kind == kStore ? s->last != stored : s->carried == Sync::kSets)) outrun(*s, p, size, offset(pc));
    s->last_pc = offset(pc);
    overtakes(*s);
    store(t, *s, s->last == old, kind == kSwap, release_order, scope);
    s->last = stored;
    s->seen = kind == kSwap;
  }
  const bool matters = learns || (kind != kLoad && s && read_by_others(*s));
  unlock();
  // the network's engine or the host has stored it
  if (unknown && !locked_where_.shared) learn_outside();
  if (kind != kStore && old == stored && !learns) polled();
  else if (matters && !locked_where_.shared) perhaps_pause(learns ? 2 : 8);
  if (random_) t.acted = nanoseconds();
  return old;
}

// wants: a thread waits until a word equals a value. If that value was overwritten before any
// thread saw it, the thread waits in vain, or until the value comes again. How many values were
// overwritten since then does not matter: a receiver may look for the first time after the last of them.
void Block::wants(const void* at, u64 value, const void* pc) {
  const std::uintptr_t p = reinterpret_cast<std::uintptr_t>(at);
  Where w;
  if (!locate(p, w) || w.shared) return;
  Finding f{};
  {
    Held held(w.granule->lock);
    const Sync* s = sync_of(*w.granule, p & 7, false);
    if (!s || s->last == value) return;
    const Lost* const lost = s->loss(value);
    if (!lost) return;
    const TaskRecord* record;
    const Launch* l = region()->launch_of(lost->by, &record);
    if (!l) return;
    f.place[1] = {lost->by, lost->pc, lost->thread, kWrite | kAtomic, *l, record->block};
  }
  f.kind = Kind::kSignalNotConsumed;
  f.count = 1, f.accesses = 2;
  f.address = p, f.size = 8;
  f.place[0] = {task_, offset(pc), thread(), kRead | kAtomic, *watched_->launch, index()};
  watched_->by->found(f);
}

// First values. A thread reads a word before it lets others add to it, and then waits until they
// have. If another thread's store is not ordered with the read, the value read may include it or
// not. That is wrong only if a wait follows: other code reads such words to see the progress.
//
// The read acquires: it is complete before its thread continues. So publishing it later needs no
// fence; even a relaxed barrier does that.

bool Block::knows(unsigned level, const First& f) {
  Cell c{};
  c.task = f.task, c.time = f.time, c.thread = f.thread;
  const Launch* l;
  return knows(level, c, l, nullptr);
}

void Block::first(const void* at, const void* pc) {
  const auto p = reinterpret_cast<std::uintptr_t>(at);
  ThreadState& t = current();
  settle(t);
  Where w;
  if (!locate(p, w) || w.shared) return;
  Held held(w.granule->lock);
  Sync* const s = sync_of(*w.granule, p & 7, true);
  if (!s) return;
  First* mine = nullptr;
  for (First& f : s->first)
    if (f.task == task_) {
      if (!knows(0, f)) return;  // one of several threads represents all
      mine = &f;
    }
  if (!mine) mine = &s->first[s->next_first++ % kFirsts];
  const unsigned me = thread();
  hot_[me].accessed = true;
  *mine = First{task_, time_of(me), offset(pc), static_cast<u16>(me), 0, 0, 0};
  const Release& last = s->weak;
  if (!last.task || last.task == task_) return;
  Cell store{};
  store.task = last.task, store.time = std::max(last.time, 1u), store.thread = last.thread, store.how = kWrite | kAtomic, store.mask = 1u << (p & 7);
  const Launch* l;
  if (!knows(0, store, l, nullptr) && !saw(*w.granule, store, *l)) mine->by = last.task, mine->by_pc = s->last_pc, mine->by_thread = last.thread;
}

// overtakes records which reads of first values are not ordered before a store of this block.
void Block::overtakes(Sync& s) {
  for (First& f : s.first)
    if (f.task && f.task != task_ && !f.by && !knows(kLevels - 1, f)) f.by = task_, f.by_pc = s.last_pc, f.by_thread = static_cast<u16>(thread());
}

// outrun reports a message that changes a word, if an earlier message's change could also come
// after it. Additions may.
void Block::outrun(const Sync& s, std::uintptr_t p, unsigned size, u32 pc) {
  Cell c{};
  c.task = s.weak.task, c.time = std::max(s.weak.time, 1u), c.thread = s.weak.thread, c.pc = s.last_pc, c.how = kWrite | kAtomic;
  const Launch* l;
  u32 block = 0;
  if (!knows(0, c, l, &block)) report(knows(kLevels - 1, c, l, nullptr) ? Kind::kOrderTooWeak : Kind::kRaceBetweenRanks, kSignalsPass, p, size, kWrite | kAtomic, pc, &c, l, block);
}

void Block::counts(const void* at) {
  const auto p = reinterpret_cast<std::uintptr_t>(at);
  Where w;
  if (!locate(p, w) || w.shared) return;
  Held held(w.granule->lock);
  Sync* const s = sync_of(*w.granule, p & 7, false);
  if (!s) return;
  for (First& f : s->first) {
    const TaskRecord* record;
    const Launch* const l = f.task == task_ && f.by ? region()->launch_of(f.by, &record) : nullptr;
    if (!l) continue;
    Finding found{};
    found.kind = rank_of(f.by) != rank_of(task_) || l->carried ? Kind::kRaceBetweenRanks : Kind::kRaceBetweenBlocks;
    found.why = kFirstValue;
    found.address = p, found.size = 8;
    found.count = 1, found.accesses = 2;
    found.place[0] = {task_, f.pc, f.thread, kRead, *watched_->launch, index()};
    found.place[1] = {f.by, f.by_pc, f.by_thread, kWrite | kAtomic, *l, record->block};
    watched_->by->found(found);
    f = First{};
  }
}

// Barriers.

void Block::arrive_barrier(const void* pc) {
  ThreadState& t = current();
  settle(t);
  t.barrier = 1;
  t.barrier_pc = offset(pc);
}

// diverged: a thread waits where others of its group do not: they wait elsewhere, or have ended.
void Block::diverged(u32 pc, unsigned thread, const ThreadState* other) {
  Finding f{};
  f.kind = Kind::kDivergentBarrier;
  f.count = 1, f.accesses = other ? 2 : 1;
  const u32 block = index();
  f.place[0] = {task_, pc, thread, 0, *watched_->launch, block};
  if (other) f.place[1] = {task_, other->barrier_pc, static_cast<unsigned>(other - threads_), 0, *watched_->launch, block};
  watched_->by->found(f);
}

void Block::met_barrier() {
  if (!current().barrier) return;
  const ThreadState* first = nullptr;
  unsigned came = 0;
  for (unsigned i = 0; i < count_; i++) {
    ThreadState& t = threads_[i];
    if (t.barrier != 1) continue;
    t.barrier = 0;
    came++;
    if (!first) first = &t;
    if (t.barrier_pc != first->barrier_pc) diverged(t.barrier_pc, i, first);
  }
  if (came < count_) diverged(first->barrier_pc, static_cast<unsigned>(first - threads_), nullptr);
  bool news = false;
  for (u16 i : learned_) {
    ThreadState& t = threads_[i];
    base_.learn(t.more);
    t.more.forget();
    t.listed = false;
    news = true;
  }
  learned_.clear();
  if (news) std::memset(memo_, 0, sizeof memo_);
  block_time_ = now_;
  after_barrier_ = ++now_;
  if (random_) met_ = nanoseconds();
}

// share gives some threads the knowledge of what each of them did, and records that they have all
// met at an entry, of kind kWarp or for one thread.
void Block::share(const u16* who, unsigned n, u32 kind) {
  Known all;
  bool any = false;
  for (unsigned i = 0; i < n; i++) {
    ThreadState& t = threads_[who[i]];
    if (!t.listed) continue;
    all.learn(t.more);
    any = true;
  }
  if (kind != kWarp || n > 32) {
    std::vector<Entry> e;
    for (unsigned i = 0; i < n; i++) {
      const u32 key = kind == kWarp ? kWarp | who[i] / 32u : who[i];
      if (e.empty() || e.back().key != task_key(task_, key)) e.push_back({task_key(task_, key), now_});
    }
    for (Knowledge& k : all.level) k.learn(e.data(), static_cast<u32>(e.size()));
    any = true;
  } else {
    warp_time_[who[0] / 32] = now_;
  }
  now_++;
  for (unsigned i = 0; i < n; i++) {
    ThreadState& t = threads_[who[i]];
    hot_[who[i]].time = now_;
    if (random_) t.acted = nanoseconds();
    if (!stepping_.empty()) stepping_[who[i]] = Stepping{};
    if (any) {
      hot_[who[i]].used = true;
      learned(t);
      t.more = all;
    }
  }
}

void Block::arrive_warp(u32 mask, const void* pc) {
  ThreadState& t = current();
  settle(t);
  t.barrier_pc = offset(pc);
  t.warp = 1;
  t.mask = mask | 1u << thread() % 32;
}

void Block::met_warp(bool fences) {
  ThreadState& mine = current();
  if (!mine.warp) return;
  const u32 mask = mine.mask;
  const unsigned first = thread() / 32 * 32;
  u16 who[32];
  unsigned n = 0;
  for (u32 m = mask; m; m &= m - 1) {
    const unsigned i = first + static_cast<unsigned>(__builtin_ctz(m));
    if (i >= count_ || !threads_[i].warp || threads_[i].mask != mask) continue;
    threads_[i].warp = 0;
    who[n++] = static_cast<u16>(i);
  }
  const u32 present = count_ - first >= 32 ? ~0u : (1u << (count_ - first)) - 1;
  if (n < static_cast<unsigned>(__builtin_popcount(mask & present))) diverged(mine.barrier_pc, thread(), nullptr);
  if (random_)
    for (unsigned i = 0; i < n; i++) threads_[who[i]].acted = nanoseconds(), hot_[who[i]].used = true;
  if (fences) share(who, n, mask == ~0u || n == std::min(32u, count_ - first) ? u32{kWarp} : 0);
}

void Block::arrive_span(unsigned id) {
  ThreadState& t = current();
  settle(t);
  t.barrier = static_cast<u8>(id + 2);
}

void Block::met_span(unsigned id) {
  if (current().barrier != id + 2) return;
  u16 who[kMaxThreads];
  unsigned n = 0;
  for (unsigned i = 0; i < count_; i++)
    if (threads_[i].barrier == id + 2) {
      threads_[i].barrier = 0;
      who[n++] = static_cast<u16>(i);
    }
  share(who, n, kWarp);
}

void Block::tell_grid() {
  Known told = base_;
  told.learn(task_key(task_, kAll), block_time_);
  Held held(watched_->lock);
  watched_->grid[grid_barriers_ % 2].learn(told);
}

void Block::learn_grid() {
  {
    Held held(watched_->lock);
    base_.learn(watched_->grid[grid_barriers_++ % 2]);
  }
  std::memset(memo_, 0, sizeof memo_);
}

namespace {

Block& block() { return *executor()->watch; }

// sampled is block for an access.
Block& sampled(const void* p, bool writes, const void* pc) {
  Executor* e = executor();
  if (e->sample.active()) sample_access(e, p, writes, pc);
  return *e->watch;
}

}  // namespace

const emu::Sanitize hooks = {
    [](const void* p, unsigned size, unsigned how, const void* pc) { sampled(p, how & kWrite, pc).access(p, size, how, pc); },
    [](const void* p, Size n, unsigned how, const void* pc) { sampled(p, how & kWrite, pc).range(reinterpret_cast<std::uintptr_t>(p), n, how, pc); },
    [](const void* p) { block().lock(p); },
    [](const void* p, unsigned size, unsigned kind, int order, unsigned long long old, unsigned long long stored, const void* pc) -> unsigned long long {
      const bool writes = kind == kStore || (kind == kSwap && old != stored);
      return sampled(p, writes, pc).atomic(p, size, kind, order, old, stored, pc);
    },
    [](int scope) { block().fence(static_cast<unsigned>(scope)); },
    [](int scope) { block().scope(static_cast<unsigned>(scope)); },
    [](const void* p, unsigned long long value, const void* pc) { block().wants(p, value, pc); },
    [](const void* p, const void* pc) { block().first(p, pc); },
    [](const void* p) { block().counts(p); },
    [](long long i, const char* array, const void* pc) { block().index(i, array, pc); },
};

}  // namespace emu::sanitize
