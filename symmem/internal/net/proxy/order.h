// order.h: tracks which messages of a source were received, and which are finished.
#ifndef NET_ORDER_H
#define NET_ORDER_H

#include <stdint.h>

// NET_FAR_AHEAD is the maximum distance of a message's number from the first unfinished one.
enum { NET_FAR_AHEAD = 1 << 20 };

typedef struct net_parked {
	struct net_parked *next;
	uint64_t number;
} net_parked;

typedef struct {
	uint64_t upto;             // all messages up to this number are finished
	uint64_t *come, *finished; // a bit for each of the `bits` numbers after it
	uint64_t bits;             // a power of 2
	net_parked *parked;        // waiting strong signals, by number
	uint64_t waiting;          // number of these
} net_order;

// net_order_admit records that a message was received. It returns 0, or 1 for a duplicate, 2 if it
// is too far ahead, 3 if there is no memory.
int net_order_admit(net_order *o, uint64_t number);

// net_order_finish records that an admitted message is finished.
void net_order_finish(net_order *o, uint64_t number);

// net_order_park keeps a signal until its turn; net_order_next removes and returns the first signal
// whose turn has come, or NULL.
void net_order_park(net_order *o, net_parked *signal, uint64_t number);
net_parked *net_order_next(net_order *o);

// net_order_drain removes and returns the first parked signal, even if its turn has not come.
net_parked *net_order_drain(net_order *o);

// net_order_reset starts over with number 1. No signal may be parked.
void net_order_reset(net_order *o);

#endif
