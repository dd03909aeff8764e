//go:build linux && (amd64 || arm64)

package emu

/*
#include <stdlib.h>
#include "api.h"
*/
import "C"

import (
	"errors"
	"unsafe"
)

// Shadow returns a name for this process's record of accesses, for Sanitize in other processes of
// this machine. If there is no record yet, it returns "" unless begin is set.
func Shadow(begin bool) (string, error) {
	if !begin {
		if name := C.emu_shadow(); name != nil {
			return C.GoString(name), nil
		}
		return "", nil
	}
	var why *C.char
	name := C.emu_make_shadow(&why)
	if name == nil {
		return "", errors.New(C.GoString(why))
	}
	return C.GoString(name), nil
}

// EndShadow ends this process's use of the record of accesses; none of its devices is watched.
func EndShadow() { C.emu_end_shadow() }

// Sanitize makes future launches watched.
func (d *Device) Sanitize(shadow string, rank int, seed int64) error {
	name := C.CString(shadow)
	defer C.free(unsafe.Pointer(name))
	if why := C.emu_sanitize(d.c, name, C.uint32_t(rank), C.uint64_t(seed)); why != nil {
		return errors.New(C.GoString(why))
	}
	return nil
}

// SanitizeOff ends watching, and forgets all marks and accesses. Nothing watched may be running on
// any device that shares the memory.
func (d *Device) SanitizeOff() { C.emu_sanitize_off(d.c) }

// Watch makes memory watched. inode identifies memory that processes share, and is 0 for other
// memory.
func Watch(p uintptr, n int, inode uint64) {
	C.emu_watch(C.uintptr_t(p), C.size_t(n), C.uint64_t(inode))
}

// Unwatch ends Watch. owner says that this process made the memory.
func Unwatch(p uintptr, inode uint64, owner bool) {
	var mine C.int
	if owner {
		mine = 1
	}
	C.emu_unwatch(C.uintptr_t(p), C.uint64_t(inode), mine)
}

// Retire makes freed memory watched, because it should not be used any more. Unwatch ends that,
// too.
func Retire(p uintptr, n int) { C.emu_retire(C.uintptr_t(p), C.size_t(n)) }

// Mark sets the state of watched memory, a device.MemoryState.
func Mark(p uintptr, n int, state int) { C.emu_mark(C.uintptr_t(p), C.size_t(n), C.uint32_t(state)) }

// Mark sets the state when the stream reaches the mark.
func (s *Stream) Mark(p uintptr, n int, state int) {
	C.emu_stream_mark(s.c, C.uintptr_t(p), C.size_t(n), C.uint32_t(state))
}

// Watch sets the names by which findings refer to a module.
func (m *Module) Watch(w WatchedModule) {
	library, name, text := C.CString(w.Library), C.CString(w.Name), C.CString(w.Text)
	defer C.free(unsafe.Pointer(library))
	defer C.free(unsafe.Pointer(name))
	defer C.free(unsafe.Pointer(text))
	C.emu_module_watch(m.c, library, name, C.uint32_t(w.Line), text)
}

// Calling sets the place in the program that makes the following calls.
func (d *Device) Calling(caller int) { C.emu_calling(d.c, C.int32_t(caller)) }

// Publish and Observe are the two halves of a barrier of hosts.
func (d *Device) Publish() { C.emu_publish(d.c) }

// Observe gives the host what others have published.
func (d *Device) Observe() { C.emu_observe(d.c) }

// End and Begin record that the host has ended or begins a cell, given by number.
func (d *Device) End(run uint64)   { C.emu_end(d.c, C.uint64_t(run)) }
func (d *Device) Begin(run uint64) { C.emu_begin(d.c, C.uint64_t(run)) }

// Touched records that the host reads or writes device memory.
func (d *Device) Touched(p uintptr, n int, write bool) {
	var w C.int
	if write {
		w = 1
	}
	C.emu_touched(d.c, C.uintptr_t(p), C.size_t(n), w)
}

// Network returns a net_watcher of C for the engine whose board is n bytes at p.
func (d *Device) Network(p uintptr, n int) unsafe.Pointer {
	return unsafe.Pointer(C.emu_network(d.c, C.uintptr_t(p), C.size_t(n)))
}

// Flushed records that the host has waited for everything that kernels have posted or, if ended is
// set, that none of it will be done any more.
func (d *Device) Flushed(ended bool) {
	var over C.int
	if ended {
		over = 1
	}
	C.emu_flushed(d.c, over)
}

// Heard records that the host has waited for the event.
func (d *Device) Heard(e *Event) { C.emu_heard(d.c, e.c) }

// Findings returns the findings since its last call, and none for a closed device.
func (d *Device) Findings() []Finding {
	if d.c == nil || C.emu_is_watched(d.c) == 0 {
		return nil
	}
	const most = 1000
	found := make([]C.emu_finding, most)
	n := min(most, int(C.emu_findings(d.c, &found[0], most)))
	var out []Finding
	for i := range found[:n] {
		c := &found[i]
		f := Finding{Kind: int(c.kind), Why: Why(c.why), Count: int(c.count), Size: int(c.size), Address: uint64(c.address),
			Memory: C.GoString(&c.memory[0])}
		for k := range c.accesses {
			f.Places = append(f.Places, newPlace(&c.place[k]))
		}
		out = append(out, f)
	}
	return out
}

func newPlace(c *C.emu_place) Place {
	p := Place{
		Rank: int(c.rank), Block: unfold(int(c.block), c.grid), Thread: unfold(int(c.thread), c.block_dim), PC: uint64(c.pc),
		Write: c.how&1 != 0, Atomic: c.how&2 != 0, Host: c.host != 0, Part: Part(c.carried), Kernel: C.GoString(&c.kernel[0]),
		Caller: int(c.caller), Stream: int(c.stream), Number: int(c.sequence),
	}
	var library, name, text *C.char
	var line C.uint32_t
	if C.emu_watched_module(c.module, &library, &name, &line, &text) != 0 {
		p.Module = &WatchedModule{C.GoString(library), C.GoString(name), int(line), C.GoString(text)}
	}
	return p
}

// unfold converts a linear index to one with three dimensions.
func unfold(i int, dims [3]C.uint32_t) (at [3]int) {
	for k, d := range dims {
		if d > 0 {
			at[k] = i % int(d)
			i /= int(d)
		}
	}
	return at
}
