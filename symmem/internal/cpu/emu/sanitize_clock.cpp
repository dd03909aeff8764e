#include "sanitize_clock.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <vector>

namespace emu::sanitize {

namespace {

constexpr u32 kSmallest = 4;     // entries of a clock of class 0
constexpr u32 kMany = 256;       // number of entries above which some are dropped
constexpr u32 kManyOfTask = 12;  // number of threads of a task above which they are replaced by all
// likewise for tasks of a launch, or of one kind of an engine's operations for a peer
constexpr u32 kManyOfLaunch = 64;

Clock* next_free(const Clock* c) {
  Clock* next;
  std::memcpy(&next, c->entry, sizeof next);
  return next;
}
void set_next_free(Clock* c, Clock* next) { std::memcpy(c->entry, &next, sizeof next); }

// Spare has free clocks of this thread of the system, so that ranks do not wait for each other's
// allocations. Those of a process that is killed are lost.
class Spare {
 public:
  ~Spare() {
    for (u32 c = 0; c < kKept; c++) give_back(c, 0);
    delete[] few_;
    few_ = nullptr;
    ended_ = true;
  }

  // few has room for 2 * kMany entries. It is neither on the stack, which is a kernel's, nor a part of the thread's
  // static storage, of which a program that opens the emulator as a library has only some hundred bytes.
  Entry* few() {
    if (!few_) few_ = new Entry[2 * kMany];
    return few_;
  }

  Clock* take(u32 c) {
    if (c >= kKept || ended_) return take_from_region(c, 1);
    if (!list_[c]) list_[c] = take_from_region(c, kMost / 2), count_[c] = length(list_[c]);
    Clock* const found = list_[c];
    if (found) list_[c] = next_free(found), count_[c]--;
    return found;
  }
  void give(Clock* clock) {
    const u32 c = clock->size_class;
    if (c >= kKept || ended_) return give_to_region(c, clock, clock);
    set_next_free(clock, list_[c]);
    list_[c] = clock;
    if (++count_[c] > kMost) give_back(c, kMost / 2);
  }

 private:
  static constexpr u32 kKept = 8, kMost = 32;  // classes, and clocks of each

  static u32 length(const Clock* c) {
    u32 n = 0;
    for (; c; c = next_free(c)) n++;
    return n;
  }
  // take_from_region returns a list of up to n clocks; null if there is no memory.
  static Clock* take_from_region(u32 c, u32 n) {
    Region& r = *region();
    const std::size_t bytes = sizeof(Clock) + (kSmallest << c) * sizeof(Entry);
    Held held(r.clock_lock[c]);
    if (!r.free_clocks[c]) {
      const std::size_t all = std::max<std::size_t>(1 << 16, bytes);
      char* p = static_cast<char*>(r.take(all));
      if (!p) return nullptr;
      for (std::size_t at = 0; at + bytes <= all; at += bytes) {
        Clock* fresh = reinterpret_cast<Clock*>(p + at);
        set_next_free(fresh, r.free_clocks[c]);
        r.free_clocks[c] = fresh;
      }
    }
    Clock* const first = r.free_clocks[c];
    Clock* last = first;
    while (--n > 0 && next_free(last)) last = next_free(last);
    r.free_clocks[c] = next_free(last);
    set_next_free(last, nullptr);
    return first;
  }
  static void give_to_region(u32 c, Clock* first, Clock* last) {
    Region& r = *region();
    Held held(r.clock_lock[c]);
    set_next_free(last, r.free_clocks[c]);
    r.free_clocks[c] = first;
  }
  // give_back leaves n clocks of a class.
  void give_back(u32 c, u32 n) {
    if (count_[c] <= n) return;
    Clock *const first = list_[c], *last = first;
    while (--count_[c] > n) last = next_free(last);
    list_[c] = next_free(last);
    give_to_region(c, first, last);
  }

  Entry* few_ = nullptr;
  Clock* list_[kKept] = {};
  u32 count_[kKept] = {};
  bool ended_ = false;
};

Spare& spare() {
  static thread_local Spare s;
  return s;
}

Clock* allocate(u32 n) {
  u32 c = 0;
  while (kSmallest << c < n) c++;
  if (c >= kClasses) n = kSmallest << (kClasses - 1), c = kClasses - 1;
  Clock* const found = spare().take(c);
  if (!found) return nullptr;
  found->users.store(1, std::memory_order_relaxed);
  found->n = n;
  found->size_class = c;
  return found;
}

Task task_of(u64 key) { return static_cast<Task>(key >> 16); }

// shorten drops entries that others imply. If there are still many, it adds all of a task or launch
// of which much is already known. Actors come last.
void shorten(std::vector<Entry>& v) {
  const auto actors = std::lower_bound(v.begin(), v.end(), kActorKey, [](const Entry& e, u64 k) { return e.key < k; });
  std::vector<Entry> tasks, known(actors, v.end());
  auto watermark = [&](u32 actor) -> u64* {
    auto e = std::lower_bound(known.begin(), known.end(), actor_key(actor), [](const Entry& a, u64 k) { return a.key < k; });
    return e != known.end() && e->key == actor_key(actor) ? &e->value : nullptr;
  };
  u32 of_launch = 0;
  std::unordered_map<u32, u32> of_actor;
  const Launch* launch = nullptr;
  for (auto e = v.begin(); e != actors;) {
    const Task t = task_of(e->key);
    auto end = e;
    u64 latest = 0;
    for (; end != actors && task_of(end->key) == t; ++end) latest = std::max(latest, end->value);
    const Launch* l = region()->launch_of(t);
    const u64* passed = l ? watermark(l->actor) : nullptr;
    if (l && !(passed && *passed >= l->sequence)) {
      of_launch = l->carried ? ++of_actor[l->actor] : l == launch ? of_launch + 1 : 1;
      launch = l;
      if (of_launch > kManyOfLaunch) {
        if (u64* w = watermark(l->actor)) {
          *w = std::max<u64>(*w, l->sequence);
        } else {
          const Entry fresh{actor_key(l->actor), l->sequence};
          known.insert(std::lower_bound(known.begin(), known.end(), fresh.key, [](const Entry& a, u64 k) { return a.key < k; }), fresh);
        }
      } else if (end - e > kManyOfTask) {
        tasks.push_back({task_key(t, kAll), latest});
      } else {
        const u64 all = (end - 1)->key == task_key(t, kAll) ? (end - 1)->value : 0;
        for (; e != end; ++e)
          if (e->value > all || e->key == task_key(t, kAll)) tasks.push_back(*e);
      }
    }
    e = end;
  }
  v = std::move(tasks);
  v.insert(v.end(), known.begin(), known.end());
}

}  // namespace

u64 Clock::at(u64 key) const {
  u32 low = 0, high = n;
  while (low < high) {
    const u32 middle = (low + high) / 2;
    if (entry[middle].key < key) low = middle + 1;
    else high = middle;
  }
  return low < n && entry[low].key == key ? entry[low].value : 0;
}

bool Clock::mentions(Task t) const {
  const Entry* const e = std::lower_bound(entry, entry + n, task_key(t, 0), [](const Entry& a, u64 k) { return a.key < k; });
  return e != entry + n && task_of(e->key) == t;
}

void Knowledge::drop() {
  if (clock_->users.fetch_sub(1, std::memory_order_acq_rel) == 1) spare().give(clock_);
}

void Knowledge::learn(const Knowledge& o) {
  if (!o.clock_ || o.clock_ == clock_) return;
  if (!clock_) {
    *this = o;
    return;
  }
  const u32 n = o.clock_->n;
  if (n < clock_->n) return learn(o.clock_->entry, n);
  // Of two clocks of a chain the later one covers the earlier one, and is shared.
  bool more = false, less = false;  // o knows more, and less
  const Entry *mine = clock_->entry, *const my_end = mine + clock_->n, *e = o.clock_->entry, *const end = e + n;
  while (mine != my_end && e != end && !(more && less)) {
    if (mine->key == e->key) {
      more |= mine->value < e->value, less |= mine->value > e->value;
      mine++, e++;
    } else if (mine->key < e->key) {
      less = true, mine++;
    } else {
      more = true, e++;
    }
  }
  more |= e != end, less |= mine != my_end;
  if (more && less) merge(o.clock_->entry, n);
  else if (more) *this = o;
}

// tells reports whether entries say anything new.
bool Knowledge::tells(const Entry* e, u32 n) const {
  constexpr u32 kFew = 8;  // up to which a search for each is faster than going through the clock
  if (n <= kFew || !clock_) {
    for (u32 i = 0; i < n; i++)
      if (e[i].value > at(e[i].key)) return true;
    return false;
  }
  u32 k = 0;
  for (u32 i = 0; i < n; i++) {
    while (k < clock_->n && clock_->entry[k].key < e[i].key) k++;
    if (k == clock_->n || clock_->entry[k].key != e[i].key || e[i].value > clock_->entry[k].value) return true;
  }
  return false;
}

void Knowledge::learn(const Entry* e, u32 n) {
  if (tells(e, n) && !update(e, n)) merge(e, n);
}

// update adds entries to a clock that nobody else sees, if there is room for them.
bool Knowledge::update(const Entry* e, u32 n) {
  if (!clock_ || clock_->users.load(std::memory_order_acquire) != 1) return false;
  if (clock_->n + n > std::min(kSmallest << clock_->size_class, kMany)) return false;
  for (u32 i = 0; i < n; i++) {
    Entry* const end = clock_->entry + clock_->n;
    Entry* const at = std::lower_bound(clock_->entry, end, e[i].key, [](const Entry& x, u64 k) { return x.key < k; });
    if (at != end && at->key == e[i].key) {
      at->value = std::max(at->value, e[i].value);
    } else {
      std::memmove(at + 1, at, static_cast<std::size_t>(end - at) * sizeof(Entry));
      *at = e[i];
      clock_->n++;
    }
  }
  return true;
}

// merge replaces the clock by one with more entries.
void Knowledge::merge(const Entry* e, u32 n) {
  Entry* const few = spare().few();
  std::vector<Entry> many;
  const u32 most = n + (clock_ ? clock_->n : 0);
  Entry* all = few;
  if (most > 2 * kMany) many.resize(most), all = many.data();
  Entry* out = all;
  const Entry* mine = clock_ ? clock_->entry : nullptr;
  const Entry* const end = mine + (clock_ ? clock_->n : 0);
  for (u32 i = 0; i < n || mine != end;) {
    if (i == n || (mine != end && mine->key < e[i].key)) {
      *out++ = *mine++;
    } else if (mine == end || e[i].key < mine->key) {
      *out++ = e[i++];
    } else {
      *out++ = {mine->key, std::max(mine->value, e[i].value)};
      mine++, i++;
    }
  }
  u32 count = static_cast<u32>(out - all);
  if (count > kMany) {
    std::vector<Entry> v(all, out);
    shorten(v);
    many = std::move(v);
    all = many.data(), count = static_cast<u32>(many.size());
  }
  Clock* c = allocate(count);
  if (!c) return;
  std::memcpy(c->entry, all, c->n * sizeof(Entry));
  Knowledge fresh;
  fresh.clock_ = c;
  *this = std::move(fresh);
}

bool Knowledge::clock_knows(Task t, const Launch& l, unsigned thread, u64 time) const {
  return knows_all(t, l, time) || at(task_key(t, kWarp | thread / 32)) >= time || at(task_key(t, thread)) >= time;
}

bool Knowledge::knows_all(Task t, const Launch& l, u64 time) const {
  return clock_ && (at(actor_key(l.actor)) >= l.sequence || at(task_key(t, kAll)) >= time);
}

}  // namespace emu::sanitize
