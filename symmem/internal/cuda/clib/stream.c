#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "inner.h"

#define SPIN_NANOSECONDS 50000
#define STAGE_HALF ((size_t)2 << 20)

sy_status sy_stream_create(sy_device *d, sy_stream **out) {
	ENTER(d);
	sy_stream *s = calloc(1, sizeof *s);
	if (!s) return OUT_OF_HOST_MEMORY;
	s->device = d;
	sy_status st = OK;
	const unsigned flags = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING;
	TRY_ELSE(stream, cuStreamCreate, &s->stream, CU_STREAM_NON_BLOCKING);
	TRY_ELSE(before, cuEventCreate, &s->before, flags);
	TRY_ELSE(after, cuEventCreate, &s->after, flags);
	*out = s;
	return OK;
after:
	cu.cuEventDestroy_v2(s->before);
before:
	cu.cuStreamDestroy_v2(s->stream);
stream:
	free(s);
	return st;
}

// Staging memory outlives its stream and serves the next one: the driver frees pinned memory only
// when running kernels are over, and these may wait for an event that needs the driver.

static void keep_list(sy_device *d, void *first, void **end) {
	void *next = atomic_load(&d->stages);
	do *end = next;
	while (!atomic_compare_exchange_weak(&d->stages, &next, first));
}

static void keep_stage(sy_device *d, void *stage) { keep_list(d, stage, stage); }

// kept_stage returns a stage, or NULL. It takes the whole list for a moment, so that no other
// thread sees a stage that is being removed.
static void *kept_stage(sy_device *d) {
	void **stage = atomic_exchange(&d->stages, NULL), **last = stage;
	if (!stage || !*stage) return stage;
	while (*last) last = *last;
	keep_list(d, *stage, last);
	return stage;
}

sy_status sy_stream_destroy(sy_stream *s) {
	sy_status st = sy_enter(s->device);
	if (!st.code) {
		FIRST(cuStreamSynchronize, s->stream);
		FIRST(cuEventDestroy_v2, s->before);
		FIRST(cuEventDestroy_v2, s->after);
		if (s->stage) {
			FIRST(cuEventDestroy_v2, s->left[0]);
			FIRST(cuEventDestroy_v2, s->left[1]);
			keep_stage(s->device, s->stage);
		}
		sy_status beside = sy_beside_destroy(&s->beside);
		if (!st.code) st = beside;
		FIRST(cuStreamDestroy_v2, s->stream);
	}
	free(s);
	return st;
}

sy_status sy_launch(sy_stream *s, uintptr_t function, const sy_shape *shape, const void *args, size_t size) {
	ENTER(s->device);
	void *extra[] = {CU_LAUNCH_BUFFER_POINTER, (void *)args, CU_LAUNCH_BUFFER_SIZE, &size, CU_LAUNCH_END};
	if (shape->overlap && cu.cuLaunchKernelEx) {
		cu_launch_attribute overlap = {CU_LAUNCH_OVERLAP, {0}, {.overlap = 1}};
		cu_launch_config config = {{shape->grid[0], shape->grid[1], shape->grid[2]},
		    {shape->block[0], shape->block[1], shape->block[2]}, shape->shared, s->stream, &overlap, 1};
		TRY(cuLaunchKernelEx, &config, (cu_function)function, NULL, size ? extra : NULL);
		return OK;
	}
	TRY(cuLaunchKernel, (cu_function)function, shape->grid[0], shape->grid[1], shape->grid[2], shape->block[0],
	    shape->block[1], shape->block[2], shape->shared, s->stream, NULL, size ? extra : NULL);
	return OK;
}

sy_status sy_copy(sy_stream *s, uint64_t dst, uint64_t src, size_t n) {
	ENTER(s->device);
	TRY(cuMemcpyAsync, dst, src, n, s->stream);
	return OK;
}

sy_status sy_set(sy_stream *s, uint64_t dst, unsigned char value, size_t n) {
	ENTER(s->device);
	TRY(cuMemsetD8Async, dst, value, n, s->stream);
	return OK;
}

static long long nanoseconds(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

// A wait polls for a while, because most waits are short, and then sleeps. It always ends with the
// driver's own wait, because that call delivers the output of printf in kernels; then it flushes
// the C library's buffer, because a session would otherwise see the text much later.
static sy_status wait_stream(cu_stream stream) {
	long long end = nanoseconds() + SPIN_NANOSECONDS;
	while (cu.cuStreamQuery(stream) == CU_NOT_READY && nanoseconds() < end) {
	}
	TRY(cuStreamSynchronize, stream);
	fflush(stdout);
	return OK;
}

static sy_status wait_event(cu_event event) {
	long long end = nanoseconds() + SPIN_NANOSECONDS;
	while (cu.cuEventQuery(event) == CU_NOT_READY && nanoseconds() < end) {
	}
	TRY(cuEventSynchronize, event);
	fflush(stdout);
	return OK;
}

static sy_status make_stage(sy_stream *s) {
	if (s->stage) return OK;
	sy_status st = OK;
	void *stage = kept_stage(s->device);
	unsigned flags = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING;
	if (!stage) {
		SETTLE(s->device);
		TRY(cuMemHostAlloc, &stage, 2 * STAGE_HALF, CU_HOST_PORTABLE);
	}
	TRY_ELSE(host, cuEventCreate, &s->left[0], flags);
	TRY_ELSE(event, cuEventCreate, &s->left[1], flags);
	s->stage = stage;
	return OK;
event:
	cu.cuEventDestroy_v2(s->left[0]);
host:
	keep_stage(s->device, stage);
	return st;
}

sy_status sy_write(sy_stream *s, uint64_t dst, const void *src, size_t n) {
	ENTER(s->device);
	sy_status st = make_stage(s);
	if (st.code) return st;
	for (const unsigned char *from = src; n;) {
		if (s->used == STAGE_HALF) {
			TRY(cuEventRecord, s->left[s->half], s->stream);
			s->half ^= 1;
			s->used = 0;
			st = wait_event(s->left[s->half]); // an event that was never recorded counts as reached
			if (st.code) return st;
		}
		size_t room = STAGE_HALF - s->used, part = n < room ? n : room;
		unsigned char *stage = s->stage + s->half * STAGE_HALF + s->used;
		memcpy(stage, from, part);
		TRY(cuMemcpyHtoDAsync_v2, dst, stage, part, s->stream);
		s->used += part < room ? (part + 63) / 64 * 64 : part;
		from += part, dst += part, n -= part;
	}
	return OK;
}

sy_status sy_write_kept(sy_stream *s, uint64_t dst, const void *src, size_t n, uintptr_t *buffer) {
	ENTER(s->device);
	void *host;
	sy_status st = sy_host_memory(s->device, n, &host);
	if (st.code) return st;
	memcpy(host, src, n);
	TRY_ELSE(failed, cuMemcpyHtoDAsync_v2, dst, host, n, s->stream);
	*buffer = (uintptr_t)host;
	return OK;
failed:
	cu.cuMemFreeHost(host);
	return st;
}

// ask starts the copy of the chunk at offset and records the event of its half.
static sy_status ask(sy_stream *s, uint64_t src, size_t n, size_t offset, int half) {
	size_t part = n - offset < STAGE_HALF ? n - offset : STAGE_HALF;
	TRY(cuMemcpyDtoHAsync_v2, s->stage + half * STAGE_HALF, src + offset, part, s->stream);
	TRY(cuEventRecord, s->left[half], s->stream);
	return OK;
}

// sy_read copies through both halves in turn: while one chunk is copied to the caller, the next one
// arrives. Stream order protects staging memory that earlier writes still use.
sy_status sy_read(sy_stream *s, void *dst, uint64_t src, size_t n) {
	ENTER(s->device);
	sy_status st = make_stage(s);
	if (!st.code) st = ask(s, src, n, 0, 0);
	int half = 0;
	for (size_t offset = 0; !st.code && offset < n; offset += STAGE_HALF, half ^= 1) {
		size_t next = offset + STAGE_HALF;
		if (next < n) st = ask(s, src, n, next, half ^ 1);
		if (!st.code) st = wait_event(s->left[half]);
		if (st.code) return st;
		memcpy((unsigned char *)dst + offset, s->stage + half * STAGE_HALF, next < n ? STAGE_HALF : n - offset);
	}
	s->half = 0;
	s->used = 0;
	return st;
}

sy_status sy_synchronize(sy_stream *s) {
	ENTER(s->device);
	return wait_stream(s->stream);
}

sy_status sy_idle(sy_stream *s, int *idle) {
	ENTER(s->device);
	int result = cu.cuStreamQuery(s->stream);
	if (result && result != CU_NOT_READY) return (sy_status){result, "cuStreamQuery"};
	*idle = !result;
	return OK;
}

// ---- events
// -------------------------------------------------------------------------------------------

sy_status sy_event_create(sy_device *d, uintptr_t *out) {
	ENTER(d);
	cu_event event;
	TRY(cuEventCreate, &event, CU_EVENT_BLOCKING_SYNC);
	*out = (uintptr_t)event;
	return OK;
}

sy_status sy_event_destroy(sy_device *d, uintptr_t event) {
	ENTER(d);
	TRY(cuEventDestroy_v2, (cu_event)event);
	return OK;
}

sy_status sy_event_record(sy_stream *s, uintptr_t event) {
	ENTER(s->device);
	TRY(cuEventRecord, (cu_event)event, s->stream);
	return OK;
}

sy_status sy_event_wait(sy_stream *s, uintptr_t event, int marked) {
	ENTER(s->device);
	if (marked && cu.cuEventQuery(s->after)) marked = 0; // the marks are those of a wait that is not over
	if (marked) TRY(cuEventRecord, s->before, s->stream);
	TRY(cuStreamWaitEvent, s->stream, (cu_event)event, 0);
	if (marked) TRY(cuEventRecord, s->after, s->stream);
	return OK;
}

sy_status sy_awaits(sy_stream *s, int *awaits) {
	ENTER(s->device);
	*awaits = cu.cuEventQuery(s->before) == 0 && cu.cuEventQuery(s->after) == CU_NOT_READY;
	return OK;
}

sy_status sy_event_synchronize(sy_device *d, uintptr_t event) {
	ENTER(d);
	return wait_event((cu_event)event);
}

sy_status sy_event_reached(sy_device *d, uintptr_t event, int *reached) {
	ENTER(d);
	int result = cu.cuEventQuery((cu_event)event);
	if (result && result != CU_NOT_READY) return (sy_status){result, "cuEventQuery"};
	*reached = !result;
	return OK;
}

sy_status sy_event_elapsed(sy_device *d, uintptr_t from, uintptr_t to, float *milliseconds) {
	ENTER(d);
	TRY(cuEventElapsedTime, milliseconds, (cu_event)from, (cu_event)to);
	return OK;
}

// ---- graphs
// -------------------------------------------------------------------------------------------

sy_status sy_capture_begin(sy_stream *s) {
	ENTER(s->device);
	SETTLE(s->device);
	TRY(cuStreamBeginCapture_v2, s->stream, CU_CAPTURE_RELAXED);
	atomic_fetch_add(&s->device->captures, 1);
	return OK;
}

sy_status sy_capture_end(sy_stream *s, uintptr_t *out) {
	ENTER(s->device);
	cu_graph graph = NULL;
	cu_exec exec = NULL;
	atomic_fetch_sub(&s->device->captures, 1);
	TRY(cuStreamEndCapture, s->stream, &graph);
	int result = cu.cuGraphInstantiateWithFlags(&exec, graph, 0);
	cu.cuGraphDestroy(graph);
	if (result) return (sy_status){result, "cuGraphInstantiateWithFlags"};
	*out = (uintptr_t)exec;
	return OK;
}

sy_status sy_graph_launch(sy_stream *s, uintptr_t graph) {
	ENTER(s->device);
	TRY(cuGraphLaunch, (cu_exec)graph, s->stream);
	return OK;
}

sy_status sy_graph_destroy(sy_device *d, uintptr_t graph) {
	ENTER(d);
	TRY(cuGraphExecDestroy, (cu_exec)graph);
	return OK;
}
