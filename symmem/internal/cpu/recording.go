//go:build linux && (amd64 || arm64)

package cpu

import (
	"unsafe"

	"github.com/symmrepl/symmrepl/symmem/internal/cpu/emu"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// recorded is the number of activities that a recording has room for.
const recorded = 1 << 17

// recording implements device.Recording. The emulator's clock is the host's.
type recording struct{ d *cpu }

// StartRecording implements device.Recorder.
func (d *cpu) StartRecording() (device.Recording, error) {
	d.emu.Record(unsafe.Pointer(&d.watch.Waits), len(d.watch.Waits), recorded)
	return recording{d}, nil
}

func (recording) Source() string { return "the emulator" }

func (recording) Within() int64 { return 0 }
func (recording) Waits() bool   { return true }

func (recording) Issue(s device.Stream, call uint64, issue func() error) error {
	mine, ok := s.(*stream)
	if !ok {
		return invalid("Issue", "the stream belongs to another kind of device")
	}
	if mine.call != call {
		mine.call = call
		mine.emu.Call(call)
	}
	return issue()
}

// activityKinds are the kinds of activities by those of the emulator.
var activityKinds = map[emu.ActivityKind]device.ActivityKind{
	emu.ActivityKernel: device.ActivityKernel, emu.ActivityCopy: device.ActivityCopy, emu.ActivitySet: device.ActivitySet,
	emu.ActivityAwait: device.ActivityAwait, emu.ActivityEvent: device.ActivityEvent, emu.ActivityWait: device.ActivityWait,
}

func (r recording) End() (list []device.Activity, more int, err error) {
	all, more := r.d.emu.Recorded()
	for _, a := range all {
		list = append(list, device.Activity{
			Kind: activityKinds[a.Kind], Name: a.Name, Call: a.Call, Begin: int64(a.Began), End: int64(a.Ended), Grid: a.Grid,
			Block: a.Block, Bytes: a.Bytes,
			Wait: *(*device.WaitRecord)(unsafe.Pointer(&a.Wait)),
		})
	}
	return list, more, nil
}
