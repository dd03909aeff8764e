package clib

// The -Werror matters: another package makes the linker accept undefined symbols.

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Werror=implicit-function-declaration
#cgo LDFLAGS: -ldl -lpthread
#cgo noescape sy_launch
#cgo nocallback sy_launch
#include <stdlib.h>
#include "clib.h"
*/
import "C"

import (
	"errors"
	"unsafe"
)

// whySize is the maximum length of the reason that a failed load reports.
const whySize = 512

// Load opens the driver library, by path or by soname. Later calls do nothing once one succeeded.
func Load(path string) error {
	p := C.CString(path)
	defer C.free(unsafe.Pointer(p))
	var why [whySize]C.char
	if C.sy_driver_load(p, &why[0], whySize) != 0 {
		return errors.New(C.GoString(&why[0]))
	}
	return nil
}

// Init initialises the driver. version is 13000 for CUDA 13.0.
func Init() (version, devices int, err error) {
	var v, n C.int
	err = check(C.sy_driver_init(&v, &n))
	return int(v), int(n), err
}

// Description is the driver's description of a device, which needs no context.
type Description struct {
	Name   string
	UUID   [16]byte
	Memory uint64
}

// Describe describes the device with this ordinal.
func Describe(ordinal int) (Description, error) {
	var d Description
	var name [256]C.char
	var memory C.uint64_t
	st := C.sy_device_describe(C.int(ordinal), &name[0], (*C.uchar)(&d.UUID[0]), &memory)
	d.Name, d.Memory = C.GoString(&name[0]), uint64(memory)
	return d, check(st)
}

// Attribute is the driver's number of a device's attribute.
type Attribute int

// The device attributes that are used.
const (
	MaxThreadsPerBlock Attribute = 1
	MaxBlockX          Attribute = 2 // and Y, Z after it
	MaxGridX           Attribute = 5 // and Y, Z after it
	Multiprocessors    Attribute = 16
	CapabilityMajor    Attribute = 75
	CapabilityMinor    Attribute = 76
	MaxSharedOptin     Attribute = 97
	PosixHandles       Attribute = 103
	FabricHandles      Attribute = 128
	Multicasting       Attribute = 132
	MultiProcess       Attribute = 133 // whether contexts are shared by MPS; drivers before CUDA 12.4 do not know it
)

// DeviceAttribute returns one attribute of the device with this ordinal.
func DeviceAttribute(ordinal int, a Attribute) (int, error) {
	var v C.int
	err := check(C.sy_device_attribute(C.int(ordinal), C.int(a), &v))
	return int(v), err
}

// CanAccess reports whether a device can map a peer's memory.
func CanAccess(ordinal, peer int) (bool, error) {
	var yes C.int
	err := check(C.sy_device_can_access(C.int(ordinal), C.int(peer), &yes))
	return yes != 0, err
}

// LibraryVersion opens a library and returns the version that the named function, one of those
// listed in clib.h, reports.
func LibraryVersion(path, function string) ([3]int, error) {
	p, f := C.CString(path), C.CString(function)
	defer C.free(unsafe.Pointer(p))
	defer C.free(unsafe.Pointer(f))
	var v [3]C.int
	var why [whySize]C.char
	if C.sy_library_version(p, f, &v[0], &why[0], whySize) != 0 {
		return [3]int{}, errors.New(C.GoString(&why[0]))
	}
	return [3]int{int(v[0]), int(v[1]), int(v[2])}, nil
}
