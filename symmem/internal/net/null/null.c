// null.c: the null network.
//
// The address of a rank is a path: a folder and a random name. There are three kinds of files whose
// paths begin with it:
//
//	NAME.life       locked by its rank as long as that lives; others try the lock ten times a second. It holds a word that tells
//	                whether the rank sleeps.
//	NAME.bell       a FIFO; a byte in it wakes the rank.
//	NAME-FROM.ring  bytes from the rank with the name FROM. Its receiver makes and removes it; a sender waits until it is there.
//
// A ring contains frames: a prefix, the header, the data, and a last word that is 0 if the sender
// gave up the message meanwhile. The sender decides by its settings when a message is due, and the
// receiver keeps the message until then. A dropped message never enters a ring, and its sender does
// not learn of it: strong signals and fences after it wait for ever, as on a network without
// retransmission.
#define _GNU_SOURCE
#include "null.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../proxy/transport.h"

enum { RING = 256 << 10, PATH = 1024, HELD_BYTES = 64 << 20, ROUNDS = 1024 };
enum { CHECK = 100000000, RETRY = 50000, LINGER = 200000000, LEAST_JITTER = 100000, LAST_WORDS = 300000000 }; // nanoseconds

typedef struct {
	uint64_t head, apart0[15]; // bytes written
	uint64_t tail, apart1[15]; // bytes read
	uint8_t bytes[RING];
} ring;

typedef struct {
	uint64_t due;
	uint32_t from, header_bytes;
	uint64_t bytes;
} prefix;

typedef struct outgoing {
	struct outgoing *next;
	void *cookie;
	prefix prefix;
	uint8_t header[NET_HEADER_MAX];
	const uint8_t *data;
	uint64_t valid, written; // written: bytes of the frame in the ring
	int over;                // given up; the frame is filled with zeros
} outgoing;

typedef struct held {
	struct held *next;
	prefix prefix;
	uint64_t valid, read;
	uint8_t *bytes; // header and data
} held;

typedef struct {
	char path[PATH];
	int known, dropped, gone;
	int64_t gone_at;
	int life, bell;
	uint32_t *asleep;
	ring *out, *in;
	outgoing *first, **last;
	held *partial;
	uint64_t holds;    // held messages from this peer
	int64_t link_free; // when its bandwidth is available again
} peer;

typedef struct {
	net_config config;
	net_events events;
	char path[PATH];
	int life, bell;
	uint32_t *asleep;
	peer *peers;
	held *held; // sorted by due time
	uint64_t held_bytes;
	uint64_t sending;
	int64_t next_check;
	uint64_t rounds;
	net_null_settings settings;
	uint64_t chance;
} network;

static int64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
}

static uint64_t random64(network *n) { // splitmix64
	uint64_t z = n->chance += 0x9e3779b97f4a7c15;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static const char *base(const char *path) { return strrchr(path, '/') + 1; }

static int ring_path(char to[2 * PATH], const char *receiver, const char *sender) {
	return snprintf(to, 2 * PATH, "%s-%s.ring", receiver, base(sender));
}

static void *map(int fd, size_t bytes) {
	void *m = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return m == MAP_FAILED ? NULL : m;
}

// extend gives a new file its size and its room: a write to a mapping without room ends the process.
static int extend(int fd, size_t bytes) {
	int failed;
	do failed = posix_fallocate(fd, 0, bytes);
	while (failed == EINTR);
	errno = failed;
	return failed ? -1 : 0;
}

static void unmap(void *m, size_t bytes) {
	if (m) munmap(m, bytes);
}

static void shut(int *fd) {
	if (*fd >= 0) close(*fd);
	*fd = -1;
}

static void forget_out(peer *q) {
	for (outgoing *o; (o = q->first);) { // all are over
		q->first = o->next;
		free(o);
	}
	q->last = &q->first;
	unmap(q->out, sizeof *q->out);
	unmap(q->asleep, sizeof *q->asleep);
	q->out = NULL;
	q->asleep = NULL;
	shut(&q->life);
	shut(&q->bell);
}

static void forget_in(network *n, peer *q) {
	char path[2 * PATH];
	if (!q->in) return;
	unmap(q->in, sizeof *q->in);
	q->in = NULL;
	ring_path(path, n->path, q->path);
	unlink(path);
	if (q->partial) {
		free(q->partial->bytes);
		free(q->partial);
		q->partial = NULL;
	}
}

static void null_close(void *self);

static void *null_open(const net_config *config, const net_events *events, char why[NET_WHY]) {
	network *n = calloc(1, sizeof *n);
	if (!n) {
		snprintf(why, NET_WHY, "no memory");
		return NULL;
	}
	n->config = *config;
	n->events = *events;
	n->life = n->bell = -1;
	n->peers = calloc(config->size, sizeof *n->peers);
	for (uint32_t r = 0; n->peers && r < config->size; r++) {
		n->peers[r].life = n->peers[r].bell = -1;
		n->peers[r].last = &n->peers[r].first;
	}
	uint64_t name[2];
	char file[2 * PATH];
	const char *step = "allocate";
	if (!n->peers || getrandom(name, sizeof name, 0) != sizeof name) goto fail;
	step = "use the folder";
	char folder[PATH_MAX];
	if (!realpath(config->dir, folder)) goto fail;
	if (snprintf(n->path, PATH, "%s/net-%016llx%016llx", folder, (unsigned long long)name[0], (unsigned long long)name[1]) >= PATH) {
		errno = ENAMETOOLONG;
		goto fail;
	}
	step = "make and lock a file in the folder";
	snprintf(file, sizeof file, "%s.life", n->path);
	n->life = open(file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (n->life < 0 || flock(n->life, LOCK_EX | LOCK_NB) || extend(n->life, sizeof *n->asleep) || !(n->asleep = map(n->life, sizeof *n->asleep))) goto fail;
	step = "make a FIFO in the folder";
	snprintf(file, sizeof file, "%s.bell", n->path);
	if (mkfifo(file, 0600) || (n->bell = open(file, O_RDWR | O_NONBLOCK | O_CLOEXEC)) < 0) goto fail;
	return n;
fail:
	snprintf(why, NET_WHY, "the null network cannot %s: %s", step, strerror(errno));
	null_close(n);
	return NULL;
}

static size_t null_address(void *self, void *to, size_t room) {
	network *n = self;
	size_t bytes = strlen(n->path);
	if (bytes <= room) memcpy(to, n->path, bytes);
	return bytes;
}

static int null_peer(void *self, uint32_t rank, const void *address, size_t bytes, char why[NET_WHY]) {
	network *n = self;
	peer *q = &n->peers[rank];
	char path[PATH], file[2 * PATH], temporary[2 * PATH + 8];
	if (bytes == 0 || bytes >= PATH || *(const char *)address != '/') {
		snprintf(why, NET_WHY, "rank %u gave an address that is not of the null network", rank);
		return 1;
	}
	memcpy(path, address, bytes);
	path[bytes] = 0;
	if (q->known && strcmp(q->path, path) == 0) { // its rings are unchanged
		if (q->dropped && q->first) n->sending++;
		q->dropped = q->gone = 0;
		return 0;
	}
	forget_out(q);
	forget_in(n, q);
	memcpy(q->path, path, sizeof path);
	q->known = 1;
	q->dropped = q->gone = 0;
	q->link_free = 0;
	snprintf(file, sizeof file, "%s.life", path);
	q->life = open(file, O_RDWR | O_CLOEXEC);
	if (q->life < 0 || !(q->asleep = map(q->life, sizeof *q->asleep))) {
		q->gone = 1; // between its word and now
		return 0;
	}
	ring_path(file, n->path, path);
	snprintf(temporary, sizeof temporary, "%s.new", file);
	int fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || extend(fd, sizeof *q->in) || !(q->in = map(fd, sizeof *q->in)) || rename(temporary, file)) {
		snprintf(why, NET_WHY, "the null network cannot make a file in its folder: %s", strerror(errno));
		shut(&fd);
		unlink(temporary);
		q->known = 0;
		return 1;
	}
	shut(&fd);
	return 0;
}

// dial opens the ring that a peer made for this rank, if it exists.
static int dial(network *n, peer *q) {
	if (q->out) return 1;
	char file[2 * PATH];
	ring_path(file, q->path, n->path);
	int fd = open(file, O_RDWR | O_CLOEXEC);
	if (fd < 0) return 0;
	q->out = map(fd, sizeof *q->out);
	shut(&fd);
	snprintf(file, sizeof file, "%s.bell", q->path);
	q->bell = open(file, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	return q->out != NULL;
}

// put copies one part of a frame, which begins at offset `begin` in the frame, as far as there is
// room.
static void put(ring *r, outgoing *o, const void *from, uint64_t begin, uint64_t bytes, uint64_t *head, uint64_t *room) {
	if (o->written < begin || o->written >= begin + bytes) return;
	uint64_t at = o->written - begin, left = bytes - at;
	if (left > *room) left = *room;
	for (uint64_t n; left; left -= n) {
		n = RING - *head % RING < left ? RING - *head % RING : left;
		if (from)
			memcpy(r->bytes + *head % RING, (const uint8_t *)from + at, n);
		else
			memset(r->bytes + *head % RING, 0, n);
		at += n;
		o->written += n;
		*head += n;
		*room -= n;
	}
}

static uint64_t frame_bytes(const prefix *p) { return sizeof *p + p->header_bytes + p->bytes + 8; }

// write_frame returns 1 when the whole frame is in the ring.
static int write_frame(ring *r, outgoing *o) {
	uint64_t head = r->head, room = RING - (head - __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE));
	const prefix *p = &o->prefix;
	put(r, o, p, 0, sizeof *p, &head, &room);
	put(r, o, o->header, sizeof *p, p->header_bytes, &head, &room);
	put(r, o, o->over ? NULL : o->data, sizeof *p + p->header_bytes, p->bytes, &head, &room);
	put(r, o, &o->valid, sizeof *p + p->header_bytes + p->bytes, 8, &head, &room);
	__atomic_store_n(&r->head, head, __ATOMIC_RELEASE);
	return o->written == frame_bytes(p);
}

static void wake(peer *q) {
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!__atomic_load_n(q->asleep, __ATOMIC_RELAXED)) return;
	ssize_t n = write(q->bell, "", 1);
	(void)n; // a full FIFO wakes as well; one without a reader belongs to a rank that has ended
}

static int push(network *n, peer *q) {
	int done = 0;
	if (!q->first || q->dropped || !dial(n, q)) return 0;
	uint64_t before = q->out->head;
	for (outgoing *o; (o = q->first) && write_frame(q->out, o); done++) {
		q->first = o->next;
		if (!q->first) q->last = &q->first;
		n->sending--;
		if (!o->over) n->events.sent(n->events.arg, o->cookie, 0);
		free(o);
	}
	if (q->out->head == before) return done;
	wake(q);
	return done + 1;
}

static uint64_t due_at(network *n, peer *q, uint64_t bytes) {
	const net_null_settings *s = &n->settings;
	if (!s->delay && !s->bandwidth && !s->reorder) return 0;
	int64_t t = now();
	if (s->bandwidth) {
		if (q->link_free > t) t = q->link_free;
		t += (int64_t)((double)bytes * 1e9 / (double)s->bandwidth);
		q->link_free = t;
	}
	if (s->reorder) t += random64(n) % (s->delay > LEAST_JITTER ? s->delay : LEAST_JITTER);
	return t + s->delay;
}

static int null_send(void *self, uint32_t rank, const void *header, size_t header_bytes, const void *data, size_t bytes, int memory, void *cookie) {
	(void)memory;
	network *n = self;
	peer *q = &n->peers[rank];
	if (!q->known || q->dropped || q->gone || header_bytes > NET_HEADER_MAX) return NET_UNSENT;
	uint64_t due = due_at(n, q, bytes);
	if (n->settings.drop && (random64(n) >> 32) < n->settings.drop) return NET_SENT;
	outgoing *o = calloc(1, sizeof *o);
	if (!o) return NET_UNSENT;
	o->cookie = cookie;
	o->prefix = (prefix){due, n->config.rank, header_bytes, bytes};
	memcpy(o->header, header, header_bytes);
	o->data = data;
	o->valid = 1;
	if (!q->first && dial(n, q)) {
		int whole = write_frame(q->out, o);
		wake(q);
		if (whole) {
			free(o);
			return NET_SENT;
		}
	}
	*q->last = o;
	q->last = &o->next;
	n->sending++;
	return NET_SENDING;
}

static void null_receive(void *self, void *later, void *to, size_t bytes, int memory, void *cookie) {
	(void)self, (void)later, (void)to, (void)bytes, (void)memory, (void)cookie; // no message is announced with `later`
}

// take copies bytes from a ring, as far as there are any.
static void take(ring *r, void *to, uint64_t begin, uint64_t bytes, uint64_t *read, uint64_t *tail, uint64_t head) {
	if (*read < begin || *read >= begin + bytes) return;
	uint64_t at = *read - begin, left = bytes - at;
	if (left > head - *tail) left = head - *tail;
	for (uint64_t n; left; left -= n) {
		n = RING - *tail % RING < left ? RING - *tail % RING : left;
		memcpy((uint8_t *)to + at, r->bytes + *tail % RING, n);
		at += n;
		*read += n;
		*tail += n;
	}
}

static void hold(network *n, held *h) {
	held **at = &n->held;
	while (*at && (*at)->prefix.due <= h->prefix.due) at = &(*at)->next;
	h->next = *at;
	*at = h;
	n->held_bytes += h->prefix.bytes;
	n->peers[h->prefix.from].holds++;
}

// read_frame reads the available bytes of the next frame, and returns 1 when the frame is complete.
static int read_frame(network *n, uint32_t rank, peer *q) {
	ring *r = q->in;
	uint64_t head = __atomic_load_n(&r->head, __ATOMIC_ACQUIRE), tail = r->tail;
	if (head == tail || n->held_bytes > HELD_BYTES) return 0;
	held *h = q->partial;
	if (!h && !(h = q->partial = calloc(1, sizeof *h))) return 0;
	take(r, &h->prefix, 0, sizeof h->prefix, &h->read, &tail, head);
	if (h->read >= sizeof h->prefix && !h->bytes) {
		h->prefix.from = rank;
		h->bytes = malloc(h->prefix.header_bytes + h->prefix.bytes + 1);
	}
	if (h->bytes) {
		uint64_t body = h->prefix.header_bytes + h->prefix.bytes;
		take(r, h->bytes, sizeof h->prefix, body, &h->read, &tail, head);
		take(r, &h->valid, sizeof h->prefix + body, 8, &h->read, &tail, head);
	}
	__atomic_store_n(&r->tail, tail, __ATOMIC_RELEASE);
	if (!h->bytes || h->read < frame_bytes(&h->prefix)) return 0;
	q->partial = NULL;
	if (h->valid) {
		hold(n, h);
	} else {
		free(h->bytes);
		free(h);
	}
	return 1;
}

static int deliver(network *n) {
	int done = 0;
	int64_t t = 0;
	for (held *h; (h = n->held); done++) {
		if (h->prefix.due && (t || (t = now())) && h->prefix.due > (uint64_t)t) break;
		n->held = h->next;
		n->held_bytes -= h->prefix.bytes;
		n->peers[h->prefix.from].holds--;
		n->events.message(n->events.arg, h->bytes, h->prefix.header_bytes, h->bytes + h->prefix.header_bytes, h->prefix.bytes, NULL);
		free(h->bytes);
		free(h);
	}
	return done;
}

static void check_life(network *n) {
	int64_t t = now();
	if (t < n->next_check) return;
	n->next_check = t + CHECK;
	for (uint32_t r = 0; r < n->config.size; r++) {
		peer *q = &n->peers[r];
		if (!q->known || q->dropped || q->gone || q->life < 0) continue;
		if (flock(q->life, LOCK_SH | LOCK_NB)) continue;
		flock(q->life, LOCK_UN);
		q->gone = 1;
		q->gone_at = t;
	}
}

static int null_progress(void *self) {
	network *n = self;
	int done = 0;
	if (*n->asleep) __atomic_store_n(n->asleep, 0, __ATOMIC_RELAXED);
	if (++n->rounds % ROUNDS == 0) check_life(n);
	for (uint32_t r = 0; r < n->config.size; r++) {
		peer *q = &n->peers[r];
		if (!q->known || q->dropped) continue;
		if (q->first) done += push(n, q);
		int read = 0;
		while (q->in && read_frame(n, r, q)) read++;
		done += read;
		// earlier messages are delivered if they are due soon
		if (q->gone && !read && (!q->holds || now() - q->gone_at > LAST_WORDS)) {
			n->events.lost(n->events.arg, r, "its process ended or closed its network");
			done++;
		}
	}
	return done + deliver(n);
}

static int null_arm(void *self, int64_t *nanoseconds) {
	network *n = self;
	char bytes[64];
	while (read(n->bell, bytes, sizeof bytes) > 0) {
	}
	__atomic_store_n(n->asleep, 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	check_life(n);
	for (uint32_t r = 0; r < n->config.size; r++) {
		peer *q = &n->peers[r];
		if (!q->known || q->dropped) continue;
		if ((q->gone && !q->holds) || (q->in && __atomic_load_n(&q->in->head, __ATOMIC_ACQUIRE) != q->in->tail && n->held_bytes <= HELD_BYTES)) return 1;
	}
	int64_t t = now(), due = n->next_check - t;
	if (n->held && (int64_t)n->held->prefix.due - t < due) due = (int64_t)n->held->prefix.due - t;
	if (n->sending && due > RETRY) due = RETRY;
	*nanoseconds = due < 0 ? 0 : due;
	return 0;
}

static int null_fd(void *self) { return ((network *)self)->bell; }

// forget_held drops the held messages of a peer.
static void forget_held(network *n, uint32_t rank) {
	for (held **at = &n->held, *h; (h = *at);) {
		if (h->prefix.from != rank) {
			at = &h->next;
			continue;
		}
		*at = h->next;
		n->held_bytes -= h->prefix.bytes;
		n->peers[rank].holds--;
		free(h->bytes);
		free(h);
	}
}

static void null_renew(void *self) {
	network *n = self;
	for (uint32_t r = 0; r < n->config.size; r++) {
		if (n->peers[r].holds) forget_held(n, r);
		n->peers[r].link_free = 0;
	}
}

static void null_drop(void *self, uint32_t rank) {
	network *n = self;
	peer *q = &n->peers[rank];
	if (!q->known || q->dropped) return;
	q->dropped = 1;
	forget_held(n, rank);
	outgoing *keep = NULL, *o = q->first;
	q->first = NULL;
	q->last = &q->first;
	for (outgoing *next; o; o = next) {
		next = o->next;
		n->sending--;
		int over = o->over;
		// a partly written frame is completed when the peer comes back
		if (o->written && o->written < frame_bytes(&o->prefix)) {
			keep = o;
			o->next = NULL;
			o->valid = 0;
			o->over = 1;
		}
		void *cookie = o->cookie;
		if (o != keep) free(o);
		if (!over) n->events.sent(n->events.arg, cookie, 1);
	}
	if (keep) {
		q->first = keep;
		q->last = &keep->next;
	}
}

static void null_tune(void *self, const void *settings) {
	network *n = self;
	n->settings = *(const net_null_settings *)settings;
	n->chance = n->settings.seed * 0x100000001b3 + n->config.rank;
}

static void null_close(void *self) {
	network *n = self;
	char file[2 * PATH];
	for (int64_t end = now() + LINGER; n->sending && now() < end; sched_yield())
		for (uint32_t r = 0; r < n->config.size; r++) push(n, &n->peers[r]);
	for (uint32_t r = 0; n->peers && r < n->config.size; r++) {
		null_drop(n, r);
		forget_out(&n->peers[r]);
		forget_in(n, &n->peers[r]);
	}
	free(n->peers);
	if (n->life >= 0) {
		snprintf(file, sizeof file, "%s.life", n->path);
		unlink(file);
		snprintf(file, sizeof file, "%s.bell", n->path);
		unlink(file);
	}
	unmap(n->asleep, sizeof *n->asleep);
	shut(&n->life);
	shut(&n->bell);
	free(n);
}

const net_transport net_null = {null_open, null_address, null_peer, null_send, null_receive, null_progress, null_arm, null_fd,
    null_drop, null_renew, null_close, null_tune, NULL, NULL};
