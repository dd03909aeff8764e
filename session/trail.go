package session

import (
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Trail is memory that a worker shares with its supervisor. In it the supervisor finds where a worker was that could not say so any more, because Go's runtime or the
// kernel has ended it. Positions are numbers of the evaluator's.
type Trail struct {
	Mark, Call int          // the positions of the statement that runs and, in case that is in another cell, of the cell's own statement
	Files      [2]TrailFile // of the cell that runs; zero while none does
}

// TrailFile tells how positions are offsets in the text of a cell: from Base up to Base+Size they are, after Header bytes that are not of the text.
type TrailFile struct{ Base, Size, Header int }

// offset returns where in the text of the cell the worker is, -1 if that is not known.
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

// newTrail makes a Trail, and the file by which a worker gets it. The caller closes the file.
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

// unmap gives the memory back.
func (t *Trail) unmap() { unix.Munmap(unsafe.Slice((*byte)(unsafe.Pointer(t)), unsafe.Sizeof(*t))) }

// inheritedTrail is the Trail of this worker. Without one, nobody learns where the worker was.
func inheritedTrail() *Trail {
	defer unix.Close(trailFD)
	t, err := mapTrail(trailFD)
	if err != nil {
		return new(Trail)
	}
	return t
}

// placeAt puts the place at an offset of the text of a cell into an error.
func placeAt(e *Error, cell Cell, offset int) {
	if offset < 0 || offset > len(cell.Source) {
		return
	}
	before := cell.Source[:offset]
	line := strings.Count(before, "\n")
	start := strings.LastIndexByte(before, '\n') + 1
	e.File, e.Line, e.Column = cell.Name, cell.Line+line, offset-start+1
	e.Source = firstLine(cell.Source[start:])
}
