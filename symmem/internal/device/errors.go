package device

import (
	"errors"
	"fmt"
	"strings"
)

// ErrCapturing is returned by calls that are not allowed while a stream captures.
var ErrCapturing = errors.New("not allowed while a graph is being captured")

// ErrOutOfMemory is wrapped by allocation failures.
var ErrOutOfMemory = errors.New("out of device memory")

// UnavailableError is the error of a device that cannot be used here. It has the reason, and a
// remedy.
type UnavailableError struct {
	Kind string // "cuda" or "cpu"
	Why  string
	Hint string
	// Absent reports whether the machine has no such device, as far as can be seen: nothing is
	// broken.
	Absent bool
}

func (e *UnavailableError) Error() string {
	s := "device " + e.Kind + " is not available: " + e.Why
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// DriverError is a failed driver call.
type DriverError struct {
	Call     string // "cuMemCreate"
	Code     int
	Name     string // "CUDA_ERROR_OUT_OF_MEMORY"
	Text     string // the driver's sentence
	Hint     string // what to do
	Poisoned bool   // the context is lost: this process cannot use the device any more
	Err      error  // ErrOutOfMemory or nil
}

func (e *DriverError) Error() string {
	s := fmt.Sprintf("%s: %s (%d): %s", e.Call, e.Name, e.Code, e.Text)
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

func (e *DriverError) Unwrap() error { return e.Err }

// LibraryError is a failed call of a library of the device's vendor.
type LibraryError struct {
	Library string // "NCCL"
	Call    string // "ncclCommInitRankConfig"
	Code    int
	Text    string // the library's sentences
	Remote  bool   // another process or the network is at fault
}

func (e *LibraryError) Error() string {
	s := fmt.Sprintf("%s returned %d", e.Call, e.Code)
	if e.Text != "" {
		s += ": " + e.Text
	}
	return s
}

// KernelFault is a fault of a kernel on the cpu device, which knows its place.
type KernelFault struct {
	Kernel string
	Block  [3]int
	Thread [3]int
	What   string // "reads address 0x0", "assertion `i < n' failed", "ran for 10s without progress"
	Where  string // "cell[3]:7" when known
	Source string // the line there, of a snippet

	Address uintptr // the address of an access to unmapped memory, else 0
	Write   bool
}

func (e *KernelFault) Error() string {
	s := fmt.Sprintf("kernel %s, block %v, thread %v: %s", e.Kernel, e.Block, e.Thread, e.What)
	if e.Where != "" {
		s += " at " + e.Where
	}
	return s
}

// CompileError is the compiler's rejection of a snippet.
type CompileError struct {
	Diagnostics []Diagnostic
	Log         string // the compiler's whole output
}

// Diagnostic is one error of a snippet, with its position in the snippet.
type Diagnostic struct {
	File   string
	Line   int // 1-based
	Column int // 1-based; 0 when the compiler does not say
	Text   string
	Source string // the offending line
}

func (e *CompileError) Error() string {
	if len(e.Diagnostics) == 0 {
		return "the kernel does not compile:\n" + strings.TrimSpace(e.Log)
	}
	var b strings.Builder
	for i, d := range e.Diagnostics {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(d.String())
	}
	return b.String()
}

// String shows the diagnostic with its source line and a caret under the column.
func (d Diagnostic) String() string {
	pos := fmt.Sprintf("%s:%d", d.File, d.Line)
	if d.Column > 0 {
		pos += fmt.Sprintf(":%d", d.Column)
	}
	s := pos + ": " + d.Text
	if d.Source != "" {
		s += "\n    " + d.Source
		if d.Column > 0 {
			pad := make([]byte, 0, d.Column)
			for i := 0; i < d.Column-1 && i < len(d.Source); i++ {
				if d.Source[i] == '\t' {
					pad = append(pad, '\t')
				} else {
					pad = append(pad, ' ')
				}
			}
			s += "\n    " + string(pad) + "^"
		}
	}
	return s
}
