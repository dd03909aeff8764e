#include "late.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../proxy/atomic.h"
#include "../proxy/copier.h"

typedef struct pending {
	struct pending *next;
	int64_t ticket;
	int polls, is_word, add;
	uint64_t to, to_pitch, from, from_pitch, width, rows, value, compare;
	uint32_t bytes, operation; // operation: of an atomic one, else 0
} pending;

typedef struct {
	net_copier copier;
	uint64_t device, bytes, random;
	int64_t tickets;
	uint64_t staged, results[1024];
	pending *first;
} late;

static int owns(void *arg, uint64_t address) {
	late *l = arg;
	return address >= l->device && address < l->device + l->bytes;
}

static int enter(void *arg) {
	(void)arg;
	return 0;
}

static void *stage(void *arg, size_t bytes) {
	late *l = arg;
	l->staged++;
	return malloc(bytes);
}

static void unstage(void *arg, void *memory) {
	(void)arg;
	free(memory);
}

static int64_t add_pending(late *l, pending p) {
	pending *n = malloc(sizeof *n), **at = &l->first;
	*n = p;
	n->ticket = ++l->tickets;
	l->random = l->random * 6364136223846793005 + 1442695040888963407;
	n->polls = l->random >> 60;
	while (*at) at = &(*at)->next;
	*at = n;
	return n->ticket;
}

static int64_t copy(void *arg, uint64_t to, uint64_t to_pitch, uint64_t from, uint64_t from_pitch, uint64_t width, uint64_t rows) {
	return add_pending(arg, (pending){.to = to, .to_pitch = to_pitch, .from = from, .from_pitch = from_pitch, .width = width, .rows = rows});
}

static int64_t word(void *arg, uint64_t at, int add, uint64_t value) {
	return add_pending(arg, (pending){.is_word = 1, .to = at, .add = add, .value = value});
}

static int64_t atomic(void *arg, uint64_t at, uint32_t bytes, uint32_t operation, uint64_t value, uint64_t compare) {
	return add_pending(arg, (pending){.is_word = 1, .to = at, .bytes = bytes, .operation = operation, .value = value, .compare = compare});
}

static uint64_t result(void *arg, int64_t ticket) { return ((late *)arg)->results[ticket % 1024]; }

static int poll(void *arg, int64_t ticket) {
	late *l = arg;
	int words_before = 0;
	for (pending **at = &l->first, *p; (p = *at); at = &p->next) {
		if (p->ticket != ticket) {
			words_before += p->is_word;
			continue;
		}
		if (p->polls-- > 0 || (p->is_word && words_before)) return 0;
		if (p->operation)
			l->results[ticket % 1024] = net_atomic((void *)p->to, p->bytes, p->operation, p->value, p->compare);
		else if (p->is_word && p->add)
			__atomic_fetch_add((uint64_t *)p->to, p->value, __ATOMIC_RELEASE);
		else if (p->is_word)
			__atomic_store_n((uint64_t *)p->to, p->value, __ATOMIC_RELEASE);
		else
			for (uint64_t r = 0; r < p->rows; r++) memcpy((void *)(p->to + r * p->to_pitch), (void *)(p->from + r * p->from_pitch), p->width);
		*at = p->next;
		free(p);
		return 1;
	}
	return -1;
}

uint64_t net_late_staged(const void *copier) { return ((const late *)copier)->staged; }

void *net_late_copier(void *device, size_t bytes) {
	late *l = calloc(1, sizeof *l);
	l->copier = (net_copier){l, enter, owns, stage, unstage, copy, word, atomic, result, poll};
	l->device = (uint64_t)device;
	l->bytes = bytes;
	l->random = 1;
	return &l->copier;
}
