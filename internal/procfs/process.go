package procfs

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Process is a process whose stat file is open: to read it again takes one system call. Of the zero Process
// nothing is known. The methods may be called from any goroutine.
type Process struct{ stat *os.File }

// Open opens the stat file of a process.
func Open(pid int) (Process, error) {
	stat, err := os.Open(fmt.Sprintf("/proc/%d/stat", pid))
	return Process{stat}, err
}

// Stat returns the Stat of the process at this moment. It fails once the process is reaped, and after Close.
func (p Process) Stat() (Stat, error) {
	conn, err := p.stat.SyscallConn()
	if err != nil {
		return Stat{}, err
	}
	var line [statSize]byte
	var n int
	var failed error
	if err := conn.Control(func(fd uintptr) { n, failed = unix.Pread(int(fd), line[:], 0) }); err != nil {
		return Stat{}, err
	}
	if failed != nil {
		return Stat{}, failed
	}
	return parse(string(line[:n]))
}

// Close closes the stat file.
func (p Process) Close() { p.stat.Close() }

// statSize is more than a stat file has: a name of at most 64 bytes, and about 50 numbers of at most 20
// digits.
const statSize = 2048
