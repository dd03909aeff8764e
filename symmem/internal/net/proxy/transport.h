// transport.h: the interface between the proxy and a provider, which moves its messages.
//
// A provider is a table of functions, net_transport. The proxy opens an instance, sets the
// addresses of its peers, and from then on calls it only from the proxy's thread. Within those
// calls, the provider calls the proxy's functions in net_events. A message is a header of at most
// NET_HEADER_MAX bytes and data of any length. Messages may arrive in any order; a message is lost
// only if its peer is lost.
#ifndef NET_TRANSPORT_H
#define NET_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

enum { NET_HEADER_MAX = 128, NET_ADDRESS_MAX = 4096, NET_WHY = 160 };

typedef struct {
	void *arg;

	// message is called when a message has arrived. If `later` is not NULL, the data has not
	// arrived: the callee requests it by receive, once, before it returns, or gives it up.
	// Otherwise data is valid until the callee returns.
	void (*message)(void *arg, const void *header, size_t header_bytes, const void *data, size_t bytes, void *later);
	// received is called when a receive is complete.
	void (*received)(void *arg, void *cookie, int failed);
	// sent is called when a send in progress is complete: header and data may be overwritten.
	void (*sent)(void *arg, void *cookie, int failed);
	// lost is called when the connection with a peer is lost for good. The callee drops the peer
	// later, not in this call.
	void (*lost)(void *arg, uint32_t peer, const char *why);
} net_events;

typedef struct {
	uint32_t rank, size;
	const char *library;   // the file to open, if the provider is a library
	const char *dir;       // a folder for files
	const char *interface; // of the network, or ""
	const char *tls;       // UCX_TLS, or ""
	int memory;            // how the provider treats device memory
} net_config;

// How a provider treats device memory: it has to be staged, or the provider accesses it itself,
// either because it is host memory or because the provider supports CUDA.
enum { NET_STAGED, NET_DIRECT_HOST, NET_DIRECT_CUDA };

enum { NET_SENT = 0, NET_SENDING = 1, NET_UNSENT = -1 };

typedef struct net_transport {
	// open returns an instance, or NULL and the reason, for example that the provider cannot access
	// config->memory.
	void *(*open)(const net_config *config, const net_events *events, char why[NET_WHY]);
	// address writes the address by which peers find this rank, and returns its length.
	size_t (*address)(void *self, void *to, size_t room);
	// peer sets the address of a peer, replacing an earlier one. The provider connects only at the
	// first send.
	int (*peer)(void *self, uint32_t peer, const void *address, size_t bytes, char why[NET_WHY]);
	// send starts sending a message. It returns NET_SENT if the send is already complete,
	// NET_SENDING if `sent` will be called, and NET_UNSENT if the peer is lost. memory is the kind
	// of memory of the data: NET_STAGED for host memory, or config->memory.
	int (*send)(void *self, uint32_t peer, const void *header, size_t header_bytes, const void *data, size_t bytes, int memory, void *cookie);
	// receive receives the data of a message that was announced with `later`; `received` is called
	// when it is complete, perhaps at once.
	void (*receive)(void *self, void *later, void *to, size_t bytes, int memory, void *cookie);
	// progress does the work that is possible now, and returns how much that was.
	int (*progress)(void *self);
	// arm prepares for sleep. It returns 0 if the descriptor will wake the thread, after
	// *nanoseconds at the latest (unchanged if nothing is due), and 1 otherwise.
	int (*arm)(void *self, int64_t *nanoseconds);
	int (*fd)(void *self);
	// drop drops a peer. All sends to it end, now or in a later progress.
	void (*drop)(void *self, uint32_t peer);
	// renew says that messages in flight to this rank are no longer needed. NULL if the provider
	// keeps none.
	void (*renew)(void *self);
	// close closes the instance after its sends, if they complete soon.
	void (*close)(void *self);
	// tune changes settings while the network runs; NULL if there are none.
	void (*tune)(void *self, const void *settings);
	// admit sets the secret by which ranks recognise each other when they connect, before any peer
	// knows an address; from any thread. NULL if the provider has no connections.
	void (*admit)(void *self, uint64_t secret);
	// strangers returns the number of refused connections; from any thread. NULL if the provider
	// has no connections.
	uint64_t (*strangers)(void *self);
} net_transport;

#endif
