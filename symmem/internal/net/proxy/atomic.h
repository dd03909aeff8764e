// atomic.h: the atomic operation of a NET_ATOMIC on host memory, for the engine and its watcher.
#ifndef NET_ATOMIC_H
#define NET_ATOMIC_H

#include "board.h"

#define NET_ATOMIC_OF(TYPE)                                                                                            \
	static inline TYPE net_atomic_##TYPE(TYPE *word, uint32_t operation, TYPE value, TYPE compare) {                   \
		switch (operation) {                                                                                           \
		case NET_SET: return __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);                                       \
		case NET_ADD: return __atomic_fetch_add(word, value, __ATOMIC_SEQ_CST);                                        \
		case NET_AND: return __atomic_fetch_and(word, value, __ATOMIC_SEQ_CST);                                        \
		case NET_OR: return __atomic_fetch_or(word, value, __ATOMIC_SEQ_CST);                                          \
		case NET_XOR: return __atomic_fetch_xor(word, value, __ATOMIC_SEQ_CST);                                        \
		case NET_COMPARE_SWAP:                                                                                         \
			__atomic_compare_exchange_n(word, &compare, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                 \
			return compare;                                                                                            \
		}                                                                                                              \
		return __atomic_load_n(word, __ATOMIC_SEQ_CST);                                                                \
	}
NET_ATOMIC_OF(uint32_t)
NET_ATOMIC_OF(uint64_t)
#undef NET_ATOMIC_OF

// net_atomic does an atomic operation on a word of 4 or 8 bytes, and returns the previous value.
static inline uint64_t net_atomic(void *word, uint32_t bytes, uint32_t operation, uint64_t value, uint64_t compare) {
	if (bytes == 4) return net_atomic_uint32_t((uint32_t *)word, operation, (uint32_t)value, (uint32_t)compare);
	return net_atomic_uint64_t((uint64_t *)word, operation, value, compare);
}

#endif
