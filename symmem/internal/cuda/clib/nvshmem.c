#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inner.h"

// The parts of NVSHMEM's binary interface that are used: its functions and structures, which are
// the same from 3.4 to 3.8.
enum { SHMEM_INIT_WITH_ID = 8, SHMEM_SIGNAL_SET = 9, SHMEM_SIGNAL_ADD = 10, SHMEM_CMP_EQ = 0, SHMEM_CMP_GE = 5 };

// A structure begins with the number of its form and its size.
#define SHMEM_FORM(type) ((1 << 16) + (int)sizeof(type))

typedef struct {
	int version;
	char bytes[124];
} shmem_id;
static_assert(sizeof(shmem_id) == SY_SHMEM_ID, "nvshmemx_uniqueid_v1");

typedef struct {
	int version;
	shmem_id *id;
	int rank, size;
} shmem_id_args;
static_assert(sizeof(shmem_id_args) == 24, "nvshmemx_uniqueid_args_v1");

typedef struct {
	int version;
	shmem_id_args id;
	char rest[96];
} shmem_args;
static_assert(sizeof(shmem_args) == 128 && offsetof(shmem_args, id) == 8, "nvshmemx_init_args_v1");

typedef struct {
	int version;
	void *mpi;
	shmem_args args;
} shmem_attr;
static_assert(sizeof(shmem_attr) == 144 && offsetof(shmem_attr, args) == 16, "nvshmemx_init_attr_v1");

#define SHMEM_FUNCTIONS(X) \
	X(void, nvshmemx_vendor_get_version_info, (int *major, int *minor, int *patch)) \
	X(int, nvshmemx_get_uniqueid, (shmem_id * id)) \
	X(int, nvshmemx_set_attr_uniqueid_args, (int rank, int size, const shmem_id *id, shmem_attr *attr)) \
	X(int, nvshmemx_hostlib_init_attr, (unsigned flags, shmem_attr *attr)) \
	X(void, nvshmemx_hostlib_finalize, (void)) \
	X(int, nvshmem_my_pe, (void)) \
	X(int, nvshmem_n_pes, (void)) \
	X(void *, nvshmem_malloc, (size_t size)) \
	X(void, nvshmem_free, (void *ptr)) \
	X(void *, nvshmem_ptr, (const void *ptr, int pe)) \
	X(void, nvshmemx_putmem_on_stream, (void *dst, const void *src, size_t n, int pe, cu_stream stream)) \
	X(void, nvshmemx_getmem_on_stream, (void *dst, const void *src, size_t n, int pe, cu_stream stream)) \
	X(void, nvshmemx_putmem_signal_on_stream, (void *dst, const void *src, size_t n, uint64_t *word, uint64_t value, int op, int pe, cu_stream stream)) \
	X(void, nvshmemx_signal_op_on_stream, (uint64_t *word, uint64_t value, int op, int pe, cu_stream stream)) \
	X(void, nvshmemx_signal_wait_until_on_stream, (uint64_t *word, int cmp, uint64_t value, cu_stream stream))

struct sy_shmem {
#define FIELD(result, name, args) result(*name) args;
	SHMEM_FUNCTIONS(FIELD)
#undef FIELD
};

sy_shmem *sy_shmem_load(const char *path, char *why, size_t size) {
	void *lib = sy_library_open(path, RTLD_NOW | RTLD_LOCAL, why, size);
	if (!lib) return NULL;
	sy_shmem *n = calloc(1, sizeof *n);
	if (!n) {
		snprintf(why, size, "out of memory");
		return NULL;
	}
	const char *missing = NULL;
#define RESOLVE(result, name, args) \
	if (!(n->name = (result(*) args)dlsym(lib, #name)) && !missing) missing = #name;
	SHMEM_FUNCTIONS(RESOLVE)
#undef RESOLVE
	if (missing) {
		snprintf(why, size, "%s lacks %s", path, missing);
		free(n);
		return NULL;
	}
	return n;
}

void sy_shmem_version(const sy_shmem *n, int version[3]) { n->nvshmemx_vendor_get_version_info(&version[0], &version[1], &version[2]); }

// CALL returns from the function when a call of the library fails.
#define CALL(name, ...) \
	do { \
		int result_ = n->name(__VA_ARGS__); \
		if (result_) return (sy_status){result_, #name}; \
	} while (0)

sy_status sy_shmem_id(const sy_shmem *n, sy_device *d, unsigned char *id) {
	ENTER(d);
	shmem_id new = {.version = SHMEM_FORM(shmem_id)};
	CALL(nvshmemx_get_uniqueid, &new);
	memcpy(id, &new, sizeof new);
	return OK;
}

sy_status sy_shmem_join(const sy_shmem *n, sy_device *d, const unsigned char *id, int rank, int size) {
	ENTER(d);
	SETTLE(d);
	shmem_id of;
	shmem_attr attr = {.version = SHMEM_FORM(shmem_attr), .args = {.version = SHMEM_FORM(shmem_args), .id = {.version = SHMEM_FORM(shmem_id_args)}}};
	memcpy(&of, id, sizeof of);
	CALL(nvshmemx_set_attr_uniqueid_args, rank, size, &of, &attr);
	CALL(nvshmemx_hostlib_init_attr, SHMEM_INIT_WITH_ID, &attr);
	if (n->nvshmem_my_pe() != rank || n->nvshmem_n_pes() != size) return (sy_status){SY_SHMEM_OTHER, "nvshmem_my_pe"};
	return OK;
}

sy_status sy_shmem_leave(const sy_shmem *n, sy_device *d) {
	ENTER(d);
	SETTLE(d);
	n->nvshmemx_hostlib_finalize();
	return OK;
}

sy_status sy_shmem_alloc(const sy_shmem *n, sy_device *d, size_t size, uint64_t *ptr) {
	ENTER(d);
	SETTLE(d);
	void *p = n->nvshmem_malloc(size);
	if (!p) return (sy_status){SY_SHMEM_FULL, "nvshmem_malloc"};
	*ptr = (uint64_t)(uintptr_t)p;
	return sy_zero(d, *ptr, size);
}

sy_status sy_shmem_free(const sy_shmem *n, sy_device *d, uint64_t ptr) {
	ENTER(d);
	SETTLE(d);
	n->nvshmem_free((void *)ptr);
	return OK;
}

sy_status sy_shmem_peer(const sy_shmem *n, sy_device *d, uint64_t ptr, int peer, uint64_t *at) {
	ENTER(d);
	*at = (uint64_t)(uintptr_t)n->nvshmem_ptr((const void *)ptr, peer);
	return OK;
}

sy_status sy_shmem_run(const sy_shmem *n, sy_stream *s, const sy_shmem_call *a) {
	ENTER(s->device);
	void *dst = (void *)a->dst;
	const void *src = (const void *)a->src;
	uint64_t *word = (uint64_t *)a->word;
	switch (a->kind) {
	case SY_SHMEM_PUT: n->nvshmemx_putmem_on_stream(dst, src, a->n, a->peer, s->stream); break;
	case SY_SHMEM_GET: n->nvshmemx_getmem_on_stream(dst, src, a->n, a->peer, s->stream); break;
	case SY_SHMEM_PUT_SIGNAL: n->nvshmemx_putmem_signal_on_stream(dst, src, a->n, word, a->value, SHMEM_SIGNAL_SET, a->peer, s->stream); break;
	case SY_SHMEM_SIGNAL_ADD: n->nvshmemx_signal_op_on_stream(word, a->value, SHMEM_SIGNAL_ADD, a->peer, s->stream); break;
	case SY_SHMEM_WAIT: n->nvshmemx_signal_wait_until_on_stream(word, a->at_least ? SHMEM_CMP_GE : SHMEM_CMP_EQ, a->value, s->stream); break;
	}
	return OK;
}
