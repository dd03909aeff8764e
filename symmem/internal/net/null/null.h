// null.h: a network of files between processes of one machine that can be slow, late, reordered and
// lossy.
#ifndef NET_NULL_H
#define NET_NULL_H

#include <stdint.h>

typedef struct {
	uint64_t delay;     // in nanoseconds, of a message
	uint64_t bandwidth; // bytes a second to each peer; 0 for no limit
	uint32_t reorder;   // whether messages overtake each other
	uint32_t drop;      // of 2^32 messages, how many are lost
	uint64_t seed;      // of the random decisions
} net_null_settings;

extern const struct net_transport net_null;

#endif
