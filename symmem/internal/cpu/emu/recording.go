//go:build linux && (amd64 || arm64)

package emu

/*
#include "api.h"
*/
import "C"

import "unsafe"

// ActivityKind is the kind of an Activity.
type ActivityKind int

// The kinds of activities.
const (
	ActivityKernel ActivityKind = C.EMU_KERNEL
	ActivityCopy   ActivityKind = C.EMU_COPY
	ActivitySet    ActivityKind = C.EMU_SET
	ActivityAwait  ActivityKind = C.EMU_AWAIT  // a stream waited for a word
	ActivityEvent  ActivityKind = C.EMU_EVENT  // a stream waited for an event
	ActivityWait   ActivityKind = C.EMU_WAITED // a kernel waited
)

// Activity is a command that a stream has executed or, of kind ActivityWait, a wait of a kernel.
type Activity struct {
	Kind         ActivityKind
	Call         uint64 // as Stream.Call said
	Began, Ended uint64 // by Now
	Bytes        int
	Grid, Block  [3]int
	Name         string
	// Of a wait, what the kernel published: it is laid out like the records of the page.
	Wait [64]byte
}

// Record begins to record the activities of commands whose Call is not 0, and the waits of kernels,
// at most room of them. page has the records of waits that kernels publish.
func (d *Device) Record(page unsafe.Pointer, records, room int) {
	C.emu_record(d.c, (*C.emu_wait)(page), C.size_t(records), C.size_t(room))
}

// Recorded ends the recording. It returns the activities in the order in which they ended, and how
// many more there were. The streams must have nothing to do.
func (d *Device) Recorded() (list []Activity, more int) {
	var lost C.uint64_t
	n := C.emu_recorded(d.c, nil, 0, &lost)
	if n > 0 {
		all := make([]C.emu_activity, n)
		C.emu_recorded(d.c, &all[0], n, &lost)
		list = make([]Activity, n)
		for i := range all {
			list[i] = newActivity(&all[i])
		}
	}
	C.emu_record_off(d.c)
	return list, int(lost)
}

func newActivity(a *C.emu_activity) Activity {
	out := Activity{Kind: ActivityKind(a.kind), Call: uint64(a.call), Began: uint64(a.began), Ended: uint64(a.ended),
		Bytes: int(a.bytes), Name: C.GoString(&a.name[0])}
	for i := range 3 {
		out.Grid[i], out.Block[i] = int(a.grid[i]), int(a.block[i])
	}
	out.Wait = *(*[64]byte)(unsafe.Pointer(&a.wait))
	return out
}

// Call names the call that issues what the stream gets from now on, by a number that is not 0.
func (s *Stream) Call(number uint64) { C.emu_stream_call(s.c, C.uint64_t(number)) }
