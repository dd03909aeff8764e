// thread.c: the engine's thread, and what other threads ask of it: the functions of proxy.h.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "memory.h"
#include "receiver.h"
#include "sender.h"

enum { IDLE_NANOSECONDS = 20000, IDLE_ROUNDS = 64, LONG_YIELD = 1000000 /* nanoseconds */ };

// How long messages of an old epoch may take to end. A process may be stopped for a while.
#define DRAIN_NANOSECONDS 5000000000

static int64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
}

// quick_yield lets another thread run, and returns 1. While that takes long, it returns 0 at once: on
// a machine with more threads than processors a thread that sleeps runs again sooner than one that
// yields (see quick_yield of the cpu device).
static int quick_yield(net_proxy *p) {
	int64_t before = now();
	if (before < p->yields_again) return 0;
	sched_yield();
	int64_t took = now() - before;
	if (took > LONG_YIELD) p->yields_again = before + 11 * took;
	return 1;
}

// give_way lets another thread run for a moment.
static void give_way(net_proxy *p) {
	if (!quick_yield(p)) nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
}

// Events of the transport.

static void on_message(void *arg, const void *header, size_t header_bytes, const void *data, size_t bytes, void *later) {
	net_arrived(arg, header, header_bytes, data, bytes, later);
}
static void on_received(void *arg, void *cookie, int failed) { net_received(arg, cookie, failed); }
static void on_sent(void *arg, void *cookie, int failed) { net_message_sent(arg, cookie, failed); }
static void on_lost(void *arg, uint32_t peer, const char *why) { net_mark_lost(arg, peer, why); }

static void drop(net_proxy *p, uint32_t peer, int state) {
	p->peers[peer].state = state;
	p->peers[peer].dropped = 1;
	p->transport->drop(p->link, peer);
}

static int drop_losses(net_proxy *p) {
	if (!p->losses) return 0;
	for (uint32_t r = 0; r < p->size; r++) {
		net_peer *q = &p->peers[r];
		if (!q->losing) continue;
		q->losing = 0;
		q->told = 0;
		p->losses--;
		drop(p, r, NET_LOST);
		net_forget_source(p, r, 0);
		net_end_jobs(p, r);
		__atomic_fetch_or(&p->board->lost[r / 32], (uint32_t)1 << (r % 32), __ATOMIC_RELEASE);
		net_notify(p->news);
	}
	return 1;
}

// The thread.

static int work(net_proxy *p) {
	int n = net_take(p) + net_pump(p) + p->transport->progress(p->link);
	if (p->copying) n += net_poll_copies(p);
	if (p->landing) n += net_poll_landing(p);
	return n + drop_losses(p);
}

static int has_news(net_proxy *p) {
	return __atomic_load_n(&p->board->slots[p->next % NET_SLOTS].ready, __ATOMIC_ACQUIRE) == p->next + 1 ||
	       __atomic_load_n(&p->commanded, __ATOMIC_ACQUIRE);
}

static void sleep_until_news(net_proxy *p) {
	// A poster makes an operation visible, fences, and checks whether the engine sleeps. The engine
	// does the same in the opposite order.
	__atomic_store_n(&p->board->asleep, 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	int connected = p->guard.epoch != 0;
	int64_t due = -1;
	if (!has_news(p) && !(connected && p->transport->arm(p->link, &due))) {
		struct pollfd fds[2] = {{.fd = p->bell, .events = POLLIN}, {.fd = p->transport->fd(p->link), .events = POLLIN}};
		struct timespec t = {due / 1000000000, due % 1000000000};
		ppoll(fds, connected ? 2 : 1, due < 0 ? NULL : &t, NULL);
		uint64_t rung;
		if (fds[0].revents && read(p->bell, &rung, sizeof rung) < 0 && errno != EAGAIN && errno != EINTR) abort();
	}
	__atomic_store_n(&p->board->asleep, 0, __ATOMIC_RELAXED);
}

// enter makes the device current in the thread, for a provider that accesses its memory.
static int enter(net_proxy *p) { return p->setup.copier && p->setup.config.memory != NET_STAGED ? p->setup.copier->enter(p->setup.copier->arg) : 0; }

static void *run(void *arg) {
	net_proxy *p = arg;
	int64_t idle = 0;
	unsigned rounds = 0;
	enter(p); // as in open
	while (!p->stopping) {
		int n = net_obey(p);
		if (p->guard.epoch) n += work(p); // before the first epoch no message can be checked
		if (n) {
			idle = rounds = 0;
			continue;
		}
		if (p->holds && ++rounds < IDLE_ROUNDS) continue; // a kernel's next operation may follow at once
		if (p->holds || p->copying || p->landing || p->expected > p->taken) {
			give_way(p);
			continue;
		}
		int64_t t = now();
		if (!idle) idle = t;
		if (t - idle < IDLE_NANOSECONDS && quick_yield(p)) continue;
		sleep_until_news(p);
		idle = 0;
	}
	return NULL;
}

// Life.

static void release(net_proxy *p) {
	for (size_t k = 0; k < p->guard.count; k++) free(p->guard.windows[k]);
	free(p->guard.windows);
	for (uint32_t r = 0; p->peers && r < p->size; r++) {
		net_forget_source(p, r, 1);
		free(p->peers[r].address);
	}
	free(p->peers);
	free(p->recorded);
	if (p->board) munmap(p->board, p->board_bytes);
	if (p->bell >= 0) close(p->bell);
	if (p->news >= 0) close(p->news);
	pthread_mutex_destroy(&p->callers);
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->answered);
	free(p);
}

net_proxy *net_open(const net_setup *setup, char why[NET_WHY]) {
	net_proxy *p = calloc(1, sizeof *p);
	if (!p) {
		snprintf(why, NET_WHY, "no memory");
		return NULL;
	}
	p->setup = *setup;
	p->transport = setup->transport;
	p->rank = setup->config.rank;
	p->size = setup->config.size;
	pthread_mutex_init(&p->callers, NULL);
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->answered, NULL);
	size_t page = sysconf(_SC_PAGESIZE);
	p->board_bytes = (sizeof *p->board + setup->signals * 8 + page - 1) / page * page;
	p->bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	p->news = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	p->peers = calloc(p->size, sizeof *p->peers);
	void *board = mmap(NULL, p->board_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	p->board = board == MAP_FAILED ? NULL : board;
	if (p->bell < 0 || p->news < 0 || !p->peers || !p->board) {
		snprintf(why, NET_WHY, "no memory or no descriptor is left: %s", strerror(errno));
		release(p);
		return NULL;
	}
	p->board->bell = p->bell;
	p->signals = (uint64_t *)(p->board + 1);
	p->guard.size = p->size;
	p->guard.signals = setup->signals;
	p->events = (net_events){p, on_message, on_received, on_sent, on_lost};
	if (enter(p)) {
		snprintf(why, NET_WHY, "the device cannot be used");
		release(p);
		return NULL;
	}
	p->link = p->transport->open(&setup->config, &p->events, why);
	if (!p->link) {
		release(p);
		return NULL;
	}
	// Signals are handled by Go's threads, but those of faults come to the thread that made the fault:
	// if they are blocked, the process ends without a word.
	sigset_t all, old;
	sigfillset(&all);
	static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
	for (size_t k = 0; k < sizeof faults / sizeof *faults; k++) sigdelset(&all, faults[k]);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int failed = pthread_create(&p->thread, NULL, run, p);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (failed) {
		snprintf(why, NET_WHY, "no thread is left: %s", strerror(failed));
		p->transport->close(p->link);
		release(p);
		return NULL;
	}
	pthread_setname_np(p->thread, "symm-net");
	return p;
}

// drop_slow drops the peers whose connections still have messages of an old epoch.
static void drop_slow(net_proxy *p) {
	for (net_arrival *a = p->receiving; a; a = a->next) p->peers[a->h.source].slow = 1;
	net_give_up_receiving(p);
	for (uint32_t r = 0; r < p->size; r++) {
		net_peer *q = &p->peers[r];
		if (q->facts.in_flight) q->slow = 1;
		if (r == p->rank || q->state != NET_CONNECTED) q->slow = 0;
		if (q->slow) drop(p, r, NET_UNKNOWN);
	}
}

// drain ends all jobs and waits until no message is in flight.
static void drain(net_proxy *p) {
	int64_t end = now() + DRAIN_NANOSECONDS;
	for (int dropped = 0;;) {
		if (p->stopping) drop_losses(p); // messages in flight with a lost peer never end
		uint64_t left = 0;
		for (uint32_t r = 0; r < p->size; r++) {
			net_end_jobs(p, r); // in every round, because gets that were just sent wait for answers
			left += p->peers[r].facts.in_flight;
		}
		if (!left && !p->landing && (dropped || !p->receiving)) return;
		if (!dropped && now() > end) {
			dropped = 1;
			drop_slow(p);
		}
		int n = p->transport->progress(p->link);
		if (p->copying) n += net_poll_copies(p);
		if (p->landing) n += net_poll_landing(p);
		if (!n) give_way(p);
	}
}

static void stop(net_proxy *p, void *arg) {
	(void)arg;
	p->stopping = 1;
	if (p->guard.epoch) {
		p->guard.epoch = 0;
		drain(p);
	}
	p->transport->close(p->link);
}

void net_close(net_proxy *p) {
	net_command(p, stop, NULL);
	pthread_join(p->thread, NULL);
	release(p);
}

net_board *net_board_of(net_proxy *p) { return p->board; }
size_t net_board_bytes(net_proxy *p) { return p->board_bytes; }
int net_news(net_proxy *p) { return p->news; }
void net_ring(net_proxy *p) { net_notify(p->bell); }

typedef struct {
	void *to;
	size_t n;
} address_call;

// After the transport's address, an address has a bit for each rank that this rank has dropped: it
// must connect to this rank again, and this rank to it.
static size_t dropped_bytes(const net_proxy *p) { return (p->size + 7) / 8; }

static void address(net_proxy *p, void *arg) {
	address_call *c = arg;
	size_t n = p->transport->address(p->link, c->to, c->n), room = c->n;
	c->n = n + dropped_bytes(p);
	if (c->n > room) return;
	uint8_t *dropped = (uint8_t *)c->to + n;
	memset(dropped, 0, dropped_bytes(p));
	for (uint32_t r = 0; r < p->size; r++)
		if (p->peers[r].dropped) dropped[r / 8] |= 1 << r % 8;
}

size_t net_address(net_proxy *p, void *to, size_t room) {
	address_call c = {to, room};
	net_command(p, address, &c);
	return c.n;
}

typedef struct {
	uint32_t epoch;
	uint64_t secret;
	const uint8_t *addresses;
	const uint64_t *starts;
	char *why;
	int failed;
} connect_call;

// begin begins an epoch: earlier operations are over, and the board is reset.
static void begin(net_proxy *p, uint32_t epoch, uint64_t secret) {
	p->guard.epoch = 0; // no message passes the check
	// it may keep others' messages from ending
	if (p->transport->renew) p->transport->renew(p->link);
	drain(p);
	if (p->transport->renew) p->transport->renew(p->link);
	for (uint32_t r = 0; r < p->size; r++) {
		net_peer *q = &p->peers[r];
		net_forget_source(p, r, 1);
		q->number = q->fenced = 0;
		q->losing = q->told = 0;
		q->facts = (net_peer_state){0};
	}
	p->losses = 0;
	p->next = p->done = 0;
	p->fences = 0;
	p->expected = p->taken = 0;
	net_board *b = p->board;
	b->posted = b->done = 0;
	memset(b->lost, 0, sizeof b->lost);
	memset(b->counters, 0, sizeof b->counters);
	memset(b->slots, 0, sizeof b->slots);
	for (uint64_t i = 0; i < p->setup.signals; i++)
		if (p->signals[i]) p->signals[i] = 0; // so that unused words cost no memory
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	p->guard.secret = secret;
	p->guard.epoch = epoch;
}

// A named is Connect's data about a rank.
typedef struct {
	const uint8_t *address;
	size_t bytes; // 0 if it has no address
	int drops_me; // it has dropped this rank since its last Connect
} named;

static named named_of(const net_proxy *p, const connect_call *c, uint32_t r) {
	size_t bytes = c->starts[r + 1] - c->starts[r];
	if (bytes <= dropped_bytes(p)) return (named){0};
	bytes -= dropped_bytes(p);
	const uint8_t *address = c->addresses + c->starts[r];
	return (named){address, bytes, address[bytes + p->rank / 8] >> p->rank % 8 & 1};
}

static int may_stay(const net_peer *q, const named *n) {
	return q->state == NET_CONNECTED && n->bytes == q->address_bytes && !n->drops_me && memcmp(q->address, n->address, n->bytes) == 0;
}

static int name_peer(net_proxy *p, uint32_t r, const named *n, char *why) {
	net_peer *q = &p->peers[r];
	int slow = q->slow && !n->drops_me;
	q->slow = 0;
	if (!n->bytes || may_stay(q, n)) return 0;
	uint8_t *copy = malloc(n->bytes);
	if (!copy) {
		snprintf(why, NET_WHY, "no memory");
		return 1;
	}
	memcpy(copy, n->address, n->bytes);
	free(q->address);
	q->address = copy;
	q->address_bytes = n->bytes;
	net_forget_source(p, r, 1);
	q->number = q->fenced = 0;
	q->state = NET_CONNECTED;
	if (slow) { // it does not know that it was dropped; the next Connect brings it back
		net_mark_lost(p, r, "messages of an epoch that is over did not end");
		return 0;
	}
	q->why[0] = 0; // the transport may set it
	if (p->transport->peer(p->link, r, n->address, n->bytes, why)) {
		q->state = NET_UNKNOWN;
		return 1;
	}
	q->dropped = 0;
	return 0;
}

static void connect_peers(net_proxy *p, void *arg) {
	connect_call *c = arg;
	for (uint32_t r = 0; r < p->size; r++) {
		named n = named_of(p, c, r);
		if (r == p->rank || p->peers[r].state != NET_CONNECTED || may_stay(&p->peers[r], &n)) continue;
		drop(p, r, NET_UNKNOWN);
		net_end_jobs(p, r);
	}
	if (c->epoch != p->guard.epoch) begin(p, c->epoch, c->secret);
	p->peers[p->rank].state = NET_CONNECTED;
	for (uint32_t r = 0; r < p->size && !c->failed; r++) {
		named n = named_of(p, c, r);
		if (r == p->rank) continue;
		c->failed = name_peer(p, r, &n, c->why);
		if (!c->failed && p->peers[r].state == NET_CONNECTED) __atomic_fetch_and(&p->board->lost[r / 32], ~((uint32_t)1 << r % 32), __ATOMIC_RELEASE);
	}
}

int net_connect(net_proxy *p, uint32_t epoch, uint64_t secret, const uint8_t *addresses, const uint64_t *starts, char why[NET_WHY]) {
	connect_call c = {epoch, secret, addresses, starts, why, 0};
	net_command(p, connect_peers, &c);
	return c.failed;
}

typedef struct {
	uint32_t id;
	uint64_t base, bytes, result;
} window_call;

static size_t window_at(const net_guard *g, uint32_t id) {
	size_t k = 0;
	while (k < g->count && g->windows[k]->id < id) k++;
	return k;
}

static void register_window(net_proxy *p, void *arg) {
	window_call *c = arg;
	net_guard *g = &p->guard;
	size_t at = window_at(g, c->id);
	if (at < g->count && g->windows[at]->id == c->id) {
		c->result = 1;
		return;
	}
	net_window *w = malloc(sizeof *w);
	net_window **more = realloc(g->windows, (g->count + 1) * sizeof *more);
	if (more) g->windows = more;
	if (!w || !more) {
		free(w);
		c->result = 2;
		return;
	}
	*w = (net_window){.id = c->id, .base = c->base, .bytes = c->bytes};
	memmove(&g->windows[at + 1], &g->windows[at], (g->count - at) * sizeof *g->windows);
	g->windows[at] = w;
	g->count++;
}

int net_register(net_proxy *p, uint32_t id, uint64_t base, uint64_t bytes) {
	window_call c = {id, base, bytes, 0};
	net_command(p, register_window, &c);
	return c.result;
}

static void forget_window(net_proxy *p, void *arg) {
	window_call *c = arg;
	net_guard *g = &p->guard;
	size_t at = window_at(g, c->id);
	if (at == g->count || g->windows[at]->id != c->id) return;
	net_window *w = g->windows[at];
	w->closing = 1;
	c->result = w->users;
	if (w->users) return;
	free(w);
	g->count--;
	memmove(&g->windows[at], &g->windows[at + 1], (g->count - at) * sizeof *g->windows);
}

uint64_t net_forget(net_proxy *p, uint32_t id) {
	window_call c = {.id = id};
	net_command(p, forget_window, &c);
	return c.result;
}

static void expect(net_proxy *p, void *arg) { p->expected += *(uint64_t *)arg; }

void net_expect(net_proxy *p, uint64_t operations) { net_command(p, expect, &operations); }

static void hold(net_proxy *p, void *arg) { p->holds += *(int64_t *)arg; }

void net_hold(net_proxy *p, int64_t more) { net_command(p, hold, &more); }

static void watch(net_proxy *p, void *arg) { p->watcher = arg; }

void net_watch(net_proxy *p, const void *watcher) { net_command(p, watch, (void *)watcher); }

typedef struct {
	uint32_t peer;
	const char *why;
	net_peer_state *state;
	net_header *header;
} peer_call;

static void lose(net_proxy *p, void *arg) {
	peer_call *c = arg;
	net_mark_lost(p, c->peer, c->why);
	drop_losses(p);
}

void net_lose(net_proxy *p, uint32_t peer, const char *why) {
	peer_call c = {.peer = peer, .why = why};
	net_command(p, lose, &c);
}

static void peer_of(net_proxy *p, void *arg) {
	peer_call *c = arg;
	const net_peer *q = &p->peers[c->peer];
	*c->state = q->facts;
	c->state->state = q->losing ? NET_LOST : q->state;
	c->state->parked = q->order.waiting;
	c->state->missing = q->order.upto + 1;
	c->state->number = q->number;
	snprintf(c->state->why, NET_WHY, "%s", q->why);
}

void net_peer_of(net_proxy *p, uint32_t peer, net_peer_state *to) {
	peer_call c = {.peer = peer, .state = to};
	net_command(p, peer_of, &c);
}

static void ask(net_proxy *p, void *arg) {
	peer_call *c = arg;
	net_peer *q = &p->peers[c->peer];
	if (q->asking || q->state != NET_CONNECTED) return;
	q->asking = 1;
	net_add_job(p, &(net_job){.kind = NET_MESSAGE_ASK, .peer = c->peer});
}

void net_ask(net_proxy *p, uint32_t peer) {
	peer_call c = {.peer = peer};
	net_command(p, ask, &c);
}

typedef struct {
	int peer;
	char *why;
} lost_call;

static void next_lost(net_proxy *p, void *arg) {
	lost_call *c = arg;
	for (uint32_t r = 0; r < p->size; r++) {
		net_peer *q = &p->peers[r];
		if (q->state != NET_LOST || q->told) continue;
		q->told = 1;
		c->peer = r;
		snprintf(c->why, NET_WHY, "%s", q->why);
		return;
	}
}

int net_next_lost(net_proxy *p, char why[NET_WHY]) {
	lost_call c = {-1, why};
	net_command(p, next_lost, &c);
	return c.peer;
}

static void refused(net_proxy *p, void *arg) {
	uint64_t *to = arg;
	memcpy(to, p->refused, sizeof p->refused);
	if (p->transport->strangers) to[NET_STRANGER] = p->transport->strangers(p->link);
}

void net_refused(net_proxy *p, uint64_t to[NET_REASONS]) { net_command(p, refused, to); }

void net_admit(net_proxy *p, uint64_t secret) {
	if (p->transport->admit) p->transport->admit(p->link, secret);
}

static void tune(net_proxy *p, void *arg) { p->transport->tune(p->link, arg); }

int net_tune(net_proxy *p, const void *settings) {
	if (!p->transport->tune) return 1;
	net_command(p, tune, (void *)settings);
	return 0;
}

static void facts(net_proxy *p, void *arg) {
	peer_call *c = arg;
	*c->header = (net_header){.secret = p->guard.secret, .protocol = NET_PROTOCOL, .epoch = p->guard.epoch, .source = p->rank,
	    .number = p->peers[c->peer].number};
}

void net_facts(net_proxy *p, uint32_t peer, net_header *to) {
	peer_call c = {.peer = peer, .header = to};
	net_command(p, facts, &c);
}

typedef struct {
	uint32_t peer;
	const void *header, *data;
	size_t header_bytes, bytes;
	int failed;
} raw_call;

static void raw(net_proxy *p, void *arg) {
	raw_call *c = arg;
	net_job *j = calloc(1, sizeof *j);
	net_message *m = calloc(1, sizeof *m);
	uint8_t *copy = net_stage(p, c->header_bytes + c->bytes);
	if (!j || !m || !copy) abort(); // only in tests
	memcpy(copy, c->header, c->header_bytes);
	memcpy(copy + c->header_bytes, c->data, c->bytes);
	j->whole = j->pending = 1;
	m->job = j;
	m->peer = j->peer = c->peer;
	m->stage = copy;
	p->peers[c->peer].facts.in_flight++;
	int sent = p->transport->send(p->link, c->peer, copy, c->header_bytes, copy + c->header_bytes, c->bytes, NET_STAGED, m);
	c->failed = sent == NET_UNSENT;
	if (sent != NET_SENDING) net_message_sent(p, m, c->failed);
}

int net_raw(net_proxy *p, uint32_t peer, const void *header, size_t header_bytes, const void *data, size_t bytes) {
	raw_call c = {peer, header, data, header_bytes, bytes, 0};
	net_command(p, raw, &c);
	return c.failed;
}
