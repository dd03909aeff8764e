package clib

// #include <stdlib.h>
// #include "clib.h"
import "C"

import (
	"strings"
	"unsafe"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

func free(s *C.char) { C.free(unsafe.Pointer(s)) }

// check converts a status to an error, *device.DriverError or nil.
func check(st C.sy_status) error {
	if st.code == 0 {
		return nil
	}
	return driverError(C.GoString(st.call), int(st.code))
}

func driverError(call string, code int) *device.DriverError {
	call = strings.TrimSuffix(call, "_v2") // the documented name
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

// Results of the driver that the code below uses by name.
const (
	outOfMemory  = 2
	captureFirst = 900 // to captureLast: a call that a capture forbids
	captureLast  = 908
)

// Advice that several results share.
const (
	lostContext = "this process cannot use the GPU any more, a new one can"
	wentOutside = "a kernel went outside its memory: check its indices and sizes; " + lostContext
	wentWrong   = "a kernel went wrong; run it on the cpu device to see where; " + lostContext
	staleCode   = "remove the cache folder and try again"
	newDriver   = "install a newer NVIDIA driver"
	seeDoctor   = "see `symmrepl doctor` for the devices and libraries of this machine"
)

// advice returns a hint for a result, and whether the result means that the context is lost.
func advice(code int) (hint string, poisoned bool) {
	switch code {
	case outOfMemory:
		return "free tensors that are not needed, or use smaller ones", false
	case 35, 803: // driver older than the library, driver and kernel module differ
		return newDriver, false
	case 46: // device unavailable
		return "another process has this GPU to itself: wait for it, or choose other GPUs by CUDA_VISIBLE_DEVICES", false
	case 100: // no device
		return "is CUDA_VISIBLE_DEVICES set to GPUs that exist?", false
	case 101, 800, 801: // invalid device, not permitted, not supported
		return seeDoctor, false
	case 200, 209, 300: // image, binary or source that does not load
		return "the compiled code does not fit this GPU or is damaged: " + staleCode, false
	case 214, 220, 226: // memory, NVLink and other hardware errors
		return "the hardware failed: see dmesg for Xid messages; " + lostContext, true
	case 700, 717: // illegal address, address space
		return wentOutside, true
	case 701: // launch out of resources
		return "the kernel needs more registers or shared memory than a multiprocessor has: use smaller blocks", false
	case 702: // launch timeout
		return "a kernel ran longer than a GPU with a display allows; " + lostContext, true
	case 709: // context destroyed
		return lostContext, true
	case 710: // assert
		return "an assert in a kernel failed and wrote where to the standard output; " + lostContext, true
	case 714, 715, 716, 718, 719, 721: // stack, instruction, alignment, program counter, launch failure, tensor memory
		return wentWrong, true
	case 802: // system not ready
		return "the NVLink fabric is not up: is the fabric manager service running?", false
	}
	if captureFirst <= code && code <= captureLast {
		return "this call cannot be captured: make it before or after the capture", false
	}
	return "", false
}
