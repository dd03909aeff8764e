#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

// Go reserves half a GiB at once; the threads of a rank, their stacks and the emulator's take the rest. Measured: with 1.8 GB a rank of two does not start.
static const unsigned long long least = 2ull << 30;

__attribute__((constructor)) static void refuse_too_few(void) {
	struct rlimit room;
	if (getrlimit(RLIMIT_AS, &room) || room.rlim_cur == RLIM_INFINITY || room.rlim_cur >= least) return;
	dprintf(STDERR_FILENO, "symmrepl: `ulimit -v` permits a process %llu KiB of addresses, and it needs %llu at least\n", (unsigned long long)room.rlim_cur >> 10, least >> 10);
	_exit(3); // a session that could not start
}
