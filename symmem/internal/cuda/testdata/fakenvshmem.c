// A libnvshmem_host over a shared file, for tests on machines without a GPU, on top of the driver of
// fakecuda.c: its operations are work in that driver's streams. It has the functions that are used,
// and ends the process if one is called with arguments that NVSHMEM does not allow.
//
//   FAKE_NVSHMEM_VERSION=3.4.5  its version, which is this one if it is not set
//   FAKE_NVSHMEM_HANG=NAME      a function that waits for other PEs never returns: init, malloc, free, finalize
//   FAKE_NVSHMEM_FAIL=NAME      a function fails: nvshmemx_get_uniqueid, nvshmemx_hostlib_init_attr, nvshmem_malloc
//   FAKE_NVSHMEM_NUMBERS=other  the PEs have other numbers than those that they ask for
//   FAKE_NVSHMEM_APART=1        no PE has pointers to the memory of another
//   FAKE_NVSHMEM_LOG=FILE       log of the calls: "0 of 2 nvshmem_malloc 4096"
//
// A heap has room for 64 MiB. -DOLD leaves out nvshmemx_hostlib_init_attr.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PES = 16, HEAP = 64 << 20, BLOCKS = 256, UNIT = 512, SET = 9, ADD = 10, EQ = 0, GE = 5, WITH_ID = 8 };

typedef struct { int version; char path[124]; } id;
typedef struct { int version; id *id; int rank, size; } id_args;
typedef struct { int version; id_args id; char rest[96]; } args;
typedef struct { int version; void *mpi; args args; } attr;

// The file: how often each PE has come to a meeting, and what it asked for there; then the heaps.
typedef struct {
	atomic_uint came[PES];
	size_t asked[PES];
} shared;
enum { HEAPS_AT = 1 << 12 };

static struct {
	shared *s;
	char *heaps;
	int pe, pes;
	struct { size_t at, size; } block[BLOCKS]; // in use, ascending
	int blocks;
} me;

static int is(const char *variable, const char *what) {
	const char *value = getenv(variable);
	return value && !strcmp(value, what);
}

static void note(const char *format, ...) {
	const char *path = getenv("FAKE_NVSHMEM_LOG");
	FILE *f = path ? fopen(path, "a") : NULL;
	if (!f) return;
	char line[256];
	va_list list;
	va_start(list, format);
	vsnprintf(line, sizeof line, format, list);
	va_end(list);
	fprintf(f, "%d of %d %s\n", me.pe, me.pes, line);
	fclose(f);
}

static void *die(const char *why) {
	fprintf(stderr, "fakenvshmem: %s\n", why);
	abort();
}

// meet waits for all PEs, which must ask for the same.
static void meet(const char *name, size_t asks) {
	while (is("FAKE_NVSHMEM_HANG", name)) usleep(1000);
	me.s->asked[me.pe] = asks;
	unsigned turn = ++me.s->came[me.pe];
	for (int p = 0; p < me.pes; p++)
		while (me.s->came[p] < turn) usleep(200);
	for (int p = 0; p < me.pes; p++)
		if (me.s->asked[p] != asks) die("the PEs ask for different things");
	turn = ++me.s->came[me.pe]; // all have looked
	for (int p = 0; p < me.pes; p++)
		while (me.s->came[p] < turn) usleep(200);
}

void nvshmemx_vendor_get_version_info(int *major, int *minor, int *patch) {
	const char *set = getenv("FAKE_NVSHMEM_VERSION");
	sscanf(set ? set : "3.4.5", "%d.%d.%d", major, minor, patch);
}

int nvshmemx_get_uniqueid(id *out) {
	if (is("FAKE_NVSHMEM_FAIL", "nvshmemx_get_uniqueid")) return 7;
	if (out->version != (1 << 16) + 128) die("the ID has another form");
	int fd = memfd_create("fakenvshmem", MFD_CLOEXEC); // no file is left of PEs that never meet
	if (fd < 0 || ftruncate(fd, HEAPS_AT + (off_t)PES * HEAP)) return 7;
	snprintf(out->path, sizeof out->path, "/proc/%d/fd/%d", getpid(), fd);
	return 0;
}

int nvshmemx_set_attr_uniqueid_args(int rank, int size, const id *of, attr *a) {
	if (a->version != (1 << 16) + 144 || a->args.version != (1 << 16) + 128 || a->args.id.version != (1 << 16) + 24) die("the attributes have another form");
	a->args.id.id = (id *)of, a->args.id.rank = rank, a->args.id.size = size;
	return 0;
}

#ifndef OLD
int nvshmemx_hostlib_init_attr(unsigned flags, attr *a) {
	id_args *of = &a->args.id;
	if (is("FAKE_NVSHMEM_FAIL", "nvshmemx_hostlib_init_attr")) return 7;
	if (me.s) die("a second heap");
	if (flags != WITH_ID || a->mpi || of->id->version != (1 << 16) + 128 || of->size > PES) die("the attributes are wrong");
	int fd = open(of->id->path, O_RDWR);
	char *all = mmap(NULL, HEAPS_AT + (size_t)PES * HEAP, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (fd < 0 || all == MAP_FAILED) return 7;
	me.s = (shared *)all, me.heaps = all + HEAPS_AT, me.pe = of->rank, me.pes = of->size;
	meet("init", of->size);
	note("nvshmemx_hostlib_init_attr with %s %s %s", getenv("NVSHMEM_DISABLE_NVLS"), getenv("NVSHMEM_REMOTE_TRANSPORT"), getenv("NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME"));
	return 0;
}
#endif

void nvshmemx_hostlib_finalize(void) {
	note("nvshmemx_hostlib_finalize, %d blocks", me.blocks);
	meet("finalize", 0);
	munmap(me.s, HEAPS_AT + (size_t)PES * HEAP);
	memset(&me, 0, sizeof me);
}

int nvshmem_my_pe(void) { return me.pe + is("FAKE_NVSHMEM_NUMBERS", "other"); }
int nvshmem_n_pes(void) { return me.pes; }

static char *heap(int pe) { return me.heaps + (size_t)pe * HEAP; }

void *nvshmem_malloc(size_t size) {
	meet("malloc", size);
	note("nvshmem_malloc %zu", size);
	size = (size + UNIT - 1) / UNIT * UNIT;
	size_t at = 0;
	int i = 0;
	for (; i < me.blocks && me.block[i].at - at < size; i++) at = me.block[i].at + me.block[i].size;
	if (at + size > HEAP || me.blocks == BLOCKS || is("FAKE_NVSHMEM_FAIL", "nvshmem_malloc")) return NULL;
	memmove(&me.block[i + 1], &me.block[i], (me.blocks++ - i) * sizeof me.block[0]);
	me.block[i].at = at, me.block[i].size = size;
	memset(heap(me.pe) + at, 0xee, size); // not zero, as NVSHMEM says
	return heap(me.pe) + at;
}

// inside ends the process unless n bytes are in a block of this PE's.
static void inside(const void *p, size_t n) {
	size_t at = (size_t)((const char *)p - heap(me.pe));
	for (int i = 0; i < me.blocks; i++)
		if (at >= me.block[i].at && at + n <= me.block[i].at + me.block[i].size) return;
	die("an address is not symmetric");
}

void nvshmem_free(void *p) {
	size_t at = (size_t)((char *)p - heap(me.pe));
	meet("free", at);
	note("nvshmem_free");
	for (int i = 0; i < me.blocks; i++)
		if (me.block[i].at == at) {
			memmove(&me.block[i], &me.block[i + 1], (--me.blocks - i) * sizeof me.block[0]);
			return;
		}
	die("this is no block");
}

// peer is where a PE has an address of this one's.
static char *peer(const void *p, int pe) {
	if (pe < 0 || pe >= me.pes) die("there is no such PE");
	return (char *)p + ((ptrdiff_t)pe - me.pe) * HEAP;
}

void *nvshmem_ptr(const void *p, int pe) {
	inside(p, 1);
	return getenv("FAKE_NVSHMEM_APART") && pe != me.pe ? NULL : peer(p, pe);
}

// ---- on streams ----

typedef struct {
	char *dst;
	const char *src;
	size_t n;
	_Atomic uint64_t *word; // NULL if there is none
	uint64_t value;
	int op; // of the word
	int waits, cmp;
} work;

static int ready(void *arg) {
	work *w = arg;
	if (w->waits) return *w->word == w->value || (w->cmp == GE && *w->word > w->value);
	if (w->n) memmove(w->dst, w->src, w->n);
	if (w->word && w->op == SET) *w->word = w->value;
	if (w->word && w->op == ADD) *w->word += w->value;
	return 1;
}

static void queue(work what, void *stream) {
	static int (*add)(void *, int (*)(void *), void *);
	if (!add) add = dlsym(dlopen(getenv("SYMMREPL_CUDA"), RTLD_NOW | RTLD_NOLOAD), "fakeAddWork");
	work *w = malloc(sizeof *w); // lives as long as the process, as graphs do
	*w = what;
	if (w->word && ((uintptr_t)w->word % 8 || (!w->waits && w->op != SET && w->op != ADD) || (w->waits && w->cmp != EQ && w->cmp != GE))) die("a word or what is done with it is wrong");
	add(stream, ready, w);
}

void nvshmemx_putmem_on_stream(void *dst, const void *src, size_t n, int pe, void *stream) {
	inside(dst, n);
	note("nvshmemx_putmem_on_stream %zu to %d", n, pe);
	queue((work){.dst = peer(dst, pe), .src = src, .n = n}, stream);
}
void nvshmemx_getmem_on_stream(void *dst, const void *src, size_t n, int pe, void *stream) {
	inside(src, n);
	note("nvshmemx_getmem_on_stream %zu from %d", n, pe);
	queue((work){.dst = dst, .src = peer(src, pe), .n = n}, stream);
}
void nvshmemx_putmem_signal_on_stream(void *dst, const void *src, size_t n, uint64_t *word, uint64_t value, int op, int pe, void *stream) {
	inside(dst, n), inside(word, 8);
	note("nvshmemx_putmem_signal_on_stream %zu to %d", n, pe);
	queue((work){.dst = peer(dst, pe), .src = src, .n = n, .word = (void *)peer(word, pe), .value = value, .op = op}, stream);
}
void nvshmemx_signal_op_on_stream(uint64_t *word, uint64_t value, int op, int pe, void *stream) {
	inside(word, 8);
	note("nvshmemx_signal_op_on_stream %d to %d", (int)value, pe);
	queue((work){.word = (void *)peer(word, pe), .value = value, .op = op}, stream);
}
void nvshmemx_signal_wait_until_on_stream(uint64_t *word, int cmp, uint64_t value, void *stream) {
	inside(word, 8);
	note("nvshmemx_signal_wait_until_on_stream");
	queue((work){.word = (void *)word, .value = value, .waits = 1, .cmp = cmp}, stream);
}
