#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clib.h"
#include "load.h"

#define OK ((sy_status){0, NULL})
#define OUT_OF_HOST_MEMORY ((sy_status){1, "malloc"}) // NVRTC_ERROR_OUT_OF_MEMORY

typedef struct nvrtc_program *nvrtc_program;

#define NVRTC_FUNCTIONS(X) \
	X(int, nvrtcVersion, (int *major, int *minor)) \
	X(const char *, nvrtcGetErrorString, (int code)) \
	X(int, nvrtcCreateProgram, (nvrtc_program *program, const char *source, const char *name, int headers, \
		const char *const *header, const char *const *header_name)) \
	X(int, nvrtcDestroyProgram, (nvrtc_program *program)) \
	X(int, nvrtcAddNameExpression, (nvrtc_program program, const char *expression)) \
	X(int, nvrtcGetLoweredName, (nvrtc_program program, const char *expression, const char **name)) \
	X(int, nvrtcCompileProgram, (nvrtc_program program, int options, const char *const *option)) \
	X(int, nvrtcGetProgramLogSize, (nvrtc_program program, size_t *size)) \
	X(int, nvrtcGetProgramLog, (nvrtc_program program, char *log)) \
	X(int, nvrtcGetCUBINSize, (nvrtc_program program, size_t *size)) \
	X(int, nvrtcGetCUBIN, (nvrtc_program program, char *cubin))

struct sy_nvrtc {
	int precompiles;
#define FIELD(type, name, args) type(*name) args;
	NVRTC_FUNCTIONS(FIELD)
#undef FIELD
};

#define TRY(name, ...) \
	do { \
		int result_ = n->name(__VA_ARGS__); \
		if (result_) return (sy_status){result_, #name}; \
	} while (0)

sy_nvrtc *sy_nvrtc_load(const char *path, const char *builtins, char *why, size_t size) {
	// NVRTC opens its builtins by bare name; dlopen finds a library already loaded under that name,
	// wherever it lies.
	if (builtins && !sy_library_open(builtins, RTLD_NOW | RTLD_GLOBAL, why, size)) return NULL;
	void *lib = sy_library_open(path, RTLD_NOW | RTLD_LOCAL, why, size);
	if (!lib) return NULL;
	sy_nvrtc *n = calloc(1, sizeof *n);
	if (!n) {
		snprintf(why, size, "out of memory");
		return NULL;
	}
	const char *missing = NULL;
#define RESOLVE(type, name, args) \
	if (!(n->name = (type(*) args)dlsym(lib, #name))) missing = #name;
	NVRTC_FUNCTIONS(RESOLVE)
#undef RESOLVE
	if (missing) {
		snprintf(why, size, "%s lacks %s", path, missing);
		free(n);
		return NULL;
	}
	n->precompiles = dlsym(lib, "nvrtcGetPCHCreateStatus") != NULL;
	return n;
}

sy_status sy_nvrtc_version(const sy_nvrtc *n, int *major, int *minor) {
	TRY(nvrtcVersion, major, minor);
	return OK;
}

int sy_nvrtc_precompiles(const sy_nvrtc *n) { return n->precompiles; }

const char *sy_nvrtc_error_text(const sy_nvrtc *n, int code) { return n->nvrtcGetErrorString(code); }

static sy_status take_log(const sy_nvrtc *n, nvrtc_program program, sy_result *result) {
	size_t size = 0;
	TRY(nvrtcGetProgramLogSize, program, &size);
	result->log = calloc(size + 1, 1);
	if (!result->log) return OUT_OF_HOST_MEMORY;
	TRY(nvrtcGetProgramLog, program, result->log);
	return OK;
}

static sy_status take_cubin(const sy_nvrtc *n, nvrtc_program program, sy_result *result) {
	TRY(nvrtcGetCUBINSize, program, &result->size);
	result->cubin = malloc(result->size);
	if (!result->cubin) return OUT_OF_HOST_MEMORY;
	TRY(nvrtcGetCUBIN, program, result->cubin);
	return OK;
}

static sy_status take_names(const sy_nvrtc *n, nvrtc_program program, const sy_request *request, sy_result *result) {
	result->lowered = calloc(request->expressions + 1, sizeof *result->lowered);
	if (!result->lowered) return OUT_OF_HOST_MEMORY;
	result->lowereds = request->expressions;
	for (int i = 0; i < request->expressions; i++) {
		const char *name = NULL;
		TRY(nvrtcGetLoweredName, program, request->expression[i], &name);
		result->lowered[i] = strdup(name);
		if (!result->lowered[i]) return OUT_OF_HOST_MEMORY;
	}
	return OK;
}

static sy_status compile(const sy_nvrtc *n, nvrtc_program program, const sy_request *request, sy_result *result) {
	for (int i = 0; i < request->expressions; i++) TRY(nvrtcAddNameExpression, program, request->expression[i]);
	int code = n->nvrtcCompileProgram(program, request->options, request->option);
	sy_status st = take_log(n, program, result);
	if (code) return (sy_status){code, "nvrtcCompileProgram"};
	if (!st.code) st = take_cubin(n, program, result);
	if (!st.code) st = take_names(n, program, request, result);
	return st;
}

sy_status sy_nvrtc_compile(const sy_nvrtc *n, const sy_request *request, sy_result *result) {
	nvrtc_program program;
	memset(result, 0, sizeof *result);
	TRY(nvrtcCreateProgram, &program, request->source, request->name, request->headers, request->header,
	    request->header_name);
	sy_status st = compile(n, program, request, result);
	n->nvrtcDestroyProgram(&program);
	return st;
}

void sy_result_free(sy_result *result) {
	for (int i = 0; i < result->lowereds; i++) free(result->lowered[i]);
	free(result->lowered);
	free(result->cubin);
	free(result->log);
}
