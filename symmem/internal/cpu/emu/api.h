// api.h: the emulator's interface for Go. The caller owns handles and passes each to the matching
// close function. Device addresses are integers, because Go does not follow them. No function
// throws: a null handle or a non-null text is a failure.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct emu_device emu_device;
typedef struct emu_stream emu_stream;
typedef struct emu_event emu_event;
typedef struct emu_graph emu_graph;
typedef struct emu_module emu_module;

typedef struct {
  const char* name;
  uint32_t param_count;
  const uint32_t* params;  // offset and size of each parameter
  uint32_t argument_bytes;
  const void* entry;
} emu_kernel;

typedef struct {
  char kernel[256];
  char library[1024];  // empty for the program itself
  uint32_t block[3], thread[3];
  int32_t signal, signal_code;
  int32_t write, stack, shared;
  uint64_t address;
  uint64_t frames[16];
  char text[200];
  char file[200];
  int32_t line;
} emu_fault;

typedef struct {
  uint32_t grid[3], block[3];
  uint32_t shared;  // bytes of dynamic shared memory
} emu_shape;

// An access of a finding; see sanitize.h.
typedef struct {
  uint32_t rank, thread, block, pc, how, module, host, carried, stream, sequence;
  int32_t caller;
  uint32_t grid[3], block_dim[3];
  char kernel[64];
} emu_place;

typedef struct {
  uint32_t kind, why, count, accesses, size;
  uint64_t address;
  char memory[64];  // if it is not given by the address
  emu_place place[2];
} emu_finding;

// emu_alloc returns n zeroed bytes that end at a guard page, except for alignment to 256, after
// another guard page. It sets *counted, which is passed to emu_free or emu_unguard.
void* emu_alloc(size_t n, int* counted);
void emu_free(uintptr_t p, size_t n, int counted);
int emu_guard(uintptr_t pages, size_t bytes);
void emu_unguard(int counted);
void emu_copy_out(void* dst, uintptr_t src, size_t n);
// emu_poke stores a word at once, independently of streams.
void emu_poke(uintptr_t word, uint32_t value);
uint64_t emu_nanos(void);
long emu_worker_distance(void); // where kernels find their worker
const char* emu_built_by(void);  // the compiler that built this file

typedef struct {
  uint64_t executor;  // one for each thread of the system
  uint64_t began;     // start of the launch, by emu_nanos
  int32_t taken;      // the following fields are valid
  char kernel[128];
  char library[1024];
  uint64_t pc;  // as in the library's file; 0 if it is not in the kernel's code
  uint32_t threads;
  uint32_t others;  // valid always: threads of the launch's blocks of which no sample is taken, in the launch's first sample
  int32_t spins;
  int32_t count;
  uint64_t addresses[8];  // addresses that it reads again and again
  uint8_t shared[8];      // for each: whether it is an offset in the block's shared memory
} emu_sample;

emu_device* emu_device_open(const uint32_t* abort);
void emu_device_close(emu_device*);
// emu_device_running samples what runs at this moment, for at most so many executors. It takes up
// to 20 ms.
int emu_device_running(emu_device*, emu_sample* out, int most);
// emu_device_works returns the number of commands that the device's streams have completed.
uint64_t emu_device_works(emu_device*);

// emu_module_load opens a library. On failure it returns null and a text to free.
emu_module* emu_module_load(const char* path, char** error);
emu_module* emu_module_builtin(const void* entries);
void emu_module_close(emu_module*);
// emu_module_kernel describes the i-th kernel; it returns 0 if there are fewer.
int emu_module_kernel(emu_module*, uint32_t i, emu_kernel* out);
// emu_module_variable returns the address of an exported variable, or 0.
uintptr_t emu_module_variable(emu_module*, const char* name);

emu_stream* emu_stream_open(emu_device*);
void emu_stream_close(emu_stream*);
void emu_stream_launch(emu_stream*, emu_module*, const void* entry, const emu_shape*, const void* arguments, size_t n);
void emu_stream_copy(emu_stream*, uintptr_t dst, uintptr_t src, size_t n);
void emu_stream_write(emu_stream*, uintptr_t dst, const void* src, size_t n);
void emu_stream_set(emu_stream*, uintptr_t dst, int value, size_t n);
void emu_stream_set_words(emu_stream*, uintptr_t dst, uint32_t value, size_t n);
// emu_stream_store queues a store of a word, emu_stream_await a wait until it equals the value.
void emu_stream_store(emu_stream*, uintptr_t word, uint32_t value);
void emu_stream_await(emu_stream*, uintptr_t word, uint32_t value);
void emu_stream_record(emu_stream*, emu_event*);
void emu_stream_wait(emu_stream*, emu_event*);
// emu_stream_synchronize returns 1 and fills the fault if there was one.
int emu_stream_synchronize(emu_stream*, emu_fault* out);
int emu_stream_idle(emu_stream*);
// emu_stream_awaits returns 1 while the stream waits for an event.
int emu_stream_awaits(emu_stream*);
// emu_stream_stands returns 1 while the stream runs a kernel that stands still, and sets the numbers of the stand and of
// looks: see stand.h.
int emu_stream_stands(emu_stream*, uint64_t* number, uint64_t* looks);
void emu_stream_begin_capture(emu_stream*);
emu_graph* emu_stream_end_capture(emu_stream*);

void emu_graph_launch(emu_graph*, emu_stream*);
void emu_graph_close(emu_graph*);

emu_event* emu_event_open(void);
void emu_event_close(emu_event*);
void emu_event_synchronize(emu_event*);
// emu_event_reached returns 1 if the event was reached, or was never recorded.
int emu_event_reached(emu_event*);
// emu_event_time returns when the event was last reached, in nanoseconds; 0 if never.
uint64_t emu_event_time(emu_event*);

// Recording. emu_wait mirrors device.WaitRecord field for field.
typedef struct {
  uint32_t state, kind, ordinal, rank, peer, channel;
  uint64_t want, seen, elapsed, began, unused;
} emu_wait;

// What an activity is: a command of a stream, or a wait of a kernel.
enum { EMU_KERNEL, EMU_COPY, EMU_SET, EMU_AWAIT, EMU_EVENT, EMU_WAITED };

typedef struct {
  uint32_t kind;
  uint64_t call;          // see emu_stream_call; of a wait it is 0
  uint64_t began, ended;  // by emu_nanos
  uint64_t bytes;
  uint32_t grid[3], block[3];
  char name[64];
  emu_wait wait;  // of EMU_WAITED
} emu_activity;

// emu_record begins to record the activities of a device, so many at most; waits are the records
// of the page that kernels share with the host. emu_recorded writes at most n activities, and
// returns how many there are; lost counts those without room. emu_record_off ends the recording
// and forgets it.
void emu_record(emu_device*, const emu_wait* waits, size_t count, size_t room);
size_t emu_recorded(emu_device*, emu_activity* out, size_t n, uint64_t* lost);
void emu_record_off(emu_device*);
// emu_stream_call names the call that issues what the stream gets from now on.
void emu_stream_call(emu_stream*, uint64_t call);

// Sanitizing. emu_shadow returns the name of this process's shadow, or null if there is none;
// emu_make_shadow makes one if there is none, and emu_end_shadow ends this process's use of it while
// none of its devices is watched. Other processes pass the name to emu_sanitize, which
// on failure returns a text that is not freed. A device is watched from then on until
// emu_sanitize_off.
const char* emu_shadow(void);
const char* emu_make_shadow(const char** error);
void emu_end_shadow(void);
const char* emu_sanitize(emu_device*, const char* shadow, uint32_t rank, uint64_t seed);
void emu_sanitize_off(emu_device*);
// emu_watch makes memory watched; inode identifies memory that processes share, and is 0 otherwise.
// emu_mark sets the state of memory.
void emu_watch(uintptr_t p, size_t n, uint64_t inode);
void emu_unwatch(uintptr_t p, uint64_t inode, int owner);
// emu_watch_among makes the pages of memory watched that has other memory beside it.
void emu_watch_among(uintptr_t p, size_t n);
// emu_retire makes freed memory watched.
void emu_retire(uintptr_t p, size_t n);
void emu_mark(uintptr_t p, size_t n, uint32_t state);
void emu_stream_mark(emu_stream*, uintptr_t p, size_t n, uint32_t state);
// emu_module_watch sets how findings name a module.
void emu_module_watch(emu_module*, const char* library, const char* name, uint32_t line, const char* text);
// emu_watched_module returns the names that were set, also by another process, for a module in a
// finding.
int emu_watched_module(uint32_t module, const char** library, const char** name, uint32_t* line, const char** text);
// emu_calling sets the place in the program that makes the following calls.
void emu_calling(emu_device*, int32_t caller);
void emu_publish(emu_device*);
void emu_observe(emu_device*);
// emu_end and emu_begin: the host has ended or begins a cell, given by number.
void emu_end(emu_device*, uint64_t run);
void emu_begin(emu_device*, uint64_t run);
void emu_touched(emu_device*, uintptr_t p, size_t n, int write);
// emu_touched_rows is emu_touched for rows of n bytes whose beginnings are pitch bytes apart.
void emu_touched_rows(emu_device*, uintptr_t p, size_t n, size_t rows, size_t pitch, int write);
// emu_network returns a net_watcher (net/proxy/watcher.h) for an engine with that board, valid as
// long as the device. emu_flushed: the host has waited for everything that kernels have posted or,
// if ended is set, none of it will be done any more.
const void* emu_network(emu_device*, uintptr_t board, size_t n);
void emu_flushed(emu_device*, int ended);
// emu_heard: the host has waited for the event.
void emu_heard(emu_device*, emu_event*);
// emu_is_watched reports whether a sanitizer watches the device, so that there may be findings.
int emu_is_watched(emu_device*);

// emu_findings writes at most n findings and returns the number that there were; the others are lost.
size_t emu_findings(emu_device*, emu_finding* out, size_t n);

#ifdef __cplusplus
}
#endif
