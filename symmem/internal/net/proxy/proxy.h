// proxy.h: the engine's interface for Go. Every function may be called from any thread. All except
// open and close wait for the engine's thread, which answers between two steps of its work.
#ifndef NET_PROXY_H
#define NET_PROXY_H

#include "copier.h"
#include "message.h"

typedef struct net_proxy net_proxy;

typedef struct {
	net_config config;
	const net_transport *transport;
	const net_copier *copier; // or NULL
	uint64_t signals;
} net_setup;

enum { NET_UNKNOWN, NET_CONNECTED, NET_LOST };

typedef struct {
	int state;
	char why[NET_WHY];
	uint64_t bytes_sent, bytes_received, messages_sent, messages_received;
	uint64_t in_flight; // unfinished messages to the peer
	// operations to it; those of them that are over here; its messages that are finished here
	uint64_t posted, sent, landed;
	uint64_t parked;               // its strong signals that wait for earlier messages
	uint64_t dropped, refused;     // operations to it that were dropped; its messages that failed a check
	uint64_t missing;              // the first of its numbered messages that is not finished here
	uint64_t told;                 // number of its answers to net_ask; the last answer:
	uint64_t its_posted, its_sent; // posted and sent at the peer, to this rank
	uint64_t its_number;           // of its last numbered message to this rank
	uint64_t number;               // of the last numbered message to it
} net_peer_state;

// net_open maps the board, opens the transport and starts the thread. On failure it returns NULL
// and the reason.
net_proxy *net_open(const net_setup *setup, char why[NET_WHY]);
// net_close ends the thread and frees everything, including the board.
void net_close(net_proxy *p);

net_board *net_board_of(net_proxy *p);
size_t net_board_bytes(net_proxy *p);
size_t net_address(net_proxy *p, void *to, size_t room);
int net_news(net_proxy *p); // a descriptor that becomes readable when a peer is lost

// net_connect begins an epoch, or sets the addresses of peers in the present one. The address of
// rank r is in addresses from starts[r] to starts[r + 1]; a rank with an empty address is unknown.
int net_connect(net_proxy *p, uint32_t epoch, uint64_t secret, const uint8_t *addresses, const uint64_t *starts, char why[NET_WHY]);

// 1 if the id is in use, 2 without memory
int net_register(net_proxy *p, uint32_t id, uint64_t base, uint64_t bytes);
// net_forget hides a window from later messages. It returns how many messages still use the window,
// and unregisters it if none do.
uint64_t net_forget(net_proxy *p, uint32_t id);
void net_expect(net_proxy *p, uint64_t operations);
// net_hold keeps the thread awake while the sum of the arguments of all calls is above 0.
void net_hold(net_proxy *p, int64_t more);
void net_ring(net_proxy *p);
void net_lose(net_proxy *p, uint32_t peer, const char *why);
void net_peer_of(net_proxy *p, uint32_t peer, net_peer_state *to);
// net_watch sets the watcher (watcher.h) that the engine calls; NULL removes it.
void net_watch(net_proxy *p, const void *watcher);

// A message as a recording has it: one that this rank sent, until it was delivered or its answer
// landed, or one that it received, when it was applied.
typedef struct {
	uint32_t kind, peer, received;
	uint32_t ordinal; // of the call whose operation a sent one is of, or 0
	uint32_t signals, failed;
	uint64_t number, bytes;
	uint64_t began, ended; // nanoseconds of CLOCK_MONOTONIC
} net_recorded;

// net_record begins to record the messages with data or signals, so many at most; 0 ends it and
// forgets them. net_take_recorded writes at most n of them and returns how many there are; lost is
// how many had no room.
void net_record(net_proxy *p, size_t room);
size_t net_take_recorded(net_proxy *p, net_recorded *to, size_t n, uint64_t *lost);
// net_ask asks a peer what it has sent to this rank. It may never answer; net_peer_of has the last answer.
void net_ask(net_proxy *p, uint32_t peer);
// net_next_lost returns a lost peer that it has not returned before, or -1.
int net_next_lost(net_proxy *p, char why[NET_WHY]);
void net_refused(net_proxy *p, uint64_t to[NET_REASONS]);
void net_admit(net_proxy *p, uint64_t secret); // secret for connections, for the whole process
int net_tune(net_proxy *p, const void *settings);
// net_raw sends arbitrary bytes as a message, for tests of receivers.
int net_raw(net_proxy *p, uint32_t peer, const void *header, size_t header_bytes, const void *data, size_t bytes);
// net_facts writes a header with the values that a message to a peer would have now.
void net_facts(net_proxy *p, uint32_t peer, net_header *to);

#endif
