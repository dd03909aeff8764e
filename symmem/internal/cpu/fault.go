//go:build linux && (amd64 || arm64)

package cpu

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/symmem/internal/cpu/emu"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Codes of siginfo that change the message.
const (
	siKernel  = 0x80 // the processor did not report the address
	fpeIntDiv = 1
	busAdrAln = 1
)

func (d *cpu) kernelFault(f *emu.Fault) *device.KernelFault {
	k := &device.KernelFault{Kernel: f.Kernel, Block: f.Block, Thread: f.Thread, What: d.what(f)}
	k.Where, k.Source = d.where(f)
	if unix.Signal(f.Signal) == unix.SIGSEGV && !f.Stack && !f.Shared && f.Code != siKernel {
		k.Address, k.Write = uintptr(f.Address), f.Write
	}
	return k
}

// what describes a fault. For the copy of a struct, clang++ does not check the alignment; the
// processor does, and reports it like a wild address.
func (d *cpu) what(f *emu.Fault) string {
	access := "reads"
	if f.Write {
		access = "writes"
	}
	switch unix.Signal(f.Signal) {
	case unix.SIGSEGV:
		switch {
		case f.Stack:
			return "needs more local memory than a thread has: recursion without end, or arrays too large"
		case f.Shared:
			return access + " beyond the block's shared memory: an index out of an array's bounds, or more dynamic shared memory than was asked for by SharedBytes"
		case f.Code == siKernel && f.Library != "" && d.compiler.clang:
			return "accesses an address that no memory can have, or does a misaligned access"
		case f.Code == siKernel:
			return "accesses an address that no memory can have"
		}
		return fmt.Sprintf("%s address %#x, where no memory is", access, f.Address)
	case unix.SIGBUS:
		if f.Code == busAdrAln {
			return fmt.Sprintf("does a misaligned access: an atomic operation at address %#x, which is no multiple of its size", f.Address)
		}
		return fmt.Sprintf("accesses address %#x, which has lost its memory", f.Address)
	case unix.SIGFPE:
		if f.Code == fpeIntDiv {
			return "divides an integer by zero"
		}
		return "arithmetic exception"
	case unix.SIGILL:
		if undefinedDivision && !(f.Library != "" && d.compiler.clang) { // g++ does not say which of its checks has failed
			return "does something undefined: an integer divided by zero, an index out of an array's bounds, a misaligned access, a shift by too much, or a float too large for an integer"
		}
		return "does something undefined: an index out of an array's bounds, a misaligned access, a shift by too much, or a float too large for an integer"
	}
	return f.Text
}

// interrupted is the text of a fault that only means that the host, or closing the device, stopped
// the kernel.
const interrupted = "interrupted"

// where returns the innermost position in the user's text, with the line there, or in an
// operation's source. For an interrupted operation it returns none: the operation did nothing
// wrong, and reading the line numbers of the whole program takes seconds.
func (d *cpu) where(f *emu.Fault) (where, source string) {
	if f.Library == "" {
		if f.Text == interrupted {
			return "", ""
		}
		at := findLine(d.program, f.Frames, func(file string) bool { return strings.HasSuffix(file, ".cu") })
		if at.file == "" {
			return "", ""
		}
		return fmt.Sprintf("%s:%d", at.file, at.line), ""
	}
	d.mu.Lock()
	m := d.modules[f.Library]
	d.mu.Unlock()
	if m == nil {
		return "", ""
	}
	at := sourceLine{file: f.File, line: f.Line}
	if f.File == "" {
		at = findLine(m.library, f.Frames, func(file string) bool { return file == snippetFile })
	}
	if at.file == "" {
		return "", ""
	}
	line := at.line + m.source.Line - 1
	return fmt.Sprintf("%s:%d", m.source.Name, line), m.source.LineAt(line)
}
