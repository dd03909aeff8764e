/* symm_host.h: what a program fills to launch a kernel of symm.cuh. C11 and C++11, 64-bit, little-endian.
 *
 * A kernel whose parameter is a symm::Handle takes a symm_handle by value. docs/abi.md describes every field, and how the memory that
 * it names has to be. A compiled module has the numbers of the layout that it was compiled with in the variable symm_abi:
 *
 *     unsigned symm_abi[4] = {SYMM_ABI_VERSION, sizeof(symm_context), sizeof(symm_handle), SYMM_MAX_RANKS};
 *
 * Compare it (cuModuleGetGlobal, dlsym) with SYMM_ABI before anything is launched. */
#ifndef SYMM_HOST_H
#define SYMM_HOST_H

#include <stddef.h>
#include <stdint.h>

#define SYMM_ABI_VERSION 1u
#define SYMM_MAX_RANKS 72  /* of a group */
#define SYMM_COUNTERS 64   /* of a group, 64 bits each */
#define SYMM_WATCH_BYTES 5248
#define SYMM_FAULT_AT 64   /* where a watch page has its first record */
#define SYMM_ABI {SYMM_ABI_VERSION, sizeof(symm_context), sizeof(symm_handle), SYMM_MAX_RANKS}

/* symm_context is symm::Context: what a kernel that waits knows of its rank and its call. */
typedef struct {
  uint64_t watch;       /* address of this rank's watch page: SYMM_WATCH_BYTES bytes, zero, which the device can write */
  uint64_t timeout_ns;  /* of each wait; 0: until aborted */
  int32_t rank, world_size;
  uint32_t ordinal;     /* of the launch, for records of waits */
  uint32_t channels;    /* of the signal block */
  uint32_t swaps;       /* not 0: every link between the ranks has atomic operations */
  uint32_t unannounced; /* 0 */
} symm_context;

/* symm_handle is symm::Handle: one tensor of a group whose ranks share memory. Arrays are by rank; entries from world_size on are 0. */
typedef struct {
  symm_context context;
  uint64_t bytes;                       /* of the tensor */
  uint64_t pad_bytes;                   /* of its signal pad */
  uint64_t buffers[SYMM_MAX_RANKS];     /* addresses of the tensor */
  uint64_t pads[SYMM_MAX_RANKS];        /* addresses of its signal pad */
  uint64_t signals[SYMM_MAX_RANKS];     /* addresses of the group's signal block, SYMM_SIGNAL_BYTES each */
  uint64_t net;                         /* 0 */
  uint64_t start;                       /* 0 */
  uint32_t window, reserved;            /* 0 */
} symm_handle;

/* SYMM_SIGNAL_BYTES is the size of a signal block: slots and arrivals by channel and rank, a count of rounds by channel, a word that says that
 * a wait gave up, and the counters. */
#define SYMM_SIGNAL_BYTES(channels, ranks) ((((size_t)4 * (channels) * (2 * (size_t)(ranks) + 1) + 4 + 7) & ~(size_t)7) + 8 * SYMM_COUNTERS)

/* symm_wait_record is symm::WaitRecord: the first wait that gave up is at SYMM_FAULT_AT of the watch page; its state is 0 if there is none,
 * 2 after a timeout, 3 after an abort. */
typedef struct {
  uint32_t state, kind, ordinal, rank, peer, channel;
  uint64_t want, seen, elapsed_ns, began, reserved;
} symm_wait_record;

#ifdef __cplusplus
#define SYMM_ASSERT(e) static_assert(e, #e)
#else
#define SYMM_ASSERT(e) _Static_assert(e, #e)
#endif
SYMM_ASSERT(sizeof(symm_context) == 40 && sizeof(symm_handle) == 1808 && sizeof(symm_wait_record) == 64);
SYMM_ASSERT(offsetof(symm_context, rank) == 16 && offsetof(symm_context, channels) == 28 && offsetof(symm_context, unannounced) == 36);
SYMM_ASSERT(offsetof(symm_handle, bytes) == 40 && offsetof(symm_handle, buffers) == 56 && offsetof(symm_handle, pads) == 632);
SYMM_ASSERT(offsetof(symm_handle, signals) == 1208 && offsetof(symm_handle, net) == 1784 && offsetof(symm_handle, window) == 1800);
#undef SYMM_ASSERT

#endif
