#ifndef NET_UCX_H
#define NET_UCX_H

#include "../proxy/transport.h"

extern const net_transport net_ucx;

#endif
