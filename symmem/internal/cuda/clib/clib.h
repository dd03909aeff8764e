// The whole boundary between Go and CUDA. No library is linked: the driver and NVRTC are opened at
// run time, and we declare the prototypes of their functions ourselves (load.h, nvrtc.c).
//
// Conventions. Handles are uintptr_t so that Go may keep them without the garbage collector looking
// inside. Every function that returns sy_status reports the first driver call that failed, and has
// then undone its earlier steps. Every function that takes a sy_device or sy_stream makes the
// device's primary context current on the calling thread first, so it may be called from any
// thread. Sizes are bytes. Pointers to host memory are read or written before the function returns
// and never kept, unless said otherwise.
#ifndef SYMMREPL_CLIB_H
#define SYMMREPL_CLIB_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
	int code;         // 0 for success, else the driver's result
	const char *call; // static string: the function that returned it
} sy_status;

// ---- driver
// -------------------------------------------------------------------------------------------

// sy_driver_load opens the driver library and resolves every function. It returns 0 if this or an
// earlier call succeeded; otherwise 1, with the reason in why. A failed load may be tried again.
int sy_driver_load(const char *path, char *why, size_t size);
// sy_driver_init initialises the driver and returns its CUDA version (13000 for 13.0) and the
// device count.
sy_status sy_driver_init(int *version, int *devices);
// sy_error_name and sy_error_text return static strings of the driver, or NULL for a code it does
// not know.
const char *sy_error_name(int code);
const char *sy_error_text(int code);

// Facts about a device by ordinal, without a context. name holds 256 bytes, uuid 16.
sy_status sy_device_describe(int ordinal, char *name, unsigned char *uuid, uint64_t *memory);
sy_status sy_device_attribute(int ordinal, int attribute, int *value);
sy_status sy_device_can_access(int ordinal, int peer, int *yes);

// ---- device
// -------------------------------------------------------------------------------------------

typedef struct sy_device sy_device;

// sy_device_open retains the primary context; sy_device_close releases it and frees *d. Waits on
// the device's streams and events block instead of spinning once they are long.
sy_status sy_device_open(int ordinal, sy_device **d);
sy_status sy_device_close(sy_device *d);

// sy_alloc returns zeroed device memory of this process. Free it by sy_free.
sy_status sy_alloc(sy_device *d, size_t n, uint64_t *ptr);
sy_status sy_free(sy_device *d, uint64_t ptr);

// sy_host_alloc returns zeroed pinned host memory that the device sees at the same address; if the
// two addresses differ, it fails with the code SY_NOT_UNIFIED. Free the memory by sy_host_free.
#define SY_NOT_UNIFIED (-2)
sy_status sy_host_alloc(sy_device *d, size_t n, uintptr_t *ptr);
sy_status sy_host_free(sy_device *d, uintptr_t ptr);

// sy_host_register pins n bytes of host memory, whole pages that the caller keeps until
// sy_host_unregister, and returns their address on the device.
sy_status sy_host_register(sy_device *d, uintptr_t host, size_t n, uint64_t *ptr);
sy_status sy_host_unregister(sy_device *d, uintptr_t host);

typedef struct {
	uint64_t ptr;    // the address at which it is mapped
	size_t size;     // bytes mapped
	uint64_t handle; // the physical allocation
} sy_segment;

// sy_segment_create makes at least n bytes of zeroed memory that can be exported. sy_segment_import
// maps a segment that another process exported; fd stays open and belongs to the caller.
// sy_segment_export returns a new descriptor that the caller owns. sy_segment_close unmaps and
// releases; the memory lives on while another process maps it.
sy_status sy_segment_create(sy_device *d, size_t n, sy_segment *s);
sy_status sy_segment_import(sy_device *d, int fd, size_t n, sy_segment *s);
sy_status sy_segment_export(sy_device *d, const sy_segment *s, int *fd);
sy_status sy_segment_close(sy_device *d, const sy_segment *s);

// After sy_fabric_join, new segments can also be exported by tokens. Processes of the same NVLink
// fabric can map a token's segment on any host. It fails if that is not permitted. The functions
// below are like those above, with a token in place of the descriptor.
enum { SY_TOKEN = 64 };
sy_status sy_fabric_join(sy_device *d);
sy_status sy_segment_import_token(sy_device *d, const void *token, size_t n, sy_segment *s);
sy_status sy_segment_token(sy_device *d, const sy_segment *s, void *token);

// ---- multicast
// -----------------------------------------------------------------------------------------

// With a multicast object, one address stands for the same place in the memory of several devices.
// One process creates the object and exports it; the others import it. Then every process joins
// with its device; when all have joined, each binds its segment; and when all have bound, each maps
// the object. sy_multicast_close undoes the steps taken, in any state.
typedef struct {
	sy_segment object; // its ptr is 0 until it is mapped
	size_t bound;      // bytes of this process's segment
} sy_multicast;

// sy_multicast_known reports whether the driver has multicast.
int sy_multicast_known(void);
sy_status sy_multicast_create(sy_device *d, int devices, size_t n, sy_multicast *m);
sy_status sy_multicast_import(sy_device *d, int fd, size_t n, sy_multicast *m);
sy_status sy_multicast_join(sy_device *d, const sy_multicast *m);
sy_status sy_multicast_bind(sy_device *d, sy_multicast *m, const sy_segment *s);
sy_status sy_multicast_map(sy_device *d, sy_multicast *m);
sy_status sy_multicast_close(sy_device *d, const sy_multicast *m);

// ---- code
// ---------------------------------------------------------------------------------------------

// sy_module_load loads a cubin; its memory may be reused when the function returns.
sy_status sy_module_load(sy_device *d, const void *image, uintptr_t *module);
sy_status sy_module_unload(sy_device *d, uintptr_t module);
// sy_variable finds a variable.
sy_status sy_variable(sy_device *d, uintptr_t module, const char *name, uint64_t *at);
// sy_function finds a kernel and loads its code to the device. If the first launch loaded the code,
// it might wait for running kernels, and so for ever if one of them waits for this kernel.
sy_status sy_function(sy_device *d, uintptr_t module, const char *name, uintptr_t *function);
sy_status sy_function_attribute(sy_device *d, uintptr_t function, int attribute, int *value);
sy_status sy_function_set_attribute(sy_device *d, uintptr_t function, int attribute, int value);
// sy_function_param describes parameter index. *known is 0 if there is no such parameter, -1 if the
// driver is too old to report it.
sy_status sy_function_param(sy_device *d, uintptr_t function, size_t index, size_t *offset, size_t *size, int *known);

// ---- streams
// ------------------------------------------------------------------------------------------

typedef struct sy_stream sy_stream;

sy_status sy_stream_create(sy_device *d, sy_stream **s);
// sy_stream_destroy waits for the stream's work and frees *s, even if it fails.
sy_status sy_stream_destroy(sy_stream *s);

typedef struct {
	unsigned grid[3], block[3], shared;
	int overlap; // overlap with the kernel before it; the kernel itself waits for that one
} sy_shape;

// sy_launch queues a kernel. args is the packed argument buffer, size its length; both zero for
// none.
sy_status sy_launch(sy_stream *s, uintptr_t function, const sy_shape *shape, const void *args, size_t size);
sy_status sy_copy(sy_stream *s, uint64_t dst, uint64_t src, size_t n);
sy_status sy_set(sy_stream *s, uint64_t dst, unsigned char value, size_t n);
sy_status sy_set_words(sy_stream *s, uint64_t dst, uint32_t value, size_t n);
// sy_copy_all copies count pieces by copy engines, in parallel: as a batch if the driver supports
// it and no capture is under way, otherwise on streams of its own that begin and end with s.
sy_status sy_copy_all(sy_stream *s, const uint64_t *dst, const uint64_t *src, const size_t *size, size_t count, int capturing);

typedef struct {
	uint64_t word;
	uint32_t value;
	int await; // hold the stream until the word equals the value, instead of storing it
} sy_value;
#define SY_VALUES 128

// sy_values performs count operations in order, at most SY_VALUES.
sy_status sy_values(sy_stream *s, const sy_value *values, size_t count);
// sy_peek and sy_poke read and write device memory independently of the user's streams. The driver has
// CUDA_DEVICE_MAX_CONNECTIONS queues, 8 unless it is set: with so many streams that wait, sy_poke waits
// behind them. sy_peek does not, because copies to the host have a queue of their own.
sy_status sy_peek(sy_device *d, void *dst, uint64_t src, size_t n);
sy_status sy_poke(sy_device *d, uint64_t dst, uint32_t value);
// sy_write copies host memory to the device through pinned staging memory of the stream, so that
// src may be reused when it returns; it waits only if more bytes than the staging memory holds are
// in flight.
sy_status sy_write(sy_stream *s, uint64_t dst, const void *src, size_t n);
// sy_write_kept copies through a new pinned buffer instead, which the caller must keep as long as
// the copy may run, and then free by sy_host_free. Use it for a copy that is being captured.
sy_status sy_write_kept(sy_stream *s, uint64_t dst, const void *src, size_t n, uintptr_t *buffer);
// sy_read copies device memory to the host and waits for the stream.
sy_status sy_read(sy_stream *s, void *dst, uint64_t src, size_t n);
sy_status sy_synchronize(sy_stream *s);
sy_status sy_idle(sy_stream *s, int *idle);

sy_status sy_event_create(sy_device *d, uintptr_t *event);
sy_status sy_event_destroy(sy_device *d, uintptr_t event);
sy_status sy_event_record(sy_stream *s, uintptr_t event);
// sy_event_wait makes the stream wait for an event. With marked, which a capture excludes, sy_awaits knows
// of the wait, unless an earlier one is not over.
sy_status sy_event_wait(sy_stream *s, uintptr_t event, int marked);
// sy_awaits sets *awaits if the stream does nothing but wait for an event. Another thread may use the stream.
sy_status sy_awaits(sy_stream *s, int *awaits);
sy_status sy_event_synchronize(sy_device *d, uintptr_t event);
// sy_event_reached sets *reached if the event was reached, or was never recorded.
sy_status sy_event_reached(sy_device *d, uintptr_t event, int *reached);
sy_status sy_event_elapsed(sy_device *d, uintptr_t from, uintptr_t to, float *milliseconds);

// sy_capture_begin starts recording in relaxed mode. sy_capture_end ends it and instantiates the
// recording; the stream leaves capture mode even if the call fails.
sy_status sy_capture_begin(sy_stream *s);
sy_status sy_capture_end(sy_stream *s, uintptr_t *graph);
sy_status sy_graph_launch(sy_stream *s, uintptr_t graph);
sy_status sy_graph_destroy(sy_device *d, uintptr_t graph);

// ---- network
// ------------------------------------------------------------------------------------------

typedef struct sy_copier sy_copier;

// sy_copier_open makes the copier of the network engine; add and atomic are the kernels
// signal_add and net_atomic.
// sy_copier_face returns its net_copier, of net/proxy/copier.h. sy_copier_close may be called when
// no thread uses the net_copier any more, and frees c even if it fails.
sy_status sy_copier_open(sy_device *d, uintptr_t add, uintptr_t atomic, sy_copier **c);
sy_status sy_copier_close(sy_copier *c);
void *sy_copier_face(sy_copier *c);

// ---- NVRTC
// --------------------------------------------------------------------------------------------

typedef struct sy_nvrtc sy_nvrtc;

// sy_nvrtc_load opens builtins (NULL for none), a library that the compiler later opens by name,
// and then the compiler. It returns NULL on failure with the reason in why. The library stays
// loaded for the life of the process.
sy_nvrtc *sy_nvrtc_load(const char *path, const char *builtins, char *why, size_t size);
sy_status sy_nvrtc_version(const sy_nvrtc *n, int *major, int *minor);
// sy_nvrtc_precompiles reports whether the compiler can make and use precompiled headers (12.8).
int sy_nvrtc_precompiles(const sy_nvrtc *n);
// sy_nvrtc_error_text returns a static string.
const char *sy_nvrtc_error_text(const sy_nvrtc *n, int code);

typedef struct {
	const char *source, *name;
	int headers;
	const char *const *header, *const *header_name; // found by name, without files
	int options;
	const char *const *option;
	int expressions;
	const char *const *expression; // kernels whose lowered names are wanted
} sy_request;

typedef struct {
	char *log;      // NUL-terminated
	void *cubin;    // NULL when the compilation failed
	size_t size;    // of cubin
	char **lowered; // one for each expression, NULL when the compilation failed
	int lowereds;
} sy_result;

// sy_nvrtc_compile compiles. A status of SY_NVRTC_COMPILATION means that the source does not
// compile, and the log says why. Free the result with sy_result_free in every case.
#define SY_NVRTC_COMPILATION 6
sy_status sy_nvrtc_compile(const sy_nvrtc *n, const sy_request *request, sy_result *result);
void sy_result_free(sy_result *result);

// ---- cuBLASLt
// -----------------------------------------------------------------------------------------

typedef struct sy_lt sy_lt;

// sy_lt_load opens the library for a device. It returns NULL on failure with the reason in why. It
// stays loaded.
sy_lt *sy_lt_load(sy_device *d, const char *path, char *why, size_t size);

typedef struct {
	uint64_t out, a, b; // row-major: out[m][n] = a[m][k] * b[k][n]
	uint64_t m, n, k;
	int type, out_type; // cudaDataType_t
	int odd;            // an address is not a multiple of 16
	int flipped;        // b is b[n][k]
	uint64_t scale_a, scale_b; // of 8-bit floats: addresses of float, 0 for none
	int scales;                // one for each row of a and column of b
	uint64_t workspace;
	size_t workspace_size;
} sy_matmul;

// sy_lt_matmul queues a product. The code of its status is the library's; -1 if it has no algorithm
// for it.
sy_status sy_lt_matmul(sy_lt *lt, sy_stream *s, const sy_matmul *m);

// ---- NCCL
// ---------------------------------------------------------------------------------------------

typedef struct sy_nccl sy_nccl;
typedef struct sy_nccl_comm sy_nccl_comm;

enum { SY_NCCL_OLDEST = 22800, SY_NCCL_ID = 128, SY_NCCL_TEXT = 512, SY_NCCL_DEVICE_COMM = 512 };
enum { SY_NCCL_NO_COMM = -1 };
enum { SY_NCCL_DEVICE_API = 1, SY_NCCL_ONE_SIDED = 2, SY_NCCL_REVOKE = 4 };

// sy_nccl_load opens the library. It returns NULL on failure with the reason in why. It stays
// loaded. For a library older than SY_NCCL_OLDEST only the version may be asked. sy_nccl_version
// returns 22809 for 2.28.9; sy_nccl_has returns the features as bits. The codes of the statuses
// below are the library's, except if the name of the call begins with cu.
sy_nccl *sy_nccl_load(const char *path, char *why, size_t size);
int sy_nccl_version(const sy_nccl *n);
unsigned sy_nccl_has(const sy_nccl *n);

// sy_nccl_id makes the ID of a new communicator for its members: SY_NCCL_ID bytes.
sy_status sy_nccl_id(const sy_nccl *n, const sy_device *d, unsigned char *id);

// sy_nccl_join starts a thread that makes a member's communicator with all the others, and returns
// at once: NULL if the thread could not be started. With zero_cta, collectives of windows use copy
// engines and no multiprocessor if possible. sy_nccl_joined waits for the communicator and returns
// 0 if it is still being made, otherwise 1 with the failure, if any; text holds SY_NCCL_TEXT bytes.
sy_nccl_comm *sy_nccl_join(const sy_nccl *n, sy_device *d, const unsigned char *id, int rank, int size, int zero_cta);

// sy_nccl_describe asks for this process's rank in a communicator that was made elsewhere, its size,
// and whether it is on the device. It returns SY_NCCL_NO_COMM as the code if there is no memory at
// comm. sy_nccl_adopt is sy_nccl_join for such a communicator, which is never ended: it is revoked if
// sy_nccl_end is told that calls may be under way, for which the library needs SY_NCCL_REVOKE.
sy_status sy_nccl_describe(const sy_nccl *n, const sy_device *d, uint64_t comm, int *rank, int *size, int *here, char *text);
sy_nccl_comm *sy_nccl_adopt(const sy_nccl *n, sy_device *d, uint64_t comm, int rank, int size);

// sy_nccl_pointer returns the ncclComm_t, 0 if the communicator has ended.
uint64_t sy_nccl_pointer(sy_nccl_comm *c);

int sy_nccl_joined(sy_nccl_comm *c, unsigned milliseconds, sy_status *failure, char *text);

// sy_nccl_end lets the thread abort the communicator, whatever it is doing, and returns at once;
// kernels of the library then end. It may be called at any time. sy_nccl_ended waits and reports
// whether the abort is over; graphs that captured calls delay it. sy_nccl_free ends the
// communicator if necessary; the thread frees its memory.
void sy_nccl_end(sy_nccl_comm *c, int busy);
int sy_nccl_ended(sy_nccl_comm *c, unsigned milliseconds);
void sy_nccl_free(sy_nccl_comm *c);

// A task for the thread. All members ask for the same tasks in the same order.
enum { SY_NCCL_REGISTER = 1, SY_NCCL_DEREGISTER, SY_NCCL_MAKE_DEVICE_COMM, SY_NCCL_END_DEVICE_COMM, SY_NCCL_READY_PUTS };
typedef struct {
	int kind;
	uint64_t ptr; // memory to register as a window; all members register the same size
	size_t size;
	void *window; // NULL if the library has no windows
	int barriers; // number of LSA barriers for kernels with the device communicator
	unsigned char comm[SY_NCCL_DEVICE_COMM]; // an ncclDevComm of the library's version
} sy_nccl_task;

// sy_nccl_ask gives the thread a task and returns at once: 0 if the communicator has ended or
// already has a task. sy_nccl_answered waits for the task and returns 0 if it is still under way,
// otherwise 1 with its result and its failure, if any.
int sy_nccl_ask(sy_nccl_comm *c, const sy_nccl_task *task);
int sy_nccl_answered(sy_nccl_comm *c, unsigned milliseconds, sy_nccl_task *task, sy_status *failure, char *text);

// sy_nccl_device_comm returns the size of an ncclDevComm of the library's version, and sets
// *abort_flag to the offset of its pointer to the word that ends its waits; 0 if they are not
// known.
int sy_nccl_device_comm(const sy_nccl *n, int *abort_flag);

enum { SY_NCCL_ALL_REDUCE, SY_NCCL_REDUCE_SCATTER, SY_NCCL_ALL_GATHER, SY_NCCL_ALL_TO_ALL, SY_NCCL_BROADCAST, SY_NCCL_PUT };
typedef struct {
	int kind;
	uint64_t src, dst;
	size_t n; // elements, in the sense of the library's function
	int type, op, root;
	int scaled;      // an all-reduce multiplies the elements by factor before it sums them, whatever op is
	uint64_t factor; // the bits of an element
	void *window;    // of a put: the target window; n bytes from src, in a window too, go to member root, at
                     // offset from the window's start
	size_t offset;
} sy_nccl_call;

// sy_nccl_run queues a collective, or a put, for which SY_NCCL_READY_PUTS must have been done. A
// put must not be captured: in a graph the library's puts wait for its own waits. sy_nccl_failure
// returns the library's report on the collectives under way. text holds SY_NCCL_TEXT bytes.
sy_status sy_nccl_run(sy_nccl_comm *c, sy_stream *s, const sy_nccl_call *call, char *text);
sy_status sy_nccl_failure(sy_nccl_comm *c, char *text);

// ---- NVSHMEM
// ------------------------------------------------------------------------------------------

typedef struct sy_shmem sy_shmem;

enum { SY_SHMEM_ID = 128 };

// sy_shmem_load opens the library. It returns NULL on failure with the reason in why. It stays
// loaded. sy_shmem_version stores the parts of its version. The codes of the statuses below are the
// library's, except if the name of the call begins with cu.
//
// The library lets one thread at a time call it: only the caller can see to that. Functions of
// which all members call, with the same arguments, wait for the others: sy_shmem_join,
// sy_shmem_alloc, sy_shmem_free and sy_shmem_leave.
sy_shmem *sy_shmem_load(const char *path, char *why, size_t size);
void sy_shmem_version(const sy_shmem *n, int version[3]);

// sy_shmem_id makes the ID of a new heap for its members: SY_SHMEM_ID bytes. sy_shmem_join makes
// the process a member of it, with the GPU d. Its code is SY_SHMEM_OTHER if the library numbers the
// members in another way. sy_shmem_leave unmaps the memory of all members.
#define SY_SHMEM_OTHER (-1)
sy_status sy_shmem_id(const sy_shmem *n, sy_device *d, unsigned char *id);
sy_status sy_shmem_join(const sy_shmem *n, sy_device *d, const unsigned char *id, int rank, int size);
sy_status sy_shmem_leave(const sy_shmem *n, sy_device *d);

// sy_shmem_alloc returns zeroed memory of the heap; its code is SY_SHMEM_FULL if there is no room.
// sy_shmem_peer returns the address at which a member's copy of an address is mapped, 0 if it is not.
#define SY_SHMEM_FULL (-2)
sy_status sy_shmem_alloc(const sy_shmem *n, sy_device *d, size_t size, uint64_t *ptr);
sy_status sy_shmem_free(const sy_shmem *n, sy_device *d, uint64_t ptr);
sy_status sy_shmem_peer(const sy_shmem *n, sy_device *d, uint64_t ptr, int peer, uint64_t *at);

enum { SY_SHMEM_PUT, SY_SHMEM_GET, SY_SHMEM_PUT_SIGNAL, SY_SHMEM_SIGNAL_ADD, SY_SHMEM_WAIT };
typedef struct {
	int kind;
	uint64_t dst, src;
	size_t n; // bytes
	int peer;
	uint64_t word, value; // of a signal or a wait
	int at_least;         // a wait is for a word that is not below value, not for one that equals it
} sy_shmem_call;

// sy_shmem_run queues an operation.
sy_status sy_shmem_run(const sy_shmem *n, sy_stream *s, const sy_shmem_call *call);

// ---- other libraries
// ----------------------------------------------------------------------------------

// sy_library_version opens a library and asks its version: "ncclGetVersion", "cublasLtGetVersion",
// "nvshmemx_vendor_get_version_info", "nvrtcVersion". It returns 0 and sets version, or 1 with the
// reason in why.
int sy_library_version(const char *path, const char *function, int version[3], char *why, size_t size);

// ---- CUPTI, which records when the GPU works; there is one of it in a process
// -------------------------------------------------------------------------------------------

// A kernel, a copy or a fill with its times by CUPTI's clock in nanoseconds, or the number that
// was pushed when a call of the driver was made (kind SY_EXTERNAL). correlation is that call's.
typedef struct {
	uint32_t kind, correlation;
	uint64_t begin, end, bytes, external;
	int32_t grid[3], block[3];
	char name[128];
} sy_activity;
enum { SY_MEMCPY = 1, SY_MEMSET = 2, SY_KERNEL = 10, SY_MEMCPY_PEER = 22, SY_EXTERNAL = 39 };

// sy_cupti_load opens the library, once; it returns 0 with the reason on failure.
int sy_cupti_load(const char *path, char *why, size_t size);
uint32_t sy_cupti_version(void);
// sy_cupti_start begins to record, so many activities at most. sy_cupti_push and sy_cupti_pop give
// the calls between them, on this thread, a number. sy_cupti_take writes at most n activities,
// forgets all if it could write all, and returns how many there were; lost is how many had no room.
sy_status sy_cupti_start(size_t room);
void sy_cupti_push(uint64_t id);
void sy_cupti_pop(void);
size_t sy_cupti_take(sy_activity *out, size_t n, uint64_t *lost);
void sy_cupti_stop(void);

#endif
