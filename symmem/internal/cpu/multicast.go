//go:build linux && (amd64 || arm64)

package cpu

import (
	"math/bits"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// kindShift is the position of the logarithm of the block size in a multicast address, and firstByte
// the place of the window's first byte in the block: see nccl/multimem.h.
const (
	kindShift = 56
	firstByte = 4096
)

// Multicast implements device.Multicaster. The addresses belong to a block of reserved memory,
// whose size is a power of two and its alignment, and which begins with the address of the window.
// The upper bits contain the logarithm of the size. x86-64 accepts no such address; aarch64 ignores
// these bits, so there the block is inaccessible, except for its first page, which is read-only.
func (d *cpu) Multicast(window device.Ptr, size int) (device.Ptr, error) {
	page := unix.Getpagesize()
	log := bits.Len(uint(page + size - 1))
	block := uintptr(1) << log
	p, err := unix.MmapPtr(-1, 0, nil, 2*block, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return 0, systemError("mmap", err)
	}
	start := uintptr(p)
	head := (start + block - 1) &^ (block - 1)
	for _, rest := range []struct{ at, n uintptr }{{start, head - start}, {head + block, start + block - head}} {
		if rest.n != 0 && err == nil {
			err = unix.MunmapPtr(unsafe.Add(p, rest.at-start), rest.n)
		}
	}
	first := unsafe.Add(p, head-start)
	if err == nil {
		_, err = unix.MmapPtr(-1, 0, first, uintptr(page), unix.PROT_READ|unix.PROT_WRITE,
			unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_FIXED)
	}
	if err != nil {
		return 0, systemError("mmap", err)
	}
	*(*device.Ptr)(first) = window
	if err := unix.Mprotect(unsafe.Slice((*byte)(first), page), unix.PROT_READ); err != nil {
		return 0, systemError("mprotect", err)
	}
	return device.Ptr(head) + firstByte + device.Ptr(log)<<kindShift, nil
}

// EndMulticast implements device.Multicaster.
func (d *cpu) EndMulticast(p device.Ptr) error {
	block := uintptr(1) << (p >> kindShift)
	head := uintptr(p) & (1<<kindShift - 1) &^ (block - 1)
	if err := unix.MunmapPtr(*(*unsafe.Pointer)(unsafe.Pointer(&head)), block); err != nil {
		return systemError("munmap", err)
	}
	return nil
}
