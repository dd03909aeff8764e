#include <stddef.h>
#include <stdint.h>

// net_late_copier returns a copier whose device is a range of host memory. Its copies end when they have been polled a while, in an order of
// their own.
void *net_late_copier(void *device, size_t bytes);
// net_late_staged is how often it was asked for memory to stage in.
uint64_t net_late_staged(const void *copier);
