package clib

// #include <stdlib.h>
// #include "clib.h"
import "C"

import (
	"unsafe"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

func free(s *C.char) { C.free(unsafe.Pointer(s)) }

// check turns a status into an error, *device.DriverError or nil.
func check(st C.sy_status) error {
	if st.code == 0 {
		return nil
	}
	return driverError(C.GoString(st.call), int(st.code))
}

func driverError(call string, code int) *device.DriverError {
	e := &device.DriverError{Call: call, Code: code, Name: "CUDA_ERROR_UNKNOWN", Text: "the driver does not describe it"}
	if code == C.SY_NOT_UNIFIED {
		e.Name, e.Text = "SYMMREPL_NOT_UNIFIED", "the device sees pinned host memory at another address than the host"
		e.Hint = "a device with unified addressing on a 64-bit Linux is needed"
		return e
	}
	if s := C.sy_error_name(C.int(code)); s != nil {
		e.Name = C.GoString(s)
	}
	if s := C.sy_error_text(C.int(code)); s != nil {
		e.Text = C.GoString(s)
	}
	e.Hint, e.Poisoned = advice(code)
	if code == outOfMemory {
		e.Err = device.ErrOutOfMemory
	}
	return e
}

// Results of the driver that need advice.
const (
	outOfMemory         = 2
	notPermitted        = 800
	notSupported        = 801
	systemNotReady      = 802
	driverMismatch      = 803
	captureFirst        = 900 // to captureLast: a call that a capture forbids
	captureLast         = 908
	lostContext         = "this process cannot use the GPU any more: restart its rank"
	lookAtIndices       = "a kernel went outside its memory: check its indices and sizes; " + lostContext
	runUnderASanitizer  = "a kernel went wrong; run it on the cpu device to see where; " + lostContext
	leaveOutOfTheRecord = "this call cannot be captured: make it before or after the capture"
)

// advice says what to do about a result, and whether the context is lost with it.
func advice(code int) (hint string, poisoned bool) {
	switch code {
	case outOfMemory:
		return "free tensors that are not needed, or use smaller ones", false
	case 35, driverMismatch:
		return "install a newer NVIDIA driver", false
	case 46:
		return "another process has this GPU to itself: wait for it, or choose other GPUs by CUDA_VISIBLE_DEVICES", false
	case 100:
		return "is CUDA_VISIBLE_DEVICES set to GPUs that exist?", false
	case 101:
		return "see `symmrepl doctor` for the GPUs there are", false
	case 209:
		return "the code was compiled for another GPU: remove the cache folder and try again", false
	case 214, 220, 226, 227:
		return "the hardware failed: see dmesg for Xid messages; " + lostContext, true
	case 300, 200:
		return "the compiled code is damaged: remove the cache folder and try again", false
	case 700, 717:
		return lookAtIndices, true
	case 701:
		return "the kernel needs more registers or shared memory than a multiprocessor has: use smaller blocks", false
	case 702:
		return "a kernel ran longer than a display's GPU allows; " + lostContext, true
	case 709:
		return lostContext, true
	case 710:
		return "an assert in a kernel failed; its message went to the standard output; " + lostContext, true
	case 714, 715, 716, 718, 719, 721:
		return runUnderASanitizer, true
	case notPermitted, notSupported:
		return "see `symmrepl doctor` for what this GPU and driver can do", false
	case systemNotReady:
		return "the NVLink fabric is not up: is the fabric manager service running?", false
	}
	if captureFirst <= code && code <= captureLast {
		return leaveOutOfTheRecord, false
	}
	return "", false
}
