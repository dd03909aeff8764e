// Declarations that the C files share: the device and macros for driver calls.
#ifndef SYMMREPL_INNER_H
#define SYMMREPL_INNER_H

#include <stdatomic.h>
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

// TRY_ELSE stores the first failure in st and jumps to the label that undoes the earlier steps.
#define TRY_ELSE(label, name, ...) \
	do { \
		int result_ = cu.name(__VA_ARGS__); \
		if (result_) { \
			st = (sy_status){result_, #name}; \
			goto label; \
		} \
	} while (0)

// FIRST stores the first failure in st and goes on: for functions that release resources.
#define FIRST(name, ...) \
	do { \
		int result_ = cu.name(__VA_ARGS__); \
		if (result_ && !st.code) st = (sy_status){result_, #name}; \
	} while (0)

// ENTER makes the device's context current on this thread.
#define ENTER(device) \
	do { \
		sy_status entered_ = sy_enter(device); \
		if (entered_.code) return entered_; \
	} while (0)

struct sy_device {
	int device;
	cu_context context;
	cu_stream service;      // urgent: zeroing, and words that are read and written while the user's streams wait
	int handles;            // kinds of handles as which segments can be exported
	_Atomic(void *) stages; // list of the staging memory of destroyed streams, each with the address of the next
	atomic_int copiers;     // number of copiers, of network engines
	atomic_int captures;    // number of captures under way
};

// Use SETTLE before driver calls that wait until running kernels end: calls that load code, and
// that pin, map or free memory. During such a call the driver blocks calls of all other threads,
// even of a network engine, whose data the kernels may be waiting for. Therefore, with a copier,
// SETTLE first waits for the kernels, in a call that does not block the engine's calls.
#define SETTLE(device) \
	do { \
		sy_status settled_ = sy_settle(device); \
		if (settled_.code) return settled_; \
	} while (0)

// sy_beside holds the resources for parallel copies: streams for all copies but the first, and
// events that begin and end them. They are made when first needed.
#define SY_BESIDE 15
typedef struct {
	cu_stream stream[SY_BESIDE];
	cu_event begin, end[SY_BESIDE];
} sy_beside;

sy_status sy_beside_destroy(sy_beside *b);

// The staging memory has two halves. Copies fill one half from the front; when it is full, its
// event is recorded, and copies go on in the other half, after that half's event. The first copy
// that needs staging memory allocates it.
struct sy_stream {
	sy_device *device;
	cu_stream stream;
	unsigned char *stage; // 2 * STAGE_HALF, or NULL
	cu_event left[2];     // recorded when a half is full
	int half;
	size_t used; // bytes used of the current half
	cu_event before, after; // recorded before and after a wait for an event: see sy_awaits
	sy_beside beside;
};

// sy_enter is the function of ENTER, and sy_settle that of SETTLE.
sy_status sy_enter(const sy_device *d);
sy_status sy_settle(sy_device *d);

// sy_urgent_stream makes a stream of the greatest priority in the current context. Streams of one priority share
// a few hardware queues, so that a copy on an ordinary stream may stand behind another stream's wait for a word.
sy_status sy_urgent_stream(cu_stream *out);

// sy_zero fills device memory with zeros, and waits for that.
sy_status sy_zero(sy_device *d, uint64_t ptr, size_t n);

// sy_host_memory returns zeroed pinned memory that the device sees at the same address. The context
// must be current.
sy_status sy_host_memory(sy_device *d, size_t n, void **out);

// sy_map maps a segment's allocation, or multicast object, at an address that this device may read
// and write.
sy_status sy_map(sy_device *d, sy_segment *s);

#endif
