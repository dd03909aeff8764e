// What the C files share: the device and how driver calls are made.
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

// ENTER makes the device's context current on this thread.
#define ENTER(device) \
	do { \
		sy_status entered_ = sy_enter(device); \
		if (entered_.code) return entered_; \
	} while (0)

struct sy_device {
	int device;
	cu_context context;
	cu_stream service;      // for zeroing, apart from the user's streams
	int handles;            // kinds that segments can be exported as
	_Atomic(void *) stages; // staging memory of streams that are gone, each with the address of the next
	atomic_int copiers;     // of network engines
	atomic_int captures;    // under way
};

// SETTLE comes before calls for which the driver waits until running kernels end: those that load code, and that pin, map and free memory. It
// lets no other thread call it meanwhile, not even a network engine's, which brings what those kernels may be waiting for. So with a copier the
// kernels are waited for first, in a call beside which the engine's go on.
#define SETTLE(device) \
	do { \
		sy_status settled_ = sy_settle(device); \
		if (settled_.code) return settled_; \
	} while (0)

// sy_beside is what runs copies beside each other: streams apart from the first copy's, and events that begin and end them. Its parts
// are made when first needed.
#define SY_BESIDE 15
typedef struct {
	cu_stream stream[SY_BESIDE];
	cu_event begin, end[SY_BESIDE];
} sy_beside;

sy_status sy_beside_destroy(sy_beside *b);

// The staging memory is two halves. Copies fill one from the front; when it is full its event is recorded and
// the other is taken, after its own event. It is made by the first copy that needs it.
struct sy_stream {
	sy_device *device;
	cu_stream stream;
	unsigned char *stage; // 2 * STAGE_HALF, or NULL
	cu_event left[2];     // recorded when a half was left
	int half;
	size_t used; // of the current half
	sy_beside beside;
};

// sy_enter is ENTER's, and sy_settle SETTLE's.
sy_status sy_enter(const sy_device *d);
sy_status sy_settle(sy_device *d);

// sy_host_memory returns zeroed pinned memory that the device sees at the same address. The context is current.
sy_status sy_host_memory(sy_device *d, size_t n, void **out);

// sy_map gives the allocation, or the multicast object, of a segment an address that this device may read and write.
sy_status sy_map(sy_device *d, sy_segment *s);

#endif
