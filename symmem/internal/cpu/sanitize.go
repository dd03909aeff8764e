//go:build linux && (amd64 || arm64)

package cpu

import (
	"fmt"
	"maps"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/symmrepl/symmrepl/kernels"
	"github.com/symmrepl/symmrepl/symmem/internal/cpu/emu"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// sanitizing is the device's data while accesses are watched. emu/sanitize.h describes the
// algorithm.
type sanitizing struct {
	watching   atomic.Bool
	seed       atomic.Int64
	remembered atomic.Bool // memory that was allocated before is watched
	quarantine quarantine

	operations sync.Mutex // guards the following
	watchedOps map[string]*kernel
	opModules  []*emu.Module
	earlier    []device.Finding // from before watching ended
}

func (s *sanitizing) close() {
	for _, m := range s.opModules {
		m.Close()
	}
	s.quarantine.close()
}

// Shadow implements device.Sanitizer.
func (d *cpu) Shadow(begin bool) (string, error) {
	name, err := emu.Shadow(begin)
	if err != nil {
		return "", d.notWatched(err)
	}
	return name, nil
}

// NewShadow makes a record of accesses in a process that opens no device, for processes that call the
// emulator by its C interface. There is one at a time, until end is called; processes that have it
// keep it.
func NewShadow() (name string, end func(), err error) {
	if name, err = emu.Shadow(true); err != nil {
		return "", nil, (*cpu)(nil).notWatched(err)
	}
	return name, emu.EndShadow, nil
}

func (d *cpu) notWatched(err error) error {
	return &device.UnavailableError{Kind: "cpu", Why: "kernels cannot be watched: " + err.Error()}
}

// Sanitize implements device.Sanitizer.
func (d *cpu) Sanitize(s device.Sanitizing) error {
	if !s.On {
		if d.watching.Swap(false) {
			d.earlierFindings(d.Findings())
			d.emu.SanitizeOff()
		}
		return nil
	}
	if err := d.compiler.canWatch(); err != nil {
		return err
	}
	if err := d.emu.Sanitize(s.Shadow, s.Rank, s.Seed); err != nil {
		return d.notWatched(err)
	}
	d.seed.Store(s.Seed)
	if d.watching.Swap(true) {
		return nil
	}
	if s.Rank == 0 { // for all, which share the cache
		d.compiler.prepareWatching()
	}
	first := !d.remembered.Swap(true)
	d.mu.Lock()
	defer d.mu.Unlock()
	for p, m := range d.memory {
		if first {
			emu.Watch(uintptr(p), m.Bytes(), 0)
		}
		markHead(uintptr(p))
	}
	for c := range maps.Keys(d.open) {
		if g, ok := c.(*segment); ok && first {
			emu.Watch(uintptr(g.Ptr()), g.size, g.inode)
		}
	}
	return nil
}

// watchAlloc makes memory of Alloc watched.
func watchAlloc(p uintptr, n int) {
	emu.Watch(p, n, 0)
	markHead(p)
}

// markHead marks the part of memory's first page before the allocation as belonging to no tensor.
func markHead(p uintptr) {
	page := p &^ uintptr(os.Getpagesize()-1)
	emu.Mark(page, int(p-page), int(device.MemoryOutside))
}

// watchMemory makes memory watched, whether or not kernels are watched at present. d.mu need not be
// held.
func (d *cpu) watchMemory(p uintptr, n int, inode uint64) {
	if d.remembered.Load() {
		emu.Watch(p, n, inode)
	}
}

func (d *cpu) unwatchMemory(p uintptr, inode uint64, owner bool) {
	if d.remembered.Load() {
		emu.Unwatch(p, inode, owner)
	}
}

// Mark implements device.Sanitizer.
func (d *cpu) Mark(s device.Stream, p device.Ptr, n int, as device.MemoryState) {
	if !d.remembered.Load() || n <= 0 {
		return
	}
	if on, ok := s.(*stream); ok {
		on.emu.Mark(uintptr(p), n, int(as))
		return
	}
	emu.Mark(uintptr(p), n, int(as))
}

// Calling implements device.Sanitizer.
func (d *cpu) Calling(caller int) { d.emu.Calling(caller) }

// Publish implements device.Sanitizer.
func (d *cpu) Publish() { d.emu.Publish() }

// Observe implements device.Sanitizer.
func (d *cpu) Observe() { d.emu.Observe() }

// Ended implements device.Sanitizer.
func (d *cpu) Ended(run uint64) { d.emu.End(run) }

// Begun implements device.Sanitizer.
func (d *cpu) Begun(run uint64) { d.emu.Begin(run) }

// Network implements device.Sanitizer.
func (d *cpu) Network(board device.Ptr, n int) unsafe.Pointer {
	return d.emu.Network(uintptr(board), n)
}

// Flushed implements device.Sanitizer.
func (d *cpu) Flushed(ended bool) { d.emu.Flushed(ended) }

// watched returns the kernel to launch while accesses are watched. For an operation, it is compiled
// at its first use.
func (d *cpu) watched(k *kernel) (*kernel, error) {
	if k.module != nil {
		return k.module.watchedKernel(k)
	}
	d.operations.Lock()
	defer d.operations.Unlock()
	if w, ok := d.watchedOps[k.Name()]; ok {
		return w, nil
	}
	file, ok := kernels.Source(k.Name(), 0)
	if !ok {
		return k, nil
	}
	src := device.Source{Name: file.Name, Line: 1}
	loaded, library, err := d.loadOperation(src, operationUnit(file, k.Name()))
	if err != nil {
		return nil, fmt.Errorf("operation %s: %w", k.Name(), err)
	}
	loaded.Watch(emu.WatchedModule{Library: library})
	if d.watchedOps == nil {
		d.watchedOps = map[string]*kernel{}
	}
	d.opModules = append(d.opModules, loaded)
	w := newKernel(loaded.Kernels[0], nil)
	d.watchedOps[k.Name()] = w
	return w, nil
}

// operationUnit returns the text to compile for one kernel of an operation.
func operationUnit(file kernels.File, kernel string) string {
	return beginning + file.Text + "\n#line 1 \"" + tableFile +
		fmt.Sprintf("\"\nEMU_TABLE EMU_KERNEL(%q, %s)\nEMU_MODULE\n", kernel, kernel)
}

// loadOperation compiles the unit of an operation or finds it in the cache, and loads it.
func (d *cpu) loadOperation(src device.Source, unit string) (*emu.Module, string, error) {
	library, err := d.compiler.operation(src, unit, true)
	if err != nil {
		return nil, "", err
	}
	private, _, err := d.compiler.copyOf(library)
	if err != nil {
		return nil, "", err
	}
	defer os.Remove(private)
	loaded, err := emu.Load(private)
	if err != nil {
		return nil, "", loadError(src, err)
	}
	return loaded, library, nil
}

// Findings implements device.Sanitizer.
func (d *cpu) Findings() []device.Finding {
	return append(d.earlierFindings(nil), Describe(d.emu.Findings(), d.seed.Load())...)
}

// earlierFindings returns the findings from before watching ended, and keeps others for the next
// call.
func (d *cpu) earlierFindings(next []device.Finding) []device.Finding {
	d.operations.Lock()
	defer d.operations.Unlock()
	found := d.earlier
	d.earlier = next
	return found
}
