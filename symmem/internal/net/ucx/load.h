#ifndef NET_UCX_LOAD_H
#define NET_UCX_LOAD_H

#include "api.h"

extern ucx_api ucx; // valid after ucx_load

#endif
