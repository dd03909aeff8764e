package cuda

import (
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/internal/timeline"
	"github.com/symmrepl/symmrepl/symmem/internal/cuda/clib"
	"github.com/symmrepl/symmrepl/symmem/internal/cuda/libs"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

const (
	recorded = 1 << 18 // activities that a recording has room for
	fills    = 16      // by which CUPTI's clock is compared with the host's
	fillIDs  = 1 << 62 // numbers of their calls, above those of others
)

// recording implements device.Recording by CUPTI's activity records.
type recording struct {
	version       string
	ahead, within int64 // of the host's clock against CUPTI's
}

// cuptiVersion names a version of CUPTI's interface whose records clib/cupti.c knows.
func cuptiVersion(api int) (name string, known bool) {
	switch {
	case api >= 18 && api <= 28:
		return fmt.Sprintf("CUPTI of CUDA 12, interface %d", api), true
	case api >= 130000 && api < 130600:
		return fmt.Sprintf("CUPTI %d.%d", api/10000, api/100%100), true
	}
	return "", false
}

// StartRecording implements device.Recorder. It proves CUPTI by some fills: it must report each with
// the number of its call, at a time that agrees with the host's clock.
func (d *Device) StartRecording() (device.Recording, error) {
	if err := loadCUPTI(); err != nil {
		return nil, err
	}
	name, known := cuptiVersion(clib.CUPTIVersion())
	if !known {
		return nil, fmt.Errorf("records of CUPTI's interface %d are not known", clib.CUPTIVersion())
	}
	if err := clib.StartCUPTI(recorded); err != nil {
		return nil, err
	}
	r := &recording{version: name}
	if err := r.prove(d); err != nil {
		clib.StopCUPTI()
		return nil, err
	}
	return r, nil
}

func loadCUPTI() error {
	kind := libs.CUPTI()
	why := fmt.Errorf("no %s: %s", kind.Name, kind.Hint)
	for _, found := range libs.ThisHost().Find(kind) {
		err := clib.LoadCUPTI(found.Path)
		if err == nil {
			return nil
		}
		why = err
	}
	return why
}

// prove compares CUPTI's clock with the host's by fills between two looks at the host's.
func (r *recording) prove(d *Device) error {
	s, err := d.NewStream()
	if err != nil {
		return err
	}
	defer s.Close()
	const bytes = 256
	p, err := d.Alloc(bytes)
	if err != nil {
		return err
	}
	defer d.Free(p)
	var before, after [fills]int64
	for i := range fills {
		before[i] = timeline.Now()
		if err := r.Issue(s, fillIDs+uint64(i), func() error { return s.Set(p, 0, bytes) }); err != nil {
			return err
		}
		if err := s.Synchronize(); err != nil {
			return err
		}
		after[i] = timeline.Now()
	}
	least, most, seen := int64(math.MinInt64), int64(math.MaxInt64), 0
	list, _ := r.take()
	for _, a := range list {
		if i := int64(a.Call) - fillIDs; a.Kind == device.ActivitySet && i >= 0 && i < fills && a.Bytes == bytes {
			least, most = max(least, before[i]-a.Begin), min(most, after[i]-a.End)
			seen++
		}
	}
	if seen != fills {
		return fmt.Errorf("%s reported %d of %d fills", r.version, seen, fills)
	}
	if least > most {
		return fmt.Errorf("times of %s contradict the host's clock by %d ns", r.version, least-most)
	}
	r.ahead, r.within = least+(most-least)/2, (most-least+1)/2
	return nil
}

// take returns the activities so far with the calls that they are of.
func (r *recording) take() (list []device.Activity, more int) {
	all, more := clib.TakeCUPTI()
	calls := map[uint32]uint64{}
	for _, a := range all {
		if a.Kind == clib.External {
			calls[a.Correlation] = a.External
		}
	}
	for _, a := range all {
		out := device.Activity{Call: calls[a.Correlation], Begin: a.Begin + r.ahead, End: a.End + r.ahead, Bytes: a.Bytes}
		switch a.Kind {
		case clib.KernelRun:
			out.Kind, out.Name, out.Grid, out.Block = device.ActivityKernel, plainName(a.Name), a.Grid, a.Block
		case clib.Memset:
			out.Kind = device.ActivitySet
		case clib.Memcpy, clib.MemcpyPeer:
			out.Kind = device.ActivityCopy
		default:
			continue
		}
		list = append(list, out)
	}
	return list, more
}

// plainName is the name of a function of the global namespace, without its mangling; other names
// stay as they are.
func plainName(name string) string {
	rest, mangled := strings.CutPrefix(name, "_Z")
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	if n, err := strconv.Atoi(rest[:digits]); mangled && err == nil && n <= len(rest)-digits {
		return rest[digits : digits+n]
	}
	return name
}

func (r *recording) Source() string { return r.version }
func (r *recording) Within() int64  { return r.within }
func (r *recording) Waits() bool    { return false }

// Issue implements device.Recording. CUPTI knows calls by the thread of the system that makes them.
func (r *recording) Issue(_ device.Stream, call uint64, issue func() error) error {
	if call == 0 {
		return issue()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	clib.PushCUPTI(call)
	defer clib.PopCUPTI()
	return issue()
}

// End implements device.Recording.
func (r *recording) End() ([]device.Activity, int, error) {
	list, more := r.take()
	clib.StopCUPTI()
	return list, more, nil
}
