// recorder.h: when messages were sent and applied. All of it does nothing while messages are not
// recorded.
#ifndef NET_RECORDER_H
#define NET_RECORDER_H

#include "state.h"

uint64_t net_record_now(const net_proxy *p);
void net_record_sent(net_proxy *p, const net_message *m, int failed);
void net_record_received(net_proxy *p, const net_header *h);

#endif
