package symmem

import (
	"github.com/symmrepl/symmrepl/kernels/delay"
	"github.com/symmrepl/symmrepl/symmem/internal/core/delays"
	"github.com/symmrepl/symmrepl/symmem/internal/core/launch"
	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
)

// slowed holds the setting of Slow; guarded by rt.mu.
type slowed struct {
	seam.Blind
	setting *delays.Setting // nil: no rank is late
	late    *delays.Delayer // of this rank, or nil
}

// Slow makes calls of some ranks begin late from now on: launches of kernels, puts, signals and all
// other calls that put work in a stream. A missing wait often shows only when one rank is late, and
// a sanitizer that watches bounds does not see it. The setting names ranks of the world and a time
// of at most 10 s: "2 50us", "0,2 1ms". After them may stand launches, puts or signals, for calls of
// these sorts alone; once, for the next call of each rank alone; and "seed 7", by which the delay of
// each call is chosen from 0 to the time. "off" ends all of it, and a setting replaces the one
// before.
//
// The delay is on the call's stream, between the work before the call and the call's own; the host
// goes on. In a capture it is part of the graph. It ends early when waits are aborted.
//
// Every rank may call it with the same setting, and only the ranks that it names are late. It is not
// collective.
//
// Errors: KindMisuse for a setting that cannot be read.
func (rt *Runtime) Slow(setting string) {
	const op = "Slow"
	rt.hostCall(op)
	s, err := delays.Parse(setting, rt.size)
	if err != nil {
		panic(rt.misuse(op, "setting", `give ranks and a time, as in "2 50us", or "off"`, "%v", err))
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.slow.setting, rt.slow.late = s, s.For(rt.rank)
	rt.observe(&rt.slow, rt.slow.late != nil)
	if rt.slow.late != nil {
		rt.load("delay") // before a kernel runs that waits for one of this rank's
	}
}

// Slowed describes the setting of Slow: "the puts of rank 2 begin 50µs late".
func (rt *Runtime) Slowed() string {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return rt.slow.setting.String()
}

// slowPart has the setting of Slow.
type slowPart struct{ part }

// Settle notes that ranks which were replaced are not slowed any more.
func (p slowPart) Settle(l seam.Loss) error {
	p.rt.mu.Lock()
	defer p.rt.mu.Unlock()
	p.rt.slow.setting = p.rt.slow.setting.Without(l.Replaced)
	return nil
}

// Admitted puts the delay of a call in its stream.
func (s *slowed) Admitted(c *seam.Sight) {
	stream := c.Stream.(resting).Stream
	rt := stream.rt
	by := s.late.Next(delays.Of(c.Op, c.User))
	if by == 0 {
		return
	}
	args := delay.DelayArgs{Context: rt.kernelContext(rt.all, &options{timeout: c.Timeout}, 0), Ns: uint64(by)}
	l := launch.OneBlock(1)
	l.Args = launch.Bytes(&args)
	if err := stream.launch(rt.builtin(c.Op, "delay", 0), l); err != nil {
		panic(rt.failure(c.Op, err))
	}
}
