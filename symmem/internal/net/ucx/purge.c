// purge.c: mends a fault of UCX before version 1.22. If a peer is lost while it may read a sender's memory,
// libucp asks its cache of registrations to invalidate that memory, also if it has no cache, and the
// process ends by a segmentation fault. There is no cache here, because load.c switches off the
// memory events that it needs. UCX 1.22 asks only a cache that exists (openucx/ucx pull 11485).
#define _GNU_SOURCE
#include "purge.h"

#include <dlfcn.h>
#include <stddef.h>

#include "imports.h"

typedef void invalidated(void *arg);
typedef void invalidate(void *cache, void *region, invalidated *done, void *arg);

static invalidate *original;

// purge_invalidate does at once what the cache would do later: without a cache, libucp itself drops
// the registration after this call, and done only ends the request, with the peer's error.
static void purge_invalidate(void *cache, void *region, invalidated *done, void *arg) {
	if (cache) original(cache, region, done, arg);
	else done(arg);
}

void purge_mend(void *inside) {
	static const char *const name = "ucs_rcache_region_invalidate";
	Dl_info info;
	void *library = dladdr(inside, &info) ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	original = library ? (invalidate *)dlsym(library, name) : NULL;
	if (original) imports_replace(inside, &(import){name, purge_invalidate, 0}, 1);
}
