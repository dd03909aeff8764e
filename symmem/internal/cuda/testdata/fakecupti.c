// fakecupti.c: CUPTI without a GPU. It reports one activity for each number that is pushed, from then
// until it is popped: a fill for large numbers, a kernel for others. Its clock is ahead of
// CLOCK_MONOTONIC by FAKE_CUPTI_AHEAD nanoseconds. FAKE_CUPTI names what it does wrong: "silent"
// reports no numbers, "wrong" times that cannot be, "old" an old version, "refuses" fails.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void (*request)(uint8_t **, size_t *, size_t *);
static void (*complete)(void *, uint32_t, uint8_t *, size_t, size_t);
static uint8_t *buffer;
static size_t size, used;
static __thread uint64_t pushed, since;
static uint32_t correlation = 100;
static int enabled[64];

static int is(const char *what) {
	const char *mode = getenv("FAKE_CUPTI");
	return mode && !strcmp(mode, what);
}

static uint64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	const char *ahead = getenv("FAKE_CUPTI_AHEAD");
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec + (ahead ? (uint64_t)atoll(ahead) : 0);
}

int cuptiGetVersion(uint32_t *version) { return *version = is("old") ? 12 : 130500, 0; }
int cuptiActivityEnable(int kind) { return is("refuses") && kind == 10 ? 35 : (enabled[kind] = 1, 0); }
int cuptiActivityDisable(int kind) { return enabled[kind] = 0; }
int cuptiActivityRegisterCallbacks(void (*r)(uint8_t **, size_t *, size_t *), void (*c)(void *, uint32_t, uint8_t *, size_t, size_t)) {
	return request = r, complete = c, 0;
}

// Records are 160 bytes each here; the kind is first.
enum { RECORD = 160 };
static uint8_t *record(uint32_t kind) {
	if (!enabled[kind]) return NULL;
	if (buffer && used + RECORD > size) complete(NULL, 0, buffer, size, used), buffer = NULL;
	if (!buffer) {
		size_t most;
		request(&buffer, &size, &most);
		used = 0;
	}
	uint8_t *r = buffer + used;
	used += RECORD;
	memset(r, 0, RECORD);
	memcpy(r, &kind, 4);
	return r;
}

int cuptiActivityGetNextRecord(uint8_t *b, size_t valid, void **r) {
	uint8_t *next = *r ? (uint8_t *)*r + RECORD : b;
	if (next >= b + valid) return 12; // CUPTI_ERROR_MAX_LIMIT_REACHED
	*r = next;
	return 0;
}

int cuptiActivityFlushAll(uint32_t flag) {
	(void)flag;
	if (buffer) complete(NULL, 0, buffer, size, used), buffer = NULL;
	return 0;
}

int cuptiActivityPushExternalCorrelationId(int kind, uint64_t id) { return pushed = id, since = now(), kind != 3; }

static void put(uint8_t *r, size_t at, uint64_t v, size_t n) {
	if (r) memcpy(r + at, &v, n);
}

int cuptiActivityPopExternalCorrelationId(int kind, uint64_t *last) {
	uint64_t end = now();
	uint32_t c = ++correlation;
	if (!is("silent")) {
		uint8_t *x = record(39);
		put(x, 4, 3, 4), put(x, 8, pushed, 8), put(x, 16, c, 4);
	}
	int fill = pushed >> 62 != 0;
	uint8_t *r = record(fill ? 2 : 10);
	put(r, 16, is("wrong") ? since * (c % 3 + 1) : since, 8), put(r, 24, is("wrong") ? end * (c % 3 + 1) : end, 8);
	if (fill) {
		put(r, 8, 256, 8), put(r, 44, c, 4);
	} else {
		put(r, 52, 8, 4), put(r, 56, 2, 4), put(r, 60, 1, 4), put(r, 64, 32, 4), put(r, 68, 1, 4), put(r, 72, 1, 4), put(r, 92, c, 4);
		put(r, 104, (uint64_t)(uintptr_t)"_Z4ringPfi", 8);
	}
	*last = pushed;
	return kind != 3;
}
