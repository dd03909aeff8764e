#include "inner.h"

int sy_multicast_known(void) { return cu.cuMulticastCreate && cu.cuMulticastGetGranularity && cu.cuMulticastAddDevice && cu.cuMulticastBindMem && cu.cuMulticastUnbind; }

sy_status sy_multicast_create(sy_device *d, int devices, size_t n, sy_multicast *m) {
	ENTER(d);
	cu_multicast prop = {.devices = (unsigned)devices, .size = n, .handle_types = CU_HANDLE_POSIX_FD};
	size_t granularity;
	TRY(cuMulticastGetGranularity, &granularity, &prop, CU_GRANULARITY_MINIMUM);
	prop.size = (n + granularity - 1) / granularity * granularity;
	*m = (sy_multicast){.object = {.size = prop.size}};
	TRY(cuMulticastCreate, &m->object.handle, &prop);
	return OK;
}

sy_status sy_multicast_import(sy_device *d, int fd, size_t n, sy_multicast *m) {
	ENTER(d);
	*m = (sy_multicast){.object = {.size = n}};
	TRY(cuMemImportFromShareableHandle, &m->object.handle, (void *)(uintptr_t)fd, CU_HANDLE_POSIX_FD);
	return OK;
}

sy_status sy_multicast_join(sy_device *d, const sy_multicast *m) {
	ENTER(d);
	TRY(cuMulticastAddDevice, m->object.handle, d->device);
	return OK;
}

sy_status sy_multicast_bind(sy_device *d, sy_multicast *m, const sy_segment *s) {
	ENTER(d);
	SETTLE(d);
	TRY(cuMulticastBindMem, m->object.handle, 0, s->handle, 0, s->size, 0);
	m->bound = s->size;
	return OK;
}

sy_status sy_multicast_map(sy_device *d, sy_multicast *m) {
	ENTER(d);
	sy_status st = sy_map(d, &m->object);
	if (st.code) m->object.ptr = 0;
	return st;
}

sy_status sy_multicast_close(sy_device *d, const sy_multicast *m) {
	ENTER(d);
	sy_status st = sy_settle(d);
	if (m->object.ptr) {
		FIRST(cuMemUnmap, m->object.ptr, m->object.size);
		FIRST(cuMemAddressFree, m->object.ptr, m->object.size);
	}
	if (m->bound) FIRST(cuMulticastUnbind, m->object.handle, d->device, 0, m->bound);
	FIRST(cuMemRelease, m->object.handle);
	return st;
}
