package clib

// #include <stdlib.h>
// #include "clib.h"
import "C"

import (
	"errors"
	"strings"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// SHMEM is the loaded library NVSHMEM. It lets one thread at a time call it.
type SHMEM struct{ c *C.sy_shmem }

// SHMEMID is the length of a heap's ID.
const SHMEMID = C.SY_SHMEM_ID

// LoadSHMEM opens the library. It stays loaded.
func LoadSHMEM(path string) (SHMEM, error) {
	p := C.CString(path)
	defer free(p)
	var why [whySize]C.char
	n := SHMEM{C.sy_shmem_load(p, &why[0], whySize)}
	if n.c == nil {
		return SHMEM{}, errors.New(C.GoString(&why[0]))
	}
	return n, nil
}

// Version returns {3, 4, 5} for 3.4.5.
func (n SHMEM) Version() (v [3]int) {
	var c [3]C.int
	C.sy_shmem_version(n.c, &c[0])
	for i := range v {
		v[i] = int(c[i])
	}
	return v
}

// NewID makes the ID of a new heap, for its members.
func (n SHMEM) NewID(d Device) ([]byte, error) {
	id := make([]byte, SHMEMID)
	return id, shmemError(C.sy_shmem_id(n.c, d.c, (*C.uchar)(&id[0])))
}

// Join makes the process a member of a heap, with the GPU d. It waits for all members.
func (n SHMEM) Join(d Device, id []byte, rank, size int) error {
	if len(id) != SHMEMID {
		return errors.New("the ID does not have the length of NVSHMEM's IDs")
	}
	return shmemError(C.sy_shmem_join(n.c, d.c, (*C.uchar)(&id[0]), C.int(rank), C.int(size)))
}

// Leave unmaps the heap. It waits for all members.
func (n SHMEM) Leave(d Device) error { return shmemError(C.sy_shmem_leave(n.c, d.c)) }

// Alloc returns zeroed memory of the heap. It waits for all members.
func (n SHMEM) Alloc(d Device, size int) (uintptr, error) {
	var p C.uint64_t
	err := shmemError(C.sy_shmem_alloc(n.c, d.c, C.size_t(size), &p))
	return uintptr(p), err
}

// Free frees memory from Alloc. It waits for all members.
func (n SHMEM) Free(d Device, p uintptr) error {
	return shmemError(C.sy_shmem_free(n.c, d.c, C.uint64_t(p)))
}

// Peer returns the address at which a member's copy of an address is mapped, 0 if it is not mapped.
func (n SHMEM) Peer(d Device, p uintptr, peer int) (uintptr, error) {
	var at C.uint64_t
	err := shmemError(C.sy_shmem_peer(n.c, d.c, C.uint64_t(p), C.int(peer), &at))
	return uintptr(at), err
}

// SHMEMKind is the kind of an operation.
type SHMEMKind int

// The operations.
const (
	SHMEMPut       SHMEMKind = C.SY_SHMEM_PUT
	SHMEMGet       SHMEMKind = C.SY_SHMEM_GET
	SHMEMPutSignal SHMEMKind = C.SY_SHMEM_PUT_SIGNAL
	SHMEMSignalAdd SHMEMKind = C.SY_SHMEM_SIGNAL_ADD
	SHMEMWait      SHMEMKind = C.SY_SHMEM_WAIT
)

// SHMEMCall is an operation on a heap: a device.OneSided.
type SHMEMCall struct {
	Kind     SHMEMKind
	Dst, Src uintptr
	N, Peer  int
	Word     uintptr
	Value    uint64
	AtLeast  bool
}

// Run queues the operation.
func (n SHMEM) Run(s Stream, call SHMEMCall) error {
	a := C.sy_shmem_call{kind: C.int(call.Kind), dst: C.uint64_t(call.Dst), src: C.uint64_t(call.Src), n: C.size_t(call.N),
		peer: C.int(call.Peer), word: C.uint64_t(call.Word), value: C.uint64_t(call.Value)}
	if call.AtLeast {
		a.at_least = 1
	}
	return shmemError(C.sy_shmem_run(n.c, s.c, &a))
}

// shmemError converts a status to an error: *device.LibraryError, or *device.DriverError if the
// driver failed.
func shmemError(st C.sy_status) error {
	if st.code == 0 {
		return nil
	}
	call := C.GoString(st.call)
	if strings.HasPrefix(call, "cu") {
		return check(st)
	}
	e := &device.LibraryError{Library: "NVSHMEM", Call: call, Code: int(st.code), Text: "NVSHMEM_DEBUG=INFO tells more"}
	switch st.code {
	case C.SY_SHMEM_FULL:
		e.Code, e.Text = 0, "the heap has no room: NVSHMEM_SYMMETRIC_SIZE and NVSHMEM_MAX_MEMORY_PER_GPU limit it"
	case C.SY_SHMEM_OTHER:
		e.Text = "it does not number the ranks as the session does"
	}
	return e
}
