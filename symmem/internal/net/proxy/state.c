#include "state.h"

#include <stdio.h>

void net_mark_lost(net_proxy *p, uint32_t peer, const char *why) {
	net_peer *q = &p->peers[peer];
	if (q->state != NET_CONNECTED || q->losing || peer == p->rank) return;
	q->losing = 1;
	p->losses++;
	snprintf(q->why, sizeof q->why, "%s", why);
}
