package controller

import (
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/session"
)

// shared is memory that a worker shares with its supervisor. From it the supervisor learns where the
// worker is, and where the output of a run begins.
type shared struct {
	session.Trail

	begins  [2]beginning // by stream, standard output first: where the run's output begins
	ordered ordered      // prints that keep their order between the streams
}

// beginning is the position on one stream at which the output of a run begins. It is part of shared
// memory.
type beginning struct {
	read atomic.Uint64 // twice the number of bytes that the supervisor has read, plus 1 while it reads
	at   atomic.Uint64 // number of the stream's bytes before the run
	run  atomic.Uint64 // stored after at
}

// ordered counts the prints to standard output that follow the first rule. It is part
// of shared memory.
type ordered struct {
	begun, ended atomic.Uint64
}

// newShared makes such memory, and the file that passes it to a worker. The caller closes the file.
func newShared() (*shared, *os.File, error) {
	fd, err := unix.MemfdCreate("shared", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, nil, err
	}
	f := os.NewFile(uintptr(fd), "shared")
	if err := f.Truncate(int64(unsafe.Sizeof(shared{}))); err != nil {
		f.Close()
		return nil, nil, err
	}
	s, err := mapShared(fd)
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return s, f, nil
}

// mapShared returns the memory in a file.
func mapShared(fd int) (*shared, error) {
	b, err := unix.Mmap(fd, 0, int(unsafe.Sizeof(shared{})), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	return (*shared)(unsafe.Pointer(&b[0])), nil
}

// unmap releases the memory.
func (s *shared) unmap() { unix.Munmap(unsafe.Slice((*byte)(unsafe.Pointer(s)), unsafe.Sizeof(*s))) }

// inheritedShared returns the memory that this worker shares.
func inheritedShared() (*shared, error) {
	defer unix.Close(sharedFD)
	return mapShared(sharedFD)
}
