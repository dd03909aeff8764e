// copier.h: how bytes come to memory that the processor does not reach by itself.
//
// Data and windows may lie in the memory of a device. The proxy then stages: it copies data from the device to host memory and sends
// from there, or receives into host memory and copies from there. Such copies end later; the proxy asks until they have ended, and
// only then sends the message, or changes the word that signals it. Without a copier all memory is the host's. A provider that reaches
// the device's memory by itself (net_config.memory) sends whole data from there, and receives what was announced there; the rest is staged.
#ifndef NET_COPIER_H
#define NET_COPIER_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
	void *arg;

	// enter makes the device that of the calling thread.
	int (*enter)(void *arg);
	// owns tells whether an address is the device's.
	int (*owns)(void *arg, uint64_t address);
	// stage returns host memory that copies begin or end in; unstage takes it back.
	void *(*stage)(void *arg, size_t bytes);
	void (*unstage)(void *arg, void *memory);
	// copy begins to copy rows. word begins to set or to add to a word of 8 bytes. They return 0 when that is over, a ticket above 0
	// when poll will tell, and less than 0 when it failed. Words that are changed one after the other keep their order.
	int64_t (*copy)(void *arg, uint64_t to, uint64_t to_pitch, uint64_t from, uint64_t from_pitch, uint64_t width, uint64_t rows);
	int64_t (*word)(void *arg, uint64_t at, int add, uint64_t value);
	// poll returns 1 when the work of a ticket is over, 0 when it is not, and less than 0 when it failed.
	int (*poll)(void *arg, int64_t ticket);
} net_copier;

#endif
