// message.h: the messages between engines.
//
// Every message begins with a net_header. Its secret and epoch must be those that the controller
// gave to all ranks. Otherwise the message is dropped before anything is written, and so is a
// message for an unknown window, or with bytes outside its window.
//
//	kind    from      data  number                    then
//	PUT     the rank  yes   the next to that peer     the receiver writes the data to the window and changes the word of the signal
//	GET     the rank  no    the next to that peer     the peer answers with the data of the window; if the signal says so, after an atomic operation
//	                                                  on the word that the data is, with the value and, to compare, signal_at
//	ANSWER  the peer  yes   -                         the data goes to where the GET, which the ticket names, wants it
//	FENCE   the rank  no    the last to that peer     the peer answers when all messages up to that number are finished there
//	ACK     the peer  no    the FENCE's               the fence, which the ticket names, is over at that peer
//	ASK     the rank  no    -                         the peer answers with what it has sent to the rank
//	TELL    the peer  no    the last to the rank      the ticket is how many operations it has posted to the rank, the value how many of them are over there
//
// A rank numbers the messages to each peer: 1, 2, and so on in an epoch. They may arrive in any
// order; the receiver records for every source up to which number all messages are finished, and
// which later ones are (order.h). A PUT is finished when its data and its signal are written, a GET
// when its data was sent. A weak signal waits for the data of its own message. A strong signal also
// waits until all messages with smaller numbers are finished, so that strong signals of one rank
// become visible in order. A message with a number that was already received is a duplicate, and is
// dropped.
//
// A large operation is sent as several messages of at most NET_PIECE bytes. The last one contains
// the signal, as a strong signal, so that it covers all data of the operation. Rows are gathered by
// the sender and scattered by the receiver.
#ifndef NET_MESSAGE_H
#define NET_MESSAGE_H

#include "board.h"
#include "transport.h"

enum { NET_PIECE = 4 << 20, NET_STAGED_PIECE = 1 << 20 };
enum { NET_MESSAGE_PUT = 1, NET_MESSAGE_GET = 2, NET_MESSAGE_ANSWER = 3, NET_MESSAGE_FENCE = 4, NET_MESSAGE_ACK = 5, NET_MESSAGE_ASK = 6, NET_MESSAGE_TELL = 7 };
enum { NET_PROTOCOL = 0x34544e53 }; // the last byte is the version

typedef struct {
	uint64_t secret;
	uint32_t protocol, epoch;
	uint32_t kind, source;
	uint64_t number;
	uint64_t ticket;
	uint64_t bytes;                // bytes of data in this message, or requested by a get
	uint64_t offset, width, pitch; // position in the window; rows if width > 0
	uint32_t window, signal;
	uint32_t signal_window, strong;
	uint64_t signal_at, value;
	uint64_t name; // name of the operation of a PUT or GET: see watcher.h
} net_header;

_Static_assert(sizeof(net_header) == 112, "what engines of one version say");
_Static_assert(sizeof(net_header) <= NET_HEADER_MAX, "what transports carry");

// Why a message was dropped.
typedef enum {
	NET_FINE,
	NET_MALFORMED, // invalid length, protocol, kind or rows
	NET_SECRET,    // from another world
	NET_EPOCH,     // from another epoch
	NET_SOURCE,    // from a rank that is not connected, or lost
	NET_WINDOW,    // for a window that is not registered here
	NET_BOUNDS,    // its data is outside of the window
	NET_WORD,      // its signal is outside of the window
	NET_DUPLICATE, // its number was received before, or it answers nothing
	NET_FAR,       // its number is too far ahead
	NET_NO_MEMORY, // out of memory
	NET_STRANGER,  // a connection that did not begin with the secret; nothing else was read from it
	NET_REASONS
} net_reason;

typedef struct {
	uint32_t id, closing;
	uint64_t base, bytes;
	uint64_t users; // number of messages that access it
} net_window;

// net_guard has the values against which messages are checked.
typedef struct {
	uint64_t secret;
	uint32_t epoch, size;
	uint64_t signals;
	net_window **windows; // by id
	size_t count;
} net_guard;

// net_check reads the header of a message with so many bytes of data, and returns the reason to
// drop it. It reads nothing else and writes only to *h.
net_reason net_check(const net_guard *g, const void *raw, size_t raw_bytes, size_t bytes, net_header *h);

net_window *net_find_window(const net_guard *g, uint32_t id);

// net_fits reports whether rows are inside a window.
int net_fits(const net_window *w, uint64_t offset, uint64_t bytes, uint64_t width, uint64_t pitch);

#endif
