package clib

// #include "clib.h"
import "C"

import "unsafe"

// Device is an open device with its primary context.
type Device struct{ c *C.sy_device }

// Open retains the primary context of the device with this ordinal.
func Open(ordinal int) (Device, error) {
	var d Device
	err := check(C.sy_device_open(C.int(ordinal), &d.c))
	return d, err
}

// Close releases the context. Streams must have been closed.
func (d Device) Close() error { return check(C.sy_device_close(d.c)) }

// Alloc returns zeroed device memory.
func (d Device) Alloc(n int) (uintptr, error) {
	var p C.uint64_t
	err := check(C.sy_alloc(d.c, C.size_t(n), &p))
	return uintptr(p), err
}

// Free frees memory from Alloc.
func (d Device) Free(p uintptr) error { return check(C.sy_free(d.c, C.uint64_t(p))) }

// HostAlloc returns zeroed pinned host memory that the device sees at the same address.
func (d Device) HostAlloc(n int) (unsafe.Pointer, error) {
	var p C.uintptr_t
	if err := check(C.sy_host_alloc(d.c, C.size_t(n), &p)); err != nil {
		return nil, err
	}
	return *(*unsafe.Pointer)(unsafe.Pointer(&p)), nil // C memory: the collector ignores it
}

// HostFree frees memory from HostAlloc or WriteKept.
func (d Device) HostFree(p unsafe.Pointer) error {
	return check(C.sy_host_free(d.c, C.uintptr_t(uintptr(p))))
}

// HostRegister pins n bytes of host memory and returns their address on the device.
func (d Device) HostRegister(p unsafe.Pointer, n int) (uintptr, error) {
	var at C.uint64_t
	err := check(C.sy_host_register(d.c, C.uintptr_t(uintptr(p)), C.size_t(n), &at))
	return uintptr(at), err
}

// HostUnregister unpins memory from HostRegister.
func (d Device) HostUnregister(p unsafe.Pointer) error {
	return check(C.sy_host_unregister(d.c, C.uintptr_t(uintptr(p))))
}

// Segment is memory that processes share.
type Segment struct {
	d Device
	c C.sy_segment
}

// NewSegment makes at least n bytes.
func (d Device) NewSegment(n int) (*Segment, error) {
	s := &Segment{d: d}
	if err := check(C.sy_segment_create(d.c, C.size_t(n), &s.c)); err != nil {
		return nil, err
	}
	return s, nil
}

// ImportSegment maps n bytes that another process exported as fd. It leaves fd open.
func (d Device) ImportSegment(fd, n int) (*Segment, error) {
	s := &Segment{d: d}
	if err := check(C.sy_segment_import(d.c, C.int(fd), C.size_t(n), &s.c)); err != nil {
		return nil, err
	}
	return s, nil
}

// Ptr returns the address at which the segment is mapped.
func (s *Segment) Ptr() uintptr { return uintptr(s.c.ptr) }

// Size returns the number of bytes mapped.
func (s *Segment) Size() int { return int(s.c.size) }

// Export returns a new file descriptor of the memory.
func (s *Segment) Export() (int, error) {
	var fd C.int
	err := check(C.sy_segment_export(s.d.c, &s.c, &fd))
	return int(fd), err
}

// JoinFabric makes the segments of NewSegment exportable by tokens, if that is permitted.
func (d Device) JoinFabric() error { return check(C.sy_fabric_join(d.c)) }

// ImportToken maps n bytes that another process of the fabric has exported as token.
func (d Device) ImportToken(token []byte, n int) (*Segment, error) {
	var t [C.SY_TOKEN]byte
	copy(t[:], token)
	s := &Segment{d: d}
	if err := check(C.sy_segment_import_token(d.c, unsafe.Pointer(&t), C.size_t(n), &s.c)); err != nil {
		return nil, err
	}
	return s, nil
}

// Token returns the token that represents the memory on the fabric.
func (s *Segment) Token() ([]byte, error) {
	t := make([]byte, C.SY_TOKEN)
	err := check(C.sy_segment_token(s.d.c, &s.c, unsafe.Pointer(&t[0])))
	return t, err
}

// Close unmaps the segment.
func (s *Segment) Close() error { return check(C.sy_segment_close(s.d.c, &s.c)) }

// Module is a loaded cubin.
type Module struct {
	d Device
	c C.uintptr_t
}

// LoadModule loads a cubin.
func (d Device) LoadModule(cubin []byte) (Module, error) {
	m := Module{d: d}
	err := check(C.sy_module_load(d.c, unsafe.Pointer(unsafe.SliceData(cubin)), &m.c))
	return m, err
}

// Close unloads the module.
func (m Module) Close() error { return check(C.sy_module_unload(m.d.c, m.c)) }

// Variable finds a variable of the module.
func (m Module) Variable(name string) (uintptr, error) {
	n := C.CString(name)
	defer free(n)
	var at C.uint64_t
	err := check(C.sy_variable(m.d.c, m.c, n, &at))
	return uintptr(at), err
}

// Function is a kernel of a module.
type Function struct {
	d Device
	c C.uintptr_t
}

// Function finds a kernel by its lowered name.
func (m Module) Function(lowered string) (Function, error) {
	name := C.CString(lowered)
	defer free(name)
	f := Function{d: m.d}
	err := check(C.sy_function(m.d.c, m.c, name, &f.c))
	return f, err
}

// FunctionAttribute is the driver's number of a kernel's attribute.
type FunctionAttribute int

// The kernel attributes that are used.
const (
	FuncMaxThreads       FunctionAttribute = 0
	FuncStaticShared     FunctionAttribute = 1
	FuncLocal            FunctionAttribute = 3
	FuncRegisters        FunctionAttribute = 4
	FuncMaxDynamicShared FunctionAttribute = 8
)

// Attribute returns one attribute.
func (f Function) Attribute(a FunctionAttribute) (int, error) {
	var v C.int
	err := check(C.sy_function_attribute(f.d.c, f.c, C.int(a), &v))
	return int(v), err
}

// SetAttribute sets one attribute.
func (f Function) SetAttribute(a FunctionAttribute, v int) error {
	return check(C.sy_function_set_attribute(f.d.c, f.c, C.int(a), C.int(v)))
}

// Layout is the place of a parameter in the argument buffer.
type Layout struct{ Offset, Size int }

// Params returns the layout of all parameters; known is false if the driver is too old to report it
// (before 12.4).
func (f Function) Params() (params []Layout, known bool, err error) {
	for {
		var offset, size C.size_t
		var found C.int
		if err := check(C.sy_function_param(f.d.c, f.c, C.size_t(len(params)), &offset, &size, &found)); err != nil {
			return nil, false, err
		}
		if found <= 0 {
			return params, found == 0, nil
		}
		params = append(params, Layout{int(offset), int(size)})
	}
}
