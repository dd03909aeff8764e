//go:build linux && (amd64 || arm64)

package emu

/*
#cgo CXXFLAGS: -std=c++20 -O2 -g1 -Wall -Wextra -fno-exceptions -fno-rtti -fno-omit-frame-pointer -fno-strict-aliasing
#cgo LDFLAGS: -ldl -lm -lpthread -lrt
#include <stdlib.h>
#include "api.h"

#cgo noescape emu_copy_out
#cgo nocallback emu_copy_out
#cgo noescape emu_stream_launch
#cgo nocallback emu_stream_launch
#cgo noescape emu_stream_call
#cgo noescape emu_stream_write
#cgo nocallback emu_stream_write
#cgo noescape emu_stream_synchronize
#cgo nocallback emu_stream_synchronize
#cgo nocallback emu_stream_idle
#cgo nocallback emu_stream_awaits
#cgo noescape emu_stream_stands
#cgo nocallback emu_stream_stands
#cgo nocallback emu_stream_call
*/
import "C"

import (
	"embed"
	"errors"
	"runtime"
	"strings"
	"unsafe"
)

// Headers has the headers for a kernel's translation unit: include/cuda_on_cpu.h, which is included
// first, and headers with CUDA's names.
//
//go:embed include
var Headers embed.FS

// Device owns the threads that run kernels.
type Device struct{ c *C.emu_device }

// Open starts a device. When bit 0 of *abort is set, the device ends its kernels by force if they
// do not end by themselves. The word must not move and must be valid until Close: it is C memory,
// or belongs to a reachable object.
func Open(abort *uint32) *Device {
	return &Device{C.emu_device_open((*C.uint32_t)(unsafe.Pointer(abort)))}
}

// Close ends the device's threads. Its streams must be closed.
func (d *Device) Close() {
	C.emu_device_close(d.c)
	d.c = nil
}

// Sample describes a thread of the system that runs a kernel.
type Sample struct {
	Executor        uint64 // identifies the thread
	Began           uint64 // start of the launch, in nanoseconds of the monotonic clock
	Taken           bool   // the following fields are valid
	Kernel, Library string
	PC              uint64   // as in Fault.Frames; 0 if it was not in the kernel's code
	Threads         int      // threads of its block that have not ended and do not wait at a barrier
	Others          int      // valid always: likewise in blocks of the launch that were not sampled; 0 except in its first sample
	Spins           bool     // it only reads the same memory again and again
	Addresses       []uint64 // addresses that it reads again and again
	Shared          []int    // likewise in the block's shared memory, as offsets
}

// Running samples the running kernels. It takes up to 20 ms; samples that are not complete by then
// are not Taken.
func (d *Device) Running() []Sample {
	const most = 64
	list := make([]C.emu_sample, most)
	var out []Sample
	for _, s := range list[:C.emu_device_running(d.c, &list[0], most)] {
		o := Sample{Executor: uint64(s.executor), Began: uint64(s.began), Taken: s.taken != 0, Kernel: C.GoString(&s.kernel[0]),
			Library: C.GoString(&s.library[0]),
			PC:      uint64(s.pc), Threads: int(s.threads), Others: int(s.others), Spins: s.spins != 0}
		for i, a := range s.addresses[:s.count] {
			if s.shared[i] != 0 {
				o.Shared = append(o.Shared, int(a))
			} else {
				o.Addresses = append(o.Addresses, uint64(a))
			}
		}
		out = append(out, o)
	}
	return out
}

// Works returns the number of commands that the device's streams have completed.
func (d *Device) Works() uint64 { return uint64(C.emu_device_works(d.c)) }

// Now returns the time by the clock of Sample.Began.
func Now() uint64 { return uint64(C.emu_nanos()) }

// BuiltBy names the compiler that built the emulator: "gcc 12.2.0".
func BuiltBy() string { return strings.TrimSpace(C.GoString(C.emu_built_by())) }

// Memory is zeroed bytes outside Go's heap, aligned to 256, between guard pages. Except for
// alignment, they end where the second guard page begins.
type Memory struct {
	Pointer unsafe.Pointer
	bytes   C.size_t
	counted C.int
}

// Alloc returns n bytes, or false if there is no memory.
func Alloc(n int) (Memory, bool) {
	m := Memory{bytes: C.size_t(n)}
	m.Pointer = C.emu_alloc(m.bytes, &m.counted)
	return m, m.Pointer != nil
}

// Bytes returns the size.
func (m Memory) Bytes() int { return int(m.bytes) }

// Free frees the memory.
func (m Memory) Free() { C.emu_free(C.uintptr_t(uintptr(m.Pointer)), m.bytes, m.counted) }

// Guarded is a set of inaccessible pages in a mapping.
type Guarded struct{ counted C.int }

// Guard makes pages inaccessible.
func Guard(pages uintptr, n int) Guarded {
	return Guarded{C.emu_guard(C.uintptr_t(pages), C.size_t(n))}
}

// Unmapped records that the pages were unmapped.
func (g Guarded) Unmapped() { C.emu_unguard(g.counted) }

// CopyOut copies device memory to the host. No work that writes it may be running.
func CopyOut(dst []byte, src uintptr) {
	C.emu_copy_out(unsafe.Pointer(unsafe.SliceData(dst)), C.uintptr_t(src), C.size_t(len(dst)))
}

// Poke stores a word at once, independently of streams.
func Poke(word uintptr, value uint32) { C.emu_poke(C.uintptr_t(word), C.uint32_t(value)) }

// Worker returns the offset at which the built-in kernels find their worker: see emu_machine.h.
func Worker() int { return int(C.emu_worker_distance()) }

// Module is a set of kernels. It may be closed while launches of it are queued.
type Module struct {
	c       *C.emu_module
	Kernels []*Kernel
}

// Kernel is a launchable function.
type Kernel struct {
	Name   string
	Params []Param
	Bytes  int // of the argument buffer
	module *Module
	entry  unsafe.Pointer
}

// Param is the place of a parameter in the argument buffer.
type Param struct{ Offset, Size int }

// Load opens a shared library of kernels. The error is the dynamic linker's.
func Load(path string) (*Module, error) {
	p := C.CString(path)
	defer C.free(unsafe.Pointer(p))
	var text *C.char
	m := C.emu_module_load(p, &text)
	if m == nil {
		defer C.free(unsafe.Pointer(text))
		return nil, errors.New(C.GoString(text))
	}
	return newModule(m), nil
}

// Builtin returns a module of the kernels that are linked into the program, given their table.
func Builtin(entries unsafe.Pointer) *Module { return newModule(C.emu_module_builtin(entries)) }

func newModule(c *C.emu_module) *Module {
	m := &Module{c: c}
	var k C.emu_kernel
	for C.emu_module_kernel(c, C.uint32_t(len(m.Kernels)), &k) != 0 {
		kernel := &Kernel{Name: C.GoString(k.name), Bytes: int(k.argument_bytes), module: m, entry: k.entry}
		words := unsafe.Slice(k.params, 2*k.param_count)
		for i := 0; i < len(words); i += 2 {
			kernel.Params = append(kernel.Params, Param{int(words[i]), int(words[i+1])})
		}
		m.Kernels = append(m.Kernels, kernel)
	}
	return m
}

// Define sets a variable of a pointer type that a loaded library exports, and reports whether it has
// one of this name.
func (m *Module) Define(name string, value uintptr) bool {
	n := C.CString(name)
	defer C.free(unsafe.Pointer(n))
	at := C.emu_module_variable(m.c, n)
	if at == 0 {
		return false
	}
	for i := range C.uintptr_t(2) {
		C.emu_poke(at+4*i, C.uint32_t(value>>(32*i)))
	}
	return true
}

// Close releases the module. It is unloaded when no queued work needs it.
func (m *Module) Close() {
	C.emu_module_close(m.c)
	m.c = nil
}

// Fault is a fault of a kernel.
type Fault struct {
	Kernel        string
	Library       string // path of its module; empty for the program itself
	Block, Thread [3]int
	Signal, Code  int    // for a hardware fault; zero if Text describes the fault
	Write         bool   // the access was a write
	Stack         bool   // the address is below the thread's stack
	Shared        bool   // the address is beyond the block's shared memory
	Address       uint64 // accessed
	Frames        []uint64
	Text          string
	File          string // for an assertion
	Line          int
}

func newFault(f *C.emu_fault) *Fault {
	out := &Fault{
		Kernel: C.GoString(&f.kernel[0]), Library: C.GoString(&f.library[0]),
		Signal: int(f.signal), Code: int(f.signal_code), Write: f.write != 0, Stack: f.stack != 0, Shared: f.shared != 0,
		Address: uint64(f.address),
		Text:    C.GoString(&f.text[0]), File: C.GoString(&f.file[0]), Line: int(f.line),
	}
	for i := range 3 {
		out.Block[i], out.Thread[i] = int(f.block[i]), int(f.thread[i])
	}
	for _, pc := range f.frames {
		if pc != 0 {
			out.Frames = append(out.Frames, uint64(pc))
		}
	}
	return out
}

// Stream is a queue of work. Calls on one stream must be ordered by the caller.
type Stream struct{ c *C.emu_stream }

// NewStream starts a stream and its thread.
func (d *Device) NewStream() *Stream { return &Stream{C.emu_stream_open(d.c)} }

// Close closes the stream: queued work is dropped, and a running kernel is interrupted.
func (s *Stream) Close() {
	C.emu_stream_close(s.c)
	s.c = nil
}

// Launch queues a kernel; args is copied. Grid and block must not be empty, and a block has at most
// 1024 threads. For a watched kernel, shared is how many bytes of dynamic shared memory it may use.
func (s *Stream) Launch(k *Kernel, grid, block [3]int, shared int, args []byte) {
	shape := C.emu_shape{shared: C.uint32_t(shared)}
	for i := range 3 {
		shape.grid[i], shape.block[i] = C.uint32_t(grid[i]), C.uint32_t(block[i])
	}
	C.emu_stream_launch(s.c, k.module.c, k.entry, &shape, unsafe.Pointer(unsafe.SliceData(args)), C.size_t(len(args)))
	runtime.KeepAlive(k)
}

// Copy queues a copy between device addresses.
func (s *Stream) Copy(dst, src uintptr, n int) {
	C.emu_stream_copy(s.c, C.uintptr_t(dst), C.uintptr_t(src), C.size_t(n))
}

// Write queues a copy of host bytes, which are read at once.
func (s *Stream) Write(dst uintptr, src []byte) {
	C.emu_stream_write(s.c, C.uintptr_t(dst), unsafe.Pointer(unsafe.SliceData(src)), C.size_t(len(src)))
}

// Set queues a fill.
func (s *Stream) Set(dst uintptr, value byte, n int) {
	C.emu_stream_set(s.c, C.uintptr_t(dst), C.int(value), C.size_t(n))
}

// SetWords queues a fill of n 32-bit words.
func (s *Stream) SetWords(dst uintptr, value uint32, n int) {
	C.emu_stream_set_words(s.c, C.uintptr_t(dst), C.uint32_t(value), C.size_t(n))
}

// Store queues a store of a word for which other processes may wait.
func (s *Stream) Store(word uintptr, value uint32) {
	C.emu_stream_store(s.c, C.uintptr_t(word), C.uint32_t(value))
}

// Await queues a wait until a word equals the value. Closing the stream ends it.
func (s *Stream) Await(word uintptr, value uint32) {
	C.emu_stream_await(s.c, C.uintptr_t(word), C.uint32_t(value))
}

// Record queues the event. Wait queues a wait for the place where the event was last recorded.
func (s *Stream) Record(e *Event) { C.emu_stream_record(s.c, e.c) }

// Wait makes work that is queued later wait for the event.
func (s *Stream) Wait(e *Event) { C.emu_stream_wait(s.c, e.c) }

// Synchronize waits for all queued work and returns the first fault since its last call, or nil.
func (s *Stream) Synchronize() *Fault {
	var f C.emu_fault
	if C.emu_stream_synchronize(s.c, &f) == 0 {
		return nil
	}
	return newFault(&f)
}

// Idle reports whether all queued work is done.
func (s *Stream) Idle() bool { return C.emu_stream_idle(s.c) != 0 }

// Awaits reports whether the stream waits for an event at this moment.
func (s *Stream) Awaits() bool { return C.emu_stream_awaits(s.c) != 0 }

// Stands reports whether the stream runs a kernel that stands still: all its blocks have begun, and
// each of their threads that has not ended waits in a function of kernels/ that returns only when
// memory changes or the host aborts, or at a barrier for such threads. number changes when a
// thread has made progress, and looks grows when all threads have polled in vain again.
func (s *Stream) Stands() (number, looks uint64, stands bool) {
	var n, l C.uint64_t
	stands = C.emu_stream_stands(s.c, &n, &l) != 0
	return uint64(n), uint64(l), stands
}

// BeginCapture makes the stream record instead of queue.
func (s *Stream) BeginCapture() { C.emu_stream_begin_capture(s.c) }

// EndCapture returns the recording.
func (s *Stream) EndCapture() *Graph { return &Graph{C.emu_stream_end_capture(s.c)} }

// Graph is recorded work. It keeps everything it needs alive.
type Graph struct{ c *C.emu_graph }

// Launch queues the recorded work.
func (g *Graph) Launch(s *Stream) { C.emu_graph_launch(g.c, s.c) }

// Close forgets the recording.
func (g *Graph) Close() {
	C.emu_graph_close(g.c)
	g.c = nil
}

// Event is a place in a stream.
type Event struct{ c *C.emu_event }

// NewEvent returns an event that is not recorded yet.
func NewEvent() *Event { return &Event{C.emu_event_open()} }

// Synchronize waits until the event is reached, or returns at once if it was never recorded.
func (e *Event) Synchronize() { C.emu_event_synchronize(e.c) }

// Reached reports whether it was, or was never recorded.
func (e *Event) Reached() bool { return C.emu_event_reached(e.c) != 0 }

// Nanoseconds returns the time at which the event was last reached, by the monotonic clock; 0 if it
// never was.
func (e *Event) Nanoseconds() uint64 { return uint64(C.emu_event_time(e.c)) }

// Close releases the event. Work that refers to it continues.
func (e *Event) Close() {
	C.emu_event_close(e.c)
	e.c = nil
}
