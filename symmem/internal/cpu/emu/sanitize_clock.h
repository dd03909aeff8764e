// sanitize_clock.h: clocks, which represent knowledge of what others have done.
//
// A vector clock with one place for every thread of every block would have millions of places. But
// threads learn of each other in groups: a barrier gives a block everything that its threads did,
// and the end of a launch gives its stream everything that the blocks did. So a clock is a short
// sorted list. An entry covers an actor up to a launch, or a task up to a time: all its threads, a
// warp, or one thread. Entries that others imply are dropped. If a list still grows, it is
// shortened by adding knowledge, which may hide a race and never invents one.
#pragma once

#include "sanitize_region.h"

namespace emu::sanitize {

struct Entry {
  u64 key;
  u64 value;
};

// Which threads of a task an entry covers.
constexpr u32 kAll = 0xffff, kWarp = 0x8000;

constexpr u64 kActorKey = 1ull << 63;
inline u64 actor_key(u32 actor) { return kActorKey | actor; }
inline u64 task_key(Task t, u32 who) { return static_cast<u64>(t) << 16 | who; }

// A Clock is immutable while more than one Knowledge refers to it, and is shared by all with the same
// knowledge.
struct Clock {
  std::atomic<u32> users;
  u32 n, size_class;
  Entry entry[];

  u64 at(u64 key) const;  // the value of an entry, 0 if there is none
  bool mentions(Task) const;
};

// Knowledge is a reference to a clock, or null, which means no knowledge.
class Knowledge {
 public:
  Knowledge() = default;
  Knowledge(const Knowledge& o) : clock_(o.clock_) { hold(); }
  Knowledge(Knowledge&& o) : clock_(o.clock_) { o.clock_ = nullptr; }
  Knowledge& operator=(Knowledge o) {
    Clock* c = clock_;
    clock_ = o.clock_;
    o.clock_ = c;
    return *this;
  }
  ~Knowledge() {
    if (clock_) drop();
  }

  explicit operator bool() const { return clock_ != nullptr; }
  // set assigns, and is fast if nothing changes.
  void set(const Knowledge& o) {
    if (clock_ != o.clock_) *this = o;
  }
  bool same(const Knowledge& o) const { return clock_ == o.clock_; }
  void forget() { *this = Knowledge(); }

  // learn adds the knowledge of another one, or sorted entries.
  void learn(const Knowledge& o);
  void learn(const Entry* e, u32 n);
  void learn(u64 key, u64 value) {
    const Entry e{key, value};
    learn(&e, 1);
  }

  u64 at(u64 key) const { return clock_ ? clock_->at(key) : 0; }
  // mentions reports whether there is an entry for the task or some of its threads.
  bool mentions(Task t) const { return clock_ && clock_->mentions(t); }
  // knows reports whether it covers what a thread of a task did at a time, and knows_all whether it
  // covers what all threads of the task did until then.
  bool knows(Task t, const Launch& l, unsigned thread, u64 time) const { return clock_ && clock_knows(t, l, thread, time); }
  bool knows_all(Task, const Launch&, u64 time) const;

 private:
  bool tells(const Entry* e, u32 n) const;
  bool update(const Entry* e, u32 n);
  void merge(const Entry* e, u32 n);
  bool clock_knows(Task, const Launch&, unsigned thread, u64 time) const;
  void hold() {
    if (clock_) clock_->users.fetch_add(1, std::memory_order_relaxed);
  }
  void drop();

  Clock* clock_ = nullptr;
};

}  // namespace emu::sanitize
