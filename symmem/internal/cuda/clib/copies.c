#include "inner.h"

static sy_status make(sy_beside *b, size_t i) {
	if (!b->begin) TRY(cuEventCreate, &b->begin, CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING);
	if (!b->stream[i]) TRY(cuStreamCreate, &b->stream[i], CU_STREAM_NON_BLOCKING);
	if (!b->end[i]) TRY(cuEventCreate, &b->end[i], CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING);
	return OK;
}

sy_status sy_beside_destroy(sy_beside *b) {
	sy_status st = OK;
	for (int i = 0; i < SY_BESIDE; i++) {
		if (b->stream[i]) FIRST(cuStreamDestroy_v2, b->stream[i]);
		if (b->end[i]) FIRST(cuEventDestroy_v2, b->end[i]);
	}
	if (b->begin) FIRST(cuEventDestroy_v2, b->begin);
	return st;
}

// The first copy runs on the stream itself, the others in parallel to it.
static sy_status copy_beside(sy_stream *s, const uint64_t *dst, const uint64_t *src, const size_t *size, size_t count) {
	sy_beside *b = &s->beside;
	for (size_t i = 1; i < count; i++) {
		sy_status st = make(b, i - 1);
		if (st.code) return st;
	}
	if (count > 1) TRY(cuEventRecord, b->begin, s->stream);
	TRY(cuMemcpyAsync, dst[0], src[0], size[0], s->stream);
	for (size_t i = 1; i < count; i++) {
		TRY(cuStreamWaitEvent, b->stream[i - 1], b->begin, 0);
		TRY(cuMemcpyAsync, dst[i], src[i], size[i], b->stream[i - 1]);
		TRY(cuEventRecord, b->end[i - 1], b->stream[i - 1]);
	}
	for (size_t i = 1; i < count; i++) TRY(cuStreamWaitEvent, s->stream, b->end[i - 1], 0);
	return OK;
}

sy_status sy_copy_all(sy_stream *s, const uint64_t *dst, const uint64_t *src, const size_t *size, size_t count, int capturing) {
	ENTER(s->device);
	if (count > SY_BESIDE + 1) return (sy_status){CU_INVALID_VALUE, "sy_copy_all"};
	if (!cu.cuMemcpyBatchAsync_v2 || capturing || count < 2) return copy_beside(s, dst, src, size, count);
	cu_copy_attributes attributes = {.order = CU_COPY_IN_STREAM_ORDER, .flags = CU_COPY_BESIDE_COMPUTE};
	size_t first = 0;
	TRY(cuMemcpyBatchAsync_v2, dst, src, size, count, &attributes, &first, 1, s->stream);
	return OK;
}

sy_status sy_set_words(sy_stream *s, uint64_t dst, uint32_t value, size_t n) {
	ENTER(s->device);
	TRY(cuMemsetD32Async, dst, value, n, s->stream);
	return OK;
}

sy_status sy_values(sy_stream *s, const sy_value *values, size_t count) {
	ENTER(s->device);
	cu_value_op ops[SY_VALUES] = {0};
	for (size_t i = 0; i < count; i++) {
		ops[i].operation = values[i].await ? CU_AWAIT_32 : CU_STORE_32;
		ops[i].address = values[i].word;
		ops[i].value = values[i].value;
		ops[i].flags = values[i].await ? CU_AWAIT_EQUAL : 0;
	}
	TRY(cuStreamBatchMemOp_v2, s->stream, (unsigned)count, ops, 0);
	return OK;
}

sy_status sy_peek(sy_device *d, void *dst, uint64_t src, size_t n) {
	ENTER(d);
	TRY(cuMemcpyDtoHAsync_v2, dst, src, n, d->service);
	TRY(cuStreamSynchronize, d->service);
	return OK;
}

sy_status sy_poke(sy_device *d, uint64_t dst, uint32_t value) {
	ENTER(d);
	TRY(cuMemcpyHtoDAsync_v2, dst, &value, sizeof value, d->service);
	TRY(cuStreamSynchronize, d->service);
	return OK;
}
