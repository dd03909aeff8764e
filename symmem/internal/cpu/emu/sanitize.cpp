#include "sanitize.h"

#include <cstdio>
#include <cstring>

namespace emu::sanitize {

Sanitizer::Sanitizer(unsigned rank, u64 seed) : rank(rank), seed(seed), worker_{} {
  worker_.thread = &thread_;
  worker_.grid_dim = worker_.block_dim = {1, 1, 1};
  name(host_);
}

void Sanitizer::name(Actor& a) {
  a.id = region()->actors.fetch_add(1) + 1;
  a.stream = named_.fetch_add(1);
}

void Sanitizer::follow(Sanitizer& before) {
  caller = before.caller.load();
  named_ = before.named_.load();
  // each new actor makes all clocks longer
  host_.id = before.host_.id, host_.sequence = before.host_.sequence;
  synchronized(before.submitted());
  for (const Finding& f : before.take()) found(f);
}

Known Sanitizer::submitted() {
  std::lock_guard lock(mutex_);
  return host_.known;
}

void Sanitizer::synchronized(const Known& k) {
  std::lock_guard lock(mutex_);
  host_.known.learn(k);
}

void Sanitizer::publish() {
  const Known mine = submitted();
  Held held(region()->met_lock);
  met().learn(mine);
}

void Sanitizer::observe() {
  Known all;
  {
    Held held(region()->met_lock);
    all = met();
  }
  synchronized(all);
}

// A rank may end a cell before another has begun it, but not the next cell. So the last two cells
// of each rank are kept, and a rank that begins a cell learns only of earlier ones.
void Sanitizer::end(u64 run) {
  const Known mine = submitted();
  Held held(region()->met_lock);
  u64* runs = region()->ended[rank].run;
  const unsigned i = runs[0] <= runs[1] ? 0 : 1;
  runs[i] = run;
  ended(rank, i) = mine;
}

void Sanitizer::begin(u64 run) {
  Known all;
  {
    Held held(region()->met_lock);
    for (unsigned r = 0; r < kRanks; r++)
      for (unsigned i = 0; i < 2; i++)
        if (region()->ended[r].run[i] < run) all.learn(ended(r, i));
  }
  synchronized(all);
}

// A finding is reported once: the first one is kept, and the threads of others are counted.
void Sanitizer::found(Finding f) {
  auto site = [](const Place& p) { return static_cast<u64>(p.launch.module) << 24 ^ p.pc; };
  u64 a = site(f.place[0]), b = f.accesses > 1 ? site(f.place[1]) : 0;
  if (a > b) std::swap(a, b);
  const u64 key = (a * 0x9e3779b97f4a7c15ull ^ b) * 0x9e3779b97f4a7c15ull ^ static_cast<u64>(f.kind);
  std::lock_guard lock(mutex_);
  constexpr std::size_t kMost = 1000, kMostThreads = 1 << 16;
  auto known = seen_.find(key);
  if (known == seen_.end()) {
    if (findings_.size() == kMost) return;
    known = seen_.emplace(key, Seen{findings_.size(), {}}).first;
    findings_.push_back(f);
  }
  Seen& seen = known->second;
  if (seen.threads.size() < kMostThreads) seen.threads.insert(u64{f.place[0].block} << 32 | f.place[0].thread);
  findings_[seen.index].count = static_cast<unsigned>(seen.threads.size());
}

std::vector<Finding> Sanitizer::take() {
  std::lock_guard lock(mutex_);
  seen_.clear();
  return std::move(findings_);
}

Launch& Sanitizer::begin(Watched& w, Actor& a, const char* kernel, u32 module, std::int32_t caller, const Index3& grid, const Index3& block) {
  Launch& l = region()->begin_launch(rank);
  l.actor = a.id;
  l.sequence = ++a.sequence;
  l.stream = a.stream;
  l.module = module;
  l.caller = caller;
  std::memcpy(l.grid, &grid, sizeof l.grid);
  std::memcpy(l.block, &block, sizeof l.block);
  snprintf(l.kernel, sizeof l.kernel, "%s", kernel);
  w.by = this;
  w.launch = &l;
  w.start = a.known;
  return l;
}

void Sanitizer::moved(Watched& w, std::uintptr_t written, std::uintptr_t read, std::size_t bytes) {
  std::lock_guard lock(alone_);
  block_.begin(worker_, 1, w, 0);
  if (read) block_.range(read, bytes, kRead, nullptr);
  block_.range(written, bytes, kWrite, nullptr);
  block_.end();
}

void Sanitizer::tell(Actor& a, u32* word, u32 value, std::int32_t caller) {
  std::lock_guard lock(alone_);
  Watched w;
  begin(w, a, "store", 0, caller, {1, 1, 1}, {1, 1, 1});
  block_.begin(worker_, 1, w, 0);
  block_.lock(word);
  block_.atomic(word, sizeof *word, 1, __ATOMIC_RELEASE, __atomic_load_n(word, __ATOMIC_RELAXED), value, nullptr);
  block_.end();
  a.known.learn(actor_key(a.id), a.sequence);
}

void Sanitizer::hear(Actor& a, u32* word, u32 value, std::int32_t caller) {
  std::lock_guard lock(alone_);
  Watched w;
  begin(w, a, "wait", 0, caller, {1, 1, 1}, {1, 1, 1});
  block_.begin(worker_, 1, w, 0);
  block_.lock(word);
  block_.atomic(word, sizeof *word, 0, __ATOMIC_ACQUIRE, value, value, nullptr);
  block_.end();
  a.known.learn(w.end);
  a.known.learn(actor_key(a.id), a.sequence);
}

void Sanitizer::touched(std::uintptr_t p, std::size_t n, bool write, std::size_t rows, std::size_t pitch) {
  std::lock_guard lock(alone_);
  Watched w;
  {
    std::lock_guard known(mutex_);
    begin(w, host_, "", 0, caller, {1, 1, 1}, {1, 1, 1}).host = true;
    host_.known.learn(actor_key(host_.id), host_.sequence);
  }
  block_.begin(worker_, 1, w, 0);
  for (; rows > 0; rows--, p += pitch) block_.range(p, n, write ? kWrite : kRead, nullptr);
  block_.end();
}

}  // namespace emu::sanitize
