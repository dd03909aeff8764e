package controller

import (
	"sync/atomic"
)

// Goroutines of earlier cells may print at any time, which differs between ranks. Lines of a cell
// are compared by their position, so every worker notes where in its output the cell begins. It does
// so in memory that it shares with its supervisor: a mark in the output would wake the supervisor
// for each stream.

// beginFinder finds in one stream of a worker where a run begins.
type beginFinder struct {
	expected atomic.Uint64 // the run whose beginning is expected, 0 if none
	passed   uint64        // number of bytes of the stream so far
}

// split passes on the next bytes of the stream, and calls begin at the place where the expected run
// begins: a run that prints nothing begins nowhere. Calls do not overlap.
func (f *beginFinder) split(b []byte, noted *beginning, pass func([]byte), begin func(run uint64)) {
	from := f.passed
	f.passed += uint64(len(b))
	if run := f.expected.Load(); run != 0 && noted.run.Load() == run {
		if at := noted.at.Load(); at < f.passed {
			if at > from {
				pass(b[:at-from])
				b = b[at-from:]
			}
			f.expected.CompareAndSwap(run, 0)
			begin(run)
		}
	}
	pass(b)
}
