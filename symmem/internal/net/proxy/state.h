// state.h: the engine's data, which belongs to its thread.
#ifndef NET_STATE_H
#define NET_STATE_H

#include <pthread.h>

#include "order.h"
#include "proxy.h"
#include "watcher.h"

// A job is work for one peer: an operation, an answer, or an acknowledgement. It issues messages
// when its turn comes.
typedef struct net_job {
	struct net_job *next;
	uint32_t kind, peer;
	uint64_t slot;      // for a put, a get or a fence
	net_op op;          // for a put or a get; for an answer, local and the rows describe the window
	uint64_t ticket;    // for an answer or an acknowledgement
	uint64_t number;    // number of the request
	net_window *window; // for an answer: the window that it reads
	uint64_t name;      // for a put or a get
	uint64_t issued;    // bytes issued so far
	uint32_t pending;   // unfinished messages
	int whole, failed;  // whole: all messages are issued; failed: one of them failed
	void (*over)(net_proxy *p, const struct net_job *j); // for an answer: called at its end
} net_job;

// A message in flight. A get's message lives until its answer has landed.
typedef struct net_message {
	struct net_message *next; // in net_proxy.copying or net_peer.gets
	net_header h;
	net_job *job;
	uint32_t peer;
	const void *data;
	int memory; // kind of memory of the data
	void *stage;
	int64_t ticket;     // ticket of the copy that fills the stage
	int sent, answered; // for a get; answered: its answer is landing
	uint64_t to, to_pitch, to_width;
	uint64_t began; // when it was sent, while messages are recorded
} net_message;

// An arrival is a received message that is not finished.
typedef struct net_arrival {
	net_parked parked;
	struct net_arrival *next; // in net_proxy.landing or .receiving
	net_header h;
	net_window *window, *signal_window;
	net_message *get; // the get that it answers
	uint64_t to, to_width, to_pitch;
	void *stage;
	int64_t ticket; // ticket of the copy, or of the word's change
	int changing;
} net_arrival;

typedef struct net_wait { // a peer's fence that waits for messages
	struct net_wait *next;
	uint64_t number, ticket;
} net_wait;

typedef struct {
	int state, losing, told;
	int dropped; // since the last Connect
	int slow;    // its connection has messages of an old epoch
	int asking;  // a question is queued
	char why[NET_WHY];
	uint8_t *address;
	size_t address_bytes;
	net_job *first, **last; // jobs with messages to issue
	// of the last message; up to which messages are known to be finished at the peer
	uint64_t number, fenced;
	net_message *gets;
	net_order order;
	net_wait *waits;
	uint64_t waiting;
	net_peer_state facts;
} net_peer;

typedef struct { // an operation from the ring
	net_op op;
	uint64_t number, name;
	int over, failed;
	uint32_t awaited; // peers that have not acknowledged a fence
	uint64_t awaiting[NET_PEERS / 64];
} net_operation;

struct net_proxy {
	net_setup setup;
	const net_transport *transport;
	net_events events;
	const net_watcher *watcher; // or NULL
	void *link;
	net_board *board;
	uint64_t *signals;
	size_t board_bytes;
	net_guard guard;
	net_peer *peers;
	uint32_t rank, size;

	uint64_t next, done; // number of slots taken; number of operations over, in order
	net_operation operations[NET_SLOTS];
	uint32_t fences; // number of unfinished fences
	// number of announced operations, and of those of them that were taken; tickets of gets
	uint64_t expected, taken, tickets;
	uint64_t holds; // kernels may post unannounced operations
	uint32_t busy;  // peers with jobs
	net_message *copying;
	net_arrival *landing;
	net_arrival *receiving; // being filled by the transport
	int losses;
	uint64_t refused[NET_REASONS];

	net_recorded *recorded; // NULL while messages are not recorded
	size_t recorded_count, recorded_room;
	uint64_t recorded_lost;

	int bell, news;
	int stopping;
	int64_t yields_again; // the time until which the thread does not yield
	pthread_t thread;
	pthread_mutex_t callers; // held during a command
	pthread_mutex_t lock;
	pthread_cond_t answered;
	void (*command)(net_proxy *, void *);
	void *argument;
	int commanded; // read by the thread without the lock
};

// net_mark_lost marks a peer as lost; the thread drops it in its next round.
void net_mark_lost(net_proxy *p, uint32_t peer, const char *why);

#endif
