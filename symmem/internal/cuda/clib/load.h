// How libraries are opened, and the parts of the driver's binary interface that are used: its
// functions and structures.
#ifndef SYMMREPL_LOAD_H
#define SYMMREPL_LOAD_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
	int type, id;
} cu_location;

typedef struct {
	int type, handle_types;
	cu_location location;
	void *win32;
	struct {
		uint8_t compression, gpu_direct_rdma;
		uint16_t usage;
		uint8_t reserved[4];
	} flags;
} cu_allocation;
static_assert(sizeof(cu_allocation) == 32, "CUmemAllocationProp_v1");

typedef struct {
	cu_location location;
	int flags;
} cu_access;
static_assert(sizeof(cu_access) == 12, "CUmemAccessDesc_v1");

typedef struct {
	unsigned devices;
	size_t size;
	uint64_t handle_types, flags;
} cu_multicast;
static_assert(sizeof(cu_multicast) == 32 && offsetof(cu_multicast, size) == 8, "CUmulticastObjectProp_v1");

typedef struct {
	int id;
	char pad[4];
	union {
		char pad[64];
		int overlap; // value of CU_LAUNCH_OVERLAP
	} value;
} cu_launch_attribute;
static_assert(sizeof(cu_launch_attribute) == 72 && offsetof(cu_launch_attribute, value) == 8, "CUlaunchAttribute");

typedef struct {
	int operation;
	uint64_t address, value;
	unsigned flags;
	uint64_t alias, reserved;
} cu_value_op;
static_assert(sizeof(cu_value_op) == 48 && offsetof(cu_value_op, flags) == 24, "CUstreamBatchMemOpParams");

typedef struct {
	int order;
	cu_location from, to;
	unsigned flags;
} cu_copy_attributes;
static_assert(sizeof(cu_copy_attributes) == 24, "CUmemcpyAttributes");

typedef struct {
	unsigned grid[3], block[3], shared;
	struct cu_stream *stream;
	cu_launch_attribute *attributes;
	unsigned count;
} cu_launch_config;
static_assert(sizeof(cu_launch_config) == 56 && offsetof(cu_launch_config, stream) == 32, "CUlaunchConfig");

typedef struct {
	size_t from_x, from_y;
	int from_type;
	const void *from_host;
	uint64_t from;
	void *from_array;
	size_t from_pitch;
	size_t to_x, to_y;
	int to_type;
	void *to_host;
	uint64_t to;
	void *to_array;
	size_t to_pitch;
	size_t width, height; // bytes, rows
} cu_copy_2d;
static_assert(sizeof(cu_copy_2d) == 128 && offsetof(cu_copy_2d, to_pitch) == 104, "CUDA_MEMCPY2D_v2");

enum {
	CU_UNIFIED = 4, // memory type of unified addresses
	CU_LAUNCH_OVERLAP = 6, // programmatic stream serialization

	CU_NO_DEVICE = 100,
	CU_INVALID_VALUE = 1,
	CU_OUT_OF_MEMORY = 2,
	CU_NOT_READY = 600,
	CU_PRIMARY_CONTEXT_ACTIVE = 708,

	CU_ALLOCATION_PINNED = 1,
	CU_HANDLE_POSIX_FD = 1,
	CU_HANDLE_FABRIC = 8,
	CU_LOCATION_DEVICE = 1,
	CU_ACCESS_READWRITE = 3,
	CU_GRANULARITY_MINIMUM = 0,
	CU_GRANULARITY_RECOMMENDED = 1,

	CU_SCHEDULE_BLOCKING_SYNC = 4,
	CU_STREAM_NON_BLOCKING = 1,
	CU_EVENT_BLOCKING_SYNC = 1,
	CU_EVENT_DISABLE_TIMING = 2,
	CU_HOST_PORTABLE = 1,
	CU_HOST_DEVICEMAP = 2,
	CU_CAPTURE_RELAXED = 2,

	CU_AWAIT_32 = 1,
	CU_STORE_32 = 2,
	CU_AWAIT_EQUAL = 1,
	CU_COPY_IN_STREAM_ORDER = 1,
	CU_COPY_BESIDE_COMPUTE = 1,
};

#define CU_LAUNCH_BUFFER_POINTER ((void *)1)
#define CU_LAUNCH_BUFFER_SIZE ((void *)2)
#define CU_LAUNCH_END ((void *)0)

typedef uint64_t cu_ptr;
typedef uint64_t cu_mem;
typedef struct cu_context *cu_context;
typedef struct cu_stream *cu_stream;
typedef struct cu_event *cu_event;
typedef struct cu_module *cu_module;
typedef struct cu_function *cu_function;
typedef struct cu_graph *cu_graph;
typedef struct cu_exec *cu_exec;

// CU_FUNCTIONS lists the exported symbols with their arguments. Names with a suffix are the current
// versions.
#define CU_FUNCTIONS(X) \
	X(cuInit, (unsigned flags)) \
	X(cuDriverGetVersion, (int *version)) \
	X(cuGetErrorName, (int code, const char **name)) \
	X(cuGetErrorString, (int code, const char **text)) \
	X(cuDeviceGetCount, (int *count)) \
	X(cuDeviceGet, (int *device, int ordinal)) \
	X(cuDeviceGetName, (char *name, int size, int device)) \
	X(cuDeviceGetUuid_v2, (unsigned char *uuid, int device)) \
	X(cuDeviceTotalMem_v2, (size_t *bytes, int device)) \
	X(cuDeviceGetAttribute, (int *value, int attribute, int device)) \
	X(cuDeviceCanAccessPeer, (int *yes, int device, int peer)) \
	X(cuDevicePrimaryCtxSetFlags_v2, (int device, unsigned flags)) \
	X(cuDevicePrimaryCtxRetain, (cu_context *context, int device)) \
	X(cuDevicePrimaryCtxRelease_v2, (int device)) \
	X(cuCtxSetCurrent, (cu_context context)) \
	X(cuCtxSynchronize, (void)) \
	X(cuCtxGetStreamPriorityRange, (int *least, int *greatest)) \
	X(cuPointerGetAttribute, (void *value, int attribute, cu_ptr ptr)) \
	X(cuModuleLoadData, (cu_module *module, const void *image)) \
	X(cuModuleUnload, (cu_module module)) \
	X(cuModuleGetGlobal_v2, (cu_ptr *at, size_t *bytes, cu_module module, const char *name)) \
	X(cuModuleGetFunction, (cu_function *function, cu_module module, const char *name)) \
	X(cuFuncGetAttribute, (int *value, int attribute, cu_function function)) \
	X(cuFuncSetAttribute, (cu_function function, int attribute, int value)) \
	X(cuLaunchKernel, (cu_function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, \
		unsigned shared, cu_stream stream, void **params, void **extra)) \
	X(cuStreamCreate, (cu_stream *stream, unsigned flags)) \
	X(cuStreamCreateWithPriority, (cu_stream *stream, unsigned flags, int priority)) \
	X(cuStreamDestroy_v2, (cu_stream stream)) \
	X(cuStreamQuery, (cu_stream stream)) \
	X(cuStreamSynchronize, (cu_stream stream)) \
	X(cuStreamWaitEvent, (cu_stream stream, cu_event event, unsigned flags)) \
	X(cuStreamBeginCapture_v2, (cu_stream stream, int mode)) \
	X(cuStreamEndCapture, (cu_stream stream, cu_graph *graph)) \
	X(cuGraphInstantiateWithFlags, (cu_exec *exec, cu_graph graph, uint64_t flags)) \
	X(cuGraphLaunch, (cu_exec exec, cu_stream stream)) \
	X(cuGraphExecDestroy, (cu_exec exec)) \
	X(cuGraphDestroy, (cu_graph graph)) \
	X(cuEventCreate, (cu_event *event, unsigned flags)) \
	X(cuEventDestroy_v2, (cu_event event)) \
	X(cuEventRecord, (cu_event event, cu_stream stream)) \
	X(cuEventQuery, (cu_event event)) \
	X(cuEventSynchronize, (cu_event event)) \
	X(cuEventElapsedTime, (float *milliseconds, cu_event from, cu_event to)) \
	X(cuMemAlloc_v2, (cu_ptr *ptr, size_t size)) \
	X(cuMemFree_v2, (cu_ptr ptr)) \
	X(cuMemHostAlloc, (void **ptr, size_t size, unsigned flags)) \
	X(cuMemFreeHost, (void *ptr)) \
	X(cuMemHostRegister_v2, (void *ptr, size_t size, unsigned flags)) \
	X(cuMemHostUnregister, (void *ptr)) \
	X(cuMemHostGetDevicePointer_v2, (cu_ptr *ptr, void *host, unsigned flags)) \
	X(cuStreamBatchMemOp_v2, (cu_stream stream, unsigned count, cu_value_op *ops, unsigned flags)) \
	X(cuMemsetD32Async, (cu_ptr dst, unsigned value, size_t words, cu_stream stream)) \
	X(cuMemcpyAsync, (cu_ptr dst, cu_ptr src, size_t size, cu_stream stream)) \
	X(cuMemcpyHtoDAsync_v2, (cu_ptr dst, const void *src, size_t size, cu_stream stream)) \
	X(cuMemcpyDtoHAsync_v2, (void *dst, cu_ptr src, size_t size, cu_stream stream)) \
	X(cuMemcpy2DAsync_v2, (const cu_copy_2d *copy, cu_stream stream)) \
	X(cuMemsetD8Async, (cu_ptr dst, unsigned char value, size_t size, cu_stream stream)) \
	X(cuMemGetAllocationGranularity, (size_t *bytes, const cu_allocation *prop, int option)) \
	X(cuMemCreate, (cu_mem *handle, size_t size, const cu_allocation *prop, uint64_t flags)) \
	X(cuMemRelease, (cu_mem handle)) \
	X(cuMemAddressReserve, (cu_ptr *ptr, size_t size, size_t alignment, cu_ptr hint, uint64_t flags)) \
	X(cuMemAddressFree, (cu_ptr ptr, size_t size)) \
	X(cuMemMap, (cu_ptr ptr, size_t size, size_t offset, cu_mem handle, uint64_t flags)) \
	X(cuMemUnmap, (cu_ptr ptr, size_t size)) \
	X(cuMemSetAccess, (cu_ptr ptr, size_t size, const cu_access *access, size_t count)) \
	X(cuMemExportToShareableHandle, (void *out, cu_mem handle, int type, uint64_t flags)) \
	X(cuMemImportFromShareableHandle, (cu_mem *handle, void *os, int type))

// CU_OPTIONAL lists functions that drivers before CUDA 12.4 lack; drivers before 13.0 lack
// cuMemcpyBatchAsync_v2.
#define CU_OPTIONAL(X) \
	X(cuMulticastGetGranularity, (size_t *bytes, const cu_multicast *prop, int option)) \
	X(cuMulticastCreate, (cu_mem *object, const cu_multicast *prop)) \
	X(cuMulticastAddDevice, (cu_mem object, int device)) \
	X(cuMulticastBindMem, (cu_mem object, size_t offset, cu_mem memory, size_t memory_offset, size_t size, uint64_t flags)) \
	X(cuMulticastUnbind, (cu_mem object, int device, size_t offset, size_t size)) \
	X(cuLaunchKernelEx, (const cu_launch_config *config, cu_function function, void **params, void **extra)) \
	X(cuFuncLoad, (cu_function function)) \
	X(cuMemcpyBatchAsync_v2, (const cu_ptr *dst, const cu_ptr *src, const size_t *size, size_t count, cu_copy_attributes *attributes, \
		size_t *first, size_t attribute_count, cu_stream stream)) \
	X(cuFuncGetParamInfo, (cu_function function, size_t index, size_t *offset, size_t *size))

typedef struct {
#define FIELD(name, args) int(*name) args;
	CU_FUNCTIONS(FIELD)
	CU_OPTIONAL(FIELD)
#undef FIELD
} cu_table;

// cu is filled once by sy_driver_load; no other function of the boundary may be called before.
extern cu_table cu;

// sy_library_open opens a library. It returns NULL on failure with the reason in why.
void *sy_library_open(const char *path, int mode, char *why, size_t size);

#endif
