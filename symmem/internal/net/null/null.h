// null.h: a network between processes of one machine, made of files, that can be slow, late, out of order and lossy at will.
#ifndef NET_NULL_H
#define NET_NULL_H

#include <stdint.h>

typedef struct {
	uint64_t delay;     // nanoseconds that a message takes
	uint64_t bandwidth; // bytes a second to each peer; 0 for no limit
	uint32_t reorder;   // whether messages overtake each other
	uint32_t drop;      // of 2^32 messages, how many are lost
	uint64_t seed;      // of what chance decides
} net_null_settings;

extern const struct net_transport net_null;

#endif
