#include <stddef.h>
#include <stdint.h>

// net_late_copier returns a copier whose device memory is a range of host memory. Its copies end
// after some polls, in an arbitrary order.
void *net_late_copier(void *device, size_t bytes);
// net_late_staged returns the number of requests to the copier for staging memory.
uint64_t net_late_staged(const void *copier);
