#include "recorder.h"

#include <stdlib.h>
#include <time.h>

#include "command.h"

static uint64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t net_record_now(const net_proxy *p) { return p->recorded ? now() : 0; }

static void add(net_proxy *p, net_recorded r) {
	if (p->recorded_count == p->recorded_room) {
		p->recorded_lost++;
		return;
	}
	p->recorded[p->recorded_count++] = r;
}

void net_record_sent(net_proxy *p, const net_message *m, int failed) {
	const net_header *h = &m->h;
	if (!p->recorded || !m->began || (h->kind != NET_MESSAGE_PUT && h->kind != NET_MESSAGE_GET && h->kind != NET_MESSAGE_ANSWER)) return;
	add(p, (net_recorded){.kind = h->kind, .peer = m->peer, .ordinal = h->kind == NET_MESSAGE_ANSWER ? 0 : m->job->op.ordinal,
	    .signals = h->kind == NET_MESSAGE_PUT && h->signal != NET_SIGNAL_NONE, .failed = failed, .number = h->number, .bytes = h->bytes,
	    .began = m->began, .ended = now()});
}

void net_record_received(net_proxy *p, const net_header *h) {
	if (!p->recorded || h->kind != NET_MESSAGE_PUT) return;
	uint64_t at = now();
	add(p, (net_recorded){.kind = h->kind, .peer = h->source, .received = 1, .signals = h->signal != NET_SIGNAL_NONE, .number = h->number,
	    .bytes = h->bytes, .began = at, .ended = at});
}

static void record(net_proxy *p, void *arg) {
	free(p->recorded);
	p->recorded_room = *(size_t *)arg;
	p->recorded_count = p->recorded_lost = 0;
	p->recorded = p->recorded_room ? calloc(p->recorded_room, sizeof *p->recorded) : NULL;
	if (!p->recorded) p->recorded_room = 0;
}

typedef struct {
	net_recorded *to;
	size_t n, count;
	uint64_t lost;
} taking;

static void take(net_proxy *p, void *arg) {
	taking *t = arg;
	for (size_t i = 0; i < t->n && i < p->recorded_count; i++) t->to[i] = p->recorded[i];
	t->count = p->recorded_count;
	t->lost = p->recorded_lost;
}

void net_record(net_proxy *p, size_t room) { net_command(p, record, &room); }

size_t net_take_recorded(net_proxy *p, net_recorded *to, size_t n, uint64_t *lost) {
	taking t = {to, n, 0, 0};
	net_command(p, take, &t);
	*lost = t.lost;
	return t.count;
}
