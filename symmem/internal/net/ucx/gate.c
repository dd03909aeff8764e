// gate.c: access control for connections. UCX trusts everyone who reaches its ports: a message that
// claims more bytes than fit overruns the buffer, and a put of its protocol writes to any address,
// whatever UCX_TCP_PUT_ENABLE says, because that setting only concerns the sender.
//
// So UCX does not see a TCP connection before the peer has sent the world's secret. libucs calls
// functions of this file instead of listen, accept and connect: connect sends the secret as the
// first bytes, and accept reads them and closes every connection that begins differently. The
// kernel does not hand over a connection without data; it keeps as many of them as for any port
// (net.core.somaxconn), and they cost this process neither memory nor descriptors.
//
// imports.c installs the functions in the library's own table of imported functions.
#define _GNU_SOURCE
#include "gate.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "imports.h"

typedef struct {
	char magic[8];
	uint64_t secret;
} pass;

enum {
	DEFER = 30,         // how long, in seconds, the kernel keeps a connection without data
	PATIENCE = 20,      // milliseconds to wait for data if the kernel did not
	PATIENT = 10,       // how often per second accept may wait like that
	AT_ONCE = 64,       // connections to refuse in one call, during which the engine does nothing else
	ESTABLISH = 120000, // milliseconds for a connection; the kernel gives up earlier
};

static _Atomic uint64_t known, strangers;
static _Atomic int opened;

void gate_open(uint64_t secret) {
	atomic_store(&known, secret);
	atomic_store(&opened, 1);
}

uint64_t gate_strangers(void) { return atomic_load(&strangers); }

static pass own_pass(void) { return (pass){{'s', 'y', 'm', 'm', 'r', 'e', 'p', 'l'}, atomic_load(&known)}; }

static int is_tcp(int fd) {
	int domain = 0, type = 0;
	socklen_t bytes = sizeof domain;
	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &bytes) || (domain != AF_INET && domain != AF_INET6)) return 0;
	bytes = sizeof type;
	return !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes) && type == SOCK_STREAM;
}

static int gate_listen(int fd, int backlog) {
	int seconds = DEFER;
	// if that fails, accept waits for the data
	if (is_tcp(fd)) setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &seconds, sizeof seconds);
	return listen(fd, backlog);
}

// patient reports whether accept may wait for data: strangers must not delay it.
static int patient(void) {
	static _Atomic int64_t second;
	static _Atomic int waits;
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	if (atomic_exchange(&second, t.tv_sec) != t.tv_sec) atomic_store(&waits, 0);
	return atomic_fetch_add(&waits, 1) < PATIENT;
}

// shown reads the secret from a connection, and reports whether it is the right one.
static int shown(int fd) {
	pass p, own = own_pass();
	if (!atomic_load(&opened)) return 0;
	ssize_t n = recv(fd, &p, sizeof p, MSG_DONTWAIT);
	if (n < 0 && errno == EAGAIN && patient()) {
		struct pollfd f = {fd, POLLIN, 0};
		if (poll(&f, 1, PATIENCE) == 1) n = recv(fd, &p, sizeof p, MSG_DONTWAIT);
	}
	return n == sizeof p && !memcmp(p.magic, own.magic, sizeof p.magic) && p.secret == own.secret;
}

static int gate_accept(int fd, struct sockaddr *address, socklen_t *bytes) {
	int tcp = is_tcp(fd);
	socklen_t room = bytes ? *bytes : 0;
	for (int k = 0; k < AT_ONCE; k++) {
		if (bytes) *bytes = room;
		int c = accept4(fd, address, bytes, SOCK_CLOEXEC);
		if (c < 0 && errno != EAGAIN && errno != EBADF && errno != EINVAL && errno != ENOTSOCK) {
			// The connection failed, or there are no free descriptors. UCX would close its port for
			// good.
			if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) usleep(1000);
			break;
		}
		if (c < 0 || !tcp || shown(c)) return c;
		struct linger reset = {1, 0}; // close without TIME_WAIT
		setsockopt(c, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
		close(c);
		atomic_fetch_add(&strangers, 1);
	}
	errno = EAGAIN; // the next call accepts the remaining connections
	return -1;
}

static int gate_connect(int fd, const struct sockaddr *to, socklen_t bytes) {
	int failed = connect(fd, to, bytes);
	if (!is_tcp(fd)) return failed;
	if (failed && (errno == EINPROGRESS || errno == EINTR)) {
		struct pollfd f = {fd, POLLOUT, 0};
		int n, why = ETIMEDOUT;
		while ((n = poll(&f, 1, ESTABLISH)) < 0 && errno == EINTR) {}
		socklen_t size = sizeof why;
		if (n == 1) getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &size);
		if (!(errno = why)) failed = 0;
	}
	if (failed) return failed;
	pass own = own_pass();
	// there is always room for the first bytes
	if (send(fd, &own, sizeof own, MSG_NOSIGNAL) == sizeof own) return 0;
	errno = ECONNRESET;
	return -1;
}

int gate_build(void *inside, char why[NET_WHY]) {
	static const char *const cannot = "its connections cannot be guarded: ";
	import imports[] = {{"listen", gate_listen, 0}, {"accept", gate_accept, 0}, {"connect", gate_connect, 0}};
	enum { N = sizeof imports / sizeof *imports };
	const char *failed = imports_replace(inside, imports, N);
	if (failed) {
		snprintf(why, NET_WHY, "%s%s", cannot, failed);
		return 1;
	}
	for (size_t k = 0; k < N; k++) {
		if (imports[k].found) continue;
		snprintf(why, NET_WHY, "%sit does not call %s", cannot, imports[k].name);
		return 1;
	}
	return 0;
}
