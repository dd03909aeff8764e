// copier.h: copies to memory that the processor cannot access directly.
//
// Sources and windows may be in device memory. The proxy then stages data: it copies it from the
// device to host memory and sends it from there, or receives it into host memory and copies it from
// there. Such copies complete later. The proxy polls them, and sends the message or changes the
// signal word only after they have completed. Without a copier all memory is host memory. A
// provider that can access device memory itself (net_config.memory) sends contiguous data from
// there, and receives announced data there; everything else is staged.
#ifndef NET_COPIER_H
#define NET_COPIER_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
	void *arg;

	// enter makes the device current in the calling thread.
	int (*enter)(void *arg);
	// owns reports whether an address is in the device's memory.
	int (*owns)(void *arg, uint64_t address);
	// stage returns host memory as the source or target of copies; unstage frees it.
	void *(*stage)(void *arg, size_t bytes);
	void (*unstage)(void *arg, void *memory);
	// copy starts copying rows. word starts setting, or adding to, a word of 8 bytes. They return 0
	// if the work is already complete, a positive ticket for poll if it is not, and a negative
	// number on failure. Changes of words keep their order.
	int64_t (*copy)(void *arg, uint64_t to, uint64_t to_pitch, uint64_t from, uint64_t from_pitch, uint64_t width, uint64_t rows);
	int64_t (*word)(void *arg, uint64_t at, int add, uint64_t value);
	// atomic starts the atomic operation of a NET_ATOMIC on a word of 4 or 8 bytes; its ticket is
	// positive. result returns the previous value when poll has returned 1 for the ticket, and before
	// the next call of another function than poll.
	int64_t (*atomic)(void *arg, uint64_t at, uint32_t bytes, uint32_t operation, uint64_t value, uint64_t compare);
	uint64_t (*result)(void *arg, int64_t ticket);
	// poll returns 1 when the work of a ticket is complete, 0 before, and a negative number on
	// failure.
	int (*poll)(void *arg, int64_t ticket);
} net_copier;

#endif
