package clib

// #include "clib.h"
import "C"

import "unsafe"

// Copier copies data of a device for a network engine.
type Copier struct{ c *C.sy_copier }

// OpenCopier makes the copier of a device; add and atomic are the kernels
// signal_add and net_atomic.
func (d Device) OpenCopier(add, atomic Function) (Copier, error) {
	var c Copier
	err := check(C.sy_copier_open(d.c, add.c, atomic.c, &c.c))
	return c, err
}

// Face returns the net_copier that C code calls.
func (c Copier) Face() unsafe.Pointer { return C.sy_copier_face(c.c) }

// Close frees the copier. Its face must not be used any more.
func (c Copier) Close() error { return check(C.sy_copier_close(c.c)) }
