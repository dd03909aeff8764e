package symmem

import (
	"context"
	"time"
)

// The functions of this file act on the world that Init made last, by the methods of the same names.

// Rank is this rank's number among all ranks.
func Rank() int { return now().rank }

// WorldSize is the number of ranks.
func WorldSize() int { return now().size }

// World is the group of all ranks.
func World() *Group { return now().all }

// NewGroup makes a group of some ranks: see [Runtime.NewGroup].
func NewGroup(ranks ...int) *Group { return now().NewGroup(ranks...) }

// Empty returns a symmetric tensor of zeros: see [Runtime.Empty].
func Empty(dtype DType, shape ...int) *Tensor { return now().Empty(dtype, shape...) }

// Local returns an ordinary tensor of zeros: see [Runtime.Local].
func Local(dtype DType, shape ...int) *Tensor { return now().Local(dtype, shape...) }

// Rendezvous maps the peers' copies of a symmetric tensor: see [Runtime.Rendezvous].
func Rendezvous(t *Tensor, opts ...Option) *Handle { return now().Rendezvous(t, opts...) }

// OneShotAllReduce combines the ranks' copies of a tensor: see [Runtime.OneShotAllReduce].
func OneShotAllReduce(t *Tensor, op string, opts ...Option) *Tensor {
	return now().oneShot(t, op, nil, opts)
}

// OneShotAllReduceOut is OneShotAllReduce into a tensor: see [Runtime.OneShotAllReduceOut].
func OneShotAllReduceOut(t *Tensor, op string, out *Tensor, opts ...Option) {
	now().OneShotAllReduceOut(t, op, out, opts...)
}

// Compile turns CUDA C++ into a kernel: see [Runtime.Compile].
func Compile(text string) *Kernel { return now().Compile(text) }

// CompileAt is Compile with a position: see [Runtime.CompileAt].
func CompileAt(name string, line int, text string) *Kernel { return now().CompileAt(name, line, text) }

// Synchronize waits for all work of this rank: see [Runtime.Synchronize].
func Synchronize() { now().Synchronize() }

// NewStream returns another queue of work: see [Runtime.NewStream].
func NewStream() *Stream { return now().NewStream() }

// OnStream calls f with s as the current stream: see [Runtime.OnStream].
func OnStream(s *Stream, f func()) { now().OnStream(s, f) }

// NewEvent returns an event: see [Runtime.NewEvent].
func NewEvent() *Event { return now().NewEvent() }

// Elapsed measures the device time of what f issues: see [Runtime.Elapsed].
func Elapsed(f func()) time.Duration { return now().Elapsed(f) }

// Capture records what f issues: see [Runtime.Capture].
func Capture(f func()) *Graph { return now().Capture(f) }

// Caps says what the device can do: see [Runtime.Caps].
func Caps() Capabilities { return now().Caps() }

// SetBackend chooses how symmetric memory is made: see [Runtime.SetBackend].
func SetBackend(name string) { now().SetBackend(name) }

// GetBackend is how symmetric memory is made: see [Runtime.Backend].
func GetBackend() string { return now().Backend() }

// SetSignalPadSize sets the signal pad of what is made from now on: see [Runtime.SetSignalPadSize].
func SetSignalPadSize(n int) { now().SetSignalPadSize(n) }

// GetSignalPadSize is the signal pad of what is made from now on: see [Runtime.SignalPadSize].
func GetSignalPadSize() int { return now().SignalPadSize() }

// Recover makes communication sound again after a wait was given up: see [Runtime.Recover].
func Recover() {
	if _, err := now().Recover(context.Background(), nil); err != nil {
		panic(err)
	}
}
