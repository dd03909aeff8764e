package session

import (
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Trail is memory that a worker shares with its supervisor. From it the supervisor learns where the
// output of a run begins, and the position of a worker that could not report it, because Go's runtime
// or the kernel has ended the worker. Positions are numbers of the evaluator.
type Trail struct {
	Mark, Call int          // the positions of the statement that runs and, if that belongs to another cell, of this cell's own statement
	Files      [2]TrailFile // files of the running cell; zero while no cell runs

	begins  [2]beginning // by stream, standard output first: where the run's output begins
	ordered ordered      // prints that keep their order between the streams
}

// TrailFile maps positions to offsets in the text of a cell: positions from Base to Base+Size
// belong to the file, whose first Header bytes are not part of the text.
type TrailFile struct{ Base, Size, Header int }

// offset returns the worker's offset in the text of the cell, -1 if it is not known.
func (t *Trail) offset() int {
	for _, at := range []int{t.Mark, t.Call} {
		for _, f := range t.Files {
			if f.Base > 0 && at >= f.Base+f.Header && at <= f.Base+f.Size {
				return at - f.Base - f.Header
			}
		}
	}
	return -1
}

// newTrail makes a Trail, and the file that passes it to a worker. The caller closes the file.
func newTrail() (*Trail, *os.File, error) {
	fd, err := unix.MemfdCreate("trail", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, nil, err
	}
	f := os.NewFile(uintptr(fd), "trail")
	if err := f.Truncate(int64(unsafe.Sizeof(Trail{}))); err != nil {
		f.Close()
		return nil, nil, err
	}
	t, err := mapTrail(fd)
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return t, f, nil
}

// mapTrail returns the Trail in a file.
func mapTrail(fd int) (*Trail, error) {
	b, err := unix.Mmap(fd, 0, int(unsafe.Sizeof(Trail{})), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	return (*Trail)(unsafe.Pointer(&b[0])), nil
}

// unmap releases the memory.
func (t *Trail) unmap() { unix.Munmap(unsafe.Slice((*byte)(unsafe.Pointer(t)), unsafe.Sizeof(*t))) }

// inheritedTrail returns the Trail of this worker.
func inheritedTrail() (*Trail, error) {
	defer unix.Close(trailFD)
	return mapTrail(trailFD)
}

// placeAt sets the position of an error to an offset in the text of a cell.
func placeAt(e *Error, cell Cell, offset int) {
	if offset < 0 || offset > len(cell.Source) {
		return
	}
	before := cell.Source[:offset]
	line := strings.Count(before, "\n")
	start := strings.LastIndexByte(before, '\n') + 1
	e.File = cell.Name
	e.Line, e.Column, e.Source = cell.Place(line+1, offset-start+1)
}
