// The copies of the network engine: net/proxy/copier.h on a GPU.
//
// The engine's thread calls these functions, one at a time. They work on a stream of their own, of
// the highest priority, that waits for no other stream, because kernels of the user's streams may
// be waiting for the data. For the same reason they allocate no pinned memory: the driver may wait
// for running kernels when it pins or frees memory. The staging memory is pinned at the start, in
// pieces of two sizes. When all pieces are used, the functions use ordinary memory, which the
// driver stages once more.
//
// A copy sets words, so that no multiprocessor has to be free for it. A kernel adds to words,
// because kernels of this host may add to the same word, and does atomic operations for the same
// reason.
#include <stdlib.h>
#include <string.h>

#include "../../net/proxy/copier.h"
#include "inner.h"

enum { SMALL = 16 << 10, SMALLS = 256, LARGE = 1 << 20, LARGES = 32, TICKETS = 1024, MEMORY_TYPE = 2, DEVICE = 2 };

struct sy_copier {
	net_copier face;
	sy_device *device;
	cu_stream stream;
	cu_function add, atomic;
	unsigned char *pinned;            // the small pieces, the large pieces, a word for each ticket
	uint8_t small[SMALLS], large[LARGES]; // which pieces are taken
	cu_event events[TICKETS];
	int64_t issued, over;             // tickets
};

static uint64_t *words(sy_copier *c) { return (uint64_t *)(c->pinned + (size_t)SMALLS * SMALL + (size_t)LARGES * LARGE); }

static int enter(void *arg) { return sy_enter(((sy_copier *)arg)->device).code; }

static int owns(void *arg, uint64_t address) {
	sy_copier *c = arg;
	unsigned type = 0;
	return !sy_enter(c->device).code && !cu.cuPointerGetAttribute(&type, MEMORY_TYPE, address) && type == DEVICE;
}

// take returns the first free piece of count pieces, or NULL.
static void *take(uint8_t *taken, int count, unsigned char *pieces, size_t size) {
	uint8_t *free_one = memchr(taken, 0, count);
	if (!free_one) return NULL;
	*free_one = 1;
	return pieces + (size_t)(free_one - taken) * size;
}

static void *stage(void *arg, size_t bytes) {
	sy_copier *c = arg;
	void *piece = NULL;
	if (bytes <= SMALL) piece = take(c->small, SMALLS, c->pinned, SMALL);
	if (!piece && bytes <= LARGE) piece = take(c->large, LARGES, c->pinned + (size_t)SMALLS * SMALL, LARGE);
	return piece ? piece : malloc(bytes);
}

static void unstage(void *arg, void *memory) {
	sy_copier *c = arg;
	size_t at = (unsigned char *)memory - c->pinned, small = (size_t)SMALLS * SMALL;
	if ((unsigned char *)memory < c->pinned || at >= small + (size_t)LARGES * LARGE)
		free(memory);
	else if (at < small)
		c->small[at / SMALL] = 0;
	else
		c->large[(at - small) / LARGE] = 0;
}

static int poll_ticket(void *arg, int64_t ticket) {
	sy_copier *c = arg;
	if (ticket <= c->over) return 1;
	if (sy_enter(c->device).code) return -1;
	int result = cu.cuEventQuery(c->events[ticket % TICKETS]);
	if (result == CU_NOT_READY) return 0;
	if (result) return -1;
	c->over = ticket;
	return 1;
}

// begin makes sure that the next ticket is free, that is, that the last ticket with the same event
// and word is over.
static int begin(sy_copier *c) {
	if (sy_enter(c->device).code) return -1;
	int64_t before = c->issued + 1 - TICKETS;
	if (before <= c->over) return 0;
	if (cu.cuEventSynchronize(c->events[before % TICKETS])) return -1;
	c->over = before;
	return 0;
}

// ticket completes begin: the stream's work up to here gets the next ticket.
static int64_t ticket(sy_copier *c) {
	if (cu.cuEventRecord(c->events[(c->issued + 1) % TICKETS], c->stream)) return -1;
	return ++c->issued;
}

static int64_t copy(void *arg, uint64_t to, uint64_t to_pitch, uint64_t from, uint64_t from_pitch, uint64_t width, uint64_t rows) {
	sy_copier *c = arg;
	if (!width || !rows) return 0;
	if (begin(c)) return -1;
	int whole = rows == 1 || (to_pitch == width && from_pitch == width);
	cu_copy_2d block = {.from_type = CU_UNIFIED, .from = from, .from_pitch = from_pitch, .to_type = CU_UNIFIED, .to = to, .to_pitch = to_pitch, .width = width, .height = rows};
	if (whole ? cu.cuMemcpyAsync(to, from, width * rows, c->stream) : cu.cuMemcpy2DAsync_v2(&block, c->stream)) return -1;
	return ticket(c);
}

static int64_t word(void *arg, uint64_t at, int add, uint64_t value) {
	sy_copier *c = arg;
	if (begin(c)) return -1;
	if (add) {
		uint64_t args[2] = {at, value};
		size_t size = sizeof args;
		void *extra[] = {CU_LAUNCH_BUFFER_POINTER, args, CU_LAUNCH_BUFFER_SIZE, &size, CU_LAUNCH_END};
		if (cu.cuLaunchKernel(c->add, 1, 1, 1, 1, 1, 1, 0, c->stream, NULL, extra)) return -1;
	} else {
		uint64_t *staged = &words(c)[(c->issued + 1) % TICKETS];
		*staged = value;
		if (cu.cuMemcpyAsync(at, (cu_ptr)(uintptr_t)staged, sizeof *staged, c->stream)) return -1;
	}
	return ticket(c);
}

// atomic stores the previous value in the word of its ticket.
static int64_t atomic(void *arg, uint64_t at, uint32_t bytes, uint32_t operation, uint64_t value, uint64_t compare) {
	sy_copier *c = arg;
	if (begin(c)) return -1;
	struct { // NetAtomicArgs of kernels/net/net_atomic.cu
		uint64_t word, value, compare, result;
		uint32_t operation, bytes;
	} args = {at, value, compare, (uint64_t)&words(c)[(c->issued + 1) % TICKETS], operation, bytes};
	size_t size = sizeof args;
	void *extra[] = {CU_LAUNCH_BUFFER_POINTER, &args, CU_LAUNCH_BUFFER_SIZE, &size, CU_LAUNCH_END};
	if (cu.cuLaunchKernel(c->atomic, 1, 1, 1, 1, 1, 1, 0, c->stream, NULL, extra)) return -1;
	return ticket(c);
}

static uint64_t result(void *arg, int64_t ticket) { return words(arg)[ticket % TICKETS]; }

sy_status sy_copier_open(sy_device *d, uintptr_t add, uintptr_t atomic_kernel, sy_copier **out) {
	ENTER(d);
	sy_status st = OK;
	sy_copier *c = calloc(1, sizeof *c);
	if (!c) return OUT_OF_HOST_MEMORY;
	c->face = (net_copier){c, enter, owns, stage, unstage, copy, word, atomic, result, poll_ticket};
	c->device = d;
	atomic_fetch_add(&d->copiers, 1);
	c->add = (cu_function)add;
	c->atomic = (cu_function)atomic_kernel;
	st = sy_urgent_stream(&c->stream);
	if (st.code) goto failed;
	for (int i = 0; i < TICKETS; i++) TRY_ELSE(failed, cuEventCreate, &c->events[i], CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING);
	st = sy_host_memory(d, (size_t)SMALLS * SMALL + (size_t)LARGES * LARGE + TICKETS * sizeof(uint64_t), (void **)&c->pinned);
	if (st.code) goto failed;
	*out = c;
	return OK;
failed:
	sy_copier_close(c);
	return st;
}

sy_status sy_copier_close(sy_copier *c) {
	sy_status st = sy_enter(c->device);
	if (!st.code) {
		if (c->stream) FIRST(cuStreamDestroy_v2, c->stream);
		for (int i = 0; i < TICKETS && c->events[i]; i++) FIRST(cuEventDestroy_v2, c->events[i]);
		if (c->pinned) FIRST(cuMemFreeHost, c->pinned);
	}
	atomic_fetch_sub(&c->device->copiers, 1);
	free(c);
	return st;
}

void *sy_copier_face(sy_copier *c) { return &c->face; }
