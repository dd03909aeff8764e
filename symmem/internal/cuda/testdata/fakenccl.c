// A libnccl over a shared file, for tests on machines without a GPU, on top of the driver of
// fakecuda.c: its collectives are work in that driver's streams, which the members do together
// through the file, at most 64 KiB from each. It checks its arguments. The receiving process stores
// a put.
//
//   FAKE_NCCL_VERSION=22809   its version, 2.28.9 if it is not set
//   FAKE_NCCL_HANG=init       communicators are never made; =greet, the first all-to-all never ends
//                             =window, registrations end with the communicator only
//   FAKE_NCCL_FAIL=NAME=CODE  a function fails
//   FAKE_NCCL_WINDOWS=FILE    log of windows: registered, made for kernels, ended
//   FAKE_NCCL_OTHER=FOLDER    the first communicator comes with another of its members; the file RANK has its address
//   FAKE_NCCL_LOST=FILE       once there is such a file, collectives that wait fail with 6, as they do between hosts once a member aborts
//
// Its last error names HOSTID, the value of NCCL_HOSTID. -DOLD leaves out what 2.28 has beyond
// 2.27.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { INVALID_ARGUMENT = 4, REMOTE = 6, MEMBERS = 16, SLOT = 64 << 10, WINDOWS = 64 };
#define MAGIC 0x0280028002800280ul
enum { AVG = 4, OWN_OP = 5 };
enum { ALL_REDUCE, REDUCE_SCATTER, ALL_GATHER, ALL_TO_ALL, BROADCAST, PUT };

typedef struct { char path[128]; } id;
typedef struct {
	size_t size;
	unsigned magic, version;
	int blocking, cga, least, most;
	const char *net;
	int share, class;
	const char *name;
	int collnet, policy, shrink, nvls, channels, nvlink;
} config;

// A put that is under way.
typedef struct {
	atomic_int full;
	int window;
	size_t offset, n;
	char data[SLOT];
} mail;

// The file: the number of members that have joined; for each member the last call for which it has
// given data, the last call that it has finished, and the data; and the puts from each member to
// each other.
typedef struct {
	atomic_int joined, left, gave[MEMBERS], done[MEMBERS];
	char slot[MEMBERS][SLOT];
	mail mail[MEMBERS][MEMBERS];
} shared;

typedef struct {
	unsigned long magic;
	shared *s;
	int device, rank, size, calls, windows, zero, ops;
	double factor; // of the last operation that was made
	char *at[WINDOWS + 1]; // each window's memory, NULL once it is ended
	size_t bytes[WINDOWS + 1];
	atomic_int aborted, revoked, failed, delivers;
	char last[256];
} comm;

typedef struct {
	comm *c;
	int kind, number, op, root, type, given;
	double factor; // of OWN_OP
	size_t n;
	const char *src;
	char *dst;
	int window; // of a put
	size_t offset;
} work;

static int failing(const char *name) {
	const char *want = getenv("FAKE_NCCL_FAIL");
	size_t n = strlen(name);
	return want && !strncmp(want, name, n) && want[n] == '=' ? atoi(want + n + 1) : 0;
}

static int hangs(const char *where) {
	const char *what = getenv("FAKE_NCCL_HANG");
	return what && !strcmp(what, where);
}

int ncclGetVersion(int *v) {
	const char *set = getenv("FAKE_NCCL_VERSION");
	*v = set ? atoi(set) : 22809;
	return failing("ncclGetVersion");
}

const char *ncclGetErrorString(int result) { return result == REMOTE ? "remote process exited or there was a network error" : result == INVALID_ARGUMENT ? "invalid argument" : "unhandled error"; }

const char *ncclGetLastError(comm *c) {
	static char text[64];
	const char *host = getenv("NCCL_HOSTID");
	if (c && *c->last) return c->last;
	return snprintf(text, sizeof text, "fake error, HOSTID %s", host ? host : "unset"), text;
}

int ncclGetUniqueId(id *out) {
	memset(out, 0, sizeof *out);
	int fd = memfd_create("fakenccl", MFD_CLOEXEC); // no file is left of members that never meet
	if (fd < 0 || ftruncate(fd, sizeof(shared))) return 2;
	snprintf(out->path, sizeof out->path, "/proc/%d/fd/%d", getpid(), fd);
	return failing("ncclGetUniqueId");
}

// current_device returns the current device of the driver.
static int current_device(void) {
	int device = -1, (*get)(int *) = (int (*)(int *))dlsym(dlopen(getenv("SYMMREPL_CUDA"), RTLD_NOW | RTLD_NOLOAD), "fakeCurrentDevice");
	return get(&device), device;
}

// make_other makes another communicator with the members of c, once, and writes its address to a file.
static void make_other(const comm *c) {
	static atomic_int made;
	char path[PATH_MAX];
	const char *folder = getenv("FAKE_NCCL_OTHER");
	if (!folder || made++) return;
	comm *o = calloc(1, sizeof *o);
	snprintf(path, sizeof path, "%s/shared", folder);
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(shared))) abort();
	o->s = mmap(NULL, sizeof(shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	o->magic = MAGIC, o->device = c->device, o->rank = c->rank, o->size = c->size;
	snprintf(path, sizeof path, "%s/%d", folder, c->rank);
	FILE *f = fopen(path, "w");
	fprintf(f, "%lu", (unsigned long)o);
	fclose(f);
}

int ncclCommInitRankConfig(comm **out, int size, id name, int rank, config *f) {
	int failed = failing("ncclCommInitRankConfig");
	while (hangs("init")) usleep(1000);
	if (failed) return failed;
	if (f->size != 80 || f->magic != 0xcafebeef || f->version != 22800 || f->blocking != 1 || (f->policy != INT_MIN && f->policy != 2) || size > MEMBERS || rank < 0 || rank >= size) return INVALID_ARGUMENT;
	int fd = open(name.path, O_RDWR);
	comm *c = calloc(1, sizeof *c);
	c->s = mmap(NULL, sizeof(shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (fd < 0 || c->s == MAP_FAILED) return 2;
	c->magic = MAGIC, c->device = current_device();
	c->rank = rank, c->size = size, c->zero = f->policy == 2;
	c->s->joined++;
	while (c->s->joined < size) usleep(200);
	make_other(c);
	return *out = c, 0;
}

int ncclCommAbort(comm *c) {
	c->aborted = 1; // its work may still look at it
	c->s->left++;
	return 0;
}

#ifndef OLD
int ncclCommRevoke(comm *c, int flags) { return c->revoked = 1, flags; }
#endif

static int checked(comm *c, int value, int *out) {
	if (!c || c->magic != MAGIC) return INVALID_ARGUMENT;
	return *out = value, c->aborted ? INVALID_ARGUMENT : 0;
}
int ncclCommCount(comm *c, int *out) { return checked(c, c->size, out); }
int ncclCommUserRank(comm *c, int *out) { return checked(c, c->rank, out); }
int ncclCommCuDevice(comm *c, int *out) { return checked(c, c->device, out); }

int ncclCommGetAsyncError(comm *c, int *result) { return *result = c->failed, failing("ncclCommGetAsyncError"); }

// ---- collectives ----

static size_t width(int type) { return type < 2 ? 1 : type < 4 || type == 7 ? 4 : type == 6 || type == 9 ? 2 : 8; }

#define FROM(r) (c->s->slot[r] + skip)
#define REDUCE(T) \
	for (size_t i = 0; i < n; i++) { \
		T v = ((T *)FROM(0))[i]; \
		for (int r = 1; r < c->size; r++) { \
			T o = ((T *)FROM(r))[i]; \
			v = w->op == 2 ? (v > o ? v : o) : w->op == 3 ? (v < o ? v : o) : v + o; \
		} \
		((T *)w->dst)[i] = w->op == AVG ? v / c->size : w->op == OWN_OP ? v * w->factor : v; \
	}

// finish computes this member's result from the data of all members.
static void finish(work *w) {
	comm *c = w->c;
	size_t bytes = w->n * width(w->type), n = w->n;
	size_t skip = w->kind == REDUCE_SCATTER || w->kind == ALL_TO_ALL ? c->rank * bytes : 0;
	switch (w->kind) {
	case ALL_REDUCE:
	case REDUCE_SCATTER:
		switch (w->type) {
		case 2: REDUCE(int32_t) break;
		case 4: REDUCE(int64_t) break;
		case 7: REDUCE(float) break;
		case 8: REDUCE(double) break;
		}
		break;
	case BROADCAST: memcpy(w->dst, c->s->slot[w->root], bytes); break;
	default:
		for (int r = 0; r < c->size; r++) memcpy(w->dst + r * bytes, FROM(r), bytes);
	}
}

// put_ready is ready for a put.
static int put_ready(work *w) {
	mail *m = &w->c->s->mail[w->root][w->c->rank];
	if (m->full) return 0;
	if (w->given) return 1;
	m->window = w->window, m->offset = w->offset, m->n = w->n;
	memcpy(m->data, w->src, w->n);
	w->given = m->full = 1;
	return 0;
}

// deliver stores the puts of the other members in this one's windows.
static void *deliver(void *arg) {
	for (comm *c = arg; !c->aborted; usleep(200))
		for (int r = 0; r < c->size; r++) {
			mail *m = &c->s->mail[c->rank][r];
			if (!m->full) continue;
			memcpy(c->at[m->window] + m->offset, m->data, m->n);
			m->full = 0;
		}
	return NULL;
}

// ready does the work that can be done and reports whether the call is complete.
static int ready(void *arg) {
	work *w = arg;
	comm *c = w->c;
	if (w->kind == PUT) return c->aborted || put_ready(w);
	const char *lost = getenv("FAKE_NCCL_LOST");
	int all = 1;
	if (c->aborted || c->revoked) return 1;
	if (!w->given) {
		for (int r = 0; r < c->size; r++) all &= c->s->done[r] >= w->number - 1;
		if (!all) return 0;
		memcpy(c->s->slot[c->rank], w->src, w->n * width(w->type) * (w->kind == REDUCE_SCATTER || w->kind == ALL_TO_ALL ? c->size : 1));
		c->s->gave[c->rank] = w->number;
		w->given = 1;
	}
	for (int r = 0; r < c->size; r++) all &= c->s->gave[r] >= w->number;
	if (!all || (w->number == 1 && hangs("greet"))) {
		if ((lost && !access(lost, F_OK)) || (c->s->left && getenv("NCCL_HOSTID"))) c->failed = REMOTE;
		return 0;
	}
	finish(w);
	c->s->done[c->rank] = w->number;
	w->given = 0, w->number = 0; // a graph's next replay is another call
	return 1;
}

static int begun(void *arg) {
	work *w = arg;
	if (!w->number && w->kind != PUT) w->number = ++w->c->calls;
	return ready(arg);
}

static int queue(const char *name, work what, void *stream) {
	static int (*add)(void *, int (*)(void *), void *);
	int failed = failing(name);
	comm *c = what.c;
	if (failed == 1) return snprintf(c->last, sizeof c->last, "Cuda failure 98 'invalid device function'"), failed;
	if (failed) return snprintf(c->last, sizeof c->last, "%s was made to fail", name), failed;
	if (!add) add = dlsym(dlopen(getenv("SYMMREPL_CUDA"), RTLD_NOW | RTLD_NOLOAD), "fakeAddWork");
	if (what.n * width(what.type) * (what.kind == PUT ? 1 : c->size) > SLOT) return INVALID_ARGUMENT;
	work *w = malloc(sizeof *w); // lives as long as the process, as graphs do
	*w = what;
	return add(stream, begun, w);
}

int ncclRedOpCreatePreMulSum(int *op, void *factor, int type, int residence, comm *c) {
	if (residence != 1 || (type != 7 && type != 8)) return INVALID_ARGUMENT;
	c->factor = type == 7 ? *(float *)factor : *(double *)factor;
	c->ops++;
	return *op = OWN_OP, failing("ncclRedOpCreatePreMulSum");
}
int ncclRedOpDestroy(int op, comm *c) { return op == OWN_OP && c->ops-- == 1 ? 0 : INVALID_ARGUMENT; }
int ncclAllReduce(const void *src, void *dst, size_t n, int type, int op, comm *c, void *stream) {
	int version;
	ncclGetVersion(&version);
	if (op == AVG && type > 5 && c->windows && version >= 23003) return snprintf(c->last, sizeof c->last, "Cuda failure 'invalid device function'"), 1; // as those do
	return queue("ncclAllReduce", (work){.c = c, .kind = ALL_REDUCE, .n = n, .type = type, .op = op, .factor = c->factor, .src = src, .dst = dst}, stream);
}
int ncclReduceScatter(const void *src, void *dst, size_t n, int type, int op, comm *c, void *stream) {
	return queue("ncclReduceScatter", (work){.c = c, .kind = REDUCE_SCATTER, .n = n, .type = type, .op = op, .src = src, .dst = dst}, stream);
}
int ncclAllGather(const void *src, void *dst, size_t n, int type, comm *c, void *stream) {
	return queue("ncclAllGather", (work){.c = c, .kind = ALL_GATHER, .n = n, .type = type, .src = src, .dst = dst}, stream);
}
int ncclBroadcast(const void *src, void *dst, size_t n, int type, int root, comm *c, void *stream) {
	return queue("ncclBroadcast", (work){.c = c, .kind = BROADCAST, .n = n, .type = type, .root = root, .src = src, .dst = dst}, stream);
}
#ifndef OLD
int ncclAlltoAll(const void *src, void *dst, size_t n, int type, comm *c, void *stream) {
	return queue("ncclAlltoAll", (work){.c = c, .kind = ALL_TO_ALL, .n = n, .type = type, .src = src, .dst = dst}, stream);
}
// A window is a number. note writes the window's memory and its end to the file FAKE_NCCL_WINDOWS.
static void note(const comm *c, const char *what, size_t n, void *window) {
	const char *path = getenv("FAKE_NCCL_WINDOWS");
	FILE *f = path ? fopen(path, "a") : NULL;
	if (!f) return;
	fprintf(f, "%d of %d%s %s %zu window %d\n", c->rank, c->size, c->zero ? " without CTAs" : "", what, n, (int)(intptr_t)window);
	fclose(f);
}
int ncclCommWindowRegister(comm *c, void *p, size_t n, void **window, int flags) {
	int failed = failing("ncclCommWindowRegister");
	while (hangs("window") && !c->aborted) usleep(1000);
	if (failed || c->aborted) return failed ? failed : 3;
	if (flags != 1 || (uintptr_t)p % 4096) return INVALID_ARGUMENT;
	if (c->windows == WINDOWS) return INVALID_ARGUMENT;
	*window = (void *)(intptr_t)++c->windows;
	c->at[c->windows] = p, c->bytes[c->windows] = n;
	note(c, "registers", n, *window);
	return 0;
}
int ncclCommWindowDeregister(comm *c, void *window) {
	note(c, "ends", 0, window);
	c->at[(intptr_t)window] = NULL;
	return 0;
}
// inside reports whether memory is in a window.
static int inside(const comm *c, const char *p, size_t n) {
	int found = 0;
	for (int i = 1; i <= c->windows; i++) found |= c->at[i] && c->at[i] <= p && p + n <= c->at[i] + c->bytes[i];
	return found;
}
int ncclSignal(int peer, int signal, int context, unsigned flags, comm *c, void *stream) {
	pthread_t thread;
	int failed = failing("ncclSignal");
	if (failed) return snprintf(c->last, sizeof c->last, "One sided RMA: host RMA is not supported in this communicator."), failed;
	if (peer != c->rank || signal || context || flags || !stream) return INVALID_ARGUMENT;
	if (!c->delivers++) pthread_create(&thread, NULL, deliver, c);
	return 0;
}
int ncclPutSignal(const void *src, size_t n, int type, int peer, void *window, size_t offset, int signal, int context, unsigned flags, comm *c, void *stream) {
	if (!c->delivers || signal || context || flags || type != 1 || !n || !inside(c, src, n) || (intptr_t)window < 1 || (intptr_t)window > c->windows || offset + n > c->bytes[(intptr_t)window]) return INVALID_ARGUMENT;
	return queue("ncclPutSignal", (work){.c = c, .kind = PUT, .n = n, .type = type, .root = peer, .src = src, .window = (int)(intptr_t)window, .offset = offset}, stream);
}
// A device communicator, as in 2.32.3: its magic, version, rank and size, and the requested
// resources.
typedef struct {
	size_t size;
	unsigned magic, version;
	void *resources, *teams;
	int multimem, barriers, lsa_barriers, rail_barriers, blocks, slots, force_gin, contexts, signals, counters, connection, exclusive, queue, traffic;
} requirements;
int ncclDevCommCreate(comm *c, const requirements *r, int *out) {
	int version;
	ncclGetVersion(&version);
	if (r->size != (version < 23000 ? 88 : version < 23100 ? 96 : 120) || r->magic != 0xcafebeef || (int)r->version != version || r->resources || r->teams || r->multimem ||
	    r->barriers || r->rail_barriers || r->blocks || r->slots || r->force_gin || r->contexts != 4 || r->signals || r->counters || r->connection || r->exclusive || r->queue)
		return INVALID_ARGUMENT;
	out[0] = (int)r->magic, out[1] = version, out[2] = c->rank, out[3] = c->size, out[4] = r->lsa_barriers;
	note(c, "makes a communicator for kernels", (size_t)r->lsa_barriers, 0);
	return failing("ncclDevCommCreate");
}
int ncclDevCommDestroy(comm *c, const int *out) {
	note(c, "ends a communicator for kernels", (size_t)out[4], 0);
	return out[2] == c->rank ? 0 : INVALID_ARGUMENT;
}
#endif
