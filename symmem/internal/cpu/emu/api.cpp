#include "api.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "device.h"
#include "machine.h"
#include "recording.h"
#include "sanitize.h"
#include "sanitize_network.h"
#include "stream.h"

using namespace emu;

struct emu_device : Device {
  using Device::Device;
};
struct emu_stream : Stream {
  using Stream::Stream;
};
struct emu_event {
  std::shared_ptr<Event> event = std::make_shared<Event>();
};
struct emu_graph {
  std::unique_ptr<Graph> commands;
};
struct emu_module {
  std::shared_ptr<Module> module = std::make_shared<Module>();
};

void emu_copy_out(void* dst, uintptr_t src, size_t n) { memcpy(dst, reinterpret_cast<const void*>(src), n); }
void emu_poke(uintptr_t word, uint32_t value) { __atomic_store_n(reinterpret_cast<uint32_t*>(word), value, __ATOMIC_SEQ_CST); }
long emu_worker_distance(void) { return machine::worker_distance(); }
uint64_t emu_nanos(void) { return api.nanos(); }
const char* emu_built_by(void) {
#ifdef __clang__
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

emu_device* emu_device_open(const uint32_t* abort) { return new emu_device(abort); }
void emu_device_close(emu_device* d) { delete d; }

int emu_device_running(emu_device* d, emu_sample* out, int most) {
  int n = 0;
  d->running([&](const Executor* e, uint64_t began, bool sampled, const Sample* s) {
    if (!sampled) {
      for (int i = 0; i < n; i++) {
        if (out[i].began != began) continue;
        out[i].others += e->living();
        break;
      }
      return;
    }
    if (n == most) return;
    emu_sample& o = out[n++];
    o.executor = reinterpret_cast<uintptr_t>(e), o.began = began, o.taken = s != nullptr, o.others = 0;
    if (!s) return;
    static_assert(sizeof o.kernel == sizeof s->kernel && sizeof o.library == sizeof s->library && sizeof o.addresses == sizeof s->addresses);
    memcpy(o.kernel, s->kernel, sizeof o.kernel);
    memcpy(o.library, s->library, sizeof o.library);
    memcpy(o.addresses, s->addresses, sizeof o.addresses);
    for (int i = 0; i < Sample::kAddresses; i++) o.shared[i] = s->shared[i];
    o.pc = s->pc, o.threads = s->threads, o.spins = s->spins, o.count = s->count;
  });
  return n;
}

uint64_t emu_device_works(emu_device* d) { return d->done.load(); }

emu_module* emu_module_load(const char* path, char** error) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void* entries = library ? dlsym(library, "emu_module_entries") : nullptr;
  if (!entries) {
    *error = strdup(dlerror());
    if (library) dlclose(library);
    return nullptr;
  }
  auto* m = new emu_module;
  machine::begin_module(library);
  m->module->library = library;
  m->module->path = path;
  m->module->entries = reinterpret_cast<Entry* (*)()>(entries)();
  m->module->code = code_of(entries);
  m->module->shared = shared_of(m->module->code);
  m->module->has_dynamic_shared = dlsym(library, "emu_module_has_dynamic_shared");
  if (const void* apart = dlsym(library, "emu_module_apart")) m->module->apart = *static_cast<const Apart*>(apart);
  return m;
}

emu_module* emu_module_builtin(const void* entries) {
  auto* m = new emu_module;
  m->module->entries = static_cast<Entry*>(const_cast<void*>(entries));
  m->module->code = code_of(reinterpret_cast<const void*>(m->module->entries->run));
  return m;
}

void emu_module_close(emu_module* m) { delete m; }

int emu_module_kernel(emu_module* m, uint32_t i, emu_kernel* out) {
  const Entry* e = m->module->entries;
  for (; e && i > 0; i--) e = e->next;
  if (!e) return 0;
  static_assert(sizeof(Param) == 2 * sizeof(uint32_t));
  *out = {e->name, e->param_count, &e->params->offset, e->argument_bytes, e};
  return 1;
}

uintptr_t emu_module_variable(emu_module* m, const char* name) { return reinterpret_cast<uintptr_t>(dlsym(m->module->library, name)); }

emu_stream* emu_stream_open(emu_device* d) { return new emu_stream(d); }
void emu_stream_close(emu_stream* s) { delete s; }

void emu_stream_launch(emu_stream* s, emu_module* m, const void* entry, const emu_shape* shape, const void* arguments, size_t n) {
  Command c{Command::kLaunch};
  c.module = m->module;
  c.entry = static_cast<const Entry*>(entry);
  c.dim = {shape->grid[0], shape->grid[1], shape->grid[2]};
  c.block_dim = {shape->block[0], shape->block[1], shape->block[2]};
  c.shared = shape->shared;
  c.arguments = copy_bytes(arguments, n);
  s->add(std::move(c));
}

void emu_stream_copy(emu_stream* s, uintptr_t dst, uintptr_t src, size_t n) { s->add(copy_command(dst, src, n)); }

void emu_stream_write(emu_stream* s, uintptr_t dst, const void* src, size_t n) {
  Bytes data = copy_bytes(src, n);
  Command c = copy_command(dst, reinterpret_cast<uintptr_t>(data.get()), n);
  c.data = std::move(data);
  s->add(std::move(c));
}

void emu_stream_set(emu_stream* s, uintptr_t dst, int value, size_t n) { s->add(fill_command(dst, value, n)); }

void emu_stream_set_words(emu_stream* s, uintptr_t dst, uint32_t value, size_t n) { s->add(fill_words_command(dst, value, n)); }

static Command on_word(Command::Kind kind, uintptr_t word, uint32_t value) {
  Command c{kind};
  c.word = reinterpret_cast<uint32_t*>(word);
  c.value = value;
  return c;
}

void emu_stream_store(emu_stream* s, uintptr_t word, uint32_t value) { s->add(on_word(Command::kStore, word, value)); }
void emu_stream_await(emu_stream* s, uintptr_t word, uint32_t value) { s->add(on_word(Command::kAwait, word, value)); }

static Command on_event(Command::Kind kind, emu_event* e) {
  Command c{kind};
  c.event = e->event;
  return c;
}

void emu_stream_record(emu_stream* s, emu_event* e) { s->add(on_event(Command::kRecord, e)); }
void emu_stream_wait(emu_stream* s, emu_event* e) { s->add(on_event(Command::kWait, e)); }

int emu_stream_synchronize(emu_stream* s, emu_fault* out) {
  Fault f;
  std::string kernel, library;
  const bool failed = s->synchronize(f, kernel, library);
  if (const auto watch = s->device()->watcher()) watch->synchronized(s->known());
  if (!failed) return 0;
  memset(out, 0, sizeof *out);
  strncpy(out->kernel, kernel.c_str(), sizeof out->kernel - 1);
  strncpy(out->library, library.c_str(), sizeof out->library - 1);
  memcpy(out->block, &f.block, sizeof out->block);
  memcpy(out->thread, &f.thread, sizeof out->thread);
  out->signal = f.signal;
  out->signal_code = f.signal_code;
  out->write = f.write;
  out->stack = f.stack;
  out->shared = f.shared;
  out->address = f.address;
  memcpy(out->frames, f.frames, sizeof out->frames);
  memcpy(out->text, f.text, sizeof out->text);
  memcpy(out->file, f.file, sizeof out->file);
  out->line = f.line;
  return 1;
}

int emu_stream_idle(emu_stream* s) { return s->idle(); }
int emu_stream_awaits(emu_stream* s) { return s->awaits(); }
int emu_stream_stands(emu_stream* s, uint64_t* number, uint64_t* looks) { return s->stands(*number, *looks); }
void emu_stream_begin_capture(emu_stream* s) { s->begin_capture(); }
emu_graph* emu_stream_end_capture(emu_stream* s) { return new emu_graph{s->end_capture()}; }

void emu_graph_launch(emu_graph* g, emu_stream* s) { s->replay(*g->commands); }
void emu_graph_close(emu_graph* g) { delete g; }

emu_event* emu_event_open(void) { return new emu_event; }
void emu_event_close(emu_event* e) { delete e; }
void emu_event_synchronize(emu_event* e) { e->event->wait(); }
int emu_event_reached(emu_event* e) { return e->event->reached(); }
uint64_t emu_event_time(emu_event* e) { return e->event->time.load(); }

void emu_record(emu_device* d, const emu_wait* waits, size_t count, size_t room) { d->record(std::make_shared<Recording>(waits, count, room)); }
size_t emu_recorded(emu_device* d, emu_activity* out, size_t n, uint64_t* lost) {
  const auto r = d->recording();
  return r ? r->take(out, n, lost) : 0;
}
void emu_record_off(emu_device* d) { d->record(nullptr); }
void emu_stream_call(emu_stream* s, uint64_t call) { s->call(call); }

const char* emu_shadow(void) { return sanitize::name(); }
const char* emu_make_shadow(const char** error) { return sanitize::create(error); }
void emu_end_shadow(void) { sanitize::detach(); }

const char* emu_sanitize(emu_device* d, const char* shadow, uint32_t rank, uint64_t seed) {
  const char* why = "there may be no more than 128 ranks";
  if (rank >= sanitize::kRanks || !sanitize::attach(shadow, &why)) return why;
  const auto before = d->watcher();
  if (before && before->rank == rank && before->seed == seed) return nullptr;
  auto next = std::make_shared<sanitize::Sanitizer>(rank, seed);
  if (before) next->follow(*before);
  d->watch(std::move(next));
  return nullptr;
}

void emu_sanitize_off(emu_device* d) {
  d->watch(nullptr);
  sanitize::forget();
}

void emu_watch(uintptr_t p, size_t n, uint64_t inode) { sanitize::add(p, n, inode, true); }
void emu_watch_among(uintptr_t p, size_t n) { sanitize::add(p, n, 0, false); }
void emu_unwatch(uintptr_t p, uint64_t inode, int owner) { sanitize::remove(p, inode, owner); }
void emu_retire(uintptr_t p, size_t n) { sanitize::retire(p, n); }
void emu_mark(uintptr_t p, size_t n, uint32_t state) { sanitize::mark(p, n, state); }

void emu_stream_mark(emu_stream* s, uintptr_t p, size_t n, uint32_t state) {
  Command c{Command::kMark};
  c.written = p, c.bytes = n, c.value = state;
  s->add(std::move(c));
}

void emu_module_watch(emu_module* m, const char* library, const char* name, uint32_t line, const char* text) {
  sanitize::Region& r = *sanitize::region();
  const uint32_t i = r.modules.fetch_add(1);
  if (i >= sanitize::kModules) return;
  sanitize::Module& noted = r.module[i];
  snprintf(noted.library, sizeof noted.library, "%s", library);
  snprintf(noted.name, sizeof noted.name, "%s", name);
  noted.line = line;
  const size_t n = strlen(text) + 1;
  noted.text = static_cast<char*>(r.take(n));
  if (noted.text) memcpy(noted.text, text, n);
  Module& module = *m->module;
  module.watched = i + 1;
  for (const Span& s : variables_of(module.code)) sanitize::add(s.base, s.bytes, 0, false);
}

int emu_watched_module(uint32_t module, const char** library, const char** name, uint32_t* line, const char** text) {
  if (module == 0 || !sanitize::region() || module > sanitize::region()->modules.load()) return 0;
  const sanitize::Module& m = sanitize::region()->module[module - 1];
  *library = m.library, *name = m.name, *line = m.line, *text = m.text ? m.text : "";
  return 1;
}

void emu_calling(emu_device* d, int32_t caller) {
  if (const auto s = d->watcher()) s->caller = caller;
}
void emu_publish(emu_device* d) {
  if (const auto s = d->watcher()) s->publish();
}
void emu_observe(emu_device* d) {
  if (const auto s = d->watcher()) s->observe();
}
void emu_end(emu_device* d, uint64_t run) {
  if (const auto s = d->watcher()) s->end(run);
}
void emu_begin(emu_device* d, uint64_t run) {
  if (const auto s = d->watcher()) s->begin(run);
}
void emu_touched(emu_device* d, uintptr_t p, size_t n, int write) {
  if (const auto s = d->watcher()) s->touched(p, n, write);
}
void emu_touched_rows(emu_device* d, uintptr_t p, size_t n, size_t rows, size_t pitch, int write) {
  if (const auto s = d->watcher()) s->touched(p, n, write, rows, pitch);
}
const void* emu_network(emu_device* d, uintptr_t board, size_t n) {
  if (const sanitize::Range* r = sanitize::find(board); !r || r->base != board) sanitize::add(board, n, 0, false);
  if (!d->network) d->network = std::make_shared<sanitize::Network>(*d);
  return d->network->watcher();
}
void emu_flushed(emu_device* d, int ended) {
  const auto s = d->watcher();
  if (!s || !d->network) return;
  if (ended) d->network->ended();
  s->synchronized(d->network->over());
}
void emu_heard(emu_device* d, emu_event* e) {
  const auto s = d->watcher();
  const auto mark = e->event->latest.load();
  if (s && mark) s->synchronized(mark->known);
}

int emu_is_watched(emu_device* d) { return d->watcher() != nullptr; }

size_t emu_findings(emu_device* d, emu_finding* out, size_t n) {
  const auto s = d->watcher();
  if (!s) return 0;
  const auto all = s->take();
  for (size_t i = 0; i < all.size() && i < n; i++) {
    const sanitize::Finding& f = all[i];
    emu_finding& o = out[i];
    o = {static_cast<uint32_t>(f.kind), f.why, f.count, f.accesses, f.size, f.address, {}, {}};
    static_assert(sizeof o.memory == sizeof f.memory);
    memcpy(o.memory, f.memory, sizeof o.memory);
    for (unsigned k = 0; k < f.accesses; k++) {
      const sanitize::Place& p = f.place[k];
      emu_place& q = o.place[k];
      q.rank = sanitize::rank_of(p.task), q.thread = p.thread, q.block = p.block, q.pc = p.pc, q.how = p.how;
      q.module = p.launch.module, q.host = p.launch.host, q.carried = p.launch.carried, q.caller = p.launch.caller, q.stream = p.launch.stream, q.sequence = p.launch.sequence;
      memcpy(q.grid, p.launch.grid, sizeof q.grid);
      memcpy(q.block_dim, p.launch.block, sizeof q.block_dim);
      memcpy(q.kernel, p.launch.kernel, sizeof q.kernel);
    }
  }
  return all.size();
}
