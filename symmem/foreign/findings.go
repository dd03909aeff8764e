package foreign

import (
	"fmt"

	"github.com/symmrepl/symmrepl/symmem/internal/core/memory"
	"github.com/symmrepl/symmrepl/symmem/internal/cpu"
	"github.com/symmrepl/symmrepl/symmem/internal/cpu/emu"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Shadow makes a record of accesses, by which the sanitizer watches several processes together: they
// pass its name to emu_sanitize. It lasts until end is called or this process ends, which must not
// open a device. There is one at a time.
func Shadow() (name string, end func(), err error) { return cpu.NewShadow() }

// Report holds the findings of the sanitizer in one rank, with all that is needed to describe them in
// another process.
type Report struct {
	Rank     int           `json:"rank"`
	Seed     int64         `json:"seed"`     // of the order in which the rank ran
	Lines    map[int]Line  `json:"lines"`    // of the program, by the numbers that the rank passes to emu_calling
	Findings []RawFinding  `json:"findings"` // see emu_findings
	Unseen   []UnseenThing `json:"unseen,omitempty"`
	Ended    bool          `json:"ended,omitempty"` // the rank's last report: nothing after it was to be watched
}

// Line is a line of a program of Python.
type Line struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Source string `json:"source,omitempty"`
}

// UnseenThing is a way by which the program accesses memory unseen, with the line that took it.
type UnseenThing struct {
	What string `json:"what"` // "Tensor.numpy"
	At   Line   `json:"at"`
}

// RawFinding is a finding with addresses instead of names. In is the memory of the later access, or
// the nearest to it, if the rank knows any there.
type RawFinding struct {
	emu.Finding
	In *Memory `json:"in"`
}

// Memory is a tensor, or another thing, in the memory of the rank that reports it.
type Memory struct {
	Name    string `json:"name"`    // "float32[64]"
	Peer    int    `json:"peer"`    // the rank whose memory it is, -1 for the rank itself
	Address uint64 `json:"address"` // where it begins
	Bytes   int    `json:"bytes"`
	Element string `json:"element"` // "element", "word"
	Size    int    `json:"size"`    // of an element
}

// contents implements memory.Contents.
type contents struct{ *Memory }

func (c contents) String() string         { return c.Name }
func (c contents) Element() (string, int) { return c.Memory.Element, c.Size }

// A Finding is a finding in words; see package symmem.
type Finding = device.Finding

// repairs have the words for programs of Python where those for cells do not fit.
var repairs = map[device.FindingKind]struct{ order, repair string }{
	device.RaceWithHost: {"no barrier, signal or meeting of the ranks is between the line of Python and the other access",
		"h.barrier(), or h.put_signal and h.wait_signal, between the two"},
	device.SharedBeyond: {"", "ask for as much by shared_mem"},
	device.UseAfterFree: {"", "keep the tensor, or its handle, until the last launch that uses it"},
}

// Findings describes the findings of a report, with the numbers of r.Lines as their callers. The
// error says what is wrong in a report that no sanitizer has made.
func Findings(r Report) ([]Finding, error) {
	var list []emu.Finding
	in := map[uint64]string{}
	for i, f := range r.Findings {
		if err := f.check(); err != nil {
			return nil, fmt.Errorf("finding %d of rank %d: %w", i, r.Rank, err)
		}
		if m := f.In; m != nil {
			at := memory.Location[contents]{At: device.Ptr(m.Address), Bytes: m.Bytes, What: contents{m}, Peer: m.Peer}
			in[f.Address] = at.Describe(device.Ptr(f.Address))
		}
		list = append(list, f.Finding)
	}
	found := cpu.Describe(list, r.Seed)
	for i := range found {
		if found[i].Memory == "" {
			found[i].Memory = in[uint64(found[i].Address)]
		}
		if other, ok := repairs[found[i].Kind]; ok {
			found[i].Order, found[i].Repair = other.order, other.repair
		}
	}
	return found, nil
}

func (f RawFinding) check() error {
	switch m := f.In; {
	case f.Kind < 0 || f.Kind > int(device.SharedBeyond):
		return fmt.Errorf("there is no kind %d", f.Kind)
	case len(f.Places) != 1 && len(f.Places) != 2:
		return fmt.Errorf("it has %d places, not 1 or 2", len(f.Places))
	case m != nil && (m.Size <= 0 || m.Bytes < 0):
		return fmt.Errorf("its memory has %d bytes in elements of %d", m.Bytes, m.Size)
	}
	for _, p := range f.Places {
		if p.Module != nil && p.Module.Line < 0 {
			return fmt.Errorf("a text begins on line %d", p.Module.Line)
		}
	}
	return nil
}
