// receiver.h: checks and applies the messages of peers, and lets the sender answer.
#ifndef NET_RECEIVER_H
#define NET_RECEIVER_H

#include "state.h"

void net_arrived(net_proxy *p, const void *header, size_t header_bytes, const void *data, size_t bytes, void *later);
void net_received(net_proxy *p, net_arrival *a, int failed);
int net_poll_landing(net_proxy *p);
// net_give_up_receiving ends the gets whose answers the transport is receiving.
void net_give_up_receiving(net_proxy *p);
// net_forget_source discards the parked signals of a source. If again is set, the source starts
// over with number 1.
void net_forget_source(net_proxy *p, uint32_t source, int again);

#endif
