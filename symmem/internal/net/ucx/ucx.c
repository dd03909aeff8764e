// ucx.c: messages as active messages of UCX. It uses neither UCX's atomic operations, which fail
// over TCP in some versions, nor its one-sided operations, which are not ordered with active
// messages.
#include "ucx.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gate.h"
#include "load.h"

enum { MESSAGE_ID = 7, LINGER = 200000000 };

// In worlds of up to this many ranks, every rank connects to all others, so that a rank that only
// waits for another one learns of its loss, too.
enum { DIAL_ALL = 64 };

typedef struct network network;

typedef struct {
	network *of;
	uint32_t rank;
	void *address, *ep;
	int failed;
} peer;

// A pending is a send or a receive in progress, with the data for its callback.
typedef struct pending {
	struct pending *next; // the next free one
	network *of;
	void *cookie;
	uint32_t peer;
} pending;

struct network {
	net_config config;
	net_events events;
	void *context, *worker;
	int fd;
	peer *peers;
	pending *free;
	uint64_t underway;
};

typedef struct { // a message whose data the sender still has
	void *descriptor;
	int taken;
} announced;

static int64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
}

static pending *new_pending(network *n, void *cookie, uint32_t rank) {
	pending *p = n->free;
	if (p)
		n->free = p->next;
	else if (!(p = malloc(sizeof *p)))
		abort(); // out of memory for a few bytes
	*p = (pending){NULL, n, cookie, rank};
	n->underway++;
	return p;
}

static void free_pending(pending *p) {
	p->of->underway--;
	p->next = p->of->free;
	p->of->free = p;
}

static void lose(network *n, uint32_t rank, int status) {
	n->peers[rank].failed = 1;
	n->events.lost(n->events.arg, rank, ucx.status_string(status));
}

static void on_error(void *arg, void *ep, int status) {
	peer *q = arg;
	if (q->ep == ep) lose(q->of, q->rank, status);
}

static void on_sent(void *request, int status, void *user) {
	pending *p = user;
	network *n = p->of;
	void *cookie = p->cookie;
	free_pending(p);
	ucx.request_free(request);
	n->events.sent(n->events.arg, cookie, status != UCX_OK);
}

static void on_received(void *request, int status, size_t bytes, void *user) {
	(void)bytes;
	pending *p = user;
	network *n = p->of;
	void *cookie = p->cookie;
	free_pending(p);
	ucx.request_free(request);
	n->events.received(n->events.arg, cookie, status != UCX_OK);
}

static int on_message(void *arg, const void *header, size_t header_bytes, void *data, size_t bytes, const ucx_am_param *param) {
	network *n = arg;
	if (!(param->attributes & UCX_AM_RENDEZVOUS)) {
		n->events.message(n->events.arg, header, header_bytes, data, bytes, NULL);
		return UCX_OK;
	}
	announced a = {data, 0};
	n->events.message(n->events.arg, header, header_bytes, NULL, bytes, &a);
	return a.taken ? UCX_IN_PROGRESS : UCX_OK; // UCX_OK completes it for the sender
}

static int memory_type(int memory) { return memory == NET_DIRECT_CUDA ? UCX_MEMORY_CUDA : UCX_MEMORY_HOST; }

static void ucx_receive(void *self, void *later, void *to, size_t bytes, int memory, void *cookie) {
	network *n = self;
	announced *a = later;
	a->taken = 1;
	pending *p = new_pending(n, cookie, 0);
	ucx_request_param q = {.mask = UCX_OP_CALLBACK | UCX_OP_USER | UCX_OP_MEMORY | UCX_OP_ALWAYS_CALL, .done.received = on_received, .user = p, .memory = memory_type(memory)};
	void *r = ucx.am_recv_data_nbx(n->worker, a->descriptor, to, bytes, &q);
	if (!ucx_is_error(r)) return;
	free_pending(p);
	n->events.received(n->events.arg, cookie, 1);
}

static void ucx_close(void *self);

static void *ucx_open(const net_config *config, const net_events *events, char why[NET_WHY]) {
	char version[32];
	if (!ucx_load(config->library, version, why)) return NULL;
	network *n = calloc(1, sizeof *n);
	if (!n || !(n->peers = calloc(config->size, sizeof *n->peers))) {
		free(n);
		snprintf(why, NET_WHY, "no memory");
		return NULL;
	}
	n->config = *config;
	n->events = *events;
	for (uint32_t r = 0; r < config->size; r++) {
		n->peers[r].of = n;
		n->peers[r].rank = r;
	}
	const char *step = "read its settings";
	void *settings = NULL;
	int status = ucx.config_read(NULL, NULL, &settings);
	if (!status && *config->tls) status = ucx.config_modify(settings, "TLS", config->tls);
	if (!status && *config->interface) status = ucx.config_modify(settings, "NET_DEVICES", config->interface);
	// puts of UCX's protocol are not used; versions without this setting are fine
	if (!status) ucx.config_modify(settings, "TCP_PUT_ENABLE", "n");
	// by default UCX cuts what it sends over TCP into pieces of 8 KiB, of a write each
	if (!status && !getenv("UCX_TCP_TX_SEG_SIZE")) ucx.config_modify(settings, "TCP_TX_SEG_SIZE", "64k");
	if (!status) {
		step = "begin";
		ucx_params p = {.mask = UCX_PARAM_FEATURES | UCX_PARAM_ENDPOINTS, .features = UCX_FEATURE_AM | UCX_FEATURE_WAKEUP, .endpoints = config->size};
		status = ucx.init_version(1, 13, &p, settings, &n->context);
	}
	if (settings) ucx.config_release(settings);
	if (!status && config->memory == NET_DIRECT_CUDA) {
		ucx_context_attributes a = {.mask = UCX_CONTEXT_MEMORY_TYPES};
		status = ucx.context_query(n->context, &a);
		if (!status && !(a.memory_types >> UCX_MEMORY_CUDA & 1)) {
			snprintf(why, NET_WHY, "UCX %s does not reach the memory of GPUs: it has no module for CUDA, or UCX_TLS leaves that out", version);
			ucx_close(n);
			return NULL;
		}
	}
	if (!status) {
		step = "use the network";
		ucx_worker_params w = {.mask = UCX_WORKER_THREAD_MODE, .thread_mode = UCX_SINGLE};
		status = ucx.worker_create(n->context, &w, &n->worker);
	}
	if (!status) {
		step = "receive";
		ucx_am_handler h = {.mask = UCX_AM_ID | UCX_AM_FLAGS | UCX_AM_CALLBACK | UCX_AM_ARG, .id = MESSAGE_ID, .flags = UCX_AM_WHOLE, .message = on_message, .arg = n};
		status = ucx.worker_set_am_recv_handler(n->worker, &h);
	}
	if (!status) status = ucx.worker_get_efd(n->worker, &n->fd);
	if (!status) return n;
	snprintf(why, NET_WHY, "UCX %s cannot %s (interface \"%s\", TLS \"%s\"): %s", version, step, config->interface, config->tls, ucx.status_string(status));
	ucx_close(n);
	return NULL;
}

static size_t ucx_address(void *self, void *to, size_t room) {
	network *n = self;
	void *address;
	size_t bytes;
	if (ucx.worker_get_address(n->worker, &address, &bytes)) return 0;
	if (bytes <= room) memcpy(to, address, bytes);
	ucx.worker_release_address(n->worker, address);
	return bytes;
}

static int dial(network *n, peer *q) {
	if (q->ep) return UCX_OK;
	ucx_ep_params p = {.mask = UCX_EP_ADDRESS | UCX_EP_ERROR_MODE | UCX_EP_ERROR_HANDLER, .address = q->address, .error_mode = UCX_ERRORS_OF_PEER,
	    .on_error = on_error, .error_arg = q};
	return ucx.ep_create(n->worker, &p, &q->ep);
}

static int ucx_peer(void *self, uint32_t rank, const void *address, size_t bytes, char why[NET_WHY]) {
	network *n = self;
	peer *q = &n->peers[rank];
	void *copy = malloc(bytes);
	if (!copy) {
		snprintf(why, NET_WHY, "no memory");
		return 1;
	}
	memcpy(copy, address, bytes);
	free(q->address);
	q->address = copy;
	q->failed = 0;
	int status = n->config.size <= DIAL_ALL ? dial(n, q) : UCX_OK;
	if (status == UCX_UNREACHABLE) {
		snprintf(why, NET_WHY, "UCX finds no way to rank %u by interface \"%s\": %s (is it up, and in /sys/class/net?)", rank, n->config.interface, ucx.status_string(status));
		return 1;
	}
	if (status) lose(n, rank, status);
	return 0;
}

static int ucx_send(void *self, uint32_t rank, const void *header, size_t header_bytes, const void *data, size_t bytes, int memory, void *cookie) {
	network *n = self;
	peer *q = &n->peers[rank];
	if (!q->address || q->failed) return NET_UNSENT;
	int status = dial(n, q);
	if (status) {
		lose(n, rank, status);
		return NET_UNSENT;
	}
	pending *p = new_pending(n, cookie, rank);
	ucx_request_param s = {.mask = UCX_OP_CALLBACK | UCX_OP_USER | UCX_OP_MEMORY, .done.sent = on_sent, .user = p, .memory = memory_type(memory)};
	void *r = ucx.am_send_nbx(q->ep, MESSAGE_ID, header, header_bytes, data, bytes, &s);
	if (r && !ucx_is_error(r)) return NET_SENDING;
	free_pending(p);
	if (!r) return NET_SENT;
	lose(n, rank, (int)(intptr_t)r);
	return NET_UNSENT;
}

static int ucx_progress(void *self) { return ucx.worker_progress(((network *)self)->worker); }

static int ucx_arm(void *self, int64_t *nanoseconds) {
	(void)nanoseconds;
	return ucx.worker_arm(((network *)self)->worker) != UCX_OK;
}

static int ucx_fd(void *self) { return ((network *)self)->fd; }

// hang_up closes an endpoint; its sends in progress end with an error.
static void hang_up(peer *q) {
	if (!q->ep) return;
	ucx_request_param p = {.mask = UCX_OP_FLAGS, .flags = UCX_CLOSE_FORCE};
	void *ep = q->ep;
	q->ep = NULL;
	void *r = ucx.ep_close_nbx(ep, &p);
	if (r && !ucx_is_error(r)) ucx.request_free(r);
}

static void ucx_drop(void *self, uint32_t rank) {
	peer *q = &((network *)self)->peers[rank];
	q->failed = 1;
	hang_up(q);
}

// flush waits for a while until sends have left.
static void flush(network *n) {
	int64_t end = now() + LINGER;
	ucx_request_param p = {0};
	for (uint32_t r = 0; r < n->config.size; r++) {
		peer *q = &n->peers[r];
		void *request = q->ep && !q->failed ? ucx.ep_flush_nbx(q->ep, &p) : NULL;
		if (!request || ucx_is_error(request)) continue;
		while (ucx.request_check_status(request) == UCX_IN_PROGRESS && now() < end)
			if (!ucx.worker_progress(n->worker)) sched_yield();
		ucx.request_free(request);
	}
}

static void ucx_close(void *self) {
	network *n = self;
	if (n->worker) {
		flush(n);
		for (uint32_t r = 0; r < n->config.size; r++) hang_up(&n->peers[r]);
		for (int64_t end = now() + LINGER; n->underway && now() < end;)
			if (!ucx.worker_progress(n->worker)) sched_yield();
		ucx.worker_destroy(n->worker);
	}
	if (n->context) ucx.cleanup(n->context);
	for (uint32_t r = 0; r < n->config.size; r++) free(n->peers[r].address);
	for (pending *p; (p = n->free);) {
		n->free = p->next;
		free(p);
	}
	free(n->peers);
	free(n);
}

static void ucx_admit(void *self, uint64_t secret) {
	(void)self;
	gate_open(secret);
}

static uint64_t ucx_strangers(void *self) {
	(void)self;
	return gate_strangers();
}

const net_transport net_ucx = {ucx_open, ucx_address, ucx_peer, ucx_send, ucx_receive, ucx_progress, ucx_arm, ucx_fd, ucx_drop, NULL, ucx_close, NULL, ucx_admit, ucx_strangers};
