// sender.h: turns slots of the ring into jobs, and jobs into messages.
#ifndef NET_SENDER_H
#define NET_SENDER_H

#include "state.h"

int net_pump(net_proxy *p);
int net_take(net_proxy *p);
void net_add_job(net_proxy *p, const net_job *job);
void net_message_sent(net_proxy *p, net_message *m, int failed);
void net_get_landed(net_proxy *p, net_message *m, int failed);
void net_told(net_proxy *p, const net_header *h);
void net_acknowledged(net_proxy *p, uint32_t peer, uint64_t ticket, uint64_t number);
int net_poll_copies(net_proxy *p);
// net_end_jobs drops the queued jobs for a peer, and those that wait for its answer or
// acknowledgement.
void net_end_jobs(net_proxy *p, uint32_t peer);

#endif
