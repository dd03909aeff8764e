package symmem

import (
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/core/measure"
	"github.com/symmrepl/symmrepl/symmem/internal/core/study"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Runs are the times of code that all ranks ran several times: see [Runtime.MeasureRuns].
type Runs = measure.Runs

// Turns are the times of two pieces of code that ran in turns: see [Runtime.MeasureTurns].
type Turns = measure.Turns

// What Measure runs: each figure is the average of graphCalls*graphReplays calls.
const (
	graphCalls   = 10
	graphReplays = 3
	graphRuns    = 7
)

// mostRuns is the maximum number of runs of MeasureRuns and MeasureTurns.
const mostRuns = 100000

// Measure measures the device time of one call of f, without the time that the host needs to issue
// it: it captures ten calls as a graph, replays it once to warm up, and takes seven runs of three
// replays, before each of which all ranks meet in a barrier on the device. The result's median is
// the median of the slowest rank: an operation is done when the last rank is done.
//
// It is collective over all ranks and waits for the device. f must be what [Runtime.Capture] takes,
// and is called ten times.
//
// Errors: those of Capture, of [Runtime.Rendezvous] and of f.
func (rt *Runtime) Measure(f func()) Runs {
	const op = "Measure"
	m := rt.beginMeasure(op, f)
	defer m.end()
	var chosen []study.Choice
	g := rt.Capture(func() {
		chosen = rt.choosing(f)
		for range graphCalls - 1 {
			f()
		}
	})
	defer g.Free()
	g.Replay()
	var mine times
	for range graphRuns {
		m.meet()
		mine.Took = append(mine.Took, g.Elapsed(graphReplays)/graphCalls)
	}
	mine.Sent = study.Sent(chosen)
	runs := m.gathered(mine)
	runs.Device, runs.Host, runs.Calls = runs.Took, nil, graphCalls
	m.whole = true
	return runs
}

// MeasureRuns calls f once to warm up and then n times, at most 100,000. Before each call all ranks
// meet in a barrier on the device and wait for it, so that they begin together. It measures on every
// rank the time until f returns, the device time of what f has issued on the current stream, and the
// time until host and device are done.
//
// It is collective over all ranks and waits for the device.
//
// Errors: KindMisuse for an n out of range; those of [Runtime.Rendezvous] and of f.
func (rt *Runtime) MeasureRuns(n int, f func()) Runs {
	return rt.measured("MeasureRuns", n, f)[0]
}

// MeasureTurns is MeasureRuns of two pieces of code that run in turns, so that another load of the
// machine disturbs both. The method Real of the result reports whether the difference is more than
// chance.
func (rt *Runtime) MeasureTurns(n int, f, g func()) Turns {
	runs := rt.measured("MeasureTurns", n, f, g)
	return Turns{First: runs[0], Second: runs[1]}
}

// measured runs pieces of code in turns, n times each.
func (rt *Runtime) measured(op string, n int, codes ...func()) []Runs {
	if n < 1 || n > mostRuns {
		panic(rt.misuse(op, "n", "", "the number of runs must be positive and at most %d, not %d", mostRuns, n))
	}
	m := rt.beginMeasure(op, codes...)
	defer m.end()
	mine := make([]times, len(codes))
	for i, f := range codes {
		mine[i].Sent = study.Sent(rt.choosing(f))
	}
	for range n {
		for i, f := range codes {
			mine[i].add(m.run(f))
		}
	}
	runs := make([]Runs, len(codes))
	for i := range codes {
		runs[i] = m.gathered(mine[i])
	}
	m.whole = true
	return runs
}

// times are one rank's, by run.
type times struct {
	Took, Device, Host []time.Duration
	Sent               int
	Link               float64
}

func (t *times) add(took, device, host time.Duration) {
	t.Took, t.Device, t.Host = append(t.Took, took), append(t.Device, device), append(t.Host, host)
}

// measuring is a measurement under way.
type measuring struct {
	rt          *Runtime
	op          string
	t           *Tensor // for the barrier
	h           *Handle // nil if the ranks cannot meet on the device
	begin, over *Event
	whole       bool // it has not failed
}

func (rt *Runtime) beginMeasure(op string, codes ...func()) *measuring {
	rt.hostCall(op)
	rt.all.usable(op)
	rt.all.mustTakePart(op)
	for _, f := range codes {
		rt.needFunction(op, f)
	}
	rt.freeFailed()
	m := &measuring{rt: rt, op: op, begin: rt.NewEvent(), over: rt.NewEvent()}
	if !rt.all.split.Spans() || rt.net.Load() != nil {
		m.t = rt.Empty(U8, 1)
		m.h = rt.Rendezvous(m.t)
	}
	return m
}

func (m *measuring) end() {
	m.begin.Free()
	m.over.Free()
	switch {
	case m.t == nil:
	case m.whole:
		m.t.Free()
	default: // the code's error is the one to report, and ranks without it do not come
		m.rt.mu.Lock()
		m.rt.unfreed = append(m.rt.unfreed, m.t)
		m.rt.mu.Unlock()
	}
}

// freeFailed frees the tensors of failed measurements. Such a measurement has failed on all ranks:
// on ranks without an error of their own in the next meeting.
func (rt *Runtime) freeFailed() {
	rt.mu.Lock()
	list := rt.unfreed
	rt.unfreed = nil
	rt.mu.Unlock()
	for _, t := range list {
		Maybe(t.Free) // a tensor that a rank has lost needs none
	}
}

// meet makes the current stream wait until all ranks are here, where they can meet on the device.
func (m *measuring) meet() {
	if m.h != nil {
		m.h.Barrier(0)
	}
}

// run runs code once.
func (m *measuring) run(f func()) (took, device, host time.Duration) {
	m.meet()
	m.rt.Synchronize()
	began := time.Now()
	m.begin.Record()
	f()
	host = time.Since(began)
	m.over.Record()
	m.rt.Synchronize()
	return time.Since(began), m.over.Since(m.begin), host
}

// gathered returns the runs of all ranks.
func (m *measuring) gathered(mine times) (runs Runs) {
	rt := m.rt
	mine.Link = rt.linkRate()
	rt.all.meeting.Lock()
	all, err := gatherValues(rt.all, m.op, "times", mine, nil)
	rt.all.meeting.Unlock()
	if err != nil {
		panic(rt.failure(m.op, err))
	}
	for i, t := range all {
		runs.Took, runs.Device, runs.Host = append(runs.Took, t.Took), append(runs.Device, t.Device), append(runs.Host, t.Host)
		runs.Sent = max(runs.Sent, t.Sent)
		if i == 0 || t.Link < runs.Link {
			runs.Link = t.Link
		}
	}
	return runs
}

// linkRate is the rate of the slowest link to another device of the host as specified, in GB/s; 0 if
// it is not known.
func (rt *Runtime) linkRate() (rate float64) {
	d, ok := rt.dev.(device.Linked)
	if !ok {
		return 0
	}
	_, links, err := d.Links()
	if err != nil {
		return 0
	}
	for i, l := range links {
		if i == 0 || l.Rate < rate {
			rate = l.Rate
		}
	}
	return rate
}
