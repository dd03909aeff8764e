#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clib.h"
#include "load.h"

#define OK ((sy_status){0, NULL})
#define OUT_OF_HOST_MEMORY ((sy_status){CU_OUT_OF_MEMORY, "malloc"})

// TRY returns from the function when a driver call fails.
#define TRY(name, ...) \
	do { \
		int result_ = cu.name(__VA_ARGS__); \
		if (result_) return (sy_status){result_, #name}; \
	} while (0)

// TRY_ELSE notes the first failure in st and goes to the label that undoes what was begun.
#define TRY_ELSE(label, name, ...) \
	do { \
		int result_ = cu.name(__VA_ARGS__); \
		if (result_) { \
			st = (sy_status){result_, #name}; \
			goto label; \
		} \
	} while (0)

// FIRST notes the first failure in st and carries on: for functions that release.
#define FIRST(name, ...) \
	do { \
		int result_ = cu.name(__VA_ARGS__); \
		if (result_ && !st.code) st = (sy_status){result_, #name}; \
	} while (0)

// ENTER makes the context current. A thread that did it last time need not do it again; epoch grows when a
// context is released, since its address may come back as another context's.
#define ENTER(device) \
	do { \
		sy_status entered_ = enter(device); \
		if (entered_.code) return entered_; \
	} while (0)

#define SPIN_NANOSECONDS 50000
#define STAGE_HALF ((size_t)2 << 20)

struct sy_device {
	int device;
	cu_context context;
	cu_stream service; // for zeroing, apart from the user's streams
};

static atomic_uint epoch;
static __thread struct {
	cu_context context;
	unsigned epoch;
} current;

static sy_status enter(const sy_device *d) {
	unsigned now = atomic_load_explicit(&epoch, memory_order_acquire);
	if (current.context == d->context && current.epoch == now) return OK;
	TRY(cuCtxSetCurrent, d->context);
	current.context = d->context;
	current.epoch = now;
	return OK;
}

// ---- driver -------------------------------------------------------------------------------------------

sy_status sy_driver_init(int *version, int *devices) {
	TRY(cuInit, 0);
	TRY(cuDriverGetVersion, version);
	TRY(cuDeviceGetCount, devices);
	return OK;
}

sy_status sy_device_describe(int ordinal, char *name, unsigned char *uuid, uint64_t *memory) {
	int device;
	size_t bytes = 0;
	TRY(cuDeviceGet, &device, ordinal);
	TRY(cuDeviceGetName, name, 256, device);
	TRY(cuDeviceGetUuid_v2, uuid, device);
	TRY(cuDeviceTotalMem_v2, &bytes, device);
	*memory = bytes;
	return OK;
}

sy_status sy_device_attribute(int ordinal, int attribute, int *value) {
	int device;
	TRY(cuDeviceGet, &device, ordinal);
	TRY(cuDeviceGetAttribute, value, attribute, device);
	return OK;
}

sy_status sy_device_can_access(int ordinal, int peer, int *yes) {
	int device, other;
	TRY(cuDeviceGet, &device, ordinal);
	TRY(cuDeviceGet, &other, peer);
	TRY(cuDeviceCanAccessPeer, yes, device, other);
	return OK;
}

// ---- device -------------------------------------------------------------------------------------------

// release gives the context back; threads that had it current must set it again if it returns.
static int release(sy_device *d) {
	atomic_fetch_add_explicit(&epoch, 1, memory_order_release);
	return cu.cuDevicePrimaryCtxRelease_v2(d->device);
}

sy_status sy_device_open(int ordinal, sy_device **out) {
	sy_status st = OK;
	sy_device *d = calloc(1, sizeof *d);
	if (!d) return OUT_OF_HOST_MEMORY;
	TRY_ELSE(failed, cuDeviceGet, &d->device, ordinal);
	int flagged = cu.cuDevicePrimaryCtxSetFlags_v2(d->device, CU_SCHEDULE_BLOCKING_SYNC);
	if (flagged && flagged != CU_PRIMARY_CONTEXT_ACTIVE) {
		st = (sy_status){flagged, "cuDevicePrimaryCtxSetFlags"};
		goto failed;
	}
	TRY_ELSE(failed, cuDevicePrimaryCtxRetain, &d->context, d->device);
	st = enter(d);
	if (st.code) goto retained;
	TRY_ELSE(retained, cuStreamCreate, &d->service, CU_STREAM_NON_BLOCKING);
	*out = d;
	return OK;
retained:
	release(d);
failed:
	free(d);
	return st;
}

sy_status sy_device_close(sy_device *d) {
	sy_status st = enter(d);
	if (!st.code) FIRST(cuStreamDestroy_v2, d->service);
	int result = release(d);
	if (result && !st.code) st = (sy_status){result, "cuDevicePrimaryCtxRelease"};
	free(d);
	return st;
}

static sy_status zero(sy_device *d, cu_ptr ptr, size_t n) {
	TRY(cuMemsetD8Async, ptr, 0, n, d->service);
	TRY(cuStreamSynchronize, d->service);
	return OK;
}

sy_status sy_alloc(sy_device *d, size_t n, uint64_t *out) {
	ENTER(d);
	cu_ptr ptr;
	TRY(cuMemAlloc_v2, &ptr, n);
	sy_status st = zero(d, ptr, n);
	if (st.code) {
		cu.cuMemFree_v2(ptr);
		return st;
	}
	*out = ptr;
	return OK;
}

sy_status sy_free(sy_device *d, uint64_t ptr) {
	ENTER(d);
	TRY(cuMemFree_v2, ptr);
	return OK;
}

static sy_status host_alloc(size_t n, void **out) {
	sy_status st = OK;
	void *host;
	cu_ptr seen = 0;
	TRY(cuMemHostAlloc, &host, n, CU_HOST_PORTABLE | CU_HOST_DEVICEMAP);
	TRY_ELSE(failed, cuMemHostGetDevicePointer_v2, &seen, host, 0);
	if (seen != (cu_ptr)(uintptr_t)host) {
		st = (sy_status){SY_NOT_UNIFIED, "cuMemHostGetDevicePointer"};
		goto failed;
	}
	memset(host, 0, n);
	*out = host;
	return OK;
failed:
	cu.cuMemFreeHost(host);
	return st;
}

sy_status sy_host_alloc(sy_device *d, size_t n, uintptr_t *out) {
	ENTER(d);
	void *host = NULL;
	sy_status st = host_alloc(n, &host);
	*out = (uintptr_t)host;
	return st;
}

sy_status sy_host_free(sy_device *d, uintptr_t ptr) {
	ENTER(d);
	TRY(cuMemFreeHost, (void *)ptr);
	return OK;
}

// ---- segments -----------------------------------------------------------------------------------------

static cu_allocation shareable(const sy_device *d) {
	cu_allocation prop = {0};
	prop.type = CU_ALLOCATION_PINNED;
	prop.handle_types = CU_HANDLE_POSIX_FD;
	prop.location = (cu_location){CU_LOCATION_DEVICE, d->device};
	return prop;
}

// map gives the allocation an address that this device may read and write.
static sy_status map(sy_device *d, sy_segment *s) {
	sy_status st = OK;
	cu_access access = {{CU_LOCATION_DEVICE, d->device}, CU_ACCESS_READWRITE};
	TRY(cuMemAddressReserve, &s->ptr, s->size, 0, 0, 0);
	TRY_ELSE(reserved, cuMemMap, s->ptr, s->size, 0, s->handle, 0);
	TRY_ELSE(mapped, cuMemSetAccess, s->ptr, s->size, &access, 1);
	return OK;
mapped:
	cu.cuMemUnmap(s->ptr, s->size);
reserved:
	cu.cuMemAddressFree(s->ptr, s->size);
	return st;
}

sy_status sy_segment_create(sy_device *d, size_t n, sy_segment *s) {
	ENTER(d);
	cu_allocation prop = shareable(d);
	size_t granularity;
	TRY(cuMemGetAllocationGranularity, &granularity, &prop, CU_GRANULARITY_RECOMMENDED);
	s->size = (n + granularity - 1) / granularity * granularity;
	TRY(cuMemCreate, &s->handle, s->size, &prop, 0);
	sy_status st = map(d, s);
	if (st.code) {
		cu.cuMemRelease(s->handle);
		return st;
	}
	st = zero(d, s->ptr, s->size);
	if (st.code) sy_segment_close(d, s);
	return st;
}

sy_status sy_segment_import(sy_device *d, int fd, size_t n, sy_segment *s) {
	ENTER(d);
	s->size = n;
	TRY(cuMemImportFromShareableHandle, &s->handle, (void *)(uintptr_t)fd, CU_HANDLE_POSIX_FD);
	sy_status st = map(d, s);
	if (st.code) cu.cuMemRelease(s->handle);
	return st;
}

sy_status sy_segment_export(sy_device *d, const sy_segment *s, int *fd) {
	ENTER(d);
	TRY(cuMemExportToShareableHandle, fd, s->handle, CU_HANDLE_POSIX_FD, 0);
	return OK;
}

sy_status sy_segment_close(sy_device *d, const sy_segment *s) {
	ENTER(d);
	sy_status st = OK;
	FIRST(cuMemUnmap, s->ptr, s->size);
	FIRST(cuMemRelease, s->handle);
	FIRST(cuMemAddressFree, s->ptr, s->size);
	return st;
}

// ---- code ---------------------------------------------------------------------------------------------

sy_status sy_module_load(sy_device *d, const void *image, uintptr_t *out) {
	ENTER(d);
	cu_module module;
	TRY(cuModuleLoadData, &module, image);
	*out = (uintptr_t)module;
	return OK;
}

sy_status sy_module_unload(sy_device *d, uintptr_t module) {
	ENTER(d);
	TRY(cuModuleUnload, (cu_module)module);
	return OK;
}

sy_status sy_function(sy_device *d, uintptr_t module, const char *name, uintptr_t *out) {
	ENTER(d);
	cu_function function;
	TRY(cuModuleGetFunction, &function, (cu_module)module, name);
	if (cu.cuFuncLoad) TRY(cuFuncLoad, function);
	*out = (uintptr_t)function;
	return OK;
}

sy_status sy_function_attribute(sy_device *d, uintptr_t function, int attribute, int *value) {
	ENTER(d);
	TRY(cuFuncGetAttribute, value, attribute, (cu_function)function);
	return OK;
}

sy_status sy_function_set_attribute(sy_device *d, uintptr_t function, int attribute, int value) {
	ENTER(d);
	TRY(cuFuncSetAttribute, (cu_function)function, attribute, value);
	return OK;
}

sy_status sy_function_param(sy_device *d, uintptr_t function, size_t index, size_t *offset, size_t *size, int *known) {
	ENTER(d);
	*known = -1;
	if (!cu.cuFuncGetParamInfo) return OK;
	int result = cu.cuFuncGetParamInfo((cu_function)function, index, offset, size);
	if (result && result != CU_INVALID_VALUE) return (sy_status){result, "cuFuncGetParamInfo"};
	*known = !result;
	return OK;
}

// ---- streams ------------------------------------------------------------------------------------------

// The staging memory is two halves. Copies fill one from the front; when it is full its event is recorded and
// the other is taken, after its own event. It is made by the first copy that needs it.
struct sy_stream {
	sy_device *device;
	cu_stream stream;
	unsigned char *stage; // 2 * STAGE_HALF, or NULL
	cu_event left[2];     // recorded when a half was left
	int half;
	size_t used; // of the current half
};

sy_status sy_stream_create(sy_device *d, sy_stream **out) {
	ENTER(d);
	sy_stream *s = calloc(1, sizeof *s);
	if (!s) return OUT_OF_HOST_MEMORY;
	s->device = d;
	int result = cu.cuStreamCreate(&s->stream, CU_STREAM_NON_BLOCKING);
	if (result) {
		free(s);
		return (sy_status){result, "cuStreamCreate"};
	}
	*out = s;
	return OK;
}

sy_status sy_stream_destroy(sy_stream *s) {
	sy_status st = enter(s->device);
	if (!st.code) {
		FIRST(cuStreamSynchronize, s->stream);
		if (s->stage) {
			FIRST(cuEventDestroy_v2, s->left[0]);
			FIRST(cuEventDestroy_v2, s->left[1]);
			FIRST(cuMemFreeHost, s->stage);
		}
		FIRST(cuStreamDestroy_v2, s->stream);
	}
	free(s);
	return st;
}

sy_status sy_launch(sy_stream *s, uintptr_t function, const sy_shape *shape, const void *args, size_t size) {
	ENTER(s->device);
	void *extra[] = {CU_LAUNCH_BUFFER_POINTER, (void *)args, CU_LAUNCH_BUFFER_SIZE, &size, CU_LAUNCH_END};
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

// A wait polls for a while, since most are short, and then sleeps. It ends with the driver's own wait in any case, because that is what
// hands over the output of printf in kernels; the C library's buffer is then emptied, or a session would see the text much later.
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
	void *stage;
	unsigned flags = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING;
	TRY(cuMemHostAlloc, &stage, 2 * STAGE_HALF, CU_HOST_PORTABLE);
	TRY_ELSE(host, cuEventCreate, &s->left[0], flags);
	TRY_ELSE(event, cuEventCreate, &s->left[1], flags);
	s->stage = stage;
	return OK;
event:
	cu.cuEventDestroy_v2(s->left[0]);
host:
	cu.cuMemFreeHost(stage);
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
			st = wait_event(s->left[s->half]); // an event never recorded is reached
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
	sy_status st = host_alloc(n, &host);
	if (st.code) return st;
	memcpy(host, src, n);
	TRY_ELSE(failed, cuMemcpyHtoDAsync_v2, dst, host, n, s->stream);
	*buffer = (uintptr_t)host;
	return OK;
failed:
	cu.cuMemFreeHost(host);
	return st;
}

// ask starts the copy of the chunk at offset and marks its half.
static sy_status ask(sy_stream *s, uint64_t src, size_t n, size_t offset, int half) {
	size_t part = n - offset < STAGE_HALF ? n - offset : STAGE_HALF;
	TRY(cuMemcpyDtoHAsync_v2, s->stage + half * STAGE_HALF, src + offset, part, s->stream);
	TRY(cuEventRecord, s->left[half], s->stream);
	return OK;
}

// sy_read copies through both halves in turn: while one chunk is handed over the next arrives. Stream order
// keeps the chunks off the staging memory that earlier writes still use.
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

// ---- events -------------------------------------------------------------------------------------------

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

sy_status sy_event_wait(sy_stream *s, uintptr_t event) {
	ENTER(s->device);
	TRY(cuStreamWaitEvent, s->stream, (cu_event)event, 0);
	return OK;
}

sy_status sy_event_synchronize(sy_device *d, uintptr_t event) {
	ENTER(d);
	return wait_event((cu_event)event);
}

sy_status sy_event_elapsed(sy_device *d, uintptr_t from, uintptr_t to, float *milliseconds) {
	ENTER(d);
	TRY(cuEventElapsedTime, milliseconds, (cu_event)from, (cu_event)to);
	return OK;
}

// ---- graphs -------------------------------------------------------------------------------------------

sy_status sy_capture_begin(sy_stream *s) {
	ENTER(s->device);
	TRY(cuStreamBeginCapture_v2, s->stream, CU_CAPTURE_RELAXED);
	return OK;
}

sy_status sy_capture_end(sy_stream *s, uintptr_t *out) {
	ENTER(s->device);
	cu_graph graph = NULL;
	cu_exec exec = NULL;
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
