// A CUDA driver on host memory, for tests on machines without a GPU. It enforces the rules that the
// tests check: a context must be current, streams run in order, an event is reached in its turn, a
// capture records and forbidden calls invalidate it, shared memory travels as a file descriptor, a
// fault is permanent. Kernels are known by name:
//
//   record(out, n, a)  stores the launch's shape, the size of its arguments and the arguments at out
//   record_comm(out, n, a, comm)  the same with an ncclDevComm of FAKE_CUDA_COMM bytes, or 248
//   wait_comm(word, n, a, comm)  holds its stream until *word is not zero, or the word that ends the waits of an ncclDevComm of 2.32.3
//   wait(word)         holds its stream until *word is not zero
//   fault()            makes every later call fail with 700
//   signal_add(word, n)   adds n to a word of 8 bytes
//   net_atomic(word, n, -, old, ...)  adds n to a word of 8 bytes and stores the previous value
//   nowhere()          is in no module
//
// FAKE_CUDA_FAIL=call=code makes one call fail. Device attribute 9001 is the number of live
// objects. FAKE_CUDA_DEVICES is the number of devices, 2 by default. With FAKE_CUDA_ISLANDS=2
// devices 0 and 1 map each other's memory, and so do 2 and 3, and so on, but no others.
// FAKE_CUDA_MPS is 1 under MPS, and "unknown" for a driver that cannot report it. With
// FAKE_CUDA_MULTICAST devices have multicast, whose steps must come in order; a multicast address
// refers to separate memory. Build with -DOLD_DRIVER for a driver before CUDA 12.4.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_CONTEXT = 201, NOT_FOUND = 500, NOT_READY = 600, ILLEGAL_STATE = 401, ILLEGAL_ADDRESS = 700,
       CAPTURE_UNSUPPORTED = 900, CAPTURE_INVALIDATED = 901 };
enum { GRANULARITY = 2 << 20, DEVICES = 8, CAST = 99 };

typedef uint64_t ptr;
typedef struct { unsigned grid[3], block[3], shared, size; } shape;
typedef struct event { size_t recorded, reached; double time; struct stream *stream; } event; // how often; the stream of the last record
typedef struct { char name[128]; int dynamic; } function;
typedef struct op {
	enum { COPY, SET, SET32, STORE, AWAIT, LAUNCH, RECORD, WAIT, WORK } kind;
	uint32_t word;
	ptr dst, src;
	size_t n;
	unsigned char value;
	event *event;
	function function;
	shape shape;
	unsigned char args[4096];
	int (*ready)(void *);
	void *work;
	struct op *next;
} op;
typedef struct { op *first; } graph;
typedef struct stream { op *first, *last; graph *graph; int spoilt; struct stream *next; } stream;
typedef struct { int fd, device; size_t size; int handles; } allocation;
typedef struct { int devices, added, bound; } cast; // a multicast object: at the end of its file, behind the memory

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER; // held while code is loaded: no other call begins then
static stream *streams;
static _Atomic int live;
static int sticky, initialised, context[DEVICES];
static __thread int *current;

static int failing(const char *name) {
	const char *want = getenv("FAKE_CUDA_FAIL");
	size_t n = strlen(name);
	if (want && !strncmp(want, name, n) && want[n] == '=') return atoi(want + n + 1);
	return 0;
}

#define CALL(name) \
	do { \
		int f_ = failing(name); \
		if (f_) return f_; \
		if (sticky) return sticky; \
		pthread_mutex_lock(&loading), pthread_mutex_unlock(&loading); \
		if (!initialised) return 3; \
	} while (0)
#define IN_CONTEXT(name) \
	do { \
		CALL(name); \
		if (!current || !*current) return INVALID_CONTEXT; \
	} while (0)

static int setting(const char *name, int without) {
	const char *value = getenv(name);
	return value ? atoi(value) : without;
}

static int devices(void) { return setting("FAKE_CUDA_DEVICES", 2); }

static int island(int d) { return d / setting("FAKE_CUDA_ISLANDS", DEVICES); }

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

// ---- driver, devices, contexts ----

int cuInit(unsigned flags) {
	int f = failing("cuInit");
	initialised = !f && !flags;
	return f;
}
int cuDriverGetVersion(int *v) { return *v = 13000, 0; }
int cuGetErrorName(int code, const char **name) {
	switch (code) {
	case INVALID_VALUE: *name = "CUDA_ERROR_INVALID_VALUE"; return 0;
	case OUT_OF_MEMORY: *name = "CUDA_ERROR_OUT_OF_MEMORY"; return 0;
	case ILLEGAL_ADDRESS: *name = "CUDA_ERROR_ILLEGAL_ADDRESS"; return 0;
	}
	return *name = NULL, INVALID_VALUE;
}
int cuGetErrorString(int code, const char **text) {
	switch (code) {
	case OUT_OF_MEMORY: *text = "out of memory"; return 0;
	case ILLEGAL_ADDRESS: *text = "an illegal memory access was encountered"; return 0;
	}
	return *text = NULL, INVALID_VALUE;
}
int cuDeviceGetCount(int *n) { CALL("cuDeviceGetCount"); return *n = devices(), 0; }
int cuDeviceGet(int *d, int i) { CALL("cuDeviceGet"); return *d = i, i < 0 || i >= devices() ? 101 : 0; }
int cuDeviceGetName(char *name, int n, int d) { return snprintf(name, n, "Fake %d", d), 0; }
int cuDeviceGetUuid_v2(unsigned char *u, int d) { return memset(u, 0x10 + d, 16), 0; }
int cuDeviceTotalMem_v2(size_t *n, int d) { return *n = (size_t)8 << 30, d < 0; }
int cuDeviceGetAttribute(int *v, int a, int d) {
	switch (a) {
	case 1: case 2: case 3: *v = 1024; return 0;
	case 4: *v = 64; return 0;
	case 5: *v = 2147483647; return 0;
	case 6: case 7: *v = 65535; return 0;
	case 16: *v = 132; return 0;
	case 41: case 103: *v = 1; return 0;
	case 75: *v = 9; return 0;
	case 76: *v = 0; return 0;
	case 97: *v = 232448; return 0;
	case 132: *v = getenv("FAKE_CUDA_MULTICAST") != NULL; return 0;
	case 128: *v = getenv("FAKE_CUDA_FABRIC") != NULL; return 0;
	case 133: return *v = setting("FAKE_CUDA_MPS", 0), getenv("FAKE_CUDA_MPS") && !*v ? INVALID_VALUE : 0;
	case 9001: *v = live; return 0;
	}
	return d < 0 ? 101 : INVALID_VALUE;
}
int cuDeviceCanAccessPeer(int *yes, int d, int p) { return *yes = d != p && island(d) == island(p), 0; }
int cuDevicePrimaryCtxSetFlags_v2(int d, unsigned flags) { CALL("cuDevicePrimaryCtxSetFlags_v2"); return d < 0 || flags != 4; }
int cuDevicePrimaryCtxRetain(int **c, int d) { CALL("cuDevicePrimaryCtxRetain"); return context[d]++, live++, *c = &context[d], 0; }
int cuDevicePrimaryCtxRelease_v2(int d) { return context[d]--, live--, 0; }
int cuCtxSetCurrent(int *c) { CALL("cuCtxSetCurrent"); return current = c, 0; }
static __thread int *pushed[8];
static __thread int depth;
int cuCtxPushCurrent_v2(int *c) { CALL("cuCtxPushCurrent_v2"); return depth == 8 ? OUT_OF_MEMORY : (pushed[depth++] = current, current = c, 0); }
int cuCtxPopCurrent_v2(int **c) { CALL("cuCtxPopCurrent_v2"); return depth ? (*c = current, current = pushed[--depth], 0) : INVALID_CONTEXT; }

// ---- memory ----

static int host_memory(void **p, size_t n) {
	if (!n) return INVALID_VALUE;
	if (n > (size_t)8 << 30) return OUT_OF_MEMORY;
	*p = aligned_alloc(4096, (n + 4095) / 4096 * 4096);
	memset(*p, 0xa5, n);
	return live++, 0;
}

// The ranges that count as device memory. A range with size 0 is free.
static struct { ptr at; size_t bytes; } ranges[1024];
static void note_range(ptr at, size_t bytes) {
	pthread_mutex_lock(&lock);
	for (int i = 0; i < 1024; i++)
		if (!ranges[i].bytes) { ranges[i].at = at, ranges[i].bytes = bytes; break; }
	pthread_mutex_unlock(&lock);
}
static void forget_range(ptr at) {
	pthread_mutex_lock(&lock);
	for (int i = 0; i < 1024; i++)
		if (ranges[i].at == at) ranges[i].bytes = 0;
	pthread_mutex_unlock(&lock);
}
int cuPointerGetAttribute(void *value, int attribute, ptr p) {
	IN_CONTEXT("cuPointerGetAttribute");
	if (attribute != 2) return INVALID_VALUE;
	int found = 0;
	pthread_mutex_lock(&lock);
	for (int i = 0; i < 1024; i++) found |= p - ranges[i].at < ranges[i].bytes;
	pthread_mutex_unlock(&lock);
	if (!found) return INVALID_VALUE;
	return *(unsigned *)value = 2, 0;
}
int cuMemAlloc_v2(ptr *p, size_t n) {
	IN_CONTEXT("cuMemAlloc_v2");
	int result = host_memory((void **)p, n);
	if (!result) note_range(*p, n);
	return result;
}
int cuMemFree_v2(ptr p) { IN_CONTEXT("cuMemFree_v2"); return forget_range(p), free((void *)p), live--, 0; }
int cuMemHostAlloc(void **p, size_t n, unsigned flags) { IN_CONTEXT("cuMemHostAlloc"); return flags & 1 ? host_memory(p, n) : INVALID_VALUE; }
int cuMemFreeHost(void *p) { IN_CONTEXT("cuMemFreeHost"); return free(p), live--, 0; }
int cuMemHostRegister_v2(void *p, size_t n, unsigned flags) {
	IN_CONTEXT("cuMemHostRegister_v2");
	return flags != 3 || (ptr)p % 4096 || n % 4096 ? INVALID_VALUE : (live++, 0);
}
int cuMemHostUnregister(void *p) { IN_CONTEXT("cuMemHostUnregister"); return (ptr)p % 4096 ? INVALID_VALUE : (live--, 0); }
int cuMemHostGetDevicePointer_v2(ptr *p, void *h, unsigned flags) {
	IN_CONTEXT("cuMemHostGetDevicePointer_v2");
	*p = (ptr)h + (getenv("FAKE_CUDA_APART") ? 4096 : 0);
	return flags;
}

struct property { int type, handles, where, id; void *win32; uint64_t flags; };
struct access { int where, id, flags; };

int cuMemGetAllocationGranularity(size_t *n, const struct property *p, int option) {
	CALL("cuMemGetAllocationGranularity");
	return *n = GRANULARITY, p->type != 1 || (p->handles | 8) != 9 || p->where != 1 || option != 1;
}
int cuMemCreate(uint64_t *h, size_t n, const struct property *p, uint64_t flags) {
	IN_CONTEXT("cuMemCreate");
	if (p->handles & 8 && !getenv("FAKE_CUDA_FABRIC")) return 800; // CUDA_ERROR_NOT_PERMITTED
	if (n % GRANULARITY || p->type != 1 || (p->handles | 8) != 9 || p->where != 1 || p->id >= DEVICES || flags) return INVALID_VALUE;
	if (n > (size_t)8 << 30) return OUT_OF_MEMORY;
	allocation *a = malloc(sizeof *a);
	char name[] = "fakecuda0";
	name[8] += p->id;
	*a = (allocation){memfd_create(name, MFD_CLOEXEC), p->id, n, p->handles};
	if (ftruncate(a->fd, n)) return OUT_OF_MEMORY;
	return *h = (uint64_t)a, live++, 0;
}
int cuMemRelease(uint64_t h) {
	IN_CONTEXT("cuMemRelease");
	close(((allocation *)h)->fd);
	return free((void *)h), live--, 0;
}
int cuMemExportToShareableHandle(int *fd, uint64_t h, int type, uint64_t flags) {
	IN_CONTEXT("cuMemExportToShareableHandle");
	if (type == 8 && ((allocation *)h)->handles & 8) return snprintf((char *)fd, 64, "/proc/%d/fd/%d", getpid(), ((allocation *)h)->fd), 0;
	if (type != 1 || flags) return INVALID_VALUE;
	return *fd = dup(((allocation *)h)->fd), *fd < 0 ? 999 : 0;
}
// owner returns the device of shared memory, from the name of its file; 0 for a file that no device
// made, -1 for a multicast object.
static int owner(int fd) {
	char link[64], name[128];
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, name, sizeof name - 1);
	name[n < 0 ? 0 : n] = 0;
	const char *at = strstr(name, "memfd:fakecuda");
	return strstr(name, "memfd:fakecast") ? -1 : at ? at[14] - '0' : 0;
}
int cuMemImportFromShareableHandle(uint64_t *h, void *os, int type) {
	IN_CONTEXT("cuMemImportFromShareableHandle");
	struct stat st;
	int fd = type == 8 ? open(os, O_RDWR | O_CLOEXEC) : dup((int)(intptr_t)os);
	if ((type != 1 && type != 8) || fstat(fd, &st) || st.st_size % GRANULARITY) return INVALID_VALUE;
	allocation *a = malloc(sizeof *a);
	*a = (allocation){fd, owner(fd), st.st_size, type};
	if (a->device < 0) *a = (allocation){fd, (int)(current - context), st.st_size - GRANULARITY, CAST};
	return *h = (uint64_t)a, live++, 0;
}
// state_of is the state of a multicast object, which all processes see. It stays mapped.
static cast *state_of(allocation *a) { return mmap(NULL, GRANULARITY, PROT_READ | PROT_WRITE, MAP_SHARED, a->fd, a->size); }
#ifndef OLD_DRIVER
struct casting { unsigned devices; size_t size; uint64_t handles, flags; };
int cuMulticastGetGranularity(size_t *n, const struct casting *p, int option) {
	IN_CONTEXT("cuMulticastGetGranularity");
	return *n = GRANULARITY, p->handles != 1 || option ? INVALID_VALUE : 0;
}
int cuMulticastCreate(uint64_t *h, const struct casting *p) {
	IN_CONTEXT("cuMulticastCreate");
	if (!getenv("FAKE_CUDA_MULTICAST") || !p->devices || p->devices > DEVICES || p->size % GRANULARITY || p->handles != 1 || p->flags) return INVALID_VALUE;
	allocation *a = malloc(sizeof *a);
	*a = (allocation){memfd_create("fakecast", MFD_CLOEXEC), (int)(current - context), p->size, CAST};
	if (ftruncate(a->fd, p->size + GRANULARITY)) return OUT_OF_MEMORY;
	state_of(a)->devices = (int)p->devices;
	return *h = (uint64_t)a, live++, 0;
}
int cuMulticastAddDevice(uint64_t h, int d) {
	IN_CONTEXT("cuMulticastAddDevice");
	cast *c = state_of((allocation *)h);
	return d != current - context ? INVALID_VALUE : __atomic_add_fetch(&c->added, 1, __ATOMIC_SEQ_CST) > c->devices ? ILLEGAL_STATE : 0;
}
int cuMulticastBindMem(uint64_t h, size_t at, uint64_t memory, size_t from, size_t n, uint64_t flags) {
	IN_CONTEXT("cuMulticastBindMem");
	allocation *a = (allocation *)h;
	cast *c = state_of(a);
	if (at || from || flags || n % GRANULARITY || n > a->size || n > ((allocation *)memory)->size) return INVALID_VALUE;
	if (c->added != c->devices) return ILLEGAL_STATE;
	return __atomic_add_fetch(&c->bound, 1, __ATOMIC_SEQ_CST), live++, 0;
}
int cuMulticastUnbind(uint64_t h, int d, size_t at, size_t n) {
	IN_CONTEXT("cuMulticastUnbind");
	return at || !n || d != current - context ? INVALID_VALUE : (live--, 0);
}
#endif
int cuMemAddressReserve(ptr *p, size_t n, size_t align, ptr hint, uint64_t flags) {
	IN_CONTEXT("cuMemAddressReserve");
	if (!n || n % GRANULARITY || align || hint || flags) return INVALID_VALUE;
	void *at = mmap(NULL, n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return *p = (ptr)at, live++, at == MAP_FAILED ? OUT_OF_MEMORY : 0;
}
int cuMemAddressFree(ptr p, size_t n) { IN_CONTEXT("cuMemAddressFree"); return live--, munmap((void *)p, n) ? INVALID_VALUE : 0; }
int cuMemMap(ptr p, size_t n, size_t offset, uint64_t h, uint64_t flags) {
	IN_CONTEXT("cuMemMap");
	allocation *a = (allocation *)h;
	if (n != a->size || offset || flags) return INVALID_VALUE;
	if (a->handles == CAST && state_of(a)->bound != state_of(a)->devices) return ILLEGAL_STATE;
	if (island(a->device) != island(current - context)) return 217; // CUDA_ERROR_PEER_ACCESS_UNSUPPORTED
	note_range(p, n);
	return live++, mmap((void *)p, n, PROT_NONE, MAP_SHARED | MAP_FIXED, a->fd, 0) == MAP_FAILED ? 999 : 0;
}
int cuMemUnmap(ptr p, size_t n) {
	IN_CONTEXT("cuMemUnmap");
	forget_range(p);
	return live--, mmap((void *)p, n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED;
}
int cuMemSetAccess(ptr p, size_t n, const struct access *a, size_t count) {
	IN_CONTEXT("cuMemSetAccess");
	if (!count) return INVALID_VALUE;
	for (size_t i = 0; i < count; i++)
		if (a[i].where != 1 || a[i].id >= DEVICES || a[i].flags != 3) return INVALID_VALUE;
	return mprotect((void *)p, n, PROT_READ | PROT_WRITE) ? 999 : 0;
}

// ---- code ----

static int wait_for_streams(void);
int cuModuleLoadData(int **m, const void *image) {
	IN_CONTEXT("cuModuleLoadData");
	pthread_mutex_lock(&loading);
	int result = wait_for_streams();
	pthread_mutex_unlock(&loading);
	return result ? result : (*m = calloc(1, 4), live++, image ? 0 : INVALID_VALUE);
}
int cuModuleUnload(int *m) { IN_CONTEXT("cuModuleUnload"); return free(m), live--, 0; }
int cuModuleGetFunction(function **f, int *m, const char *name) {
	IN_CONTEXT("cuModuleGetFunction");
	if (!m || !*name || strlen(name) > 127 || strstr(name, "nowhere")) return NOT_FOUND;
	*f = calloc(1, sizeof **f); // lives as long as the process
	(*f)->dynamic = 49152;
	return strcpy((*f)->name, name), 0;
}
int cuModuleGetGlobal_v2(uint64_t *at, size_t *bytes, int *m, const char *name) {
	IN_CONTEXT("cuModuleGetGlobal_v2");
	static uint64_t variable;
	if (!m || strcmp(name, "symm_shmem")) return NOT_FOUND;
	return *at = (uint64_t)&variable, *bytes = sizeof variable, 0;
}
int cuFuncGetAttribute(int *v, int a, function *f) {
	IN_CONTEXT("cuFuncGetAttribute");
	*v = a == 0 ? 512 : a == 1 ? 0 : a == 3 ? 16 : a == 4 ? 40 : a == 8 ? f->dynamic : -1;
	return *v < 0 ? INVALID_VALUE : 0;
}
int cuFuncSetAttribute(function *f, int a, int v) {
	IN_CONTEXT("cuFuncSetAttribute");
	return a != 8 || v > 232448 ? INVALID_VALUE : (f->dynamic = v, 0);
}
#ifndef OLD_DRIVER
int cuFuncLoad(function *f) { IN_CONTEXT("cuFuncLoad"); return f ? 0 : INVALID_VALUE; }
int cuFuncGetParamInfo(function *f, size_t i, size_t *offset, size_t *size) {
	static const size_t record[][2] = {{0, 8}, {8, 4}, {16, 8}, {24, 248}}, wait[][2] = {{0, 8}};
	IN_CONTEXT("cuFuncGetParamInfo");
	const size_t(*table)[2] = strstr(f->name, "record") || strstr(f->name, "_comm") ? record : wait;
	size_t n = strstr(f->name, "_comm") ? 4 : strstr(f->name, "record") ? 3 : strstr(f->name, "wait") ? 1 : 0;
	if (i >= n) return INVALID_VALUE;
	*offset = table[i][0], *size = table[i][1];
	if (i == 3 && getenv("FAKE_CUDA_COMM")) *size = (size_t)atoi(getenv("FAKE_CUDA_COMM"));
	return 0;
}
#endif

// ---- streams ----

static void execute(op *o) {
	switch (o->kind) {
	case COPY: memmove((void *)o->dst, (void *)o->src, o->n); break;
	case SET32: for (size_t i = 0; i < o->n; i++) ((uint32_t *)o->dst)[i] = o->word; break;
	case STORE: *(volatile uint32_t *)o->dst = o->word; break;
	case AWAIT: break;
	case SET: memset((void *)o->dst, o->value, o->n); break;
	case LAUNCH:
		if (strstr(o->function.name, "record")) {
			unsigned char *out = *(unsigned char **)o->args;
			memcpy(out, &o->shape, sizeof o->shape);
			memcpy(out + sizeof o->shape, o->args, o->shape.size);
		} else if (!strcmp(o->function.name, "signal_add")) **(uint64_t **)o->args += ((uint64_t *)o->args)[1];
		else if (!strcmp(o->function.name, "net_atomic")) {
			uint64_t *a = (uint64_t *)o->args; // only fetching adds to words of 8 bytes
			*(uint64_t *)a[3] = *(uint64_t *)a[0];
			*(uint64_t *)a[0] += a[1];
		} else if (!strcmp(o->function.name, "fault")) sticky = ILLEGAL_ADDRESS;
		break;
	case RECORD: o->event->reached++, o->event->time = now(); break;
	case WAIT: case WORK: break;
	}
}

static int pump(stream *s);

static int held(const op *o) {
	if (o->kind == LAUNCH && !strcmp(o->function.name, "wait")) return !**(volatile uint32_t **)o->args;
	if (o->kind == LAUNCH && !strcmp(o->function.name, "wait_comm")) return !**(volatile uint32_t **)o->args && !**(volatile uint32_t **)(o->args + 24 + 168);
	if (o->kind == AWAIT) return *(volatile uint32_t *)o->dst != o->word;
	if (o->kind == WAIT && o->event->reached < o->n) pump((stream *)o->src);
	if (o->kind == WORK) return !o->ready(o->work);
	return o->kind == WAIT && o->event->reached < o->n;
}

// pump runs the operations that can run and reports whether the stream is still busy.
static int pump(stream *s) {
	while (s->first && !held(s->first)) {
		op *o = s->first;
		if (!(s->first = o->next)) s->last = NULL;
		execute(o);
		free(o);
	}
	return s->first != NULL;
}

static void append(op **first, op *o) {
	while (*first) first = &(*first)->next;
	*first = o;
}

static int add(stream *s, op what) {
	op *o = malloc(sizeof *o);
	*o = what;
	o->next = NULL;
	pthread_mutex_lock(&lock);
	if (s->graph) append(&s->graph->first, o);
	else {
		if (o->kind == RECORD) o->event->recorded++, o->event->stream = s;
		if (o->kind == WAIT) o->n = o->event->recorded, o->src = (ptr)o->event->stream; // for the last record until now
		append(&s->first, o);
		pump(s);
	}
	pthread_mutex_unlock(&lock);
	return sticky;
}

// fakeCurrentDevice is for fakenccl.c, too.
int fakeCurrentDevice(int *d) { return *d = current ? (int)(current - context) : -1, 0; }

// fakeAddWork is for fakenccl.c: ready does the work step by step until it returns 1.
int fakeAddWork(stream *s, int (*ready)(void *), void *work) { return add(s, (op){.kind = WORK, .ready = ready, .work = work}); }

static int poll_stream(stream *s) {
	if (s->graph) return s->spoilt = 1, CAPTURE_UNSUPPORTED;
	pthread_mutex_lock(&lock);
	int busy = pump(s);
	pthread_mutex_unlock(&lock);
	return sticky ? sticky : busy ? NOT_READY : 0;
}

// wait_for_streams returns when no stream has work. A stream that captures has none.
static int wait_for_streams(void) {
	for (;;) {
		pthread_mutex_lock(&lock);
		int busy = 0;
		for (stream *s = streams; s; s = s->next) busy |= pump(s);
		pthread_mutex_unlock(&lock);
		if (sticky || !busy) return sticky;
		usleep(200);
	}
}
int cuCtxSynchronize(void) { IN_CONTEXT("cuCtxSynchronize"); return wait_for_streams(); }

static stream *new_stream(void) {
	stream *s = calloc(1, sizeof *s);
	pthread_mutex_lock(&lock);
	s->next = streams;
	streams = s;
	pthread_mutex_unlock(&lock);
	return live++, s;
}
int cuStreamCreate(stream **s, unsigned flags) { IN_CONTEXT("cuStreamCreate"); return *s = new_stream(), flags != 1; }
int cuCtxGetStreamPriorityRange(int *least, int *greatest) { IN_CONTEXT("cuCtxGetStreamPriorityRange"); return *least = 0, *greatest = -5, 0; }
int cuStreamCreateWithPriority(stream **s, unsigned flags, int priority) {
	IN_CONTEXT("cuStreamCreateWithPriority");
	return *s = new_stream(), flags != 1 || priority != -5;
}
int cuStreamDestroy_v2(stream *s) {
	IN_CONTEXT("cuStreamDestroy_v2");
	pthread_mutex_lock(&lock);
	stream **at = &streams;
	while (*at != s) at = &(*at)->next;
	*at = s->next;
	pthread_mutex_unlock(&lock);
	return free(s), live--, 0;
}
int cuStreamQuery(stream *s) { IN_CONTEXT("cuStreamQuery"); return poll_stream(s); }
int cuStreamSynchronize(stream *s) {
	IN_CONTEXT("cuStreamSynchronize");
	int result;
	while ((result = poll_stream(s)) == NOT_READY) usleep(200);
	return result;
}
int cuStreamWaitEvent(stream *s, event *e, unsigned flags) { IN_CONTEXT("cuStreamWaitEvent"); return flags ? INVALID_VALUE : add(s, (op){.kind = WAIT, .event = e}); }
int cuLaunchKernel(function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, stream *s,
                   void **params, void **extra) {
	IN_CONTEXT("cuLaunchKernel");
	op o = {.kind = LAUNCH, .function = *f, .shape = {{gx, gy, gz}, {bx, by, bz}, shared, 0}};
	if (params || (int)shared > f->dynamic || !gx || !bx || bx * by * bz > 1024) return INVALID_VALUE;
	if (extra) {
		if (extra[0] != (void *)1 || extra[2] != (void *)2 || extra[4]) return INVALID_VALUE;
		o.shape.size = *(size_t *)extra[3];
		if (o.shape.size > sizeof o.args) return INVALID_VALUE;
		memcpy(o.args, extra[1], o.shape.size);
	}
	return add(s, o);
}
static int copy(const char *name, ptr dst, ptr src, size_t n, stream *s) {
	IN_CONTEXT(name);
	return n ? add(s, (op){.kind = COPY, .dst = dst, .src = src, .n = n}) : INVALID_VALUE;
}
int cuMemcpyAsync(ptr d, ptr s, size_t n, stream *q) { return copy("cuMemcpyAsync", d, s, n, q); }
int cuMemcpyHtoDAsync_v2(ptr d, const void *s, size_t n, stream *q) { return copy("cuMemcpyHtoDAsync_v2", d, (ptr)s, n, q); }
int cuMemcpyDtoHAsync_v2(void *d, ptr s, size_t n, stream *q) { return copy("cuMemcpyDtoHAsync_v2", (ptr)d, s, n, q); }
struct block { size_t from_x, from_y; int from_type; void *from_host; ptr from; void *from_array; size_t from_pitch; size_t to_x, to_y; int to_type; void *to_host; ptr to; void *to_array; size_t to_pitch, width, height; };
int cuMemcpy2DAsync_v2(const struct block *b, stream *q) {
	IN_CONTEXT("cuMemcpy2DAsync_v2");
	if (b->from_type != 4 || b->to_type != 4 || b->from_pitch < b->width || b->to_pitch < b->width || b->from_x || b->from_y || b->to_x || b->to_y) return INVALID_VALUE;
	for (size_t i = 0; i < b->height; i++) add(q, (op){.kind = COPY, .dst = b->to + i * b->to_pitch, .src = b->from + i * b->from_pitch, .n = b->width});
	return 0;
}
int cuMemsetD8Async(ptr d, unsigned char v, size_t n, stream *q) {
	IN_CONTEXT("cuMemsetD8Async");
	return n ? add(q, (op){.kind = SET, .dst = d, .value = v, .n = n}) : INVALID_VALUE;
}

int cuMemsetD32Async(ptr d, unsigned v, size_t n, stream *q) {
	IN_CONTEXT("cuMemsetD32Async");
	return n && d % 4 == 0 ? add(q, (op){.kind = SET32, .dst = d, .word = v, .n = n}) : INVALID_VALUE;
}
struct value { int operation; uint64_t address, value; unsigned flags; uint64_t alias, reserved; };
int cuStreamBatchMemOp_v2(stream *s, unsigned n, struct value *v, unsigned flags) {
	IN_CONTEXT("cuStreamBatchMemOp_v2");
	if (!n || n > 256 || flags) return INVALID_VALUE;
	for (; n; n--, v++) {
		if (v->operation != 1 + !v->flags || v->flags > 1 || v->address % 4) return INVALID_VALUE;
		int result = add(s, (op){.kind = v->operation == 1 ? AWAIT : STORE, .dst = v->address, .word = (uint32_t)v->value});
		if (result) return result;
	}
	return 0;
}

// ---- events ----

int cuEventCreate(event **e, unsigned flags) { IN_CONTEXT("cuEventCreate"); return *e = calloc(1, sizeof **e), live++, !(flags & 1); }
int cuEventDestroy_v2(event *e) { IN_CONTEXT("cuEventDestroy_v2"); return free(e), live--, 0; }
int cuEventRecord(event *e, stream *s) { IN_CONTEXT("cuEventRecord"); return add(s, (op){.kind = RECORD, .event = e}); }
int cuEventQuery(event *e) {
	IN_CONTEXT("cuEventQuery");
	if (e->reached < e->recorded) poll_stream(e->stream);
	return sticky ? sticky : e->reached < e->recorded ? NOT_READY : 0;
}
int cuEventSynchronize(event *e) {
	IN_CONTEXT("cuEventSynchronize");
	int result;
	while ((result = cuEventQuery(e)) == NOT_READY) usleep(200);
	return result;
}
int cuEventElapsedTime(float *ms, event *a, event *b) {
	IN_CONTEXT("cuEventElapsedTime");
	if (a->reached < a->recorded || b->reached < b->recorded) return NOT_READY;
	return *ms = (float)(b->time - a->time), 0;
}

// ---- graphs ----

int cuStreamBeginCapture_v2(stream *s, int mode) {
	IN_CONTEXT("cuStreamBeginCapture_v2");
	if (mode != 2 || s->graph) return INVALID_VALUE;
	return s->graph = calloc(1, sizeof(graph)), s->spoilt = 0, live++, 0;
}
int cuStreamEndCapture(stream *s, graph **g) {
	IN_CONTEXT("cuStreamEndCapture");
	if (!s->graph) return INVALID_VALUE;
	*g = s->graph, s->graph = NULL;
	if (!s->spoilt) return 0;
	return *g = NULL, live--, CAPTURE_INVALIDATED;
}
int cuGraphDestroy(graph *g) { IN_CONTEXT("cuGraphDestroy"); return free(g), live--, 0; }
int cuGraphInstantiateWithFlags(graph **x, graph *g, uint64_t flags) {
	IN_CONTEXT("cuGraphInstantiateWithFlags");
	*x = malloc(sizeof **x);
	return **x = *g, live++, flags != 0;
}
int cuGraphExecDestroy(graph *x) { IN_CONTEXT("cuGraphExecDestroy"); return free(x), live--, 0; }
int cuGraphLaunch(graph *x, stream *s) {
	IN_CONTEXT("cuGraphLaunch");
	for (op *o = x->first; o; o = o->next)
		if (add(s, *o)) return sticky;
	return 0;
}
