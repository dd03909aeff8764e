package clib

// #include <stdlib.h>
// #include "clib.h"
import "C"

import (
	"errors"
	"fmt"
)

// LoadCUPTI opens CUPTI, once in a process. It stays loaded.
func LoadCUPTI(path string) error {
	p := C.CString(path)
	defer free(p)
	var why [whySize]C.char
	if C.sy_cupti_load(p, &why[0], whySize) == 0 {
		return errors.New(C.GoString(&why[0]))
	}
	return nil
}

// CUPTIVersion is the version of its interface: 28 for CUDA 12.9, 130500 for 13.5.
func CUPTIVersion() int { return int(C.sy_cupti_version()) }

// ActivityKind is the kind of an Activity.
type ActivityKind int

// The kinds of activities.
const (
	Memcpy     ActivityKind = C.SY_MEMCPY
	Memset     ActivityKind = C.SY_MEMSET
	KernelRun  ActivityKind = C.SY_KERNEL
	MemcpyPeer ActivityKind = C.SY_MEMCPY_PEER
	External   ActivityKind = C.SY_EXTERNAL
)

// Activity is a kernel, a copy or a fill or, of kind External, the number that was pushed when a
// call of the driver was made. Correlation is that of the call.
type Activity struct {
	Kind        ActivityKind
	Correlation uint32
	Begin, End  int64 // by CUPTI's clock, in nanoseconds
	Bytes       int
	External    uint64
	Grid, Block [3]int
	Name        string
}

// StartCUPTI begins to record, so many activities at most.
func StartCUPTI(room int) error {
	if st := C.sy_cupti_start(C.size_t(room)); st.code != 0 {
		return fmt.Errorf("%s returned %d", C.GoString(st.call), int(st.code))
	}
	return nil
}

// PushCUPTI and PopCUPTI give the calls of the driver between them, on this thread of the system, a
// number.
func PushCUPTI(id uint64) { C.sy_cupti_push(C.uint64_t(id)) }

// PopCUPTI ends the calls of PushCUPTI.
func PopCUPTI() { C.sy_cupti_pop() }

// TakeCUPTI returns the activities of work that is over, and how many more there were.
func TakeCUPTI() (list []Activity, more int) {
	var lost C.uint64_t
	room := C.size_t(1 << 10)
	for {
		all := make([]C.sy_activity, room)
		n := C.sy_cupti_take(&all[0], room, &lost)
		if n > room {
			room = n
			continue
		}
		for _, a := range all[:n] {
			out := Activity{
				Kind: ActivityKind(a.kind), Correlation: uint32(a.correlation), Begin: int64(a.begin), End: int64(a.end),
				Bytes:    int(a.bytes),
				External: uint64(a.external), Grid: [3]int{}, Block: [3]int{}, Name: C.GoString(&a.name[0])}
			for i := range 3 {
				out.Grid[i], out.Block[i] = int(a.grid[i]), int(a.block[i])
			}
			list = append(list, out)
		}
		return list, int(lost)
	}
}

// StopCUPTI ends the recording.
func StopCUPTI() { C.sy_cupti_stop() }
