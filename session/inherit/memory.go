package inherit

import (
	"os"
	"runtime"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/session"
)

// Memory is memory that a worker shares with its supervisor. From it the supervisor learns where the
// worker is, and where the output of a run begins.
type Memory struct {
	session.Trail

	Begins  [2]Beginning // by stream, standard output first: where the run's output begins
	Ordered Ordered      // prints that keep their order between the streams
}

// Beginning is the position on one stream at which the output of a run begins. Goroutines of earlier
// cells may print at any time, which differs between ranks. Lines of a cell are compared by their
// position, so every worker notes where in its output the cell begins. It does so in shared memory: a
// mark in the output would wake the supervisor for each stream.
type Beginning struct {
	Read atomic.Uint64 // twice the number of bytes that the supervisor has read, plus 1 while it reads
	At   atomic.Uint64 // number of the stream's bytes before the run
	Run  atomic.Uint64 // stored after At
}

// noteTries bounds how often Note looks at a stream. Without quiet in that time, it may count bytes
// twice that the supervisor reads at the moment.
const noteTries = 1000

// Note notes in the worker that a run begins, on the stream with the descriptor fd. It notes nothing if fd
// is not open.
func (b *Beginning) Note(run uint64, fd int) {
	for try := range noteTries {
		read := b.Read.Load()
		unread, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
		if err != nil {
			return
		}
		if read%2 == 0 && b.Read.Load() == read || try == noteTries-1 {
			b.At.Store(read/2 + uint64(unread))
			b.Run.Store(run)
			return
		}
		runtime.Gosched()
	}
}

// NewMemory makes such memory, and the file that passes it to a worker. The caller closes the file.
func NewMemory() (*Memory, *os.File, error) {
	fd, err := unix.MemfdCreate("shared", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, nil, err
	}
	f := os.NewFile(uintptr(fd), "shared")
	if err := f.Truncate(int64(unsafe.Sizeof(Memory{}))); err != nil {
		f.Close()
		return nil, nil, err
	}
	m, err := Map(fd)
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return m, f, nil
}

// Map returns the memory in a file.
func Map(fd int) (*Memory, error) {
	b, err := unix.Mmap(fd, 0, int(unsafe.Sizeof(Memory{})), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	return (*Memory)(unsafe.Pointer(&b[0])), nil
}

// Unmap releases the memory.
func (m *Memory) Unmap() { unix.Munmap(unsafe.Slice((*byte)(unsafe.Pointer(m)), unsafe.Sizeof(*m))) }
