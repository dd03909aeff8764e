// sanitize_clock.h: what somebody knows of what others have done.
//
// A vector clock with one place for every thread of every block would have millions. But threads learn of each other in groups: a barrier tells a block all that its threads
// did, the end of a launch tells its stream all that the blocks did. So a clock is a short sorted list, whose entries speak of an actor, up to a launch, or of a
// task up to a time: of all its threads, of a warp, or of one thread. Entries that others imply are dropped. A list that grows in spite of that is made shorter by knowing more than
// was learned, which may hide a race and never invents one.
#pragma once

#include "sanitize_region.h"

namespace emu::sanitize {

struct Entry {
  u64 key;
  u64 value;
};

// Who of a task an entry speaks of.
constexpr u32 kAll = 0xffff, kWarp = 0x8000;

constexpr u64 kActorKey = 1ull << 63;
inline u64 actor_key(u32 actor) { return kActorKey | actor; }
inline u64 task_key(Task t, u32 who) { return static_cast<u64>(t) << 16 | who; }

// Clock is never changed once it can be seen, and is shared by all who know the same.
struct Clock {
  std::atomic<u32> users;
  u32 n, size_class;
  Entry entry[];

  u64 at(u64 key) const;  // the value of an entry, 0 if there is none
};

// Knowledge is a reference to a clock, or to none: knowing nothing.
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
  ~Knowledge() { drop(); }

  explicit operator bool() const { return clock_ != nullptr; }
  bool same(const Knowledge& o) const { return clock_ == o.clock_; }
  void forget() { *this = Knowledge(); }

  // learn adds what another one knows, or entries, which are sorted.
  void learn(const Knowledge& o);
  void learn(const Entry* e, u32 n);
  void learn(u64 key, u64 value) {
    const Entry e{key, value};
    learn(&e, 1);
  }

  u64 at(u64 key) const { return clock_ ? clock_->at(key) : 0; }
  // knows tells whether what a thread of a task did at a time is known.
  bool knows(Task, const Launch&, unsigned thread, u64 time) const;

 private:
  bool tells(const Entry* e, u32 n) const;
  void hold() {
    if (clock_) clock_->users.fetch_add(1, std::memory_order_relaxed);
  }
  void drop();

  Clock* clock_ = nullptr;
};

}  // namespace emu::sanitize
