// load.c: opens libucp without letting it change the process.
//
// When the library is opened, its constructors replace the Go run-time's handlers for SIGSEGV and
// similar signals, and patch the first bytes of libc's munmap. Environment variables that are set
// before prevent both. The library still installs a handler for SIGHUP, which is replaced by the
// earlier one. gate.c controls which processes may connect.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "gate.h"
#include "load.h"
#include "purge.h"

enum { PATH = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int loaded;

ucx_api ucx;

// open_beside opens a library that libucp needs from libucp's own folder, because the loader might
// not look there, or find another version.
static void open_beside(const char *path, const char *name) {
	char file[PATH];
	const char *slash = strrchr(path, '/');
	// lazily, because they need each other
	if (slash && snprintf(file, sizeof file, "%.*s/%s", (int)(slash - path), path, name) < PATH) dlopen(file, RTLD_LAZY | RTLD_LOCAL);
}

static int load(const char *path, char why[NET_WHY]) {
	struct sigaction hangup;
	sigaction(SIGHUP, NULL, &hangup);
	static const char *const beside[] = {"libucm.so.0", "libucs.so.0", "libuct.so.0"};
	for (size_t k = 0; k < sizeof beside / sizeof *beside; k++) open_beside(path, beside[k]);
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	sigaction(SIGHUP, &hangup, NULL);
	if (!library) {
		snprintf(why, NET_WHY, "%s", dlerror());
		return 0;
	}
#define UCX_FIND(result, name, args) \
	if (!(*(void **)&ucx.name = dlsym(library, "ucp_" #name))) { \
		snprintf(why, NET_WHY, "it has no ucp_" #name); \
		return 0; \
	}
	UCX_FUNCTIONS(UCX_FIND)
	// dlsym also searches the libraries that this one needs
	if (!(*(void **)&ucx.status_string = dlsym(library, "ucs_status_string"))) {
		snprintf(why, NET_WHY, "it has no ucs_status_string");
		return 0;
	}
	purge_mend((void *)ucx.get_version);
	return !gate_build((void *)ucx.status_string, why);
}

int ucx_load(const char *path, char version[32], char why[NET_WHY]) {
	pthread_mutex_lock(&lock);
	if (!loaded) loaded = load(path, why);
	int ok = loaded;
	pthread_mutex_unlock(&lock);
	if (!ok) return 0;
	unsigned major, minor, release;
	ucx.get_version(&major, &minor, &release);
	if (major != 1 || minor < 13) {
		snprintf(why, NET_WHY, "it is version %u.%u.%u; 1.13 or a later 1.x is needed", major, minor, release);
		return 0;
	}
	snprintf(version, 32, "%u.%u.%u", major, minor, release);
	return 1;
}
