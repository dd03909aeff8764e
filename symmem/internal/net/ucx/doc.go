// Package ucx passes messages through UCX's libucp, which it opens at run time: over TCP, shared
// memory or InfiniBand, depending on what the library finds and the settings allow. api.h declares
// the used part of the library, load.c keeps the library from changing the process, gate.c admits
// only connections of the world's ranks, purge.c mends a fault of older versions, and ucx.c is the
// provider.
package ucx
