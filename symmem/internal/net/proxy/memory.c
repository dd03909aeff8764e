#include "memory.h"

#include <stdlib.h>
#include <string.h>

int net_is_device(const net_proxy *p, uint64_t address) {
	return p->setup.copier && p->setup.copier->owns(p->setup.copier->arg, address);
}

int net_memory(const net_proxy *p, uint64_t address) {
	return p->setup.config.memory != NET_STAGED && net_is_device(p, address) ? p->setup.config.memory : NET_STAGED;
}

void *net_stage(net_proxy *p, size_t bytes) { return p->setup.copier ? p->setup.copier->stage(p->setup.copier->arg, bytes) : malloc(bytes); }

void net_unstage(net_proxy *p, void *memory) {
	if (p->setup.copier)
		p->setup.copier->unstage(p->setup.copier->arg, memory);
	else
		free(memory);
}

int64_t net_copy_rows(net_proxy *p, uint64_t to, uint64_t to_pitch, uint64_t from, uint64_t from_pitch, uint64_t width, uint64_t bytes) {
	if (width == 0) width = to_pitch = from_pitch = bytes;
	uint64_t rows = bytes / width;
	if (net_is_device(p, to) || net_is_device(p, from)) return p->setup.copier->copy(p->setup.copier->arg, to, to_pitch, from, from_pitch, width, rows);
	for (uint64_t r = 0; r < rows; r++) memmove((void *)(to + r * to_pitch), (const void *)(from + r * from_pitch), width);
	return 0;
}
