package tensorfile

import (
	"fmt"
	"strings"
)

// Error is a file that cannot be read or written.
type Error struct {
	File   string
	Tensor string // "" for a fault of the whole file
	Offset int64  // of the fault in the file; -1 if unknown
	Msg    string
	Hint   string // advice; may be empty
	Err    error  // the cause, or nil
}

// Error is "w.safetensors, tensor "a", byte 8: the offsets … (hint)".
func (e *Error) Error() string {
	text := e.Text()
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	return text
}

// Text is Error without the hint.
func (e *Error) Text() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Tensor != "" {
		fmt.Fprintf(&b, ", tensor %s", shorten(e.Tensor))
	}
	if e.Offset >= 0 {
		fmt.Fprintf(&b, ", byte %d", e.Offset)
	}
	return b.String() + ": " + e.Msg
}

func (e *Error) Unwrap() error { return e.Err }

// fault returns an error about the contents of a file. Open adds the file's name.
func fault(offset int64, hint, format string, args ...any) *Error {
	return &Error{Offset: offset, Hint: hint, Msg: fmt.Sprintf(format, args...)}
}

// of sets the tensor that has the fault.
func (e *Error) of(tensor string) *Error {
	e.Tensor = tensor
	return e
}

// failed returns an error of the system.
func failed(path string, err error) *Error {
	return &Error{File: path, Offset: -1, Msg: reason(err), Err: err}
}

// shorten quotes a name, and shortens a long one: a file may have names of any length.
func shorten(name string) string {
	const most = 100
	if len(name) > most {
		return fmt.Sprintf("%.*q…", most, name)
	}
	return fmt.Sprintf("%q", name)
}
