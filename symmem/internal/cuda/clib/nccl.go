package clib

// #include <stdlib.h>
// #include "clib.h"
import "C"

import (
	"errors"
	"strings"
	"time"
	"unsafe"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// NCCL is the loaded library.
type NCCL struct{ c *C.sy_nccl }

// NCCLID is the length of a communicator's ID.
const NCCLID = C.SY_NCCL_ID

// NCCLFeature is a bit of NCCL.Has.
type NCCLFeature uint

// Features, which the presence of functions in the library indicates.
const (
	NCCLDeviceAPI NCCLFeature = C.SY_NCCL_DEVICE_API
	NCCLOneSided  NCCLFeature = C.SY_NCCL_ONE_SIDED
	NCCLRevoke    NCCLFeature = C.SY_NCCL_REVOKE
)

// LoadNCCL opens the library. It stays loaded. For a library older than 2.28 only the version may
// be asked.
func LoadNCCL(path string) (NCCL, error) {
	p := C.CString(path)
	defer free(p)
	var why [whySize]C.char
	n := NCCL{C.sy_nccl_load(p, &why[0], whySize)}
	if n.c == nil {
		return NCCL{}, errors.New(C.GoString(&why[0]))
	}
	return n, nil
}

// Version returns 22809 for 2.28.9.
func (n NCCL) Version() int { return int(C.sy_nccl_version(n.c)) }

// Has reports whether the library has a feature.
func (n NCCL) Has(f NCCLFeature) bool { return NCCLFeature(C.sy_nccl_has(n.c))&f != 0 }

// NewID makes the ID of a new communicator, for its members.
func (n NCCL) NewID(d Device) ([]byte, error) {
	id := make([]byte, NCCLID)
	st := C.sy_nccl_id(n.c, d.c, (*C.uchar)(&id[0]))
	return id, ncclError(st, nil)
}

// NCCLComm is a member's communicator, which has its own thread.
type NCCLComm struct{ c *C.sy_nccl_comm }

// JoinNCCL starts to make a member's communicator with all the others. With engines, copy engines
// do the work without multiprocessors if possible. Joined returns the result.
func (d Device) JoinNCCL(n NCCL, id []byte, rank, size int, engines bool) (NCCLComm, error) {
	if len(id) != NCCLID {
		return NCCLComm{}, errors.New("the ID does not have the length of NCCL's IDs")
	}
	zero := C.int(0)
	if engines {
		zero = 1
	}
	c := NCCLComm{C.sy_nccl_join(n.c, d.c, (*C.uchar)(&id[0]), C.int(rank), C.int(size), zero)}
	if c.c == nil {
		return NCCLComm{}, errNoThread
	}
	return c, nil
}

// NCCLMember is this process's place in a communicator that was made elsewhere.
type NCCLMember struct {
	Rank, Size int
	Here       bool // it is on the device
}

// ErrNoComm means that there is no memory at the address of a communicator.
var ErrNoComm = errors.New("there is no memory at that address")

// DescribeNCCL describes the communicator at an address.
func (d Device) DescribeNCCL(n NCCL, comm uintptr) (NCCLMember, error) {
	var rank, size, here C.int
	var text [C.SY_NCCL_TEXT]C.char
	st := C.sy_nccl_describe(n.c, d.c, C.uint64_t(comm), &rank, &size, &here, &text[0])
	if st.code == C.SY_NCCL_NO_COMM {
		return NCCLMember{}, ErrNoComm
	}
	return NCCLMember{int(rank), int(size), here != 0}, ncclError(st, &text[0])
}

// AdoptNCCL is JoinNCCL for the communicator at an address, in which this process has that rank. End
// and Free do not destroy it.
func (d Device) AdoptNCCL(n NCCL, comm uintptr, rank, size int) (NCCLComm, error) {
	c := NCCLComm{C.sy_nccl_adopt(n.c, d.c, C.uint64_t(comm), C.int(rank), C.int(size))}
	if c.c == nil {
		return NCCLComm{}, errNoThread
	}
	return c, nil
}

// Pointer returns the ncclComm_t, 0 if the communicator has ended.
func (c NCCLComm) Pointer() uintptr { return uintptr(C.sy_nccl_pointer(c.c)) }

var errNoThread = errors.New("no thread could be started for NCCL")

// Joined waits for the communicator. done reports whether it was made or has failed with err.
func (c NCCLComm) Joined(limit time.Duration) (done bool, err error) {
	var st C.sy_status
	var text [C.SY_NCCL_TEXT]C.char
	done = C.sy_nccl_joined(c.c, C.unsigned(limit.Milliseconds()), &st, &text[0]) != 0
	return done, ncclError(st, &text[0])
}

// End aborts the communicator, at any time, and returns at once. It only revokes one that was adopted,
// if busy says that calls may be under way.
func (c NCCLComm) End(busy bool) {
	b := C.int(0)
	if busy {
		b = 1
	}
	C.sy_nccl_end(c.c, b)
}

// Ended waits for the abort and reports whether it is over.
func (c NCCLComm) Ended(limit time.Duration) bool {
	return C.sy_nccl_ended(c.c, C.unsigned(limit.Milliseconds())) != 0
}

// Free ends the communicator if End was not called, and frees it. It must not be used any more.
func (c NCCLComm) Free() { C.sy_nccl_free(c.c) }

// NCCLTask is a task of a communicator's thread, besides calls. All members ask for the same tasks
// in the same order.
type NCCLTask struct {
	Kind       NCCLTaskKind
	Ptr        uintptr // N bytes of memory to register as a window; all members register the same size
	N          int
	Window     uintptr // 0 if the library has no windows
	Barriers   int     // number of LSA barriers for kernels with the device communicator
	DeviceComm []byte  // an ncclDevComm of the library's version
}

// NCCLTaskKind is the kind of a task.
type NCCLTaskKind int

// The tasks.
const (
	NCCLRegister       NCCLTaskKind = C.SY_NCCL_REGISTER
	NCCLDeregister     NCCLTaskKind = C.SY_NCCL_DEREGISTER
	NCCLMakeDeviceComm NCCLTaskKind = C.SY_NCCL_MAKE_DEVICE_COMM
	NCCLEndDeviceComm  NCCLTaskKind = C.SY_NCCL_END_DEVICE_COMM
	NCCLReadyPuts      NCCLTaskKind = C.SY_NCCL_READY_PUTS
)

// Ask starts a task; Answered returns its result. Ask returns false if the communicator has ended.
func (c NCCLComm) Ask(t NCCLTask) bool {
	a := C.sy_nccl_task{kind: C.int(t.Kind), ptr: C.uint64_t(t.Ptr), size: C.size_t(t.N), window: pointer(t.Window),
		barriers: C.int(t.Barriers)}
	copy(unsafe.Slice((*byte)(&a.comm[0]), len(a.comm)), t.DeviceComm)
	return C.sy_nccl_ask(c.c, &a) != 0
}

// Answered waits for the task. done reports whether it is over, with its result or its failure.
func (c NCCLComm) Answered(limit time.Duration) (done bool, t NCCLTask, err error) {
	var st C.sy_status
	var text [C.SY_NCCL_TEXT]C.char
	var a C.sy_nccl_task
	done = C.sy_nccl_answered(c.c, C.unsigned(limit.Milliseconds()), &a, &st, &text[0]) != 0
	return done, NCCLTask{Window: uintptr(a.window), DeviceComm: C.GoBytes(unsafe.Pointer(&a.comm[0]), C.int(len(a.comm)))},
		ncclError(st, &text[0])
}

// DeviceComm returns the size of an ncclDevComm of the library's version, and the offset of its
// pointer to the word that ends its waits; 0 if they are not known.
func (n NCCL) DeviceComm() (size, abortFlag int) {
	var at C.int
	size = int(C.sy_nccl_device_comm(n.c, &at))
	return size, int(at)
}

// pointer converts an address of the device, which the garbage collector ignores.
func pointer(p uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }

// NCCLKind is the kind of a call.
type NCCLKind int

// The calls.
const (
	NCCLAllReduce     NCCLKind = C.SY_NCCL_ALL_REDUCE
	NCCLReduceScatter NCCLKind = C.SY_NCCL_REDUCE_SCATTER
	NCCLAllGather     NCCLKind = C.SY_NCCL_ALL_GATHER
	NCCLAllToAll      NCCLKind = C.SY_NCCL_ALL_TO_ALL
	NCCLBroadcast     NCCLKind = C.SY_NCCL_BROADCAST
	NCCLPut           NCCLKind = C.SY_NCCL_PUT
)

// NCCLCall is a collective on N elements, in the sense of the library's function, or a put of N
// bytes. Type and Op are the library's numbers.
type NCCLCall struct {
	Kind           NCCLKind
	Src, Dst       uintptr
	N              int
	Type, Op, Root int
	Scaled         bool    // an all-reduce multiplies the elements by Factor before it sums them, whatever Op is
	Factor         uint64  // the bits of an element
	Window         uintptr // of a put: the target window; N bytes from Src go to member Root, at Offset from the window's start
	Offset         int
}

// Run queues the call.
func (c NCCLComm) Run(s Stream, call NCCLCall) error {
	a := C.sy_nccl_call{kind: C.int(call.Kind), src: C.uint64_t(call.Src), dst: C.uint64_t(call.Dst), n: C.size_t(call.N),
		_type: C.int(call.Type), op: C.int(call.Op), root: C.int(call.Root), factor: C.uint64_t(call.Factor),
		window: pointer(call.Window), offset: C.size_t(call.Offset)}
	if call.Scaled {
		a.scaled = 1
	}
	var text [C.SY_NCCL_TEXT]C.char
	return ncclError(C.sy_nccl_run(c.c, s.c, &a, &text[0]), &text[0])
}

// Failure returns the library's report on the collectives under way.
func (c NCCLComm) Failure() error {
	var text [C.SY_NCCL_TEXT]C.char
	return ncclError(C.sy_nccl_failure(c.c, &text[0]), &text[0])
}

// remoteError is NCCL's result when another process or the network failed.
const remoteError = 6

// ncclError converts a status to an error: *device.LibraryError, or *device.DriverError if the
// driver failed.
func ncclError(st C.sy_status, text *C.char) error {
	if st.code == 0 {
		return nil
	}
	call := C.GoString(st.call)
	if strings.HasPrefix(call, "cu") {
		return check(st)
	}
	e := &device.LibraryError{Library: "NCCL", Call: call, Code: int(st.code), Remote: st.code == remoteError}
	if text != nil {
		e.Text = strings.TrimSpace(C.GoString(text))
	}
	return e
}
