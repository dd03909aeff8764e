#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clib.h"

// The leading fields of CUPTI's records, which are the same from CUPTI 12.0 to 13.5:
// CUpti_ActivityKernel8 to 13, Memcpy5 to 7, MemcpyPtoP4, Memset4 and 5, ExternalCorrelation. They
// are packed and aligned to 8 bytes.
typedef struct {
	uint32_t kind, attributes;
	uint64_t other;
	uint64_t start, end, completed;
	uint32_t device, context, stream;
	int32_t grid[3], block[3];
	int32_t static_shared, dynamic_shared;
	uint32_t local, local_total, correlation;
	int64_t grid_id;
	const char *name;
} kernel_record;
typedef struct {
	uint32_t kind, how;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation;
} copy_record; // and of a memset
typedef struct {
	uint32_t kind, how;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, from_device, from_context, to_device, to_context, correlation;
} peer_record;
typedef struct {
	uint32_t kind, external_kind;
	uint64_t external;
	uint32_t correlation;
} external_record;

_Static_assert(offsetof(kernel_record, start) == 16 && offsetof(kernel_record, grid) == 52 && offsetof(kernel_record, block) == 64 &&
		   offsetof(kernel_record, correlation) == 92 && offsetof(kernel_record, name) == 104, "as in cupti_activity.h");
_Static_assert(offsetof(copy_record, start) == 16 && offsetof(copy_record, correlation) == 44, "as in cupti_activity.h");
_Static_assert(offsetof(peer_record, correlation) == 60, "as in cupti_activity.h");
_Static_assert(offsetof(external_record, external) == 8 && offsetof(external_record, correlation) == 16, "as in cupti_activity.h");

enum { MEMCPY = 1, MEMSET = 2, CONCURRENT_KERNEL = 10, MEMCPY_PEER = 22, EXTERNAL = 39 };
static const int kinds[] = {MEMCPY, MEMSET, CONCURRENT_KERNEL, MEMCPY_PEER, EXTERNAL};
enum { CUSTOM0 = 3, FLUSH_FORCED = 1, BUFFER = 1 << 20 };

#define CUPTI_FUNCTIONS(X) \
	X(int, cuptiGetVersion, (uint32_t *version)) \
	X(int, cuptiActivityEnable, (int kind)) \
	X(int, cuptiActivityDisable, (int kind)) \
	X(int, cuptiActivityRegisterCallbacks, (void (*request)(uint8_t **, size_t *, size_t *), void (*complete)(void *, uint32_t, uint8_t *, size_t, size_t))) \
	X(int, cuptiActivityGetNextRecord, (uint8_t *buffer, size_t valid, void **record)) \
	X(int, cuptiActivityFlushAll, (uint32_t flag)) \
	X(int, cuptiActivityPushExternalCorrelationId, (int kind, uint64_t id)) \
	X(int, cuptiActivityPopExternalCorrelationId, (int kind, uint64_t *last))

// CUPTI's callbacks have no argument: there is one of it in a process.
static struct {
#define FIELD(type, name, args) type(*name) args;
	CUPTI_FUNCTIONS(FIELD)
#undef FIELD
	int loaded, registered;
	pthread_mutex_t lock; // of what follows
	sy_activity *list;
	size_t count, room;
	uint64_t lost;
} cupti = {.lock = PTHREAD_MUTEX_INITIALIZER};

int sy_cupti_load(const char *path, char *why, size_t size) {
	if (cupti.loaded) return 1;
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!lib) {
		snprintf(why, size, "%s", dlerror());
		return 0;
	}
	const char *missing = NULL;
#define RESOLVE(type, name, args) \
	if (!(cupti.name = (type(*) args)dlsym(lib, #name))) missing = #name;
	CUPTI_FUNCTIONS(RESOLVE)
#undef RESOLVE
	if (missing) {
		snprintf(why, size, "%s lacks %s", path, missing);
		return 0;
	}
	cupti.loaded = 1;
	return 1;
}

uint32_t sy_cupti_version(void) {
	uint32_t version = 0;
	return cupti.cuptiGetVersion(&version) ? 0 : version;
}

static void request(uint8_t **buffer, size_t *size, size_t *records) {
	*buffer = aligned_alloc(8, BUFFER);
	*size = *buffer ? BUFFER : 0;
	*records = 0;
}

static void add(const void *record) {
	sy_activity a = {.kind = *(const uint32_t *)record};
	const kernel_record *k = record;
	const copy_record *c = record;
	const peer_record *p = record;
	const external_record *x = record;
	switch (a.kind) {
	case CONCURRENT_KERNEL:
		a.begin = k->start, a.end = k->end, a.correlation = k->correlation;
		memcpy(a.grid, k->grid, sizeof a.grid);
		memcpy(a.block, k->block, sizeof a.block);
		if (k->name) snprintf(a.name, sizeof a.name, "%s", k->name);
		break;
	case MEMCPY:
	case MEMSET:
		a.begin = c->start, a.end = c->end, a.bytes = c->bytes, a.correlation = c->correlation;
		break;
	case MEMCPY_PEER:
		a.begin = p->start, a.end = p->end, a.bytes = p->bytes, a.correlation = p->correlation;
		break;
	case EXTERNAL:
		if (x->external_kind != CUSTOM0) return;
		a.external = x->external, a.correlation = x->correlation;
		break;
	default:
		return;
	}
	pthread_mutex_lock(&cupti.lock);
	if (cupti.count < cupti.room)
		cupti.list[cupti.count++] = a;
	else
		cupti.lost++;
	pthread_mutex_unlock(&cupti.lock);
}

static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid) {
	(void)context, (void)stream, (void)size;
	void *record = NULL;
	while (valid && cupti.cuptiActivityGetNextRecord(buffer, valid, &record) == 0) add(record);
	free(buffer);
}

static void set_room(size_t room) {
	pthread_mutex_lock(&cupti.lock);
	free(cupti.list);
	cupti.list = room ? calloc(room, sizeof *cupti.list) : NULL;
	cupti.room = cupti.list ? room : 0;
	cupti.count = cupti.lost = 0;
	pthread_mutex_unlock(&cupti.lock);
}

sy_status sy_cupti_start(size_t room) {
	if (!cupti.registered) {
		int result = cupti.cuptiActivityRegisterCallbacks(request, complete);
		if (result) return (sy_status){result, "cuptiActivityRegisterCallbacks"};
		cupti.registered = 1;
	}
	set_room(room);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		int result = cupti.cuptiActivityEnable(kinds[i]);
		if (result) {
			while (i-- > 0) cupti.cuptiActivityDisable(kinds[i]);
			return (sy_status){result, "cuptiActivityEnable"};
		}
	}
	return (sy_status){0, NULL};
}

void sy_cupti_push(uint64_t id) { cupti.cuptiActivityPushExternalCorrelationId(CUSTOM0, id); }

void sy_cupti_pop(void) {
	uint64_t last;
	cupti.cuptiActivityPopExternalCorrelationId(CUSTOM0, &last);
}

size_t sy_cupti_take(sy_activity *out, size_t n, uint64_t *lost) {
	cupti.cuptiActivityFlushAll(FLUSH_FORCED);
	pthread_mutex_lock(&cupti.lock);
	size_t count = cupti.count;
	memcpy(out, cupti.list, (n < count ? n : count) * sizeof *out);
	*lost = cupti.lost;
	if (n >= count) cupti.count = cupti.lost = 0;
	pthread_mutex_unlock(&cupti.lock);
	return count;
}

void sy_cupti_stop(void) {
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) cupti.cuptiActivityDisable(kinds[i]);
	cupti.cuptiActivityFlushAll(FLUSH_FORCED);
	set_room(0);
}
