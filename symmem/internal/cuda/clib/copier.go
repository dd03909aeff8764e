package clib

// #include "clib.h"
import "C"

import "unsafe"

// Copier is what a network engine copies by on a device.
type Copier struct{ c *C.sy_copier }

// OpenCopier makes the copier of a device; add is the kernel signal_add.
func (d Device) OpenCopier(add Function) (Copier, error) {
	var c Copier
	err := check(C.sy_copier_open(d.c, add.c, &c.c))
	return c, err
}

// Face is the net_copier that C code calls.
func (c Copier) Face() unsafe.Pointer { return C.sy_copier_face(c.c) }

// Close frees the copier. Nobody may use its face any more.
func (c Copier) Close() error { return check(C.sy_copier_close(c.c)) }
