package run

import (
	"time"

	"golang.org/x/sys/unix"
)

// Standard output and standard error are two pipes, and whoever reads them sees in each what was
// printed, but not in which order the two were written. So that the order is kept, text for one of
// them is written once the other has been read.

// A reader that is busy for longer is not waited for. On a busy machine it may not get a processor for
// tens of milliseconds.
const orderWithin = 200 * time.Millisecond

// awaitRead waits until a pipe has been read, which is a descriptor of this process. It does not
// wait for descriptors of other kinds.
func awaitRead(fd int) {
	var began time.Time
	for pause := 5 * time.Microsecond; unread(fd); pause = min(2*pause, time.Millisecond) {
		if began.IsZero() {
			var s unix.Stat_t
			if unix.Fstat(fd, &s) != nil || s.Mode&unix.S_IFMT != unix.S_IFIFO {
				return
			}
			began = time.Now()
		} else if time.Since(began) > orderWithin {
			return
		}
		time.Sleep(pause)
	}
}

// unread reports whether a descriptor holds bytes that have not been read.
func unread(fd int) bool {
	n, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
	return err == nil && n > 0
}
