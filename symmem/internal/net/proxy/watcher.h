// watcher.h: who looks at what the engine does to memory, while a sanitizer watches the kernels that post.
//
// Without a watcher the engine takes one branch where it would be called. With one, the engine's thread calls it wherever an operation touches memory that kernels
// see, and leaves to it the changes of words by which kernels learn of that: between a change and what it tells nobody may look. The watcher names each operation
// when it is posted; the name travels in the operation's messages, so that the watcher of the peer knows whose data it sees. 0 names none.
#ifndef NET_WATCHER_H
#define NET_WATCHER_H

#include <stdint.h>

typedef struct {
	const uint64_t *ready; // of its slot: whoever posted it has stored this last
	uint32_t peer;
	int fence, get, strong;
	uint64_t source, bytes, width, pitch; // rows of a put's source, width 0 for one piece; 0 bytes if it reads nothing here
} net_posted;

typedef struct {
	void *arg;

	// posted names an operation that the engine takes from the ring.
	uint64_t (*posted)(void *arg, const net_posted *op);
	// touched says that the data of an operation of the rank `source` has left memory here, for a get, or come to it.
	void (*touched)(void *arg, uint32_t source, uint64_t name, int write, uint64_t at, uint64_t pitch, uint64_t width, uint64_t bytes);
	// change sets a word to the value of an operation's signal, or adds that.
	void (*change)(void *arg, uint32_t source, uint64_t name, uint64_t *word, int add, uint64_t value);
	// count adds 1 to the counter of an operation of this rank that is over here.
	void (*count)(void *arg, uint64_t name, uint64_t *counter);
	// passed says that an operation is over here, as all before it are, and done sets the word that counts these.
	void (*passed)(void *arg, uint64_t name);
	void (*done)(void *arg, uint64_t *word, uint64_t done);
} net_watcher;

#endif
