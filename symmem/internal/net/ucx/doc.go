// Package ucx carries messages by UCX's libucp, which it opens at run time: over TCP, shared memory or InfiniBand, as the library finds and
// the settings allow. api.h declares what of it is used, load.c says how the process stays as it was, ucx.c is the provider.
package ucx
