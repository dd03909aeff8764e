#include "sender.h"

#include <stdlib.h>

#include "memory.h"
#include "recorder.h"

enum { IN_FLIGHT = 64, TAKEN_AT_ONCE = 16 };

static void end_operation(net_proxy *p, net_operation *o);

// stands_before reports whether a fence has to wait for an operation here: an earlier one to its
// peer.
static int stands_before(const net_operation *o, const net_operation *fence) {
	return !o->over && o->number < fence->number && o->op.kind != NET_FENCE &&
	       (fence->op.peer == NET_ALL_PEERS || fence->op.peer == o->op.peer);
}

static void check_fence(net_proxy *p, net_operation *fence) {
	if (fence->over || fence->awaited) return;
	for (uint64_t n = p->done; n < fence->number; n++)
		if (stands_before(&p->operations[n % NET_SLOTS], fence)) return;
	p->fences--;
	end_operation(p, fence);
}

// counter returns the word that counts an operation, or NULL.
static uint64_t *counter(net_proxy *p, uint32_t id) {
	if (id < NET_COUNTERS) return &p->board->counters[id];
	return id - NET_COUNTERS < p->guard.signals ? &p->signals[id - NET_COUNTERS] : NULL;
}

static void end_operation(net_proxy *p, net_operation *o) {
	o->over = 1;
	uint64_t *c = counter(p, o->op.counter);
	if (!o->failed && c) {
		if (p->watcher)
			p->watcher->count(p->watcher->arg, o->name, c);
		else
			__atomic_fetch_add(c, 1, __ATOMIC_RELEASE);
	}
	uint64_t done = p->done;
	for (; done < p->next && p->operations[done % NET_SLOTS].over; done++)
		if (p->watcher) p->watcher->passed(p->watcher->arg, p->operations[done % NET_SLOTS].name);
	if (done != p->done) {
		p->done = done;
		if (p->watcher)
			p->watcher->done(p->watcher->arg, &p->board->done, done);
		else
			__atomic_store_n(&p->board->done, done, __ATOMIC_RELEASE);
	}
	if (!p->fences || o->op.kind == NET_FENCE) return;
	for (uint64_t n = p->done; n < p->next; n++) {
		net_operation *f = &p->operations[n % NET_SLOTS];
		if (f->op.kind == NET_FENCE) check_fence(p, f);
	}
}

static void drop_operation(net_proxy *p, net_operation *o, uint32_t peer) {
	if (peer < p->size) p->peers[peer].facts.dropped++;
	o->failed = 1;
	end_operation(p, o);
}

static void end_job(net_proxy *p, net_job *j) {
	switch (j->kind) {
	case NET_MESSAGE_PUT:
	case NET_MESSAGE_GET: {
		net_operation *o = &p->operations[j->slot % NET_SLOTS];
		if (j->failed) {
			drop_operation(p, o, j->peer);
		} else {
			p->peers[j->peer].facts.sent++;
			end_operation(p, o);
		}
		break;
	}
	case NET_MESSAGE_ASK:
		p->peers[j->peer].asking = 0;
		break;
	case NET_MESSAGE_ANSWER:
		if (j->window) j->window->users--;
		if (!j->failed) j->over(p, j);
		break;
	}
	free(j);
}

static void end_if_over(net_proxy *p, net_job *j) {
	if (j->whole && j->pending == 0) end_job(p, j);
}

static void end_message(net_proxy *p, net_message *m, int failed) {
	net_job *j = m->job;
	net_record_sent(p, m, failed);
	p->peers[m->peer].facts.in_flight--;
	j->pending--;
	if (failed) j->failed = 1;
	free(m);
	end_if_over(p, j);
}

static void forget_get(net_peer *q, net_message *m) {
	net_message **at = &q->gets;
	while (*at != m) at = &(*at)->next;
	*at = m->next;
}

void net_message_sent(net_proxy *p, net_message *m, int failed) {
	net_peer *q = &p->peers[m->peer];
	if (m->stage) net_unstage(p, m->stage);
	m->stage = NULL;
	if (!failed) {
		q->facts.messages_sent++;
		if (m->h.kind != NET_MESSAGE_GET) q->facts.bytes_sent += m->h.kind == NET_MESSAGE_PUT || m->h.kind == NET_MESSAGE_ANSWER ? m->h.bytes : 0;
	}
	if (m->h.kind == NET_MESSAGE_GET) {
		m->sent = 1;
		if (m->answered == 2) { // the answer arrived before the send was complete
			end_message(p, m, 0);
			return;
		}
		if (!failed && !(q->state == NET_LOST && !m->answered)) return;
		if (m->answered) return; // net_get_landed ends it
		forget_get(q, m);
	}
	end_message(p, m, failed || q->state == NET_LOST);
}

void net_get_landed(net_proxy *p, net_message *m, int failed) {
	m->answered = 2;
	if (m->sent || failed) {
		if (m->sent) {
			end_message(p, m, failed);
			return;
		}
		m->job->failed = 1;
	}
}

static void send_message(net_proxy *p, net_message *m) {
	net_peer *q = &p->peers[m->peer];
	uint64_t bytes = m->h.kind == NET_MESSAGE_PUT || m->h.kind == NET_MESSAGE_ANSWER ? m->h.bytes : 0;
	m->began = net_record_now(p);
	if (m->h.kind == NET_MESSAGE_GET) {
		m->next = q->gets;
		q->gets = m;
	}
	if (q->state != NET_CONNECTED || q->losing) {
		net_message_sent(p, m, 1);
	} else if (m->peer == p->rank) {
		p->events.message(p->events.arg, &m->h, sizeof m->h, m->data, bytes, NULL);
		net_message_sent(p, m, 0);
	} else {
		switch (p->transport->send(p->link, m->peer, &m->h, sizeof m->h, m->data, bytes, m->memory, m)) {
		case NET_SENT:
			net_message_sent(p, m, 0);
			break;
		case NET_UNSENT:
			net_message_sent(p, m, 1);
			break;
		}
	}
}

// If a message is never sent, its number is a gap for which the peer would wait. So nothing can
// follow it.
static void uncopied(net_proxy *p, net_message *m) {
	net_mark_lost(p, m->peer, "data for it could not be copied");
	net_message_sent(p, m, 1);
}

int net_poll_copies(net_proxy *p) {
	int n = 0;
	for (net_message **at = &p->copying, *m; (m = *at);) {
		int r = p->setup.copier->poll(p->setup.copier->arg, m->ticket);
		if (r == 0) {
			at = &m->next;
			continue;
		}
		*at = m->next;
		n++;
		if (r < 0)
			uncopied(p, m);
		else
			send_message(p, m);
		at = &p->copying; // sending may have changed the list
	}
	return n;
}

// A piece of a job's data: rows if width > 0, at the offsets `here` and `there` from the
// operation's addresses.
typedef struct {
	uint64_t bytes, width, here, there;
} net_piece;

static net_piece next_piece(const net_op *op, uint64_t issued, uint64_t limit) {
	uint64_t left = op->bytes - issued;
	if (op->width == 0) return (net_piece){left < limit ? left : limit, 0, issued, issued};
	uint64_t row = issued / op->width, column = issued % op->width;
	net_piece c = {0, 0, row * op->local_pitch + column, row * op->remote_pitch + column};
	if (column == 0 && 2 * op->width <= limit) {
		uint64_t whole = limit / op->width * op->width;
		c.bytes = left < whole ? left : whole;
		c.width = op->width;
	} else {
		c.bytes = op->width - column < limit ? op->width - column : limit;
	}
	return c;
}

// fill fills a message with its data. It returns 0 if that is done, 1 if it will be done later, and
// -1 if it fails.
static int fill(net_proxy *p, net_message *m, uint64_t from, uint64_t pitch, uint64_t width, uint64_t bytes) {
	int rows = width && pitch != width;
	if (bytes && !rows && m->peer != p->rank) m->memory = net_memory(p, from);
	if (!bytes || (!rows && (m->memory || !net_is_device(p, from)))) {
		m->data = (const void *)from;
		return 0;
	}
	m->stage = net_stage(p, bytes);
	if (!m->stage) return -1;
	m->data = m->stage;
	m->ticket = net_copy_rows(p, (uint64_t)m->stage, width, from, pitch, width, bytes);
	return m->ticket < 0 ? -1 : m->ticket > 0;
}

static net_message *new_message(net_proxy *p, net_job *j) {
	net_message *m = calloc(1, sizeof *m);
	if (!m) return NULL;
	m->job = j;
	m->peer = j->peer;
	m->h = (net_header){.secret = p->guard.secret, .protocol = NET_PROTOCOL, .epoch = p->guard.epoch, .kind = j->kind, .source = p->rank};
	j->pending++;
	p->peers[j->peer].facts.in_flight++;
	return m;
}

// begin_fence begins a fence at one peer. Nothing is sent if all messages are known to be finished
// there.
static int begin_fence(net_proxy *p, net_job *j) {
	net_peer *q = &p->peers[j->peer];
	if (q->fenced == q->number) {
		net_acknowledged(p, j->peer, j->slot, q->number);
		return 0;
	}
	return 1;
}

// issue sends the next message of a job. It returns 1 if it was the last, 0 if more follow, and -1
// if there is no memory now.
static int issue(net_proxy *p, net_job *j) {
	net_peer *q = &p->peers[j->peer];
	if (j->kind == NET_MESSAGE_FENCE && !begin_fence(p, j)) return 1;
	net_message *m = new_message(p, j);
	if (!m) return -1;
	net_op *op = &j->op;
	int filled = 0;
	switch (j->kind) {
	case NET_MESSAGE_PUT: {
		m->h.name = j->name;
		int staged = (op->width && op->local_pitch != op->width) || (net_is_device(p, op->local) && !net_memory(p, op->local));
		if (op->kind == NET_VALUE) staged = 0;
		net_piece c = next_piece(op, j->issued, staged ? NET_STAGED_PIECE : NET_PIECE);
		int several = j->issued > 0;
		j->issued += c.bytes;
		m->h.number = ++q->number;
		m->h.window = op->window;
		m->h.offset = op->offset + c.there;
		m->h.bytes = c.bytes;
		m->h.width = c.width;
		m->h.pitch = c.width ? op->remote_pitch : 0;
		if (j->issued == op->bytes) {
			j->whole = 1;
			m->h.signal = op->signal;
			m->h.strong = op->strong || several;
			m->h.signal_window = op->signal_window;
			m->h.signal_at = op->signal_at;
			m->h.value = op->value;
		}
		if (op->kind == NET_VALUE)
			m->data = &op->data; // part of the job, which lives until its messages are over
		else
			filled = fill(p, m, op->local + c.here, op->local_pitch, c.width, c.bytes);
		break;
	}
	case NET_MESSAGE_GET: {
		m->h.name = j->name;
		net_piece c = next_piece(op, j->issued, op->width ? NET_STAGED_PIECE : NET_PIECE);
		j->issued += c.bytes;
		j->whole = j->issued == op->bytes;
		m->h.number = ++q->number;
		m->h.ticket = ++p->tickets;
		m->h.window = op->window;
		m->h.offset = op->offset + c.there;
		m->h.bytes = c.bytes;
		m->h.width = c.width;
		m->h.pitch = c.width ? op->remote_pitch : 0;
		if (op->kind == NET_ATOMIC) {
			m->h.signal = op->signal;
			m->h.value = op->value;
			m->h.signal_at = op->data;
		}
		m->to = op->local + c.here;
		m->to_width = c.width;
		m->to_pitch = op->local_pitch;
		break;
	}
	case NET_MESSAGE_ANSWER:
		j->whole = 1;
		m->h.ticket = j->ticket;
		m->h.bytes = op->bytes;
		if (op->kind == NET_VALUE)
			m->data = &op->data;
		else
			filled = fill(p, m, op->local, op->local_pitch, op->width, op->bytes);
		break;
	case NET_MESSAGE_FENCE:
		j->whole = 1;
		m->h.number = q->number;
		m->h.ticket = j->slot;
		break;
	case NET_MESSAGE_ACK:
		j->whole = 1;
		m->h.number = j->number;
		m->h.ticket = j->ticket;
		break;
	case NET_MESSAGE_ASK:
		j->whole = 1;
		break;
	case NET_MESSAGE_TELL:
		j->whole = 1;
		m->h.number = q->number;
		m->h.ticket = q->facts.posted;
		m->h.value = q->facts.sent;
		break;
	}
	int last = j->whole; // the job may be freed once its last message is sent
	if (filled < 0) {
		uncopied(p, m);
	} else if (filled > 0) {
		m->next = p->copying;
		p->copying = m;
	} else {
		send_message(p, m);
	}
	return last;
}

void net_add_job(net_proxy *p, const net_job *job) {
	net_job *j = malloc(sizeof *j);
	if (!j) abort(); // out of memory for a few bytes
	*j = *job;
	j->next = NULL;
	net_peer *q = &p->peers[j->peer];
	if (!q->first) {
		q->last = &q->first;
		p->busy++;
	}
	*q->last = j;
	q->last = &j->next;
}

static net_job *pop_job(net_proxy *p, net_peer *q) {
	net_job *j = q->first;
	q->first = j->next;
	if (!q->first) p->busy--;
	return j;
}

static int pump_peer(net_proxy *p, net_peer *q) {
	int n = 0;
	while (q->first && q->facts.in_flight < IN_FLIGHT) {
		net_job *j = q->first;
		j->pending++; // keeps the job alive while it issues messages
		int r = issue(p, j);
		if (r < 0) {
			j->pending--;
			break;
		}
		n++;
		if (r) {
			pop_job(p, q);
			j->whole = 1;
		}
		j->pending--;
		end_if_over(p, j);
	}
	return n;
}

int net_pump(net_proxy *p) {
	int n = 0;
	for (uint32_t r = 0; p->busy && r < p->size; r++)
		if (p->peers[r].first) n += pump_peer(p, &p->peers[r]);
	return n;
}

void net_acknowledged(net_proxy *p, uint32_t peer, uint64_t ticket, uint64_t number) {
	net_operation *o = &p->operations[ticket % NET_SLOTS];
	uint64_t bit = (uint64_t)1 << (peer % 64);
	if (ticket >= p->next || ticket < p->done || o->over || o->op.kind != NET_FENCE || !(o->awaiting[peer / 64] & bit)) {
		p->refused[NET_DUPLICATE]++;
		p->peers[peer].facts.refused++;
		return;
	}
	if (number > p->peers[peer].fenced && number <= p->peers[peer].number) p->peers[peer].fenced = number;
	o->awaiting[peer / 64] &= ~bit;
	o->awaited--;
	if (o->op.peer == peer) p->peers[peer].facts.sent++;
	check_fence(p, o);
}

void net_told(net_proxy *p, const net_header *h) {
	net_peer_state *s = &p->peers[h->source].facts;
	s->told++;
	s->its_posted = h->ticket;
	s->its_sent = h->value;
	s->its_number = h->number;
}

static void take_fence(net_proxy *p, net_operation *o) {
	uint32_t from = o->op.peer == NET_ALL_PEERS ? 0 : o->op.peer, to = o->op.peer == NET_ALL_PEERS ? p->size : from + 1;
	p->fences++;
	for (uint32_t r = from; r < to; r++) {
		if (p->peers[r].state != NET_CONNECTED) continue;
		o->awaiting[r / 64] |= (uint64_t)1 << (r % 64);
		o->awaited++;
	}
	if (!o->awaited) {
		check_fence(p, o);
		return;
	}
	for (uint32_t r = from; r < to; r++)
		if (p->peers[r].state == NET_CONNECTED) net_add_job(p, &(net_job){.kind = NET_MESSAGE_FENCE, .peer = r, .slot = o->number});
}

static int makes_sense(const net_proxy *p, const net_op *op) {
	if (op->kind == NET_FENCE && op->peer == NET_ALL_PEERS) return 1;
	if (op->kind < NET_PUT || op->kind > NET_ATOMIC || op->peer >= p->size) return 0;
	if (op->kind == NET_ATOMIC) return op->width == 0 && (op->bytes == 4 || op->bytes == 8) && op->signal >= NET_FETCH && op->signal <= NET_COMPARE_SWAP;
	if (op->kind == NET_VALUE) return op->width == 0 && op->bytes <= NET_VALUE_BYTES;
	return op->kind == NET_FENCE || op->width == 0 || op->bytes % op->width == 0;
}

// watched returns the watcher's name for an operation that is taken.
static uint64_t watched(net_proxy *p, const net_op *op) {
	return p->watcher->posted(p->watcher->arg, &(net_posted){&op->ready, op->peer, op->kind == NET_FENCE, op->kind == NET_GET || op->kind == NET_ATOMIC, op->strong, op->local,
	    op->kind == NET_PUT ? op->bytes : 0, op->width, op->local_pitch});
}

static void take_one(net_proxy *p, const net_op *slot) {
	net_operation *o = &p->operations[p->next % NET_SLOTS];
	*o = (net_operation){.op = *slot, .number = p->next};
	p->next++;
	if (!slot->unannounced) p->taken++;
	if (!makes_sense(p, &o->op)) {
		drop_operation(p, o, o->op.peer);
		return;
	}
	if (o->op.peer != NET_ALL_PEERS) {
		net_peer *q = &p->peers[o->op.peer];
		q->facts.posted++;
		if (q->state != NET_CONNECTED) {
			drop_operation(p, o, o->op.peer);
			return;
		}
	}
	if (p->watcher) o->name = watched(p, slot);
	if (o->op.kind == NET_FENCE) {
		take_fence(p, o);
		return;
	}
	if (o->op.kind == NET_ATOMIC && !o->op.local) o->op.local = (uint64_t)&o->op.reserved; // nobody wants the value
	net_job j = {.kind = o->op.kind == NET_GET || o->op.kind == NET_ATOMIC ? NET_MESSAGE_GET : NET_MESSAGE_PUT, .peer = o->op.peer, .slot = o->number, .op = o->op, .name = o->name};
	if (j.op.width == j.op.bytes || (j.op.width == j.op.local_pitch && j.op.width == j.op.remote_pitch)) j.op.width = 0;
	if (j.op.kind == NET_GET && j.op.bytes == 0) {
		p->peers[j.peer].facts.sent++;
		end_operation(p, o);
	} else {
		net_add_job(p, &j);
	}
}

int net_take(net_proxy *p) {
	int n = 0;
	for (; n < TAKEN_AT_ONCE; n++) {
		net_op *slot = &p->board->slots[p->next % NET_SLOTS];
		if (__atomic_load_n(&slot->ready, __ATOMIC_ACQUIRE) != p->next + 1) break;
		take_one(p, slot);
	}
	return n;
}

void net_end_jobs(net_proxy *p, uint32_t peer) {
	net_peer *q = &p->peers[peer];
	while (q->first) {
		net_job *j = pop_job(p, q);
		j->failed = j->whole = 1;
		end_if_over(p, j);
	}
	for (net_message **at = &q->gets, *m; (m = *at);) {
		if (!m->sent || m->answered) {
			at = &m->next;
			continue;
		}
		*at = m->next;
		end_message(p, m, 1);
		at = &q->gets;
	}
	for (uint64_t n = p->done; n < p->next; n++) {
		net_operation *o = &p->operations[n % NET_SLOTS];
		uint64_t bit = (uint64_t)1 << (peer % 64);
		if (o->op.kind != NET_FENCE || o->over || !(o->awaiting[peer / 64] & bit)) continue;
		o->awaiting[peer / 64] &= ~bit;
		o->awaited--;
		if (o->op.peer == peer) {
			o->failed = 1;
			q->facts.dropped++;
		}
		check_fence(p, o);
	}
}
