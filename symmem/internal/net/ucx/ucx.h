#ifndef NET_UCX_H
#define NET_UCX_H

#include "../proxy/transport.h"

// ucx_load opens the library, once per process, and returns its version, or 0 and the reason.
int ucx_load(const char *path, char version[32], char why[NET_WHY]);

extern const net_transport net_ucx;

#endif
