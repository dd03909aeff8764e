#include "sanitize_shadow.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <unordered_set>

namespace emu::sanitize {

namespace {

constexpr unsigned kPageBits = 12, kChunkBits = 21, kAddressBits = 48;
constexpr std::size_t kPages = 1 << (kChunkBits - kPageBits), kChunks = 1ull << (kAddressBits - kChunkBits);

using Chunk = std::atomic<const Range*>[kPages];

// By address: chunks of 2 MiB, each with its pages.
std::atomic<Chunk*>* chunks() {
  static std::atomic<Chunk*>* const table = static_cast<std::atomic<Chunk*>*>(
      mmap(nullptr, kChunks * sizeof(Chunk*), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  return table;
}

std::mutex ranges_mutex;  // guards the following
std::unordered_set<const Range*> ranges;

void enter(const Range* r, std::uintptr_t base, std::size_t bytes) {
  for (std::uintptr_t p = base; p < base + bytes; p += 1 << kPageBits) {
    std::atomic<Chunk*>& chunk = chunks()[p >> kChunkBits];
    if (!chunk.load()) chunk.store(reinterpret_cast<Chunk*>(new (std::nothrow) Chunk{}));
    if (Chunk* c = chunk.load()) (*c)[p >> kPageBits & (kPages - 1)].store(r);
  }
  ranges_changed++;
}

// segment_shadow returns the shadow of memory that processes share, and makes it if there is none.
Granule* segment_shadow(u64 inode, std::size_t bytes) {
  Region& r = *region();
  Held held(r.segment_lock);
  Segment* free = nullptr;
  for (Segment& s : r.segments) {
    if (s.inode == inode) return reinterpret_cast<Granule*>(s.shadow);
    if (s.inode == 0 && !free) free = &s;
    if (s.inode == 0 && s.bytes == 0) break;
  }
  void* shadow = free ? r.take(bytes * 8) : nullptr;
  if (shadow) *free = {inode, bytes, reinterpret_cast<u64>(shadow)};
  return static_cast<Granule*>(shadow);
}

// give zeroes the shadow of so many bytes, and frees everything that it refers to. Processes that
// share the memory may do so at the same time.
void give(Granule* shadow, std::size_t bytes) {
  region()->each_used(shadow, bytes * 8, [](void* p, std::size_t n) {
    for (Granule *g = static_cast<Granule*>(p), *end = g + n / sizeof(Granule); g != end; g++)
      if (g->sync[0] | g->sync[1]) {
        Held held(g->lock);
        clear(*g);
      }
  });
  region()->give(shadow, bytes * 8);
}

void drop_segment(u64 inode) {
  Region& r = *region();
  Held held(r.segment_lock);
  for (Segment& s : r.segments)
    if (s.inode == inode) {
      give(reinterpret_cast<Granule*>(s.shadow), s.bytes);
      s.inode = 0;
      return;
    }
}

// syncs has the maximum number of entries; memory that was never touched costs nothing.
Sync* syncs() {
  Region& r = *region();
  if (!r.sync_base) {
    Held held(r.sync_lock);
    if (!r.sync_base) r.sync_base = reinterpret_cast<u64>(r.take(kSyncs * sizeof(Sync)));
  }
  return reinterpret_cast<Sync*>(r.sync_base);
}

}  // namespace

std::atomic<u32> ranges_changed{1};

const Range* find(std::uintptr_t p) {
  if (p >> kAddressBits) return nullptr;
  const Chunk* c = chunks()[p >> kChunkBits].load(std::memory_order_acquire);
  return c ? (*c)[p >> kPageBits & (kPages - 1)].load(std::memory_order_acquire) : nullptr;
}

void add(std::uintptr_t p, std::size_t bytes, u64 inode, bool guarded) {
  const std::uintptr_t base = p & ~std::uintptr_t{4095};
  bytes = (p + bytes - base + 4095) & ~std::size_t{4095};
  auto* shadow = inode ? segment_shadow(inode, bytes) : static_cast<Granule*>(region()->take(bytes * 8));
  if (!shadow) {
    static std::atomic<bool> said{false};
    if (!said.exchange(true)) fprintf(stderr, "symmrepl: new memory is no longer watched: the sanitizer has no room left for it, and finds nothing there; :restart begins anew\n");
    return;
  }
  const Range* r = new Range{base, bytes, shadow, guarded};
  std::lock_guard lock(ranges_mutex);
  ranges.insert(r);
  enter(r, base, bytes);
}

void remove(std::uintptr_t p, u64 inode, bool owner) {
  std::lock_guard lock(ranges_mutex);
  const Range* r = find(p);
  if (!r) return;
  enter(nullptr, r->base, r->bytes);
  ranges.erase(r);
  if (inode && owner) drop_segment(inode);
  if (!inode && r->shadow) give(r->shadow, r->bytes);
  delete r;
}

void forget() {
  {
    std::lock_guard lock(ranges_mutex);
    for (const Range* r : ranges) give(r->shadow, r->bytes);
  }
  Region& r = *region();
  {
    Held held(r.met_lock);
    met().forget();
    for (unsigned rank = 0; rank < kRanks; rank++)
      for (unsigned i : {0, 1}) ended(rank, i).forget();
  }
  Held held(r.outside_lock);
  outside().forget();
}

Knowledge told_by(const Release& r, unsigned level) {
  Knowledge told = r.base.level[level];
  told.learn(r.more.level[level]);
  const Times times(r);
  told.learn(times.entry, times.n);
  return told;
}

Known told_by(const Release& r) {
  Known told;
  for (unsigned i = 0; i < kLevels; i++) {
    if (i > 0 && r.alike(i, i - 1)) told.level[i] = told.level[i - 1];
    else told.level[i] = told_by(r, i);
  }
  return told;
}

void join(Release& a, const Release& b) {
  if (!b.task) return;
  if (!a.task) {
    a = b;
    return;
  }
  const bool same_thread = a.task == b.task && a.thread == b.thread;
  bool nothing_new = same_thread && a.time == b.time && a.block_time == b.block_time && a.warp_time == b.warp_time;
  for (unsigned i = 0; i < kLevels && nothing_new; i++)
    nothing_new = a.base.level[i].same(b.base.level[i]) && (!b.more.level[i] || a.more.level[i].same(b.more.level[i]));
  // what the same thread did until then, the later release publishes itself
  const bool implied = same_thread && a.time <= b.time && a.warp_time <= b.warp_time && a.block_time <= b.block_time;
  const Times times(a);
  bool alike[kLevels] = {};  // the result is that of the level before
  for (unsigned i = 1; i < kLevels; i++) alike[i] = a.alike(i, i - 1) && b.alike(i, i - 1);
  for (unsigned i = 0; i < kLevels && !nothing_new; i++) {
    Knowledge& more = a.more.level[i];
    if (alike[i]) {
      more = a.more.level[i - 1];
    } else {
      more.learn(b.more.level[i]);
      if (!a.base.level[i].same(b.base.level[i])) more.learn(a.base.level[i]);
      if (!implied) more.learn(times.entry, times.n);
    }
  }
  for (unsigned i = 0; i < kLevels; i++) a.base.level[i].set(b.base.level[i]);
  a.name(b);
  a.joined = true;
}

void Stores::add(Task t, u32 at, bool chained) {
  if (!chained) earlier.forget();
  else if (task && task != t) earlier.learn(task_key(task, kAll), time);
  task = t, time = at;
}

bool Stores::include(Task t, const Launch& l, unsigned thread, u64 at) const { return (t == task && at <= time) || earlier.knows(t, l, thread, at); }

void retire(std::uintptr_t p, std::size_t bytes) {
  std::lock_guard lock(ranges_mutex);
  enter(new Range{p, bytes, nullptr, true}, p, bytes);
}

Sync* sync_of(Granule& g, unsigned at, bool make) {
  Region& r = *region();
  Sync* const base = syncs();
  u32& first = g.sync[at / 4];
  for (u32 i = first; i; i = base[i - 1].next)
    if (base[i - 1].at == at) return &base[i - 1];
  if (!make) return nullptr;
  Held held(r.sync_lock);
  u32 index = r.free_syncs;
  if (index) r.free_syncs = base[index - 1].next;
  else if (r.syncs.load() < kSyncs) index = ++r.syncs;
  else return nullptr;
  Sync* const s = new (&base[index - 1]) Sync{};
  s->version = static_cast<u64>(++r.made_syncs) << 32;
  s->at = static_cast<u8>(at);
  s->next = first;
  first = index;
  return s;
}

void clear(Granule& g) {
  for (Cell& c : g.cells) c = Cell{};
  Region& r = *region();
  for (u32& first : g.sync)
    while (first) {
      const u32 index = first;
      Sync* s = &syncs()[index - 1];
      first = s->next;
      s->~Sync();
      Held held(r.sync_lock);
      s->next = r.free_syncs;
      r.free_syncs = index;
    }
}

void mark(std::uintptr_t p, std::size_t bytes, unsigned state) {
  enum { kOutside, kUndefined, kDefined, kFreed };
  for (const std::uintptr_t end = p + bytes; p < end;) {
    const std::uintptr_t granule = p & ~std::uintptr_t{7}, next = granule + 8 < end ? granule + 8 : end;
    const u8 mask = static_cast<u8>(((1u << (next - p)) - 1) << (p - granule));
    const Range* r = find(p);
    if (!r || !r->shadow) return;
    Granule& g = r->at(p);
    Held held(g.lock);
    if (mask == 0xff) {
      clear(g);
    } else {
      for (Cell& c : g.cells) c.mask = c.mask & ~mask;
    }
    const bool invalid = state == kOutside || state == kFreed;
    g.invalid = static_cast<u8>(invalid ? g.invalid | mask : g.invalid & ~mask);
    g.freed = static_cast<u8>(state == kFreed ? g.freed | mask : g.freed & ~mask);
    g.unwritten = static_cast<u8>(state == kUndefined ? g.unwritten | mask : g.unwritten & ~mask);
    p = next;
  }
}

}  // namespace emu::sanitize
