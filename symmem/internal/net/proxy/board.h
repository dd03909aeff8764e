// board.h: the memory that kernels and the engine share, as kernels/include/symm/net.cuh declares it. A test compares the two.
#ifndef NET_BOARD_H
#define NET_BOARD_H

#include <assert.h>
#include <stdint.h>

enum { NET_SLOTS = 256, NET_COUNTERS = 256, NET_PEERS = 1024, NET_VALUE_BYTES = 8 };
enum { NET_PUT = 1, NET_GET = 2, NET_FENCE = 3, NET_VALUE = 4, NET_ATOMIC = 5 };
enum { NET_SIGNAL_NONE = 0, NET_SIGNAL_ADD_INDEXED = 1, NET_SIGNAL_SET_WORD = 2, NET_SIGNAL_ADD_WORD = 3 };
// The atomic operations of a NET_ATOMIC, in its signal: kernels/include/nvshmem/table.h.
enum { NET_FETCH = 1, NET_SET = 2, NET_ADD = 3, NET_AND = 4, NET_OR = 5, NET_XOR = 6, NET_COMPARE_SWAP = 7 };
#define NET_ALL_PEERS (~(uint32_t)0)
#define NET_NO_COUNTER (~(uint32_t)0)

typedef struct {
	uint64_t ready;
	uint32_t kind, peer;
	uint64_t local;
	uint64_t offset;
	uint64_t bytes;
	uint64_t width, local_pitch, remote_pitch;
	uint32_t window, counter;
	uint32_t signal, strong;
	uint32_t signal_window, ordinal;
	uint64_t signal_at;
	uint64_t value;
	uint64_t data;
	uint64_t unannounced;
	uint64_t reserved;
} net_op;

typedef struct {
	uint64_t posted, apart0[15];
	uint64_t done, apart1[15];
	uint32_t asleep, bell, apart2[30];
	uint32_t lost[NET_PEERS / 32];
	uint64_t counters[NET_COUNTERS];
	net_op slots[NET_SLOTS];
} net_board;

static_assert(sizeof(net_op) == 128, "a slot of the ring");

#endif
