#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "inner.h"

// The parts of NCCL's binary interface that are used: its functions and structures.
enum { NCCL_SUCCESS = 0, NCCL_SYSTEM_ERROR = 2, NCCL_IN_PROGRESS = 7, NCCL_UINT8 = 1, NCCL_COLLECTIVE_WINDOW = 1, NCCL_CTA_POLICY_ZERO = 2, NCCL_SCALAR_HOST_IMMEDIATE = 1 };

typedef struct {
	char bytes[SY_NCCL_ID];
} nccl_id; // passed by value

// The configuration of 2.28, which newer libraries recognise by its size and version and complete
// themselves.
#define NCCL_MAGIC 0xcafebeefu
typedef struct {
	size_t size;
	unsigned magic, version;
	int blocking, cga_cluster, min_ctas, max_ctas;
	const char *net;
	int split_share, traffic_class;
	const char *name;
	int collnet, cta_policy, shrink_share, nvls_ctas, channels_per_peer, nvlink_centric;
} nccl_config;
static_assert(sizeof(nccl_config) == 80 && offsetof(nccl_config, net) == 32 && offsetof(nccl_config, cta_policy) == 60, "ncclConfig_t of 2.28");

// The requirements on a device communicator, of 2.32; in earlier versions the structure has only
// the first fields. It names the version that the communicator must have.
typedef struct {
	size_t size;
	unsigned magic, version;
	void *resources, *teams;
	unsigned char multimem;
	int barriers, lsa_barriers, rail_barriers, ll_blocks, ll_slots;
	unsigned char force_gin;
	int contexts, signals, counters, connection;
	unsigned char exclusive;
	int queue;
	int traffic_class, world_barriers; // 2.30
	unsigned char strong, va;
	int stride, gin; // 2.31
	unsigned char runtime, rest[15];
} nccl_requirements;
static_assert(sizeof(nccl_requirements) == 120 && offsetof(nccl_requirements, lsa_barriers) == 40 && offsetof(nccl_requirements, traffic_class) == 84 &&
    offsetof(nccl_requirements, strong) == 92 && offsetof(nccl_requirements, stride) == 96, "ncclDevCommRequirements of 2.32");

// The device structures of versions whose kernels read an abort word: sizes, and the offset in
// ncclDevComm of the pointer to that word.
static const struct {
	int first, last, requirements, comm, abort_flag;
} nccl_device[] = {
	{22907, 22907, 88, 224, 216},
	{23003, 23007, 96, 240, 208},
	{23102, 23102, 120, 248, 168},
	{23203, 23203, 120, 248, 168},
};

#define NCCL_FUNCTIONS(X) \
	X(ncclGetVersion, (int *version)) \
	X(ncclGetUniqueId, (nccl_id * id)) \
	X(ncclCommInitRankConfig, (void **comm, int size, nccl_id id, int rank, nccl_config *config)) \
	X(ncclCommCount, (void *comm, int *size)) \
	X(ncclCommUserRank, (void *comm, int *rank)) \
	X(ncclCommCuDevice, (void *comm, int *device)) \
	X(ncclCommAbort, (void *comm)) \
	X(ncclCommGetAsyncError, (void *comm, int *result)) \
	X(ncclCommWindowRegister, (void *comm, void *ptr, size_t size, void **window, int flags)) \
	X(ncclCommWindowDeregister, (void *comm, void *window)) \
	X(ncclRedOpCreatePreMulSum, (int *op, void *factor, int type, int residence, void *comm)) \
	X(ncclRedOpDestroy, (int op, void *comm)) \
	X(ncclAllReduce, (const void *src, void *dst, size_t n, int type, int op, void *comm, cu_stream stream)) \
	X(ncclReduceScatter, (const void *src, void *dst, size_t n, int type, int op, void *comm, cu_stream stream)) \
	X(ncclAllGather, (const void *src, void *dst, size_t n, int type, void *comm, cu_stream stream)) \
	X(ncclAlltoAll, (const void *src, void *dst, size_t n, int type, void *comm, cu_stream stream)) \
	X(ncclBroadcast, (const void *src, void *dst, size_t n, int type, int root, void *comm, cu_stream stream))

// Functions whose presence indicates a feature.
static const struct {
	unsigned bit;
	const char *function;
} nccl_features[] = {
	{SY_NCCL_DEVICE_API, "ncclDevCommCreate"},
	{SY_NCCL_ONE_SIDED, "ncclPutSignal"}, // and ncclSignal
	{SY_NCCL_REVOKE, "ncclCommRevoke"},
};

struct sy_nccl {
	int version;
	unsigned features;
	const char *(*ncclGetErrorString)(int result);
	const char *(*ncclGetLastError)(void *comm);
	int (*ncclDevCommCreate)(void *comm, const nccl_requirements *what, void *device_comm); // with SY_NCCL_DEVICE_API
	int (*ncclDevCommDestroy)(void *comm, const void *device_comm);
	int (*ncclPutSignal)(const void *src, size_t n, int type, int peer, void *window, size_t offset, int signal, int context, unsigned flags, void *comm, cu_stream stream); // with SY_NCCL_ONE_SIDED
	int (*ncclCommRevoke)(void *comm, int flags); // with SY_NCCL_REVOKE
	int (*ncclSignal)(int peer, int signal, int context, unsigned flags, void *comm, cu_stream stream);
#define FIELD(name, args) int(*name) args;
	NCCL_FUNCTIONS(FIELD)
#undef FIELD
};

sy_nccl *sy_nccl_load(const char *path, char *why, size_t size) {
	void *lib = sy_library_open(path, RTLD_NOW | RTLD_LOCAL, why, size);
	if (!lib) return NULL;
	sy_nccl *n = calloc(1, sizeof *n);
	if (!n) {
		snprintf(why, size, "out of memory");
		return NULL;
	}
	// Ask for the version first: the error about a missing function is clearer with it.
	const char *missing = NULL;
	n->ncclGetVersion = (int (*)(int *))dlsym(lib, "ncclGetVersion");
	if (!n->ncclGetVersion) missing = "ncclGetVersion";
	else if (n->ncclGetVersion(&n->version)) missing = "a version";
#define RESOLVE(name, args) \
	if (!missing && n->version >= SY_NCCL_OLDEST && !(n->name = (int(*) args)dlsym(lib, #name))) missing = #name;
	NCCL_FUNCTIONS(RESOLVE)
#undef RESOLVE
	n->ncclGetErrorString = (const char *(*)(int))dlsym(lib, "ncclGetErrorString");
	n->ncclGetLastError = (const char *(*)(void *))dlsym(lib, "ncclGetLastError");
	n->ncclDevCommCreate = (int (*)(void *, const nccl_requirements *, void *))dlsym(lib, "ncclDevCommCreate");
	n->ncclDevCommDestroy = (int (*)(void *, const void *))dlsym(lib, "ncclDevCommDestroy");
	n->ncclPutSignal = (int (*)(const void *, size_t, int, int, void *, size_t, int, int, unsigned, void *, cu_stream))dlsym(lib, "ncclPutSignal");
	n->ncclCommRevoke = (int (*)(void *, int))dlsym(lib, "ncclCommRevoke");
	n->ncclSignal = (int (*)(int, int, int, unsigned, void *, cu_stream))dlsym(lib, "ncclSignal");
	if (missing) {
		snprintf(why, size, "%s lacks %s", path, missing);
		free(n);
		return NULL;
	}
	for (size_t i = 0; i < sizeof nccl_features / sizeof *nccl_features; i++)
		if (dlsym(lib, nccl_features[i].function)) n->features |= nccl_features[i].bit;
	return n;
}

int sy_nccl_version(const sy_nccl *n) { return n->version; }

unsigned sy_nccl_has(const sy_nccl *n) { return n->features; }

int sy_nccl_device_comm(const sy_nccl *n, int *abort_flag) {
	for (size_t i = 0; i < sizeof nccl_device / sizeof *nccl_device; i++)
		if (n->ncclDevCommCreate && n->ncclDevCommDestroy && nccl_device[i].first <= n->version && n->version <= nccl_device[i].last)
			return *abort_flag = nccl_device[i].abort_flag, nccl_device[i].comm;
	return 0;
}

// make_device_comm makes a device communicator of the library's own version, without GIN.
static int make_device_comm(const sy_nccl *n, void *comm, sy_nccl_task *t) {
	nccl_requirements r = {.magic = NCCL_MAGIC, .version = (unsigned)n->version, .lsa_barriers = t->barriers, .contexts = 4, .traffic_class = INT_MIN, .strong = 1, .va = 1, .stride = 1};
	for (size_t i = 0; i < sizeof nccl_device / sizeof *nccl_device; i++)
		if (nccl_device[i].first <= n->version && n->version <= nccl_device[i].last) r.size = (size_t)nccl_device[i].requirements;
	memset(t->comm, 0, sizeof t->comm);
	return n->ncclDevCommCreate(comm, &r, t->comm);
}

sy_status sy_nccl_id(const sy_nccl *n, const sy_device *d, unsigned char *out) {
	ENTER(d);
	nccl_id id;
	int result = n->ncclGetUniqueId(&id);
	if (result) return (sy_status){result, "ncclGetUniqueId"};
	memcpy(out, id.bytes, sizeof id);
	return OK;
}

// A communicator has its own thread, which makes it, runs tasks, and ends it on request. If the
// thread is in the library at that time, perhaps waiting for other members, another thread ends the
// communicator. Whichever finishes last, the threads or the owner, frees it.
enum { JOINING, JOINED, FAILED, ENDED };

struct sy_nccl_comm {
	const sy_nccl *nccl;
	sy_device *device;
	nccl_id id;
	int rank, size, zero_cta;
	pthread_mutex_t calls; // held during a call on the communicator; taken before lock
	pthread_mutex_t lock;  // guards the fields below
	pthread_cond_t changed;
	void *adopted; // a communicator that was made elsewhere, or NULL
	void *comm; // NULL unless JOINED
	int state, end, holders;
	int revoke; // an adopted communicator ends with calls under way
	sy_nccl_task task; // the thread's next task once it has joined, and its result; kind 0: none
	int working;       // the thread works on the task
	void *aborted; // the communicator that another thread is aborting
	int aborting;
	sy_status failure; // of joining, or of the task
	char text[SY_NCCL_TEXT]; // text of the failure
};

// ends reports whether the thread has to end the communicator.
static int ends(sy_nccl_comm *c) {
	pthread_mutex_lock(&c->lock);
	int end = c->end;
	pthread_mutex_unlock(&c->lock);
	return end;
}

static void drop(sy_nccl_comm *c) {
	pthread_mutex_lock(&c->lock);
	int last = --c->holders == 0;
	pthread_mutex_unlock(&c->lock);
	if (!last) return;
	pthread_cond_destroy(&c->changed);
	pthread_mutex_destroy(&c->lock);
	pthread_mutex_destroy(&c->calls);
	free(c);
}

// explain copies the library's description of a failure.
static void explain(const sy_nccl *n, void *comm, int result, char *text) {
	const char *what = n->ncclGetErrorString ? n->ncclGetErrorString(result) : NULL, *last = n->ncclGetLastError ? n->ncclGetLastError(comm) : NULL;
	snprintf(text, SY_NCCL_TEXT, "%s%s%s", what ? what : "", last && *last ? ": " : "", last ? last : "");
}

// finish waits for the work of a call on its own stream. If the communicator has to end, finish
// gives up; the resources of the call are then released only with the process.
static sy_status finish(sy_nccl_comm *c, cu_stream stream, const char *call) {
	int result;
	while ((result = cu.cuStreamQuery(stream)) == CU_NOT_READY) {
		if (ends(c)) return (sy_status){NCCL_IN_PROGRESS, call};
		nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
	}
	return (sy_status){result, "cuStreamQuery"};
}

// greet lets the members send to each other once, so that later calls find all connections made and
// do not block the caller.
static sy_status greet(sy_nccl_comm *c, void *comm) {
	cu_ptr words;
	cu_stream stream;
	int result;
	sy_status st = OK;
	TRY(cuMemAlloc_v2, &words, 2 * c->size);
	TRY_ELSE(allocated, cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
	if ((result = c->nccl->ncclAlltoAll((void *)words, (void *)(words + c->size), 1, NCCL_UINT8, comm, stream))) st = (sy_status){result, "ncclAlltoAll"};
	else st = finish(c, stream, "ncclAlltoAll");
	if (st.code == NCCL_IN_PROGRESS) return st;
	FIRST(cuStreamDestroy_v2, stream);
allocated:
	FIRST(cuMemFree_v2, words);
	return st;
}

// ready_puts lets this member signal itself: at a member's first one-sided call the library sets up
// one-sided calls, for which it meets the other members.
static sy_status ready_puts(sy_nccl_comm *c, void *comm) {
	cu_stream stream;
	sy_status st = OK;
	TRY(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
	int result = c->nccl->ncclSignal(c->rank, 0, 0, 0, comm, stream);
	st = result ? (sy_status){result, "ncclSignal"} : finish(c, stream, "ncclSignal");
	if (st.code == NCCL_IN_PROGRESS) return st;
	FIRST(cuStreamDestroy_v2, stream);
	return st;
}

// work runs the task. The caller holds the lock; work releases it during calls of the library.
static void work(sy_nccl_comm *c) {
	const sy_nccl *n = c->nccl;
	void *comm = c->comm;
	sy_nccl_task t = c->task;
	c->working = 1;
	pthread_mutex_unlock(&c->lock);
	sy_status st = {0, ""};
	switch (t.kind) {
	case SY_NCCL_REGISTER:
		t.window = NULL;
		st = (sy_status){n->ncclCommWindowRegister(comm, (void *)t.ptr, t.size, &t.window, NCCL_COLLECTIVE_WINDOW), "ncclCommWindowRegister"};
		break;
	case SY_NCCL_DEREGISTER: st = (sy_status){n->ncclCommWindowDeregister(comm, t.window), "ncclCommWindowDeregister"}; break;
	case SY_NCCL_MAKE_DEVICE_COMM: st = (sy_status){make_device_comm(n, comm, &t), "ncclDevCommCreate"}; break;
	case SY_NCCL_READY_PUTS: st = ready_puts(c, comm); break;
	case SY_NCCL_END_DEVICE_COMM: st = (sy_status){n->ncclDevCommDestroy(comm, t.comm), "ncclDevCommDestroy"}; break;
	}
	if (st.code) explain(n, comm, st.code, c->text);
	pthread_mutex_lock(&c->lock);
	c->failure = st;
	c->task = t;
	c->working = c->task.kind = 0;
	pthread_cond_broadcast(&c->changed);
}

static void *tend(void *arg) {
	sy_nccl_comm *c = arg;
	nccl_config config = {.size = sizeof config, .magic = NCCL_MAGIC, .version = 22800, .blocking = 1, .cga_cluster = INT_MIN, .min_ctas = INT_MIN,
	    .max_ctas = INT_MIN, .split_share = INT_MIN, .traffic_class = INT_MIN, .collnet = INT_MIN, .cta_policy = INT_MIN, .shrink_share = INT_MIN,
	    .nvls_ctas = INT_MIN, .channels_per_peer = INT_MIN, .nvlink_centric = INT_MIN};
	if (c->zero_cta) config.cta_policy = NCCL_CTA_POLICY_ZERO;
	void *comm = c->adopted;
	c->failure = sy_enter(c->device);
	if (!c->failure.code) {
		int result = comm ? NCCL_SUCCESS : c->nccl->ncclCommInitRankConfig(&comm, c->size, c->id, c->rank, &config);
		if (result) c->failure = (sy_status){result, "ncclCommInitRankConfig"};
		else c->failure = greet(c, comm);
		if (c->failure.code) explain(c->nccl, comm, c->failure.code, c->text);
	}
	pthread_mutex_lock(&c->lock);
	c->comm = c->failure.code ? NULL : comm;
	c->state = c->comm ? JOINED : FAILED;
	pthread_cond_broadcast(&c->changed);
	while (c->comm && !c->end) {
		if (c->task.kind) work(c);
		else pthread_cond_wait(&c->changed, &c->lock);
	}
	c->comm = NULL; // from now on no call begins
	int aborted = c->aborted != NULL, revoke = c->revoke;
	pthread_mutex_unlock(&c->lock);
	// A call that is under way ends by itself, or waits for other members until the abort ends it.
	struct timespec soon;
	clock_gettime(CLOCK_REALTIME, &soon);
	soon.tv_sec += 1;
	int quiet = !pthread_mutex_timedlock(&c->calls, &soon);
	if (comm && !aborted && !c->adopted) c->nccl->ncclCommAbort(comm);
	if (revoke && c->nccl->ncclCommRevoke) c->nccl->ncclCommRevoke(comm, 0);
	if (!quiet) pthread_mutex_lock(&c->calls);
	pthread_mutex_unlock(&c->calls);
	pthread_mutex_lock(&c->lock);
	while (c->aborting) pthread_cond_wait(&c->changed, &c->lock);
	c->state = ENDED;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
	drop(c);
	return NULL;
}

// start starts the thread of a communicator: of adopted, or of one that it makes by id.
static sy_nccl_comm *start(const sy_nccl *n, sy_device *d, void *adopted, const unsigned char *id, int rank, int size, int zero_cta) {
	sy_nccl_comm *c = calloc(1, sizeof *c);
	pthread_condattr_t monotonic;
	pthread_t thread;
	if (!c) return NULL;
	c->nccl = n, c->device = d, c->rank = rank, c->size = size, c->zero_cta = zero_cta, c->holders = 2, c->adopted = adopted;
	if (id) memcpy(c->id.bytes, id, sizeof c->id);
	pthread_mutex_init(&c->calls, NULL);
	pthread_mutex_init(&c->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&c->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	if (pthread_create(&thread, NULL, tend, c)) {
		free(c);
		return NULL;
	}
	pthread_detach(thread);
	return c;
}

sy_nccl_comm *sy_nccl_join(const sy_nccl *n, sy_device *d, const unsigned char *id, int rank, int size, int zero_cta) {
	return start(n, d, NULL, id, rank, size, zero_cta);
}

sy_nccl_comm *sy_nccl_adopt(const sy_nccl *n, sy_device *d, uint64_t comm, int rank, int size) {
	return start(n, d, (void *)comm, NULL, rank, size, 0);
}

// readable reports whether there is memory at p, which a user has given.
static int readable(void *p) {
	int ends[2];
	if (pipe(ends)) return 1; // the library finds out
	int wrote = write(ends[1], p, 16) == 16; // the library looks at the beginning first
	close(ends[0]);
	close(ends[1]);
	return wrote;
}

sy_status sy_nccl_describe(const sy_nccl *n, const sy_device *d, uint64_t at, int *rank, int *size, int *here, char *text) {
	ENTER(d);
	void *comm = (void *)at;
	int device = -1, result = NCCL_SUCCESS;
	sy_status st;
	*text = 0;
	if (!readable(comm)) return (sy_status){SY_NCCL_NO_COMM, "ncclCommCount"};
#define ASK(call, ...) ((st = (sy_status){n->call(comm, __VA_ARGS__), #call}).code)
	if (!ASK(ncclCommCount, size) && !ASK(ncclCommUserRank, rank) && !ASK(ncclCommCuDevice, &device) && !ASK(ncclCommGetAsyncError, &result))
		st.code = result;
#undef ASK
	if (st.code) explain(n, NULL, st.code, text);
	*here = device == d->device;
	return st;
}

uint64_t sy_nccl_pointer(sy_nccl_comm *c) {
	pthread_mutex_lock(&c->lock);
	void *comm = c->end ? NULL : c->comm;
	pthread_mutex_unlock(&c->lock);
	return (uint64_t)comm;
}

// after returns the time that is the given number of milliseconds from now.
static struct timespec after(unsigned milliseconds) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += milliseconds / 1000;
	t.tv_nsec += milliseconds % 1000 * 1000000L;
	if (t.tv_nsec >= 1000000000L) t.tv_sec++, t.tv_nsec -= 1000000000L;
	return t;
}

// await waits until the state differs from state, and returns it. The caller holds the lock.
static int await(sy_nccl_comm *c, int state, unsigned milliseconds) {
	struct timespec until = after(milliseconds);
	while (c->state == state && pthread_cond_timedwait(&c->changed, &c->lock, &until) != ETIMEDOUT) {}
	return c->state;
}

int sy_nccl_joined(sy_nccl_comm *c, unsigned milliseconds, sy_status *failure, char *text) {
	pthread_mutex_lock(&c->lock);
	int state = await(c, JOINING, milliseconds);
	*failure = c->failure;
	memcpy(text, c->text, SY_NCCL_TEXT);
	pthread_mutex_unlock(&c->lock);
	return state != JOINING;
}

// abort_beside ends a communicator whose own thread is in the library.
static void *abort_beside(void *arg) {
	sy_nccl_comm *c = arg;
	if (!sy_enter(c->device).code) c->nccl->ncclCommAbort(c->aborted);
	pthread_mutex_lock(&c->lock);
	c->aborting = 0;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
	drop(c);
	return NULL;
}

void sy_nccl_end(sy_nccl_comm *c, int busy) {
	pthread_t thread;
	pthread_mutex_lock(&c->lock);
	if (!c->end) c->revoke = c->adopted && (busy || c->state == JOINING);
	if (!c->end && c->working && !c->adopted) {
		c->aborted = c->comm, c->aborting = 1, c->holders++;
		if (pthread_create(&thread, NULL, abort_beside, c)) c->aborted = NULL, c->aborting = 0, c->holders--;
		else pthread_detach(thread);
	}
	c->end = 1;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
}

int sy_nccl_ask(sy_nccl_comm *c, const sy_nccl_task *task) {
	pthread_mutex_lock(&c->lock);
	int taken = c->comm && !c->end && !c->task.kind;
	if (taken) {
		c->task = *task;
		pthread_cond_broadcast(&c->changed);
	}
	pthread_mutex_unlock(&c->lock);
	return taken;
}

int sy_nccl_answered(sy_nccl_comm *c, unsigned milliseconds, sy_nccl_task *task, sy_status *failure, char *text) {
	struct timespec until = after(milliseconds);
	pthread_mutex_lock(&c->lock);
	while (c->task.kind && c->state == JOINED && pthread_cond_timedwait(&c->changed, &c->lock, &until) != ETIMEDOUT) {}
	int done = !c->task.kind || c->state != JOINED;
	*task = c->task, *failure = c->failure;
	memcpy(text, c->text, SY_NCCL_TEXT);
	pthread_mutex_unlock(&c->lock);
	return done;
}

int sy_nccl_ended(sy_nccl_comm *c, unsigned milliseconds) {
	pthread_mutex_lock(&c->lock);
	while (c->state != ENDED) {
		int before = c->state;
		if (await(c, before, milliseconds) == before) break;
	}
	int ended = c->state == ENDED;
	pthread_mutex_unlock(&c->lock);
	return ended;
}

void sy_nccl_free(sy_nccl_comm *c) {
	sy_nccl_end(c, 0);
	drop(c);
}

// begin starts a call: it locks calls and returns the communicator, or NULL.
static void *begin(sy_nccl_comm *c) {
	pthread_mutex_lock(&c->calls);
	pthread_mutex_lock(&c->lock);
	void *comm = c->end ? NULL : c->comm;
	pthread_mutex_unlock(&c->lock);
	if (!comm) pthread_mutex_unlock(&c->calls);
	return comm;
}

sy_status sy_nccl_failure(sy_nccl_comm *c, char *text) {
	int result = NCCL_SUCCESS;
	void *comm = begin(c);
	*text = 0;
	if (!comm) return OK;
	int asked = c->nccl->ncclCommGetAsyncError(comm, &result);
	if (asked) result = asked;
	if (result == NCCL_IN_PROGRESS) result = NCCL_SUCCESS;
	if (result) explain(c->nccl, comm, result, text);
	pthread_mutex_unlock(&c->calls);
	return (sy_status){result, "ncclCommGetAsyncError"};
}

static sy_status all_reduce(const sy_nccl *n, void *comm, cu_stream stream, const sy_nccl_call *a) {
	int op = a->op;
	uint64_t factor = a->factor;
	if (a->scaled) {
		int result = n->ncclRedOpCreatePreMulSum(&op, &factor, a->type, NCCL_SCALAR_HOST_IMMEDIATE, comm);
		if (result) return (sy_status){result, "ncclRedOpCreatePreMulSum"};
	}
	sy_status st = {n->ncclAllReduce((const void *)a->src, (void *)a->dst, a->n, a->type, op, comm, stream), "ncclAllReduce"};
	if (a->scaled) { // queued calls do not need it any more
		int result = n->ncclRedOpDestroy(op, comm);
		if (result && !st.code) st = (sy_status){result, "ncclRedOpDestroy"};
	}
	return st;
}

static sy_status collective(const sy_nccl *n, void *comm, cu_stream stream, const sy_nccl_call *a) {
	const void *src = (const void *)a->src;
	void *dst = (void *)a->dst;
	switch (a->kind) {
	case SY_NCCL_ALL_REDUCE: return all_reduce(n, comm, stream, a);
	case SY_NCCL_REDUCE_SCATTER: return (sy_status){n->ncclReduceScatter(src, dst, a->n, a->type, a->op, comm, stream), "ncclReduceScatter"};
	case SY_NCCL_ALL_GATHER: return (sy_status){n->ncclAllGather(src, dst, a->n, a->type, comm, stream), "ncclAllGather"};
	case SY_NCCL_ALL_TO_ALL: return (sy_status){n->ncclAlltoAll(src, dst, a->n, a->type, comm, stream), "ncclAlltoAll"};
	case SY_NCCL_BROADCAST: return (sy_status){n->ncclBroadcast(src, dst, a->n, a->type, a->root, comm, stream), "ncclBroadcast"};
	case SY_NCCL_PUT: return (sy_status){n->ncclPutSignal(src, a->n, NCCL_UINT8, a->root, a->window, a->offset, 0, 0, 0, comm, stream), "ncclPutSignal"};
	}
	return (sy_status){NCCL_SYSTEM_ERROR, "ncclGroupStart"};
}

sy_status sy_nccl_run(sy_nccl_comm *c, sy_stream *s, const sy_nccl_call *a, char *text) {
	ENTER(s->device);
	*text = 0;
	void *comm = begin(c);
	if (!comm) {
		snprintf(text, SY_NCCL_TEXT, "the communicator was ended");
		return (sy_status){NCCL_SYSTEM_ERROR, "ncclGroupStart"};
	}
	sy_status st = collective(c->nccl, comm, s->stream, a);
	if (st.code) explain(c->nccl, comm, st.code, text);
	pthread_mutex_unlock(&c->calls);
	return st;
}
