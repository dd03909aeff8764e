package symmem

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePage is the size of a huge page of the processors that Go programs run on here.
const hugePage = 2 << 20

// fresh returns a slice that is about to be filled. The system gives new memory page by page, which takes longer than
// to fill it: a large slice asks for huge pages.
func fresh[T any](n int) []T {
	s := make([]T, n)
	b := bytesOf(s)
	if len(b) < 2*hugePage {
		return s
	}
	lo := -uintptr(unsafe.Pointer(&b[0])) % hugePage
	hi := lo + (uintptr(len(b))-lo)/hugePage*hugePage
	unix.Madvise(b[lo:hi], unix.MADV_HUGEPAGE) // advice, which a system may not take
	return s
}

// bytesOf is the memory of a slice.
func bytesOf[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}
