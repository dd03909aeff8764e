#include "order.h"

#include <stdlib.h>

enum { FIRST_BITS = 256 };

static uint64_t *word(uint64_t *map, const net_order *o, uint64_t number) { return &map[(number & (o->bits - 1)) / 64]; }
static uint64_t bit(uint64_t number) { return (uint64_t)1 << (number % 64); }

static int grow(net_order *o, uint64_t ahead) {
	net_order n = {.bits = o->bits ? o->bits : FIRST_BITS};
	while (n.bits < ahead) n.bits *= 2;
	n.come = calloc(n.bits / 64, 8);
	n.finished = calloc(n.bits / 64, 8);
	if (!n.come || !n.finished) {
		free(n.come);
		free(n.finished);
		return 0;
	}
	for (uint64_t k = o->upto + 1; k <= o->upto + o->bits; k++) {
		if (*word(o->come, o, k) & bit(k)) *word(n.come, &n, k) |= bit(k);
		if (*word(o->finished, o, k) & bit(k)) *word(n.finished, &n, k) |= bit(k);
	}
	free(o->come);
	free(o->finished);
	o->come = n.come;
	o->finished = n.finished;
	o->bits = n.bits;
	return 1;
}

int net_order_admit(net_order *o, uint64_t number) {
	if (number <= o->upto) return 1;
	uint64_t ahead = number - o->upto;
	if (ahead > NET_FAR_AHEAD) return 2;
	if (ahead > o->bits && !grow(o, ahead)) return 3;
	if (*word(o->come, o, number) & bit(number)) return 1;
	*word(o->come, o, number) |= bit(number);
	return 0;
}

void net_order_finish(net_order *o, uint64_t number) {
	*word(o->finished, o, number) |= bit(number);
	for (uint64_t k = o->upto + 1; *word(o->finished, o, k) & bit(k); k++) {
		*word(o->finished, o, k) &= ~bit(k);
		*word(o->come, o, k) &= ~bit(k);
		o->upto = k;
	}
}

void net_order_park(net_order *o, net_parked *signal, uint64_t number) {
	net_parked **at = &o->parked;
	while (*at && (*at)->number < number) at = &(*at)->next;
	signal->number = number;
	signal->next = *at;
	*at = signal;
	o->waiting++;
}

net_parked *net_order_drain(net_order *o) {
	net_parked *first = o->parked;
	if (first) {
		o->parked = first->next;
		o->waiting--;
	}
	return first;
}

net_parked *net_order_next(net_order *o) {
	return o->parked && o->parked->number == o->upto + 1 ? net_order_drain(o) : NULL;
}

void net_order_reset(net_order *o) {
	free(o->come);
	free(o->finished);
	*o = (net_order){0};
}
