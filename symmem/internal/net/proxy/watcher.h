// watcher.h: the interface of an observer of the engine's memory accesses, used while a sanitizer
// watches the kernels that post operations.
//
// Without a watcher, each place that would call it costs one branch. With a watcher, the engine's
// thread calls it wherever an operation accesses memory that kernels can see. The watcher also
// changes the words by which kernels learn of an operation, because it must record the change and
// make it without interruption. The watcher names each operation when it is posted. The name is
// sent in the operation's messages, so that the peer's watcher knows the operation. 0 is no name.
#ifndef NET_WATCHER_H
#define NET_WATCHER_H

#include <stdint.h>

typedef struct {
	const uint64_t *ready; // of its slot: the poster has stored this word last
	uint32_t peer;
	int fence, get, strong;
	// rows of a put's source, width 0 for contiguous data; 0 bytes if the operation reads nothing
	// here
	uint64_t source, bytes, width, pitch;
} net_posted;

typedef struct {
	void *arg;

	// posted returns a name for an operation that the engine takes from the ring.
	uint64_t (*posted)(void *arg, const net_posted *op);
	// touched is called when the data of an operation of the rank `source` was read from memory
	// here, or written to it.
	void (*touched)(void *arg, uint32_t source, uint64_t name, int write, uint64_t at, uint64_t pitch, uint64_t width, uint64_t bytes);
	// change sets a word to the value of an operation's signal, or adds the value.
	void (*change)(void *arg, uint32_t source, uint64_t name, uint64_t *word, int add, uint64_t value);
	// atomic does the atomic operation of a NET_ATOMIC on a word of 4 or 8 bytes, and returns the
	// previous value.
	uint64_t (*atomic)(void *arg, uint32_t source, uint64_t name, void *word, uint32_t bytes, uint32_t operation, uint64_t value, uint64_t compare);
	// count adds 1 to the counter of an operation of this rank that is over here.
	void (*count)(void *arg, uint64_t name, uint64_t *counter);
	// passed is called when an operation and all before it are over; done sets the word that counts
	// them.
	void (*passed)(void *arg, uint64_t name);
	void (*done)(void *arg, uint64_t *word, uint64_t done);
} net_watcher;

#endif
