// order.h: which messages of one source have come, and which are finished.
#ifndef NET_ORDER_H
#define NET_ORDER_H

#include <stdint.h>

// NET_FAR_AHEAD bounds how far a message may be ahead of the first unfinished one.
enum { NET_FAR_AHEAD = 1 << 20 };

typedef struct net_parked {
	struct net_parked *next;
	uint64_t number;
} net_parked;

typedef struct {
	uint64_t upto;            // all messages up to this number are finished
	uint64_t *come, *finished; // one bit for each of the `bits` numbers after it
	uint64_t bits;            // a power of 2
	net_parked *parked;       // strong signals that wait, by number
	uint64_t waiting;         // how many
} net_order;

// net_order_admit notes that a message has come: 0, or 1 if it came before, 2 if it is too far ahead, 3 if there is no memory.
int net_order_admit(net_order *o, uint64_t number);

// net_order_finish notes that a message which was admitted is finished.
void net_order_finish(net_order *o, uint64_t number);

// net_order_park keeps a signal until its turn; net_order_next takes the first whose turn has come, or returns NULL.
void net_order_park(net_order *o, net_parked *signal, uint64_t number);
net_parked *net_order_next(net_order *o);

// net_order_drain takes the first parked signal whether its turn has come or not.
net_parked *net_order_drain(net_order *o);

// net_order_reset begins again with number 1. Nothing may be parked.
void net_order_reset(net_order *o);

#endif
