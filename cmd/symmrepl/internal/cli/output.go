package cli

import (
	"fmt"
	"os"
	"sync/atomic"
)

// stdout is the standard output of this program. Everything that the program prints there goes
// through it, but for the editing of lines at a terminal.
var stdout = &written{file: os.Stdout}

// written is a file that remembers the first write that failed, as on a full disk.
type written struct {
	file   *os.File
	failed atomic.Pointer[error]
}

// Write implements io.Writer.
func (o *written) Write(b []byte) (int, error) {
	n, err := o.file.Write(b)
	if err != nil {
		o.failed.CompareAndSwap(nil, &err)
	}
	return n, err
}

// delivered returns the exit status of a program that would end with status. If a write to standard
// output has failed, delivered reports that, and the program has not succeeded.
func (o *written) delivered(status int) int {
	failed := o.failed.Load()
	if failed == nil {
		return status
	}
	fmt.Fprintf(os.Stderr, "symmrepl: standard output is not complete: %v\n", *failed)
	if status == statusOK {
		return statusFailed
	}
	return status
}

// Close implements io.Closer.
func (o *written) Close() error { return o.file.Close() }
