// Package ucx passes messages through UCX's libucp, which it opens at run time: over TCP, shared
// memory or InfiniBand, depending on what the library finds and the settings allow. api.h declares
// the used part of the library, load.c keeps the library from changing the process, and ucx.c is
// the provider.
package ucx
