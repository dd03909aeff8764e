package inband

import (
	"os"
	"sync/atomic"
)

// Order keeps the standard output of a process in order with its standard error. Begin is called
// before each print to standard output, End after it.
type Order interface {
	Begin()
	End()
}

var order atomic.Pointer[Order]

// SetOrder sets the order of this process, whose standard output a session reads. It is called once, in
// a worker.
func SetOrder(o Order) {
	order.Store(&o)
	own.Store(newOutput(os.Stdout))
}

// Print calls print, which writes to standard output. Text that this process has printed to standard
// error before the call of Print is shown before that output.
func Print(print func()) {
	if o := order.Load(); o != nil {
		(*o).Begin()
		defer (*o).End()
	}
	print()
}

// Write writes text to os.Stdout, in order with standard error.
func Write(text []byte) (n int, err error) {
	Print(func() { n, err = os.Stdout.Write(text) })
	return n, err
}
