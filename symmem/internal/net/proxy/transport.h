// transport.h: the seam between the proxy and what moves its messages.
//
// A provider is a table of functions, net_transport. The proxy opens an instance, names its peers and, from then on, calls it from
// its one thread only. The provider answers from within those calls by net_events, whose functions the proxy gave it. A message is a
// header of at most NET_HEADER_MAX bytes and data of any length. Messages may arrive in any order; none is lost unless its peer is.
#ifndef NET_TRANSPORT_H
#define NET_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

enum { NET_HEADER_MAX = 128, NET_ADDRESS_MAX = 4096, NET_WHY = 160 };

typedef struct {
	void *arg;

	// message says that a message is there. With `later` the data is not: the callee asks for it by receive, once, before it returns,
	// or gives it up. Otherwise data may be read until the callee returns.
	void (*message)(void *arg, const void *header, size_t header_bytes, const void *data, size_t bytes, void *later);
	// received ends a receive.
	void (*received)(void *arg, void *cookie, int failed);
	// sent ends a send that was under way: header and data may be overwritten.
	void (*sent)(void *arg, void *cookie, int failed);
	// lost says that nothing passes between this rank and the peer any more. The callee drops the peer later, not in this call.
	void (*lost)(void *arg, uint32_t peer, const char *why);
} net_events;

typedef struct {
	uint32_t rank, size;
	const char *library;   // the file to open, where the provider is a library
	const char *dir;       // where files may lie
	const char *interface; // of the network, or ""
	const char *tls;       // UCX_TLS, or ""
	int memory;            // of the device, as the provider sees it
} net_config;

// Memory of the device that has to be staged, and such as the provider reads and writes by itself: because it is the host's, or because the
// provider was made for CUDA.
enum { NET_STAGED, NET_DIRECT_HOST, NET_DIRECT_CUDA };

enum { NET_SENT = 0, NET_SENDING = 1, NET_UNSENT = -1 };

typedef struct net_transport {
	// open returns an instance, or NULL and the reason, which may be that it does not reach config->memory.
	void *(*open)(const net_config *config, const net_events *events, char why[NET_WHY]);
	// address writes where peers find this rank, and returns its length.
	size_t (*address)(void *self, void *to, size_t room);
	// peer says where a peer is found; nothing is dialled before the first send. It replaces what was said before.
	int (*peer)(void *self, uint32_t peer, const void *address, size_t bytes, char why[NET_WHY]);
	// send begins a message: NET_SENT when it is over already, NET_SENDING when `sent` will tell, NET_UNSENT when the peer is gone. memory
	// is where the data lies: NET_STAGED for the host's own, else config->memory.
	int (*send)(void *self, uint32_t peer, const void *header, size_t header_bytes, const void *data, size_t bytes, int memory, void *cookie);
	// receive brings the data of a message that was announced with `later` to its place; `received` tells when, maybe at once.
	void (*receive)(void *self, void *later, void *to, size_t bytes, int memory, void *cookie);
	// progress does what can be done now, and returns how much that was.
	int (*progress)(void *self);
	// arm prepares sleep: 0 when the descriptor will wake it, after *nanoseconds at the latest (unchanged if nothing is due), else 1.
	int (*arm)(void *self, int64_t *nanoseconds);
	int (*fd)(void *self);
	// drop forgets a peer. Sends to it end, now or in a later progress, all of them.
	void (*drop)(void *self, uint32_t peer);
	// renew says that what is still under way to this rank is of no use any more. NULL where nothing is kept.
	void (*renew)(void *self);
	// close ends the instance after its sends, as far as they end soon.
	void (*close)(void *self);
	// tune changes a setting while the network runs; NULL where there are none.
	void (*tune)(void *self, const void *settings);
	// admit says by which secret ranks know each other when they connect, before any address is known to a peer; from any thread. NULL where
	// nobody connects.
	void (*admit)(void *self, uint64_t secret);
	// strangers is how many connections were turned away; from any thread. NULL where nobody connects.
	uint64_t (*strangers)(void *self);
} net_transport;

#endif
