#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inner.h"

// The parts of cuBLASLt's binary interface that are used: its functions and structures.
enum {
	LT_F32 = 0,
	LT_F64 = 1,
	LT_F16 = 2,
	LT_BF16 = 14,
	LT_COMPUTE_F32 = 68,
	LT_COMPUTE_F64 = 70,
	LT_F8E4M3 = 28,
	LT_MAX_WORKSPACE = 1,
	LT_DESC_TRANSPOSED_A = 3,
	LT_DESC_SCALE_A = 17,
	LT_DESC_SCALE_B = 18,
	LT_DESC_SCALE_MODE_A = 31, // since 12.8
	LT_DESC_SCALE_MODE_B = 32,
	LT_TRANSPOSED = 1,
	LT_SCALES_BY_ROW = 3, // since 12.9
	LT_UNSUPPORTED = 15,
};
typedef struct {
	uint64_t algorithm[8];
	size_t workspace;
	int state;
	float waves;
	int reserved[4];
} lt_heuristic;
static_assert(sizeof(lt_heuristic) == 96, "cublasLtMatmulHeuristicResult_t");

#define LT_FUNCTIONS(X) \
	X(cublasLtCreate, (void **handle)) \
	X(cublasLtMatmulDescCreate, (void **desc, int compute, int scale)) \
	X(cublasLtMatmulDescSetAttribute, (void *desc, int attribute, const void *value, size_t size)) \
	X(cublasLtMatmulDescDestroy, (void *desc)) \
	X(cublasLtMatrixLayoutCreate, (void **layout, int type, uint64_t rows, uint64_t cols, int64_t ld)) \
	X(cublasLtMatrixLayoutDestroy, (void *layout)) \
	X(cublasLtMatmulPreferenceCreate, (void **pref)) \
	X(cublasLtMatmulPreferenceSetAttribute, (void *pref, int attribute, const void *value, size_t size)) \
	X(cublasLtMatmulPreferenceDestroy, (void *pref)) \
	X(cublasLtMatmulAlgoGetHeuristic, (void *handle, void *desc, void *a, void *b, void *c, void *d, void *pref, int wanted, \
		lt_heuristic *results, int *found)) \
	X(cublasLtMatmul, (void *handle, void *desc, const void *alpha, const void *a, void *a_layout, const void *b, void *b_layout, \
		const void *beta, const void *c, void *c_layout, void *d, void *d_layout, const void *algorithm, void *workspace, \
		size_t workspace_size, cu_stream stream))

// A plan holds the library's choices for one shape.
typedef struct plan {
	sy_matmul of;
	void *desc, *a, *b, *d;
	lt_heuristic best;
	struct plan *next;
} plan;

struct sy_lt {
	void *handle;
	pthread_mutex_t lock;
	plan *plans;
#define FIELD(name, args) int(*name) args;
	LT_FUNCTIONS(FIELD)
#undef FIELD
};

sy_lt *sy_lt_load(sy_device *d, const char *path, char *why, size_t size) {
	sy_status entered = sy_enter(d);
	if (entered.code) {
		snprintf(why, size, "%s returned %d", entered.call, entered.code);
		return NULL;
	}
	void *lib = sy_library_open(path, RTLD_NOW | RTLD_LOCAL, why, size);
	if (!lib) return NULL;
	sy_lt *lt = calloc(1, sizeof *lt);
	if (!lt) {
		snprintf(why, size, "out of memory");
		return NULL;
	}
	const char *missing = NULL;
#define RESOLVE(name, args) \
	if (!(lt->name = (int(*) args)dlsym(lib, #name))) missing = #name;
	LT_FUNCTIONS(RESOLVE)
#undef RESOLVE
	int result = 0;
	if (missing) snprintf(why, size, "%s lacks %s", path, missing);
	else if ((result = lt->cublasLtCreate(&lt->handle))) snprintf(why, size, "cublasLtCreate returned %d", result);
	if (missing || result) {
		free(lt);
		return NULL;
	}
	pthread_mutex_init(&lt->lock, NULL);
	return lt;
}

#define LT(name, ...) \
	do { \
		int result_ = lt->name(__VA_ARGS__); \
		if (result_) return (sy_status){result_, #name}; \
	} while (0)

// scale gives a plan the addresses of the scales: b's are those of the library's first factor.
static sy_status scale(sy_lt *lt, const sy_matmul *m, plan *p) {
	const int by_row = LT_SCALES_BY_ROW;
	if (m->scale_b) LT(cublasLtMatmulDescSetAttribute, p->desc, LT_DESC_SCALE_A, &m->scale_b, sizeof m->scale_b);
	if (m->scale_a) LT(cublasLtMatmulDescSetAttribute, p->desc, LT_DESC_SCALE_B, &m->scale_a, sizeof m->scale_a);
	if (m->scales && (lt->cublasLtMatmulDescSetAttribute(p->desc, LT_DESC_SCALE_MODE_A, &by_row, sizeof by_row) ||
	                  lt->cublasLtMatmulDescSetAttribute(p->desc, LT_DESC_SCALE_MODE_B, &by_row, sizeof by_row)))
		return (sy_status){-1, "cublasLtMatmulDescSetAttribute"}; // an older library
	return OK;
}

// The library's matrices are column-major: we ask it for the transposed product of the transposed
// factors, which have the same bytes.
static sy_status make(sy_lt *lt, const sy_matmul *m, plan *p) {
	int wide = m->type == LT_F64;
	void *pref;
	int found = 0;
	size_t space = m->workspace_size;
	LT(cublasLtMatmulDescCreate, &p->desc, wide ? LT_COMPUTE_F64 : LT_COMPUTE_F32, wide ? LT_F64 : LT_F32);
	if (m->flipped) {
		const int transposed = LT_TRANSPOSED;
		LT(cublasLtMatmulDescSetAttribute, p->desc, LT_DESC_TRANSPOSED_A, &transposed, sizeof transposed);
		LT(cublasLtMatrixLayoutCreate, &p->a, m->type, m->k, m->n, (int64_t)m->k);
	} else {
		LT(cublasLtMatrixLayoutCreate, &p->a, m->type, m->n, m->k, (int64_t)m->n);
	}
	sy_status st = scale(lt, m, p);
	if (st.code) return st;
	LT(cublasLtMatrixLayoutCreate, &p->b, m->type, m->k, m->m, (int64_t)m->k);
	LT(cublasLtMatrixLayoutCreate, &p->d, m->out_type, m->n, m->m, (int64_t)m->n);
	LT(cublasLtMatmulPreferenceCreate, &pref);
	LT(cublasLtMatmulPreferenceSetAttribute, pref, LT_MAX_WORKSPACE, &space, sizeof space);
	int result = lt->cublasLtMatmulAlgoGetHeuristic(lt->handle, p->desc, p->a, p->b, p->d, p->d, pref, 1, &p->best, &found);
	lt->cublasLtMatmulPreferenceDestroy(pref);
	if (result == LT_UNSUPPORTED || (!result && !found)) result = -1;
	if (result) return (sy_status){result, "cublasLtMatmulAlgoGetHeuristic"};
	return OK;
}

static int same(const sy_matmul *a, const sy_matmul *b) {
	return a->m == b->m && a->n == b->n && a->k == b->k && a->type == b->type && a->out_type == b->out_type && a->workspace_size == b->workspace_size &&
	       a->odd == b->odd && a->flipped == b->flipped && a->scales == b->scales && !a->scale_a == !b->scale_a && !a->scale_b == !b->scale_b;
}

static sy_status find(sy_lt *lt, const sy_matmul *m, plan **out) {
	for (plan *p = lt->plans; p; p = p->next)
		if (same(&p->of, m)) return *out = p, OK;
	plan *p = calloc(1, sizeof *p);
	if (!p) return OUT_OF_HOST_MEMORY;
	p->of = *m;
	sy_status st = make(lt, m, p);
	if (st.code) {
		if (p->desc) lt->cublasLtMatmulDescDestroy(p->desc);
		if (p->a) lt->cublasLtMatrixLayoutDestroy(p->a);
		if (p->b) lt->cublasLtMatrixLayoutDestroy(p->b);
		if (p->d) lt->cublasLtMatrixLayoutDestroy(p->d);
		free(p);
		return st;
	}
	p->next = lt->plans, lt->plans = p;
	return *out = p, OK;
}

sy_status sy_lt_matmul(sy_lt *lt, sy_stream *s, const sy_matmul *m) {
	ENTER(s->device);
	const float one = 1, zero = 0;
	const double one64 = 1, zero64 = 0;
	int wide = m->type == LT_F64;
	plan *p;
	pthread_mutex_lock(&lt->lock);
	sy_status st = find(lt, m, &p);
	if (!st.code && (m->scale_a || m->scale_b)) st = scale(lt, m, p); // the plan has those of another call
	if (!st.code)
		st = (sy_status){lt->cublasLtMatmul(lt->handle, p->desc, wide ? (const void *)&one64 : &one, (void *)m->b, p->a, (void *)m->a, p->b,
		                     wide ? (const void *)&zero64 : &zero, (void *)m->out, p->d, (void *)m->out, p->d, p->best.algorithm, (void *)m->workspace,
		                     m->workspace_size, s->stream),
		    "cublasLtMatmul"};
	pthread_mutex_unlock(&lt->lock);
	return st;
}
