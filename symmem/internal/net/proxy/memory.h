// memory.h: memory of messages, and copies between it and the memory of the host and of a device.
#ifndef NET_MEMORY_H
#define NET_MEMORY_H

#include "state.h"

int net_is_device(const net_proxy *p, uint64_t address);
// net_memory returns the kind of memory of an address for the transport: net_config.memory, or
// NET_STAGED for host memory and for memory that the transport cannot access.
int net_memory(const net_proxy *p, uint64_t address);

void *net_stage(net_proxy *p, size_t bytes);
void net_unstage(net_proxy *p, void *memory);
// net_copy_rows starts copying rows; its results are those of a copier's copy.
int64_t net_copy_rows(net_proxy *p, uint64_t to, uint64_t to_pitch, uint64_t from, uint64_t from_pitch, uint64_t width, uint64_t bytes);

#endif
