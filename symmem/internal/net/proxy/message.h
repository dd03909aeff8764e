// message.h: what engines say to each other.
//
// Every message begins with a net_header. Its secret and epoch are those that the controller gave to all ranks; a message with others
// is dropped before anything is written, and so is one whose window is not known here or whose bytes would lie outside it.
//
//	kind    from      data  number                    then
//	PUT     the rank  yes   the next to that peer     the receiver writes the data to the window and changes the word of the signal
//	GET     the rank  no    the next to that peer     the peer answers with the data of the window
//	ANSWER  the peer  yes   -                         the data goes to where the GET, which the ticket names, wants it
//	FENCE   the rank  no    the last to that peer     the peer answers when all messages up to that number are finished there
//	ACK     the peer  no    the FENCE's               the fence, which the ticket names, is over at that peer
//	ASK     the rank  no    -                         the peer answers with what it has sent to the rank
//	TELL    the peer  no    the last to the rank      the ticket is how many operations it has posted to the rank, the value how many of them are over there
//
// A rank numbers the messages to each peer: 1, 2, and so on in an epoch. They may arrive in any order; the receiver keeps, for every source,
// up to where all are finished and which later ones are (order.h). A PUT is finished when its data and its signal are in place, a GET
// when its data has left. A weak signal waits for the data of its own message. A strong one waits, in addition, until all messages with
// smaller numbers are finished, so strong signals of one rank are seen in order. A number that came before is a duplicate, and dropped.
//
// A large operation travels as several messages of at most NET_PIECE bytes. The last one carries the signal, as a strong one: it covers all data
// of its operation. Rows are gathered where they are sent and scattered where they land.
#ifndef NET_MESSAGE_H
#define NET_MESSAGE_H

#include "board.h"
#include "transport.h"

enum { NET_PIECE = 4 << 20, NET_STAGED_PIECE = 1 << 20 };
enum { NET_MESSAGE_PUT = 1, NET_MESSAGE_GET = 2, NET_MESSAGE_ANSWER = 3, NET_MESSAGE_FENCE = 4, NET_MESSAGE_ACK = 5, NET_MESSAGE_ASK = 6, NET_MESSAGE_TELL = 7 };
enum { NET_PROTOCOL = 0x33544e53 }; // the last byte is the version

typedef struct {
	uint64_t secret;
	uint32_t protocol, epoch;
	uint32_t kind, source;
	uint64_t number;
	uint64_t ticket;
	uint64_t bytes;                // of data in this message, or that a get wants
	uint64_t offset, width, pitch; // in the window; rows if width > 0
	uint32_t window, signal;
	uint32_t signal_window, strong;
	uint64_t signal_at, value;
	uint64_t name; // of the operation of a PUT or GET: see watcher.h
} net_header;

_Static_assert(sizeof(net_header) == 112, "what engines of one version say");
_Static_assert(sizeof(net_header) <= NET_HEADER_MAX, "what transports carry");

// Why a message was dropped.
typedef enum {
	NET_FINE,
	NET_MALFORMED, // its length, protocol, kind or rows make no sense
	NET_SECRET,    // not of this world
	NET_EPOCH,     // of another epoch
	NET_SOURCE,    // of a rank that is not connected, or is gone
	NET_WINDOW,    // of a window that is not registered here
	NET_BOUNDS,    // its data would lie outside the window
	NET_WORD,      // its signal would
	NET_DUPLICATE, // it came before, or answers nothing
	NET_FAR,       // its number is too far ahead
	NET_NO_MEMORY, // there is no memory for it
	NET_STRANGER,  // a connection that did not begin with the secret, and on which nothing was read
	NET_REASONS
} net_reason;

typedef struct {
	uint32_t id, closing;
	uint64_t base, bytes;
	uint64_t users; // messages that read or write it
} net_window;

// net_guard is what a message is checked against.
typedef struct {
	uint64_t secret;
	uint32_t epoch, size;
	uint64_t signals;
	net_window **windows; // by id
	size_t count;
} net_guard;

// net_check reads the header of a message with so many bytes of data, and says why it must be dropped. It reads nothing else and
// writes to *h only.
net_reason net_check(const net_guard *g, const void *raw, size_t raw_bytes, size_t bytes, net_header *h);

net_window *net_find_window(const net_guard *g, uint32_t id);

// net_fits tells whether rows lie inside a window.
int net_fits(const net_window *w, uint64_t offset, uint64_t bytes, uint64_t width, uint64_t pitch);

#endif
