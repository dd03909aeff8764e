#include "load.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "clib.h"

cu_table cu;

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
static int loaded;

void *sy_library_open(const char *path, int mode, char *why, size_t size) {
	void *lib = dlopen(path, mode);
	if (!lib) snprintf(why, size, "%s", dlerror());
	return lib;
}

static int resolve(const char *path, char *why, size_t size) {
	void *lib = sy_library_open(path, RTLD_NOW | RTLD_LOCAL, why, size);
	if (!lib) return 1;
	cu_table table;
	const char *missing = NULL;
#define REQUIRED(name, args) \
	if (!(table.name = (int(*) args)dlsym(lib, #name))) missing = #name;
#define OPTIONAL(name, args) table.name = (int(*) args)dlsym(lib, #name);
	CU_FUNCTIONS(REQUIRED)
	CU_OPTIONAL(OPTIONAL)
#undef REQUIRED
#undef OPTIONAL
	if (missing) {
		snprintf(why, size, "%s lacks %s", path, missing);
		dlclose(lib);
		return 1;
	}
	cu = table;
	return 0;
}

int sy_driver_load(const char *path, char *why, size_t size) {
	pthread_mutex_lock(&loading);
	int failed = loaded ? 0 : resolve(path, why, size);
	loaded |= !failed;
	pthread_mutex_unlock(&loading);
	return failed;
}

const char *sy_error_name(int code) {
	const char *name = NULL;
	return cu.cuGetErrorName(code, &name) == 0 ? name : NULL;
}

const char *sy_error_text(int code) {
	const char *text = NULL;
	return cu.cuGetErrorString(code, &text) == 0 ? text : NULL;
}

int sy_library_version(const char *path, const char *function, int version[3], char *why, size_t size) {
	void *lib = sy_library_open(path, RTLD_LAZY | RTLD_LOCAL, why, size);
	if (!lib) return 1;
	void *fn = dlsym(lib, function);
	if (!fn) {
		snprintf(why, size, "%s lacks %s", path, function);
		return 1;
	}
	int code = 0, result = 0;
	if (!strcmp(function, "ncclGetVersion")) {
		result = ((int (*)(int *))fn)(&code);
		version[0] = code / 10000, version[1] = code / 100 % 100, version[2] = code % 100;
	} else if (!strcmp(function, "cublasLtGetVersion")) {
		code = (int)((size_t(*)(void))fn)();
		version[0] = code / 10000, version[1] = code / 100 % 100, version[2] = code % 100;
	} else if (!strcmp(function, "nvrtcVersion")) {
		result = ((int (*)(int *, int *))fn)(&version[0], &version[1]);
		version[2] = 0;
	} else {
		((void (*)(int *, int *, int *))fn)(&version[0], &version[1], &version[2]);
	}
	if (result) snprintf(why, size, "%s returned %d", function, result);
	return result != 0;
}
