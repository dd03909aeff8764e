package trace

import (
	"cmp"
	"math"
	"time"

	"github.com/symmrepl/symmrepl/internal/timeline"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// origin relates the device's clock, which only events show, to the host's.
type origin struct {
	event  device.Event
	at     int64 // when it was reached
	within int64 // how far that may be off
	why    error // why the device does not record its activities; nil if it never does
}

// set puts the origin in a stream. Each of several events is reached between two looks at the host's
// clock, which may come late on a busy machine; the bounds that all of them give together are
// narrow.
func (g *origin) set(dev device.Device, record func(device.Event) error) error {
	const events = 16
	earliest, latest := int64(math.MinInt64), int64(math.MaxInt64) // of the origin
	for i := range events {
		e, err := dev.NewEvent()
		if err != nil {
			return err
		}
		if i == 0 {
			g.event = e
		} else {
			defer e.Close()
		}
		before := timeline.Now()
		if err := cmp.Or(record(e), e.Synchronize()); err != nil {
			return err
		}
		after := timeline.Now()
		us, err := e.Since(g.event)
		if err != nil {
			return err
		}
		since := nanoseconds(us)
		earliest, latest = max(earliest, before-since), min(latest, after-since)
	}
	g.at, g.within = earliest+(latest-earliest)/2, max(latest-earliest, 0)/2
	return nil
}

func nanoseconds(us float64) int64 { return int64(us * float64(time.Microsecond)) }

// timed reads the events of all operations.
func (t *Trace) timed(to *timeline.Rank) {
	const resolution = int64(500 * time.Nanosecond) // of CUDA's events
	to.Source, to.Clock.Device = "events before and after each operation", t.events.within+resolution
	if t.events.why != nil {
		to.Source += " (" + t.events.why.Error() + ")"
	}
	for _, o := range t.ops {
		if o.end == nil {
			continue
		}
		begin, err := o.begin.Since(t.events.event)
		if err == nil {
			var took float64
			if took, err = o.end.Since(o.begin); err == nil {
				o.Begin, o.Took = t.events.at+nanoseconds(begin), nanoseconds(took)
			}
		}
		o.begin.Close()
		o.end.Close()
	}
	t.events.event.Close()
}
