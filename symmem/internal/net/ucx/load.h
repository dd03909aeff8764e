#ifndef NET_UCX_LOAD_H
#define NET_UCX_LOAD_H

#include "../proxy/transport.h"
#include "api.h"

// ucx_load opens the library, once per process, and returns its version, or 0 and the reason.
int ucx_load(const char *path, char version[32], char why[NET_WHY]);

extern ucx_api ucx; // valid after ucx_load

#endif
