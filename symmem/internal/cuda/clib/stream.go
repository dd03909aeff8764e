package clib

// #include "clib.h"
import "C"

import "unsafe"

// Stream is a queue of device work, not synchronised with the null stream.
type Stream struct{ c *C.sy_stream }

// NewStream makes a stream.
func (d Device) NewStream() (Stream, error) {
	var s Stream
	err := check(C.sy_stream_create(d.c, &s.c))
	return s, err
}

// Close waits for the work and destroys the stream.
func (s Stream) Close() error { return check(C.sy_stream_destroy(s.c)) }

// Launch queues a kernel with its packed arguments. With overlap the launch overlaps with the
// previous kernel, and the kernel itself waits for that one.
func (s Stream) Launch(f Function, grid, block [3]int, shared int, overlap bool, args []byte) error {
	shape := C.sy_shape{
		grid:   [3]C.uint{C.uint(grid[0]), C.uint(grid[1]), C.uint(grid[2])},
		block:  [3]C.uint{C.uint(block[0]), C.uint(block[1]), C.uint(block[2])},
		shared: C.uint(shared),
	}
	if overlap {
		shape.overlap = 1
	}
	return check(C.sy_launch(s.c, f.c, &shape, unsafe.Pointer(unsafe.SliceData(args)), C.size_t(len(args))))
}

// Copy moves n bytes between device addresses.
func (s Stream) Copy(dst, src uintptr, n int) error {
	return check(C.sy_copy(s.c, C.uint64_t(dst), C.uint64_t(src), C.size_t(n)))
}

// Set fills n bytes.
func (s Stream) Set(dst uintptr, value byte, n int) error {
	return check(C.sy_set(s.c, C.uint64_t(dst), C.uchar(value), C.size_t(n)))
}

// Write copies host bytes to the device; src may be reused when it returns.
func (s Stream) Write(dst uintptr, src []byte) error {
	return check(C.sy_write(s.c, C.uint64_t(dst), unsafe.Pointer(unsafe.SliceData(src)), C.size_t(len(src))))
}

// WriteKept is Write for a capture: it returns the pinned buffer that the recording copies from.
func (s Stream) WriteKept(dst uintptr, src []byte) (unsafe.Pointer, error) {
	var p C.uintptr_t
	st := C.sy_write_kept(s.c, C.uint64_t(dst), unsafe.Pointer(unsafe.SliceData(src)), C.size_t(len(src)), &p)
	if err := check(st); err != nil {
		return nil, err
	}
	return *(*unsafe.Pointer)(unsafe.Pointer(&p)), nil
}

// Read copies device bytes to the host and waits for them.
func (s Stream) Read(dst []byte, src uintptr) error {
	return check(C.sy_read(s.c, unsafe.Pointer(unsafe.SliceData(dst)), C.uint64_t(src), C.size_t(len(dst))))
}

// Synchronize waits until all work is done.
func (s Stream) Synchronize() error { return check(C.sy_synchronize(s.c)) }

// Idle reports whether all work is done.
func (s Stream) Idle() (bool, error) {
	var idle C.int
	err := check(C.sy_idle(s.c, &idle))
	return idle != 0, err
}

// Record marks the present end of the stream.
func (s Stream) Record(e Event) error { return check(C.sy_event_record(s.c, e.c)) }

// Wait lets later work of the stream wait for an event. With marked, Awaits knows of the wait.
func (s Stream) Wait(e Event, marked bool) error {
	var mark C.int
	if marked {
		mark = 1
	}
	return check(C.sy_event_wait(s.c, e.c, mark))
}

// Awaits reports whether the stream does nothing but wait for an event.
func (s Stream) Awaits() bool {
	var awaits C.int
	return check(C.sy_awaits(s.c, &awaits)) == nil && awaits != 0
}

// BeginCapture starts recording.
func (s Stream) BeginCapture() error { return check(C.sy_capture_begin(s.c)) }

// EndCapture ends recording and returns the runnable recording.
func (s Stream) EndCapture(d Device) (Graph, error) {
	g := Graph{d: d}
	err := check(C.sy_capture_end(s.c, &g.c))
	return g, err
}

// Graph is a runnable recording.
type Graph struct {
	d Device
	c C.uintptr_t
}

// Launch queues the recording.
func (g Graph) Launch(s Stream) error { return check(C.sy_graph_launch(s.c, g.c)) }

// Close destroys the recording; queued runs finish.
func (g Graph) Close() error { return check(C.sy_graph_destroy(g.d.c, g.c)) }

// Event marks a place in a stream.
type Event struct {
	d Device
	c C.uintptr_t
}

// NewEvent makes an event that measures time.
func (d Device) NewEvent() (Event, error) {
	e := Event{d: d}
	err := check(C.sy_event_create(d.c, &e.c))
	return e, err
}

// Synchronize waits until the event was reached.
func (e Event) Synchronize() error { return check(C.sy_event_synchronize(e.d.c, e.c)) }

// Reached reports whether it was, or was never recorded.
func (e Event) Reached() (bool, error) {
	var reached C.int
	err := check(C.sy_event_reached(e.d.c, e.c, &reached))
	return reached != 0, err
}

// Since returns the microseconds from an earlier event.
func (e Event) Since(from Event) (float64, error) {
	var ms C.float
	err := check(C.sy_event_elapsed(e.d.c, from.c, e.c, &ms))
	return float64(ms) * 1000, err
}

// Close destroys the event.
func (e Event) Close() error { return check(C.sy_event_destroy(e.d.c, e.c)) }
