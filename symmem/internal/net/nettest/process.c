#define _GNU_SOURCE
#include "process.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

void net_process_state(char *to, size_t room) {
	size_t n = 0;
	for (int s = 1; s < NSIG && n < room; s++) {
		struct sigaction a;
		if (!sigaction(s, NULL, &a)) n += snprintf(to + n, room - n, "%d:%p ", s, (void *)a.sa_handler);
	}
	static const char *const functions[] = {"munmap", "mmap", "mremap", "brk", "shmat", "shmdt", "madvise"};
	for (size_t f = 0; f < sizeof functions / sizeof *functions && n < room; f++) {
		unsigned char *first = dlsym(RTLD_DEFAULT, functions[f]);
		n += snprintf(to + n, room - n, "%s:", functions[f]);
		for (int k = 0; k < 16 && n < room; k++) n += snprintf(to + n, room - n, "%02x", first[k]);
	}
}
