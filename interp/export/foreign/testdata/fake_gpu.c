// The driver's and NCCL's functions that a program of symm_host.hpp calls with SYMM_MEMORY=nccl, over
// the memory of the host: a test's libcuda.so.1 and libnccl.so.2 in one. Ranks find each other's memory by its name.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int cuInit(unsigned flags) { return (int)flags; }
int cuDeviceGetCount(int *n) { return *n = 1, 0; }
int cuDeviceGet(int *device, int ordinal) { return *device = ordinal, 0; }
int cuDevicePrimaryCtxRetain(void **context, int device) { return *context = NULL, device; }
int cuCtxSetCurrent(void *context) { return context != NULL; }
int cuCtxSynchronize(void) { return 0; }
int cuMemAlloc_v2(uint64_t *p, size_t n) { return *p = (uint64_t)calloc(1, n), 0; }
int cuMemsetD8_v2(uint64_t p, unsigned char c, size_t n) { return memset((void *)p, c, n), 0; }
int cuMemcpyHtoD_v2(uint64_t p, const void *from, size_t n) { return memcpy((void *)p, from, n), 0; }
int cuMemcpyDtoH_v2(void *to, uint64_t p, size_t n) { return memcpy(to, (void *)p, n), 0; }

typedef struct { char text[128]; } id;
struct window { int number; size_t bytes; };
static struct { id id; int size, rank, windows; } comm;

static void *map(int rank, int number, size_t bytes) {
	char name[200];
	snprintf(name, sizeof name, "/%s-%d-%d", comm.id.text, rank, number);
	int f;
	// NCCL's registration meets the other ranks; this one waits for the peer's memory when it is asked for.
	while ((f = shm_open(name, rank == comm.rank ? O_RDWR | O_CREAT : O_RDWR, 0600)) < 0 && rank != comm.rank) usleep(1000);
	void *at = f >= 0 && ftruncate(f, (off_t)bytes) == 0 ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0) : MAP_FAILED;
	close(f);
	if (rank != comm.rank || comm.size == 1) shm_unlink(name);
	return at == MAP_FAILED ? NULL : at;
}

int ncclGetUniqueId(id *u) { return snprintf(u->text, sizeof u->text, "%s", getenv("FAKE_NCCL_ID")), 0; }
const char *ncclGetLastError(void *c) { return c ? "" : "the stand-in says no"; }
int ncclCommInitRank(void **c, int size, id u, int rank) {
	comm.id = u, comm.size = size, comm.rank = rank;
	return *c = &comm, getenv("FAKE_NCCL_FAILS") ? 5 : 0;
}
int ncclMemAlloc(void **p, size_t bytes) { return *p = map(comm.rank, comm.windows, bytes), *p == NULL; }
int ncclCommWindowRegister(void *c, void *p, size_t bytes, void **w, int flags) {
	if (c != &comm || !p || flags != 1) return 4;
	struct window *made = malloc(sizeof *made);
	*made = (struct window){comm.windows++, bytes};
	return *w = made, 0;
}
int ncclGetPeerDevicePointer(void *w, size_t offset, int peer, void **out) {
	struct window *of = w;
	if (peer < 0 || peer >= comm.size || peer == comm.rank || offset != 0) return 4;
	return *out = map(peer, of->number, of->bytes), 0;
}
