#include "receiver.h"

#include <stdlib.h>
#include <string.h>

#include "atomic.h"
#include "memory.h"
#include "recorder.h"
#include "sender.h"

static void refuse(net_proxy *p, net_reason why, const net_header *h) {
	p->refused[why]++;
	// for other reasons the sender is not known
	if (why > NET_SOURCE) p->peers[h->source].facts.refused++;
}

static void end_arrival(net_proxy *p, net_arrival *a) {
	if (a->window) a->window->users--;
	if (a->signal_window) a->signal_window->users--;
	if (a->stage) net_unstage(p, a->stage);
	free(a);
}

static void add_landing(net_proxy *p, net_arrival *a, int64_t ticket) {
	a->ticket = ticket;
	a->next = p->landing;
	p->landing = a;
}

// change_word applies a signal. It returns 1 if the word has changed, and 0 if it will change
// later, or never.
static int change_word(net_proxy *p, net_arrival *a) {
	const net_header *h = &a->h;
	if (h->signal == NET_SIGNAL_NONE) return 1;
	uint64_t at = h->signal == NET_SIGNAL_ADD_INDEXED ? (uint64_t)&p->signals[h->signal_at] : a->signal_window->base + h->signal_at;
	int add = h->signal != NET_SIGNAL_SET_WORD;
	if (h->signal != NET_SIGNAL_ADD_INDEXED && net_is_device(p, at)) {
		a->changing = 1;
		int64_t ticket = p->setup.copier->word(p->setup.copier->arg, at, add, h->value);
		if (ticket > 0) add_landing(p, a, ticket);
		if (ticket < 0) {
			net_mark_lost(p, h->source, "its signal could not be copied to the device");
			end_arrival(p, a);
		}
		return ticket == 0;
	}
	if (p->watcher)
		p->watcher->change(p->watcher->arg, h->source, h->name, (uint64_t *)at, add, h->value);
	else if (add)
		__atomic_fetch_add((uint64_t *)at, h->value, __ATOMIC_RELEASE);
	else
		__atomic_store_n((uint64_t *)at, h->value, __ATOMIC_RELEASE);
	return 1;
}

static void answer_fences(net_proxy *p, uint32_t source) {
	net_peer *q = &p->peers[source];
	for (net_wait **at = &q->waits, *w; (w = *at);) {
		if (w->number > q->order.upto) {
			at = &w->next;
			continue;
		}
		net_add_job(p, &(net_job){.kind = NET_MESSAGE_ACK, .peer = source, .ticket = w->ticket, .number = w->number});
		*at = w->next;
		q->waiting--;
		free(w);
	}
}

// settle notes that a numbered message is finished here, and applies the signals that waited for it.
static void settle(net_proxy *p, uint32_t source, uint64_t number) {
	net_peer *q = &p->peers[source];
	net_order_finish(&q->order, number);
	q->facts.landed++;
	for (net_parked *next; (next = net_order_next(&q->order));) {
		net_arrival *a = (net_arrival *)next; // its first field
		if (!change_word(p, a)) continue;
		net_order_finish(&q->order, a->h.number);
		q->facts.landed++;
		net_record_received(p, &a->h);
		end_arrival(p, a);
	}
	if (q->waits) answer_fences(p, source);
}

// finish is called when the signal word has changed, or if there is none.
static void finish(net_proxy *p, net_arrival *a) {
	uint32_t source = a->h.source;
	uint64_t number = a->h.number;
	net_record_received(p, &a->h);
	end_arrival(p, a);
	settle(p, source, number);
}

// touched informs the watcher of an access to an operation's data.
static void touched(net_proxy *p, uint32_t source, uint64_t name, int write, uint64_t at, uint64_t pitch, uint64_t width, uint64_t bytes) {
	p->watcher->touched(p->watcher->arg, source, name, write, at, pitch, width, bytes);
}

static void tell_landed(net_proxy *p, const net_arrival *a) {
	int mine = a->h.kind == NET_MESSAGE_ANSWER;
	touched(p, mine ? p->rank : a->h.source, mine ? a->get->h.name : a->h.name, 1, a->to, a->to_pitch, a->to_width, a->h.bytes);
}

// landed is called when the data of an arrival is written.
static void landed(net_proxy *p, net_arrival *a) {
	net_order *o = &p->peers[a->h.source].order;
	if (a->stage) net_unstage(p, a->stage);
	a->stage = NULL;
	if (a->window) a->window->users--;
	a->window = NULL;
	if (p->watcher && a->h.bytes) tell_landed(p, a);
	if (a->h.kind == NET_MESSAGE_ANSWER) {
		net_message *m = a->get;
		end_arrival(p, a);
		net_get_landed(p, m, 0);
		return;
	}
	if (a->h.signal != NET_SIGNAL_NONE && a->h.strong && a->h.number != o->upto + 1)
		net_order_park(o, &a->parked, a->h.number);
	else if (change_word(p, a))
		finish(p, a);
}

static void fail(net_proxy *p, net_arrival *a) {
	uint32_t source = a->h.source;
	net_message *get = a->get;
	end_arrival(p, a);
	if (get) net_get_landed(p, get, 1);
	net_mark_lost(p, source, "data of it could not be received");
}

// scatter copies an arrival's data from host memory to its target.
static void scatter(net_proxy *p, net_arrival *a, const void *data) {
	uint64_t width = a->to_width;
	int64_t ticket = net_copy_rows(p, a->to, a->to_pitch, (uint64_t)data, width, width, a->h.bytes);
	if (ticket < 0)
		fail(p, a);
	else if (ticket > 0)
		add_landing(p, a, ticket);
	else
		landed(p, a);
}

// end_stale ends an arrival of an old epoch.
static void end_stale(net_proxy *p, net_arrival *a) {
	if (a->get) net_get_landed(p, a->get, 1);
	end_arrival(p, a);
}

void net_give_up_receiving(net_proxy *p) {
	for (net_arrival *a = p->receiving; a; a = a->next) {
		if (a->get) net_get_landed(p, a->get, 1);
		a->get = NULL;
	}
}

void net_received(net_proxy *p, net_arrival *a, int failed) {
	net_arrival **at = &p->receiving;
	while (*at != a) at = &(*at)->next;
	*at = a->next;
	if (a->h.epoch != p->guard.epoch) {
		end_stale(p, a);
	} else if (failed) {
		fail(p, a);
	} else if (a->stage) {
		scatter(p, a, a->stage);
	} else {
		landed(p, a);
	}
}

static void answer_atomic(net_proxy *p, net_arrival *a);

int net_poll_landing(net_proxy *p) {
	int n = 0;
	for (net_arrival **at = &p->landing, *a; (a = *at);) {
		int r = p->setup.copier->poll(p->setup.copier->arg, a->ticket);
		if (r == 0) {
			at = &a->next;
			continue;
		}
		*at = a->next;
		n++;
		if (a->h.epoch != p->guard.epoch)
			end_stale(p, a);
		else if (r < 0)
			fail(p, a);
		else if (a->h.kind == NET_MESSAGE_GET)
			answer_atomic(p, a);
		else if (a->changing)
			finish(p, a);
		else
			landed(p, a);
		at = &p->landing;
	}
	return n;
}

// place writes the data of an arrival to its target.
static void place(net_proxy *p, net_arrival *a, const void *data, void *later) {
	int device = net_is_device(p, a->to), rows = a->to_width && a->to_pitch != a->to_width, memory = later && !rows ? net_memory(p, a->to) : NET_STAGED;
	if (a->h.bytes == 0) {
		landed(p, a);
		return;
	}
	if (!later && !device) {
		scatter(p, a, data);
		return;
	}
	if (rows || (device && !memory)) {
		a->stage = net_stage(p, a->h.bytes);
		if (!a->stage) {
			fail(p, a);
			return;
		}
	}
	if (later) {
		a->next = p->receiving;
		p->receiving = a;
		p->transport->receive(p->link, later, a->stage ? a->stage : (void *)a->to, a->h.bytes, memory, a);
		return;
	}
	memcpy(a->stage, data, a->h.bytes);
	scatter(p, a, a->stage);
}

static net_reason admit(net_proxy *p, const net_header *h) {
	switch (net_order_admit(&p->peers[h->source].order, h->number)) {
	case 1:
		return NET_DUPLICATE;
	case 2:
		return NET_FAR;
	case 3:
		return NET_NO_MEMORY;
	}
	return NET_FINE;
}

static net_reason on_put(net_proxy *p, const net_header *h, const void *data, void *later) {
	net_arrival *a = calloc(1, sizeof *a);
	if (!a) return NET_NO_MEMORY;
	net_reason why = admit(p, h);
	if (why) {
		free(a);
		return why;
	}
	a->h = *h;
	if (h->bytes) {
		a->window = net_find_window(&p->guard, h->window);
		a->window->users++;
		a->to = a->window->base + h->offset;
		a->to_width = h->width;
		a->to_pitch = h->pitch;
	}
	if (h->signal > NET_SIGNAL_ADD_INDEXED) {
		a->signal_window = net_find_window(&p->guard, h->signal_window);
		a->signal_window->users++;
	}
	place(p, a, data, later);
	return NET_FINE;
}

static void answered(net_proxy *p, const net_job *j) { settle(p, j->peer, j->number); }

// answer_value answers an atomic operation with the previous value.
static void answer_value(net_proxy *p, const net_header *h, uint64_t value) {
	net_op from = {.kind = NET_VALUE, .data = value, .bytes = h->bytes};
	net_add_job(p, &(net_job){.kind = NET_MESSAGE_ANSWER, .peer = h->source, .op = from, .ticket = h->ticket, .number = h->number, .over = answered});
}

// on_atomic is on_get for an atomic operation.
static net_reason on_atomic(net_proxy *p, const net_header *h) {
	uint64_t at = net_find_window(&p->guard, h->window)->base + h->offset;
	if (!net_is_device(p, at)) {
		net_reason why = admit(p, h);
		if (why) return why;
		uint32_t bytes = (uint32_t)h->bytes;
		answer_value(p, h, p->watcher ? p->watcher->atomic(p->watcher->arg, h->source, h->name, (void *)at, bytes, h->signal, h->value, h->signal_at)
		                              : net_atomic((void *)at, bytes, h->signal, h->value, h->signal_at));
		return NET_FINE;
	}
	net_arrival *a = calloc(1, sizeof *a);
	if (!a) return NET_NO_MEMORY;
	net_reason why = admit(p, h);
	if (why) {
		free(a);
		return why;
	}
	a->h = *h;
	a->window = net_find_window(&p->guard, h->window);
	a->window->users++;
	int64_t ticket = p->setup.copier->atomic(p->setup.copier->arg, at, (uint32_t)h->bytes, h->signal, h->value, h->signal_at);
	if (ticket < 0)
		fail(p, a);
	else
		add_landing(p, a, ticket);
	return NET_FINE;
}

// answer_atomic is called when an atomic operation on device memory is over.
static void answer_atomic(net_proxy *p, net_arrival *a) {
	answer_value(p, &a->h, p->setup.copier->result(p->setup.copier->arg, a->ticket));
	end_arrival(p, a);
}

static net_reason on_get(net_proxy *p, const net_header *h) {
	if (h->bytes == 0) return NET_MALFORMED;
	if (h->signal) return on_atomic(p, h);
	net_reason why = admit(p, h);
	if (why) return why;
	net_window *w = net_find_window(&p->guard, h->window);
	w->users++;
	if (p->watcher) touched(p, h->source, h->name, 0, w->base + h->offset, h->pitch, h->width, h->bytes);
	net_op from = {.local = w->base + h->offset, .bytes = h->bytes, .width = h->width, .local_pitch = h->pitch};
	net_add_job(p, &(net_job){.kind = NET_MESSAGE_ANSWER, .peer = h->source, .op = from, .ticket = h->ticket, .number = h->number, .window = w, .over = answered});
	return NET_FINE;
}

static net_reason on_answer(net_proxy *p, const net_header *h, const void *data, void *later) {
	net_message **at = &p->peers[h->source].gets;
	while (*at && (*at)->h.ticket != h->ticket) at = &(*at)->next;
	net_message *m = *at;
	if (!m) return NET_DUPLICATE;
	if (m->h.bytes != h->bytes) return NET_MALFORMED;
	net_arrival *a = calloc(1, sizeof *a);
	if (!a) return NET_NO_MEMORY;
	*at = m->next;
	m->answered = 1;
	a->h = *h;
	a->get = m;
	a->to = m->to;
	a->to_width = m->to_width;
	a->to_pitch = m->to_pitch;
	place(p, a, data, later);
	return NET_FINE;
}

static net_reason on_fence(net_proxy *p, const net_header *h) {
	net_peer *q = &p->peers[h->source];
	if (h->number <= q->order.upto) {
		net_add_job(p, &(net_job){.kind = NET_MESSAGE_ACK, .peer = h->source, .ticket = h->ticket, .number = h->number});
		return NET_FINE;
	}
	for (net_wait *w = q->waits; w; w = w->next)
		if (w->ticket == h->ticket) return NET_DUPLICATE;
	net_wait *w = q->waiting < NET_SLOTS ? malloc(sizeof *w) : NULL;
	if (!w) return NET_NO_MEMORY;
	*w = (net_wait){q->waits, h->number, h->ticket};
	q->waits = w;
	q->waiting++;
	return NET_FINE;
}

void net_arrived(net_proxy *p, const void *header, size_t header_bytes, const void *data, size_t bytes, void *later) {
	net_header h = {0};
	net_reason why = net_check(&p->guard, header, header_bytes, bytes, &h);
	if (!why && (p->peers[h.source].state != NET_CONNECTED || p->peers[h.source].losing)) why = NET_SOURCE;
	if (!why) {
		switch (h.kind) {
		case NET_MESSAGE_PUT:
			why = on_put(p, &h, data, later);
			break;
		case NET_MESSAGE_GET:
			why = on_get(p, &h);
			break;
		case NET_MESSAGE_ANSWER:
			why = on_answer(p, &h, data, later);
			break;
		case NET_MESSAGE_FENCE:
			why = on_fence(p, &h);
			break;
		case NET_MESSAGE_ACK:
			net_acknowledged(p, h.source, h.ticket, h.number);
			break;
		case NET_MESSAGE_ASK:
			net_add_job(p, &(net_job){.kind = NET_MESSAGE_TELL, .peer = h.source});
			break;
		case NET_MESSAGE_TELL:
			net_told(p, &h);
			break;
		}
	}
	if (why) {
		refuse(p, why, &h);
		return;
	}
	p->peers[h.source].facts.messages_received++;
	p->peers[h.source].facts.bytes_received += bytes;
}

void net_forget_source(net_proxy *p, uint32_t source, int again) {
	net_peer *q = &p->peers[source];
	for (net_parked *s; (s = net_order_drain(&q->order));) end_arrival(p, (net_arrival *)s);
	for (net_wait *w; (w = q->waits);) {
		q->waits = w->next;
		free(w);
	}
	q->waiting = 0;
	if (again) net_order_reset(&q->order);
}
