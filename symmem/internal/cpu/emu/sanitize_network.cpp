#include "sanitize_network.h"

#include <algorithm>

#include "../../net/proxy/atomic.h"
#include "device.h"

namespace emu::sanitize {

namespace {

constexpr u32 kAllPeers = ~0u;

Known& known(u64 (&k)[3]) { return *reinterpret_cast<Known*>(k); }

u32 new_actor() { return region()->actors.fetch_add(1) + 1; }

void plainly(u64* word, bool add, u64 value) {
  if (add) __atomic_fetch_add(word, value, __ATOMIC_RELEASE);
  else __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

// Poster identifies the thread that has posted an operation, by its store to the slot's first word.
struct Poster {
  Task task;
  u32 time;
  u16 thread;
  u32 pc;
  Known known;
};

bool poster_of(const u64* ready, Poster& p) {
  const auto at = reinterpret_cast<std::uintptr_t>(ready);
  const Range* r = find(at);
  if (!r) return false;
  Granule& g = r->at(at);
  Held held(g.lock);
  const Sync* s = sync_of(g, 0, false);
  if (!s || !s->weak.task || s->last != *ready) return false;
  p.task = s->weak.task, p.time = s->weak.time, p.thread = s->weak.thread, p.pc = 0;
  const Release* const told[] = {&s->strong[kSystemScope], &s->strong[kBlockScope], &s->weak};
  for (unsigned i = 0; i < kLevels; i++) p.known.level[i] = told_by(*told[i], i);
  u32 time = 0;
  for (const Cell& c : g.cells)
    if (c.task == p.task && c.thread == p.thread && (c.how & kWrite) && c.time >= time) time = c.time, p.pc = c.pc;
  return true;
}

}  // namespace

Network::Network(Device& d) : device_(d) {
  table_.arg = this;
  table_.posted = [](void* n, const net_posted* op) -> u64 { return static_cast<Network*>(n)->posted(*op); };
  table_.touched = [](void* n, u32 source, u64 name, int write, u64 at, u64 pitch, u64 width, u64 bytes) {
    static_cast<Network*>(n)->touched(source, name, write, at, pitch, width, bytes);
  };
  table_.change = [](void* n, u32 source, u64 name, u64* word, int add, u64 value) { static_cast<Network*>(n)->change(source, name, word, add, value); };
  table_.atomic = [](void* n, u32 source, u64 name, void* word, u32 bytes, u32 operation, u64 value, u64 compare) -> u64 {
    return static_cast<Network*>(n)->atomic(source, name, word, bytes, operation, value, compare);
  };
  table_.count = [](void* n, u64 name, u64* counter) { static_cast<Network*>(n)->count(name, counter); };
  table_.passed = [](void* n, u64 name) { static_cast<Network*>(n)->passed(name); };
  table_.done = [](void* n, u64* word, u64 value) { static_cast<Network*>(n)->done(word, value); };
  worker_.thread = &thread_;
  worker_.grid_dim = worker_.block_dim = {1, 1, 1};
}

Known Network::over() {
  std::lock_guard lock(mutex_);
  return over_;
}

void Network::ended() {
  std::lock_guard lock(mutex_);
  for (const Peer& p : peers_) learn_all(over_, p);
  for (const auto& [actor, sequence] : came_) over_.learn(actor_key(actor), sequence);
}

void Network::came(const Launch& l) {
  std::lock_guard lock(mutex_);
  u32& latest = came_[l.actor];
  latest = std::max(latest, l.sequence);
}

void Network::learn_all(Known& k, const Peer& p) {
  if (p.sequence)
    for (u32 actor : {p.reads, p.writes, p.gets}) k.learn(actor_key(actor), p.sequence);
}

Network::Peer& Network::peer(u32 i) {
  if (i >= peers_.size()) peers_.resize(i + 1);
  Peer& p = peers_[i];
  if (!p.reads) p.reads = new_actor(), p.writes = new_actor(), p.gets = new_actor();
  return p;
}

void Network::note(Peer& p, const Post& post) {
  for (Post& o : p.posts)
    if (o.task == post.task && o.thread == post.thread) {
      o = post;
      return;
    }
  Post& oldest = p.posts[p.next_post++ % p.posts.size()];
  p.forgotten = std::max(p.forgotten, oldest.sequence);
  oldest = post;
}

u32 Network::before(const Peer& p, const Known& k, unsigned level, const Post& post) {
  u32 latest = p.forgotten;
  for (const Post& o : p.posts) {
    if (!o.task || o.sequence <= latest) continue;
    const Launch* const l = region()->launch_of(o.task);
    const bool same = o.task == post.task && o.thread == post.thread;
    if (!l || same || k.level[level].knows(o.task, *l, o.thread, std::max(o.time, 1u))) latest = o.sequence;
  }
  return latest;
}

u64 Network::posted(const net_posted& op) {
  const auto by = device_.watcher();
  Poster poster;
  if (!by || !poster_of(op.ready, poster)) return 0;
  const TaskRecord* record;
  const Launch* const launch = region()->launch_of(poster.task, &record);
  if (!launch) return 0;
  auto& rank = region()->rank[by->rank];
  u32 number;
  do number = (rank.messages.fetch_add(1) + 1) & (kOfMessage / 2 - 1);
  while (number == 0);
  Message& m = rank.message[number % kMessages];
  {
    std::lock_guard lock(mutex_);
    Held held(m.lock);
    m.number = number;
    m.pc = poster.pc, m.thread = poster.thread, m.block = record->block;
    auto begin = [&](unsigned side, u32 actor, u32 sequence, Carried carried) {
      Launch& l = m.launch[side];
      l = *launch;
      l.number = kOfMessage | number << 1 | side;
      l.actor = actor, l.sequence = sequence, l.carried = carried;
      return region()->begin_task(by->rank, l, m.block);
    };
    Known over = poster.known, landed = poster.known;
    m.here = m.there = 0;
    if (op.fence) {
      if (!fences_) fences_ = new_actor();
      m.here = begin(0, fences_, ++fence_, kGets);
      for (u32 i = 0; i < peers_.size(); i++)
        if (op.peer == kAllPeers || op.peer == i) learn_all(over, peers_[i]);
    } else {
      Peer& p = peer(op.peer);
      const Post post{poster.task, poster.time, ++p.sequence, poster.thread};
      m.here = begin(0, op.get ? p.gets : p.reads, p.sequence, op.get ? kGets : kPutReads);
      over.learn(task_key(m.here, kAll), 1);
      if (!op.get) {
        m.there = begin(1, p.writes, p.sequence, kPutWrites);
        for (unsigned i = 0; i < kLevels; i++) {
          Knowledge& k = landed.level[i];
          k.learn(task_key(m.here, kAll), 1);
          k.learn(task_key(m.there, kAll), 1);
          const u32 known = i == 0 && !op.strong ? 0 : before(p, poster.known, i, post);
          if (!known) continue;
          k.learn(actor_key(p.reads), known);
          k.learn(actor_key(p.writes), known);
        }
      }
      note(p, post);
    }
    known(m.posted) = std::move(poster.known);
    known(m.over) = std::move(over);
    known(m.landed) = std::move(landed);
  }
  if (op.bytes) touched(by->rank, number, false, op.source, op.pitch, op.width, op.bytes);
  return number;
}

bool Network::find(u32 source, u64 name, Carrying& c) {
  if (!name || source >= kRanks) return false;
  Message& m = region()->rank[source].message[name % kMessages];
  Held held(m.lock);
  if (m.number != name) return false;
  for (unsigned side : {0, 1}) c.launch[side] = m.launch[side];
  c.task[0] = m.here, c.task[1] = m.there;
  c.pc = m.pc, c.block = m.block, c.thread = m.thread;
  c.posted = known(m.posted), c.over = known(m.over), c.landed = known(m.landed);
  return true;
}

void Network::touched(u32 source, u64 name, bool write, std::uintptr_t at, u64 pitch, u64 width, u64 bytes) {
  const auto by = device_.watcher();
  Carrying c;
  if (!by || !find(source, name, c)) return;
  const unsigned side = write && c.task[1] ? 1 : 0;
  came(c.launch[side]);
  Watched w;
  w.by = by.get(), w.launch = &c.launch[side], w.start = c.posted;
  thread_.linear = c.thread, worker_.block = {c.block, 0, 0};
  block_.carry(worker_, w, c.task[side], c.landed);
  if (!width) width = bytes;
  for (u64 done = 0; done < bytes; done += width, at += pitch) block_.range(at, width, write ? kWrite : kRead, reinterpret_cast<const void*>(c.pc + 1ull));
  block_.end();
}

void Network::store(Sanitizer& by, const Carrying& c, unsigned side, const Known& tells, u64* word, bool add, u64 value) {
  Watched w;
  w.by = &by, w.launch = &c.launch[side], w.start = tells;
  thread_.linear = c.thread, worker_.block = {c.block, 0, 0};
  block_.carry(worker_, w, c.task[side], tells);
  block_.lock(word);
  const u64 old = __atomic_load_n(word, __ATOMIC_RELAXED);
  plainly(word, add, value);
  block_.atomic(word, sizeof *word, add ? 2 : 1, __ATOMIC_RELEASE, old, add ? old + value : value, reinterpret_cast<const void*>(c.pc + 1ull));
  block_.end();
}

void Network::change(u32 source, u64 name, u64* word, bool add, u64 value) {
  const auto by = device_.watcher();
  Carrying c;
  if (!by || !find(source, name, c)) return plainly(word, add, value);
  came(c.launch[1]);
  store(*by, c, 1, c.landed, word, add, value);
}

u64 Network::atomic(u32 source, u64 name, void* word, u32 bytes, u32 operation, u64 value, u64 compare) {
  const auto by = device_.watcher();
  Carrying c;
  if (!by || !find(source, name, c)) return net_atomic(word, bytes, operation, value, compare);
  came(c.launch[0]);
  Watched w;
  w.by = by.get(), w.launch = &c.launch[0], w.start = c.posted;
  thread_.linear = c.thread, worker_.block = {c.block, 0, 0};
  block_.carry(worker_, w, c.task[0], c.posted);
  block_.lock(word);
  const u64 old = net_atomic(word, bytes, operation, value, compare);
  const u64 now = bytes == 4 ? *static_cast<const volatile u32*>(word) : *static_cast<const volatile u64*>(word);
  const bool failed = operation == NET_COMPARE_SWAP && old != (bytes == 4 ? static_cast<u32>(compare) : compare);
  block_.atomic(word, bytes, operation == NET_FETCH ? 0 : failed ? 3 : 2, __ATOMIC_ACQ_REL, old, now, reinterpret_cast<const void*>(c.pc + 1ull));
  block_.end();
  // what the word tells, the poster knows when the operation is over
  Message& m = region()->rank[source].message[name % kMessages];
  Held held(m.lock);
  if (m.number == name) known(m.over).learn(w.end);
  return old;
}

void Network::count(u64 name, u64* counter) {
  const auto by = device_.watcher();
  Carrying c;
  if (!by || !find(by->rank, name, c)) return plainly(counter, true, 1);
  store(*by, c, 0, c.over, counter, true, 1);
}

void Network::passed(u64 name) {
  const auto by = device_.watcher();
  Carrying c;
  if (!by || !find(by->rank, name, c)) return;
  last_ = name;
  std::lock_guard lock(mutex_);
  over_.learn(c.over);
  over_.learn(actor_key(c.launch[0].actor), c.launch[0].sequence);
}

void Network::done(u64* word, u64 value) {
  const auto by = device_.watcher();
  Carrying c;
  if (!by || !find(by->rank, last_, c)) return plainly(word, false, value);
  store(*by, c, 0, over(), word, false, value);
}

}  // namespace emu::sanitize
