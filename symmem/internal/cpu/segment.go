//go:build linux && (amd64 || arm64)

package cpu

import (
	"fmt"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/symmem/internal/cpu/emu"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// segment is a mapped memfd between guard areas. It is sealed against shrinking, because an access
// beyond its end would kill every process that maps it.
type segment struct {
	device  *cpu
	whole   unsafe.Pointer // [guardBytes | the memfd | guardBytes]
	size    int            // size of the memfd
	fd      int            // for the owner; -1 if it was imported
	inode   uint64         // identifies the memory in every process
	guarded map[int]emu.Guarded
	once    sync.Once
}

func (d *cpu) NewSegment(n int) (device.Segment, error) {
	if n <= 0 || uint64(n) > d.info.Memory {
		return nil, outOfMemory("NewSegment", n)
	}
	n = roundToPage(n)
	fd, err := unix.MemfdCreate("symmrepl", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, systemError("memfd_create", err)
	}
	if err := unix.Ftruncate(fd, int64(n)); err != nil {
		unix.Close(fd)
		return nil, systemError("ftruncate", err)
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL); err != nil {
		unix.Close(fd)
		return nil, systemError("fcntl(F_ADD_SEALS)", err)
	}
	return d.mapSegment(fd, n, fd)
}

func (d *cpu) ImportSegment(fd, n int) (device.Segment, error) {
	defer unix.Close(fd)
	if err := sealed("ImportSegment", fd, n); err != nil {
		return nil, err
	}
	return d.mapSegment(fd, n, -1)
}

// AdoptSegment implements device.Adopter.
func (d *cpu) AdoptSegment(fd, n int) (device.Segment, error) {
	if err := sealed("AdoptSegment", fd, n); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return d.mapSegment(fd, n, fd)
}

// sealed refuses a descriptor of memory that has not n bytes, or that could shrink.
func sealed(call string, fd, n int) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return systemError("fstat", err)
	}
	seals, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	if err != nil || seals&unix.F_SEAL_SHRINK == 0 || n <= 0 || st.Size < int64(n) {
		return &device.DriverError{Call: call, Code: int(unix.EINVAL), Name: "EINVAL",
			Text: fmt.Sprintf("the descriptor is not a sealed segment of %d bytes", n)}
	}
	return nil
}

func (d *cpu) mapSegment(fd, n, owned int) (device.Segment, error) {
	s := &segment{device: d, size: n, fd: owned, guarded: map[int]emu.Guarded{}}
	var err error
	if s.whole, err = unix.MmapPtr(-1, 0, nil, uintptr(n)+2*guardBytes, unix.PROT_NONE,
		unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE); err == nil {
		if _, err = unix.MmapPtr(fd, 0, unsafe.Add(s.whole, guardBytes), uintptr(n), unix.PROT_READ|unix.PROT_WRITE,
			unix.MAP_SHARED|unix.MAP_FIXED); err != nil {
			unix.MunmapPtr(s.whole, uintptr(n)+2*guardBytes)
		}
	}
	if err != nil {
		if owned >= 0 {
			unix.Close(owned)
		}
		return nil, systemError("mmap", err)
	}
	var st unix.Stat_t
	if unix.Fstat(fd, &st) == nil {
		s.inode = st.Ino
	}
	d.keep(s)
	d.watchMemory(uintptr(s.Ptr()), s.size, s.inode)
	return s, nil
}

func (s *segment) Ptr() device.Ptr {
	return device.Ptr(uintptr(s.whole)) + guardBytes
}
func (s *segment) Size() int { return s.size }

// Guard implements device.GuardedSegment.
func (s *segment) Guard(offset, n int) {
	s.device.mu.Lock()
	defer s.device.mu.Unlock()
	if _, twice := s.guarded[offset]; !twice {
		s.guarded[offset] = emu.Guard(uintptr(s.Ptr())+uintptr(offset), n)
	}
}

// Guards implements device.GuardedSegment.
func (s *segment) Guards() int { return guardBytes }

func (s *segment) Export() (int, error) {
	if s.fd < 0 {
		return -1, &device.DriverError{Call: "Export", Code: int(unix.EINVAL), Name: "EINVAL",
			Text: "an imported segment is its owner's to export"}
	}
	fd, err := unix.FcntlInt(uintptr(s.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return -1, systemError("fcntl(F_DUPFD_CLOEXEC)", err)
	}
	return fd, nil
}

func (s *segment) Close() (err error) {
	s.once.Do(func() {
		s.device.forget(s)
		s.device.unwatchMemory(uintptr(s.Ptr()), s.inode, s.fd >= 0)
		if s.fd >= 0 {
			unix.Close(s.fd)
		}
		end := span.unmap
		if s.device.remembered.Load() {
			end = s.device.quarantine.keep
		}
		if e := end(span{s.whole, s.size}); e != nil {
			err = systemError("munmap", e)
		}
		for _, g := range s.guarded {
			g.Unmapped()
		}
	})
	return err
}

func roundToPage(n int) int {
	page := unix.Getpagesize()
	return (n + page - 1) / page * page
}

// systemError wraps a failed system call.
func systemError(call string, err error) error {
	e := &device.DriverError{Call: call, Text: err.Error()}
	if errno, ok := err.(unix.Errno); ok {
		e.Code, e.Name = int(errno), unix.ErrnoName(errno)
		if errno == unix.ENOMEM || errno == unix.ENOSPC {
			e.Err = device.ErrOutOfMemory
		}
	}
	return e
}
