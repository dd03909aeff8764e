package device

import (
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// PieceSize is the size of the pieces of InPieces.
const PieceSize = 1 << 20

// most goroutines of InPieces: they reach the bandwidth of a host's memory with fewer than its
// processors, which other ranks use too.
const maxCopiers = 4

// InPieces calls f for all pieces [lo, hi) of [0, n), from several goroutines at once, and returns
// an error of theirs. The pieces begin at multiples of PieceSize.
func InPieces(n int, f func(lo, hi int) error) error {
	var (
		next   atomic.Int64
		failed atomic.Pointer[error]
		done   sync.WaitGroup
	)
	work := func() {
		for failed.Load() == nil {
			lo := int(next.Add(PieceSize)) - PieceSize
			if lo >= n {
				return
			}
			if err := f(lo, min(lo+PieceSize, n)); err != nil {
				failed.CompareAndSwap(nil, &err)
			}
		}
	}
	for range min(maxCopiers, runtime.GOMAXPROCS(0), (n+PieceSize-1)/PieceSize) - 1 {
		done.Go(work)
	}
	work()
	done.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}

// FillPieces fills p with what src has from offset at on.
func FillPieces(p []byte, src io.ReaderAt, at int) error {
	return InPieces(len(p), func(lo, hi int) error {
		n, err := src.ReadAt(p[lo:hi], int64(at+lo))
		if n == hi-lo {
			return nil
		}
		return err
	})
}

// GivePieces gives p to dst from offset at on.
func GivePieces(p []byte, dst io.WriterAt, at int) error {
	return InPieces(len(p), func(lo, hi int) error {
		_, err := dst.WriteAt(p[lo:hi], int64(at+lo))
		return err
	})
}

// Bytes is host memory as Stream.WriteFrom and Stream.ReadTo take it.
type Bytes []byte

func (b Bytes) ReadAt(p []byte, off int64) (int, error)  { return copy(p, b[off:]), nil }
func (b Bytes) WriteAt(p []byte, off int64) (int, error) { return copy(b[off:], p), nil }

// HostBytes is n bytes at an address of the host, outside of Go's memory.
func HostBytes(p Ptr, n int) []byte {
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&p)), n)
}
