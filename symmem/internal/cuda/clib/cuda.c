#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "inner.h"

// epoch grows when a context is released, because another context may later get the same address.
static atomic_uint epoch;
static __thread struct {
	cu_context context;
	unsigned epoch;
} current;

sy_status sy_enter(const sy_device *d) {
	unsigned now = atomic_load_explicit(&epoch, memory_order_acquire);
	if (current.context == d->context && current.epoch == now) return OK;
	TRY(cuCtxSetCurrent, d->context);
	current.context = d->context;
	current.epoch = now;
	return OK;
}

sy_status sy_settle(sy_device *d) {
	// No call may wait for the whole device during a capture. The capture itself begins with a
	// settled device.
	if (atomic_load(&d->copiers) && !atomic_load(&d->captures)) TRY(cuCtxSynchronize);
	return OK;
}

// ---- driver
// -------------------------------------------------------------------------------------------

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

// ---- device
// -------------------------------------------------------------------------------------------

// release releases the context; threads on which it was current must set it again if it is retained
// again.
static int release(sy_device *d) {
	atomic_fetch_add_explicit(&epoch, 1, memory_order_release);
	return cu.cuDevicePrimaryCtxRelease_v2(d->device);
}

sy_status sy_urgent_stream(cu_stream *out) {
	int least, greatest;
	TRY(cuCtxGetStreamPriorityRange, &least, &greatest);
	TRY(cuStreamCreateWithPriority, out, CU_STREAM_NON_BLOCKING, greatest);
	return OK;
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
	st = sy_enter(d);
	if (st.code) goto retained;
	st = sy_urgent_stream(&d->service);
	if (st.code) goto retained;
	*out = d;
	return OK;
retained:
	release(d);
failed:
	free(d);
	return st;
}

sy_status sy_device_close(sy_device *d) {
	sy_status st = sy_enter(d);
	if (!st.code) {
		FIRST(cuStreamDestroy_v2, d->service);
		for (void *stage = atomic_load(&d->stages), *next; stage; stage = next) {
			next = *(void **)stage;
			FIRST(cuMemFreeHost, stage);
		}
	}
	int result = release(d);
	if (result && !st.code) st = (sy_status){result, "cuDevicePrimaryCtxRelease"};
	free(d);
	return st;
}

sy_status sy_zero(sy_device *d, cu_ptr ptr, size_t n) {
	TRY(cuMemsetD8Async, ptr, 0, n, d->service);
	TRY(cuStreamSynchronize, d->service);
	return OK;
}

sy_status sy_alloc(sy_device *d, size_t n, uint64_t *out) {
	ENTER(d);
	cu_ptr ptr;
	TRY(cuMemAlloc_v2, &ptr, n);
	sy_status st = sy_zero(d, ptr, n);
	if (st.code) {
		cu.cuMemFree_v2(ptr);
		return st;
	}
	*out = ptr;
	return OK;
}

sy_status sy_free(sy_device *d, uint64_t ptr) {
	ENTER(d);
	SETTLE(d);
	TRY(cuMemFree_v2, ptr);
	return OK;
}

sy_status sy_host_memory(sy_device *d, size_t n, void **out) {
	sy_status st = OK;
	void *host;
	cu_ptr seen = 0;
	SETTLE(d);
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
	sy_status st = sy_host_memory(d, n, &host);
	*out = (uintptr_t)host;
	return st;
}

sy_status sy_host_free(sy_device *d, uintptr_t ptr) {
	ENTER(d);
	SETTLE(d);
	TRY(cuMemFreeHost, (void *)ptr);
	return OK;
}

sy_status sy_host_register(sy_device *d, uintptr_t host, size_t n, uint64_t *ptr) {
	ENTER(d);
	SETTLE(d);
	sy_status st = OK;
	TRY(cuMemHostRegister_v2, (void *)host, n, CU_HOST_PORTABLE | CU_HOST_DEVICEMAP);
	TRY_ELSE(failed, cuMemHostGetDevicePointer_v2, ptr, (void *)host, 0);
	return OK;
failed:
	cu.cuMemHostUnregister((void *)host);
	return st;
}

sy_status sy_host_unregister(sy_device *d, uintptr_t host) {
	ENTER(d);
	SETTLE(d);
	TRY(cuMemHostUnregister, (void *)host);
	return OK;
}

// ---- segments
// -----------------------------------------------------------------------------------------

static cu_allocation shareable(const sy_device *d) {
	cu_allocation prop = {0};
	prop.type = CU_ALLOCATION_PINNED;
	prop.handle_types = CU_HANDLE_POSIX_FD | d->handles;
	prop.location = (cu_location){CU_LOCATION_DEVICE, d->device};
	return prop;
}

sy_status sy_map(sy_device *d, sy_segment *s) {
	sy_status st = OK;
	cu_access access = {{CU_LOCATION_DEVICE, d->device}, CU_ACCESS_READWRITE};
	SETTLE(d);
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
	sy_status st = sy_map(d, s);
	if (st.code) {
		cu.cuMemRelease(s->handle);
		return st;
	}
	st = sy_zero(d, s->ptr, s->size);
	if (st.code) sy_segment_close(d, s);
	return st;
}

static sy_status import(sy_device *d, void *exported, int kind, size_t n, sy_segment *s) {
	ENTER(d);
	s->size = n;
	TRY(cuMemImportFromShareableHandle, &s->handle, exported, kind);
	sy_status st = sy_map(d, s);
	if (st.code) cu.cuMemRelease(s->handle);
	return st;
}

sy_status sy_segment_import(sy_device *d, int fd, size_t n, sy_segment *s) {
	return import(d, (void *)(uintptr_t)fd, CU_HANDLE_POSIX_FD, n, s);
}

sy_status sy_segment_import_token(sy_device *d, const void *token, size_t n, sy_segment *s) {
	return import(d, (void *)(uintptr_t)token, CU_HANDLE_FABRIC, n, s);
}

sy_status sy_segment_token(sy_device *d, const sy_segment *s, void *token) {
	ENTER(d);
	TRY(cuMemExportToShareableHandle, token, s->handle, CU_HANDLE_FABRIC, 0);
	return OK;
}

sy_status sy_fabric_join(sy_device *d) {
	d->handles = CU_HANDLE_FABRIC;
	sy_segment s;
	sy_status st = sy_segment_create(d, 1, &s);
	if (!st.code) return sy_segment_close(d, &s);
	d->handles = 0;
	return st;
}

sy_status sy_segment_export(sy_device *d, const sy_segment *s, int *fd) {
	ENTER(d);
	TRY(cuMemExportToShareableHandle, fd, s->handle, CU_HANDLE_POSIX_FD, 0);
	return OK;
}

sy_status sy_segment_close(sy_device *d, const sy_segment *s) {
	ENTER(d);
	sy_status st = sy_settle(d);
	FIRST(cuMemUnmap, s->ptr, s->size);
	FIRST(cuMemRelease, s->handle);
	FIRST(cuMemAddressFree, s->ptr, s->size);
	return st;
}

// ---- code
// ---------------------------------------------------------------------------------------------

sy_status sy_module_load(sy_device *d, const void *image, uintptr_t *out) {
	ENTER(d);
	SETTLE(d);
	cu_module module;
	TRY(cuModuleLoadData, &module, image);
	*out = (uintptr_t)module;
	return OK;
}

sy_status sy_module_unload(sy_device *d, uintptr_t module) {
	ENTER(d);
	SETTLE(d);
	TRY(cuModuleUnload, (cu_module)module);
	return OK;
}

sy_status sy_variable(sy_device *d, uintptr_t module, const char *name, uint64_t *at) {
	ENTER(d);
	SETTLE(d);
	cu_ptr found;
	size_t bytes;
	TRY(cuModuleGetGlobal_v2, &found, &bytes, (cu_module)module, name);
	*at = found;
	return OK;
}

sy_status sy_function(sy_device *d, uintptr_t module, const char *name, uintptr_t *out) {
	ENTER(d);
	SETTLE(d);
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
