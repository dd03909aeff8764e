//go:build linux && (amd64 || arm64)

package cpu

import (
	"fmt"
	"sync"
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/cpu/emu"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// sampled has the latest samples of the threads that run kernels, by executor. A thread that had no
// processor when it was sampled is assumed to do what it did before.
type sampled struct {
	mu     sync.Mutex
	latest map[uint64]sample
}

// sample is a sample, and the time at which it was there.
type sample struct {
	emu.Sample
	at uint64
}

// now samples all threads.
func (s *sampled) now(d *emu.Device) []sample {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.latest
	s.latest = map[uint64]sample{}
	var list []sample
	for _, taken := range d.Running() {
		o := sample{taken, emu.Now()}
		if b, known := before[o.Executor]; !o.Taken && known && b.Began == o.Began {
			b.Others, o = o.Others, b
		}
		if o.Taken {
			s.latest[o.Executor] = o
			list = append(list, o)
		}
	}
	return list
}

// Running implements device.Observer. For a kernel whose blocks run on several threads of the
// system, the first sample that spins is reported.
func (d *cpu) Running() []device.Running {
	type launch struct {
		library, kernel string
		began           uint64
	}
	var list []device.Running
	index := map[launch]int{}
	samples := d.sampled.now(d.emu)
	now := emu.Now()
	for _, s := range samples {
		if s.Library == "" {
			continue
		}
		key := launch{s.Library, s.Kernel, s.Began}
		i, known := index[key]
		if !known {
			i = len(list)
			index[key] = i
			list = append(list, device.Running{Kernel: s.Kernel, For: time.Duration(now - s.Began)})
		}
		r := &list[i]
		r.Threads += s.Threads + s.Others
		if r.Spins && s.Spins {
			r.Seen = max(r.Seen, s.at)
		}
		if r.Spins || !s.Spins {
			continue
		}
		for _, a := range s.Addresses {
			if d.has(device.Ptr(a)) { // otherwise it is the emulator's
				r.Reads = append(r.Reads, device.Ptr(a))
			}
		}
		r.Shared = s.Shared
		if r.Spins = len(r.Reads)+len(r.Shared) > 0; r.Spins {
			r.Seen, r.Where = s.at, d.lineOf(s.Library, s.PC)
		}
	}
	return list
}

// has reports whether an address is in memory of the device, or in a peer's memory that is mapped
// here.
func (d *cpu) has(p device.Ptr) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for at, m := range d.memory {
		if p >= at && p < at+device.Ptr(m.Bytes()) {
			return true
		}
	}
	for c := range d.open {
		if g, ok := c.(*segment); ok && p >= g.Ptr() && p < g.Ptr()+device.Ptr(g.size) {
			return true
		}
	}
	return false
}

// Works implements device.Counter.
func (d *cpu) Works() uint64 { return d.emu.Works() }

// lineOf returns the line of a snippet for an instruction.
func (d *cpu) lineOf(library string, pc uint64) string {
	d.mu.Lock()
	m := d.modules[library]
	d.mu.Unlock()
	if m == nil || pc == 0 {
		return ""
	}
	at := findLine(m.library, []uint64{pc}, func(file string) bool { return file == snippetFile })
	if at.file == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", m.source.Name, at.line+m.source.Line-1)
}
