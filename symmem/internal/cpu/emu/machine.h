// machine.h: what the run time does by registers and instructions of the machine. machine_amd64.h and machine_arm64.h have the same functions;
// emu_machine.h has those that kernels call, too. The header for the other machine is empty, so that a folder of all files can be compiled.
//
//	adopt(worker)            makes it the worker of the calling thread, for kernels
//	prepare(top, entry)      the stack pointer that, when resumed, starts entry on the stack that ends at top
//	saved_frame_pointer(sp)  what emu_switch has saved
//	return_address(stored)   the address that a frame has stored, without the signature that aarch64 may add
//	pause()                  between two polls
//	worker_distance()        what built-in kernels need to find their worker, on aarch64
//	begin_module(library)    makes a loaded module ready: how it finds its worker, and its shared memory
//
// Of code that a signal has interrupted:
//
//	pc_of(u) sp_of(u) frame_pointer_of(u)   its registers
//	caller_of(u, readable)   the return address of a function that has made no frame yet, 0 if it is unknown; readable reports whether a stack word can be read
//	writes(u)                whether the access that has faulted is a write
//	leave(u, sp)             continues in emu_resume with a stack pointer
//	preempt(u)               continues in emu_preempt, which goes back; it needs kPreemptRoom bytes of stack
//	trap_of(u)               why there was a SIGTRAP
//	go_back(u)               after kEnd of emu_preempt: restores the interrupted code
//
// Single steps, if kSteps:
//
//	step()                   the caller's next instructions trap, one by one
//	stepping(u) set_stepping(u, on)   the same for interrupted code
#pragma once

#include <cstddef>
#include <cstdint>

namespace emu::machine {

// Trap is the reason for a SIGTRAP.
enum class Trap {
  kNone,       // unknown
  kStep,       // a single step
  kEnd,        // of emu_preempt
  kUndefined,  // undefined behaviour, which the compiler has checked
  kDivision,   // likewise a division by zero
};

}  // namespace emu::machine

#include "machine_amd64.h"
#include "machine_arm64.h"
