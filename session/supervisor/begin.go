package supervisor

import (
	"sync/atomic"

	"github.com/symmrepl/symmrepl/session/inherit"
)

// beginFinder finds in one stream of a worker where a run begins.
type beginFinder struct {
	expected atomic.Uint64 // the run whose beginning is expected, 0 if none
	passed   uint64        // number of bytes of the stream so far
}

// split passes on the next bytes of the stream, and calls begin at the place where the expected run
// begins: a run that prints nothing begins nowhere. Calls do not overlap.
func (f *beginFinder) split(b []byte, noted *inherit.Beginning, pass func([]byte), begin func(run uint64)) {
	from := f.passed
	f.passed += uint64(len(b))
	if run := f.expected.Load(); run != 0 && noted.Run.Load() == run {
		if at := noted.At.Load(); at < f.passed {
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
