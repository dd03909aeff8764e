// proxy.h: the engine as Go sees it. Every function may be called from any thread; all but open and close wait for the engine's own
// thread, which answers between two steps of its work.
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
	uint64_t in_flight;            // messages to the peer that are not over
	uint64_t posted, sent, landed; // operations to it; those that are over here; its messages that are finished here
	uint64_t parked;               // its strong signals that wait for earlier messages
	uint64_t dropped, refused;     // operations to it that were dropped; its messages that failed a check
	uint64_t missing;              // the first of its numbered messages that is not finished here
	uint64_t told;                 // how often it has answered net_ask; what it said last:
	uint64_t its_posted, its_sent; // posted and sent there, to this rank
	uint64_t its_number;           // of its last numbered message to this rank
	uint64_t number;               // of the last numbered message to it
} net_peer_state;

// net_open maps the board, opens the transport and starts the thread; NULL and the reason if something fails.
net_proxy *net_open(const net_setup *setup, char why[NET_WHY]);
// net_close ends the thread and everything it holds, the board too.
void net_close(net_proxy *p);

net_board *net_board_of(net_proxy *p);
size_t net_board_bytes(net_proxy *p);
size_t net_address(net_proxy *p, void *to, size_t room);
int net_news(net_proxy *p); // a descriptor that becomes readable when a peer is lost

// net_connect begins an epoch, or names peers in the present one. addresses holds the address of rank r at starts[r], ends at starts[r + 1];
// an empty one leaves the rank unknown.
int net_connect(net_proxy *p, uint32_t epoch, uint64_t secret, const uint8_t *addresses, const uint64_t *starts, char why[NET_WHY]);

int net_register(net_proxy *p, uint32_t id, uint64_t base, uint64_t bytes); // 1 if the id is taken, 2 without memory
// net_forget begins to forget a window: no later message finds it. It returns how many messages still use it, and forgets it at 0.
uint64_t net_forget(net_proxy *p, uint32_t id);
void net_expect(net_proxy *p, uint64_t operations);
// net_hold keeps the thread awake while what all calls add up to is above 0.
void net_hold(net_proxy *p, int64_t more);
void net_ring(net_proxy *p);
void net_lose(net_proxy *p, uint32_t peer, const char *why);
void net_peer_of(net_proxy *p, uint32_t peer, net_peer_state *to);
// net_watch gives the engine a watcher (watcher.h), or with NULL takes it back.
void net_watch(net_proxy *p, const void *watcher);
// net_ask asks a peer what it has sent to this rank. It may never answer; net_peer_of has the last answer.
void net_ask(net_proxy *p, uint32_t peer);
// net_next_lost returns a peer that was lost and has not been told of, or -1.
int net_next_lost(net_proxy *p, char why[NET_WHY]);
void net_refused(net_proxy *p, uint64_t to[NET_REASONS]);
void net_admit(net_proxy *p, uint64_t secret); // of the connections, for this process
int net_tune(net_proxy *p, const void *settings);
// net_raw sends bytes as a message, whatever they are: tests of receivers do.
int net_raw(net_proxy *p, uint32_t peer, const void *header, size_t header_bytes, const void *data, size_t bytes);
// net_facts are what a message of this rank to a peer would carry now.
void net_facts(net_proxy *p, uint32_t peer, net_header *to);

#endif
