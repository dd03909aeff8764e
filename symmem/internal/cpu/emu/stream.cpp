#include "stream.h"

#include <dlfcn.h>

#include <chrono>
#include <cstring>
#include <new>
#include <thread>

#include "device.h"
#include "recording.h"
#include "turn.h"

namespace emu {

namespace {

constexpr std::size_t kAlign = 64;

struct CopyArguments {
  void* dst;
  const void* src;
  std::size_t n;
};
struct FillArguments {
  void* dst;
  std::size_t n;
  int value;
};

void copy_thread(const char* arguments) {
  const auto* a = reinterpret_cast<const CopyArguments*>(arguments);
  std::memmove(a->dst, a->src, a->n);
}
void fill_thread(const char* arguments) {
  const auto* a = reinterpret_cast<const FillArguments*>(arguments);
  std::memset(a->dst, a->value, a->n);
}

void fill_words_thread(const char* arguments) {
  const auto* a = reinterpret_cast<const FillArguments*>(arguments);
  for (std::size_t i = 0; i < a->n; i++) static_cast<std::uint32_t*>(a->dst)[i] = static_cast<std::uint32_t>(a->value);
}

constexpr Entry kCopy{"copy", copy_thread, nullptr, 0, sizeof(CopyArguments), nullptr};
constexpr Entry kFill{"set", fill_thread, nullptr, 0, sizeof(FillArguments), nullptr};
constexpr Entry kFillWords{"set", fill_words_thread, nullptr, 0, sizeof(FillArguments), nullptr};

Command one_thread(const Entry& entry, const void* arguments) {
  Command c{Command::kLaunch};
  c.entry = &entry;
  c.dim = c.block_dim = {1, 1, 1};
  c.arguments = copy_bytes(arguments, entry.argument_bytes);
  return c;
}

}  // namespace

Module::~Module() {
  if (watched)
    for (const Span& s : variables_of(code)) sanitize::remove(s.base, 0, false);
  if (library) dlclose(library);
}

Bytes copy_bytes(const void* p, std::size_t n) {
  char* q = static_cast<char*>(::operator new[](n ? n : 1, std::align_val_t{kAlign}));
  if (n) std::memcpy(q, p, n);
  return Bytes(q, [](char* c) { ::operator delete[](c, std::align_val_t{kAlign}); });
}

Command copy_command(std::uintptr_t dst, std::uintptr_t src, std::size_t n) {
  const CopyArguments a{reinterpret_cast<void*>(dst), reinterpret_cast<const void*>(src), n};
  Command c = one_thread(kCopy, &a);
  c.written = dst, c.read = src, c.bytes = n;
  return c;
}

Command fill_command(std::uintptr_t dst, int value, std::size_t n) {
  const FillArguments a{reinterpret_cast<void*>(dst), n, value};
  Command c = one_thread(kFill, &a);
  c.written = dst, c.bytes = n;
  return c;
}

Command fill_words_command(std::uintptr_t dst, std::uint32_t value, std::size_t n) {
  const FillArguments a{reinterpret_cast<void*>(dst), n, static_cast<int>(value)};
  Command c = one_thread(kFillWords, &a);
  c.written = dst, c.bytes = 4 * n;
  return c;
}

void Mark::wait() { reached.await_change(0); }

void Event::wait() const {
  if (const std::shared_ptr<Mark> m = latest.load()) m->wait();
}

bool Event::reached() const {
  const std::shared_ptr<Mark> m = latest.load();
  return !m || m->reached.load() != 0;
}

Stream::Stream(Device* d) : device_(d), executor_(d) {
  need_thread(thread_, [](void* s) { return static_cast<Stream*>(s)->serve(), s; }, this);
}

Stream::~Stream() {
  closing_ = true;
  executor_.closing = true;
  bell_.add();
  pthread_join(thread_, nullptr);
}

// make_room waits while the queue is full, as on a GPU, if commands are submitted faster than they
// run.
void Stream::make_room() {
  for (;;) {
    const std::uint32_t done = completed_.load();
    if (submitted_.load() - done < kQueued) return;
    completed_.await_change(done);
  }
}

void Stream::submit(Command c) {
  make_room();
  if (const auto s = device_->watcher()) c.known = s->submitted(), c.caller = s->caller;
  if (c.kind == Command::kRecord) c.event->latest.store(c.mark = std::make_shared<Mark>());
  if (c.kind == Command::kWait) c.mark = c.event->latest.load();
  {
    std::lock_guard lock(mutex_);
    queue_.push_back(std::move(c));
    submitted_.fetch_add(1);
  }
}

void Stream::add(Command c) {
  if (capture_ && c.kind != Command::kMark) {  // a mark concerns the memory as it is now
    capture_->push_back(std::move(c));
    return;
  }
  c.call = call_;
  submit(std::move(c));
  bell_.add();
}

void Stream::replay(const Graph& g) {
  if (capture_) {
    capture_->insert(capture_->end(), g.begin(), g.end());
    return;
  }
  for (const Command& c : g) add(c);
}

bool Stream::synchronize(Fault& out, std::string& kernel, std::string& library) {
  const std::uint32_t target = submitted_.load();
  for (;;) {
    const std::uint32_t done = completed_.load();
    if (static_cast<std::int32_t>(done - target) >= 0) break;
    completed_.await_change(done);
  }
  if (!failed_.load()) return false;
  std::lock_guard lock(mutex_);
  out.assign(fault_);
  kernel = fault_kernel_;
  library = fault_library_;
  failed_ = false;
  return true;
}

bool Stream::stands(std::uint64_t& number, std::uint64_t& looks) {
  const Grid* const g = grid_.load();
  return g && device_->stands(g, standing_, number, looks);
}

void Stream::serve() {
  executor_.adopt();
  device_->enlist(&executor_);
  for (;;) {
    const std::uint32_t bell = bell_.load();
    Command c{};
    bool found = false;
    {
      std::lock_guard lock(mutex_);
      if (!queue_.empty()) {
        c = std::move(queue_.front());
        queue_.pop_front();
        found = true;
      }
    }
    if (found) {
      const std::shared_ptr<Recording> r = c.call ? device_->recording() : nullptr;
      const std::uint64_t began = r ? executor_.emu::Worker::api->nanos() : 0;
      perform(c, executor_);
      if (r) record(c, *r, began);
      c = {};
      device_->done.fetch_add(1, std::memory_order_relaxed);
      completed_.add();
    } else if (closing_) {
      break;
    } else {
      bell_.await_change(bell);
    }
  }
  device_->discharge(&executor_);
  executor_.retire();
}

// await polls a word that another process may write: at first without pauses, then with pauses.
void Stream::await(const Command& c) const {
  constexpr int kAwake = 200;
  Pauses pauses;
  for (int i = 0; __atomic_load_n(c.word, __ATOMIC_ACQUIRE) != c.value && !closing_.load(); i++) {
    if (i >= kAwake || !quick_yield()) pauses.pause();
  }
}

// know adds the host's knowledge to the stream's.
void Stream::know(const Command& c, sanitize::Sanitizer& s) {
  std::lock_guard lock(mutex_);
  if (actor_.id == 0) s.name(actor_);
  actor_.known.learn(c.known);
}

sanitize::Known Stream::known() {
  std::lock_guard lock(mutex_);
  return actor_.known;
}

// perform executes a command. After a fault, until it is reported, it only executes events, because
// others may wait for them.
void Stream::perform(Command& c, Executor& e) {
  const std::shared_ptr<sanitize::Sanitizer> s = device_->watcher();
  if (s) know(c, *s);
  switch (c.kind) {
    case Command::kRecord:
      c.event->time.store(e.emu::Worker::api->nanos());
      if (s) c.mark->known = actor_.known;
      c.mark->reached.add();
      return;
    case Command::kWait:
      awaits_.store(true);
      if (c.mark) c.mark->wait();
      awaits_.store(false);
      if (s && c.mark) actor_.known.learn(c.mark->known);
      return;
    case Command::kStore:
      if (failed_.load() || closing_.load()) return;
      if (s) s->tell(actor_, c.word, c.value, c.caller);
      __atomic_store_n(c.word, c.value, __ATOMIC_SEQ_CST);
      return;
    case Command::kAwait:
      if (!failed_.load()) await(c);
      if (s) s->hear(actor_, c.word, c.value, c.caller);
      return;
    case Command::kMark:
      sanitize::mark(c.written, c.bytes, c.value);
      return;
    case Command::kLaunch:
      if (failed_.load() || closing_.load()) return;
      launch(c, e, s.get());
  }
}

// record notes a command that was executed.
void Stream::record(const Command& c, Recording& r, std::uint64_t began) const {
  emu_activity a{};
  a.call = c.call;
  a.began = began;
  a.ended = executor_.emu::Worker::api->nanos();
  switch (c.kind) {
    case Command::kLaunch:
      a.kind = c.module ? EMU_KERNEL : c.read ? EMU_COPY : EMU_SET;
      a.bytes = c.bytes;
      for (int i = 0; i < 3; i++) a.grid[i] = (&c.dim.x)[i], a.block[i] = (&c.block_dim.x)[i];
      strncpy(a.name, c.entry->name, sizeof a.name - 1);
      break;
    case Command::kWait: a.kind = EMU_EVENT; break;
    case Command::kAwait: a.kind = EMU_AWAIT; break;
    default: return;
  }
  r.add(a);
}

// hold_back chooses, by the seed, when a grid begins and in which order its blocks run.
void Stream::hold_back(Grid& g, sanitize::Sanitizer& s) {
  std::uint64_t x = (s.seed + 1) * 0x9e3779b97f4a7c15ull ^ (static_cast<std::uint64_t>(s.rank) << 32 | actor_.sequence) * 0xc4ceb9fe1a85ec53ull;
  x ^= x >> 29;
  if (x % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(x / 8 % 2000));
  const unsigned long long blocks = 1ull * g.dim.x * g.dim.y * g.dim.z;
  g.first = x / 16384 % blocks;
}

void Stream::launch(Command& c, Executor& e, sanitize::Sanitizer* s) {
  Grid g;
  g.owner = &e;
  g.entry = c.entry;
  g.code = c.module ? c.module->code : Code{};
  if (c.module) g.library = c.module->path.c_str(), g.shared = c.module->shared, g.dynamic_shared = c.shared;
  g.dim = c.dim;
  g.block_dim = c.block_dim;
  g.arguments = c.arguments.get();
  sanitize::Watched w;
  const bool watched = s && ((c.module && c.module->watched) || c.bytes > 0);
  if (watched) {
    s->begin(w, actor_, c.entry->name, c.module ? c.module->watched : 0, c.caller, c.dim, c.block_dim);
    if (c.module) {
      w.code = c.module->code.base;
      w.apart = c.module->apart;
      w.shared_bytes = g.shared.bytes + c.shared;
      w.has_dynamic_shared = c.module->has_dynamic_shared;
      g.watched = &w;
    } else {
      s->moved(w, c.written, c.read, c.bytes);
    }
  }
  if (s && s->seed) hold_back(g, *s);
  grid_.store(&g);
  g.execute(e);
  grid_.store(nullptr);
  if (watched) {
    std::lock_guard lock(mutex_);
    actor_.known.learn(w.end);
    actor_.known.learn(sanitize::actor_key(actor_.id), actor_.sequence);
  }
  if (g.stop.load() == Stop::kNo) return;
  std::lock_guard lock(mutex_);
  fault_.assign(g.fault);
  fault_kernel_ = c.entry->name;
  fault_library_ = c.module ? c.module->path : "";
  failed_ = true;
}

}  // namespace emu
