//go:build linux && (amd64 || arm64)

package cpu

import (
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/symmem/internal/cpu/emu"
)

// quarantine keeps the addresses of segments that were closed while accesses were watched. A kernel
// that still uses one is reported, and reads zeros.
type quarantine struct {
	mu   sync.Mutex
	list []span // the oldest first
}

// span is a mapping: guard addresses, memory, and more guard addresses.
type span struct {
	whole unsafe.Pointer
	size  int // of the memory
}

// guardBytes is the size of the guard areas on either side of a segment: an index that is wrong by
// less faults, and does not change other memory. It is a multiple of the page size.
const guardBytes = 1 << 20

// mostQuarantined is the maximum number of mappings to keep. They use no memory unless they are
// written to.
const mostQuarantined = 1024

func (s span) memory() uintptr { return uintptr(s.whole) + guardBytes }
func (s span) unmap() error    { return unix.MunmapPtr(s.whole, uintptr(s.size+2*guardBytes)) }

func (s span) release() {
	emu.Unwatch(s.memory(), 0, false)
	s.unmap()
}

// keep takes over a mapping whose memory is no longer watched.
func (q *quarantine) keep(s span) error {
	if _, err := unix.MmapPtr(-1, 0, unsafe.Add(s.whole, guardBytes), uintptr(s.size), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_FIXED|unix.MAP_NORESERVE); err != nil {
		return s.unmap()
	}
	emu.Retire(s.memory(), s.size)
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.list = append(q.list, s); len(q.list) > mostQuarantined {
		q.list[0].release()
		q.list = q.list[1:]
	}
	return nil
}

func (q *quarantine) close() {
	for _, s := range q.list {
		s.release()
	}
}
