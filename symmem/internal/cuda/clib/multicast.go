package clib

// #include "clib.h"
import "C"

// Multicast is a multicast object. Its members call the methods in the order below, each after all
// members have made the previous call.
type Multicast struct {
	d Device
	c C.sy_multicast
}

// MulticastKnown reports whether the driver has multicast.
func MulticastKnown() bool { return C.sy_multicast_known() != 0 }

// NewMulticast makes an object for n devices and at least size bytes of each.
func (d Device) NewMulticast(n, size int) (*Multicast, error) {
	m := &Multicast{d: d}
	if err := check(C.sy_multicast_create(d.c, C.int(n), C.size_t(size), &m.c)); err != nil {
		return nil, err
	}
	return m, nil
}

// ImportMulticast imports an object of the given size that another process exported as fd. It
// leaves fd open.
func (d Device) ImportMulticast(fd, size int) (*Multicast, error) {
	m := &Multicast{d: d}
	if err := check(C.sy_multicast_import(d.c, C.int(fd), C.size_t(size), &m.c)); err != nil {
		return nil, err
	}
	return m, nil
}

// Size returns the size of the object in bytes.
func (m *Multicast) Size() int { return int(m.c.object.size) }

// Export returns a new file descriptor of the object.
func (m *Multicast) Export() (int, error) {
	var fd C.int
	err := check(C.sy_segment_export(m.d.c, &m.c.object, &fd))
	return int(fd), err
}

// Join adds the device.
func (m *Multicast) Join() error { return check(C.sy_multicast_join(m.d.c, &m.c)) }

// Bind adds the device's memory.
func (m *Multicast) Bind(s *Segment) error { return check(C.sy_multicast_bind(m.d.c, &m.c, &s.c)) }

// Map returns the address that stands for the memory of all members.
func (m *Multicast) Map() (uintptr, error) {
	err := check(C.sy_multicast_map(m.d.c, &m.c))
	return uintptr(m.c.object.ptr), err
}

// Close undoes the steps taken.
func (m *Multicast) Close() error { return check(C.sy_multicast_close(m.d.c, &m.c)) }
