#ifndef NET_UCX_PURGE_H
#define NET_UCX_PURGE_H

// purge_mend mends libucp, the library that contains the function at an address, if it has the fault
// that purge.c describes. A library in which it cannot is used as it is.
void purge_mend(void *inside);

#endif
