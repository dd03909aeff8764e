package symmem

import (
	"cmp"
	"encoding/json"
	"html"
	"io"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
	"github.com/symmrepl/symmrepl/internal/timeline"
	"github.com/symmrepl/symmrepl/internal/timeline/perfetto"
	"github.com/symmrepl/symmrepl/internal/timeline/view"
	"github.com/symmrepl/symmrepl/internal/wholefile"
)

// Timeline is the record that [Runtime.Trace] made of all ranks, by one clock. Its String has a bar
// of characters for each stream, a table of the operations, and the summary.
type Timeline struct {
	t  *timeline.Timeline
	rt *Runtime
}

// Trace calls f, waits for the work of this rank, and returns the work of all ranks meanwhile: the
// calls on the host, the work of each on its stream with its kernels, copies and waits, and
// messages to other hosts. It is collective over the world: the ranks meet on the host to exchange
// their records. Recording costs each call about a microsecond.
//
// Errors: KindMisuse if a trace is under way, as within `:trace` or another Trace.
func (rt *Runtime) Trace(f func()) *Timeline {
	const op = "Trace"
	rt.needFunction(op, f)
	rt.hostCall(op)
	rt.all.usable(op)
	if rt.trace.Load() != nil {
		panic(rt.misuse(op, "", "leave out one of the two", "a trace is under way"))
	}
	rt.StartTrace()
	record := func() *Traced {
		defer rt.StopTrace() // where f panics
		done := rt.traceCell("symm.Trace")
		f()
		rt.synchronize(op)
		done()
		return rt.StopTrace()
	}()
	rt.giveLines(record)
	all := rt.all.meet(op, "", rt.packed(op, record))
	var records []timeline.Rank
	for i, data := range all {
		var r timeline.Rank
		if err := json.Unmarshal(data, &r); err != nil {
			panic(rt.failure(op, err))
		}
		r.Rank = rt.all.ranks[i]
		records = append(records, r)
	}
	return &Timeline{timeline.Merge(records), rt}
}

// giveLines gives the slices of a record the lines that made their calls, as far as Config.Line knows
// them.
func (rt *Runtime) giveLines(r *Traced) {
	if rt.line == nil {
		return
	}
	lines := map[int]string{}
	for i := range r.Slices {
		s := &r.Slices[i]
		at, known := lines[s.Caller]
		if !known {
			at = rt.line(s.Caller)
			lines[s.Caller] = at
		}
		s.At = at
	}
}

// packed encodes a record. It leaves out the latest slices of one that ranks cannot exchange.
func (rt *Runtime) packed(op string, r *Traced) []byte {
	for {
		data, err := json.Marshal(r)
		if err != nil {
			panic(rt.failure(op, err))
		}
		if len(data) <= bootstrap.MaxData {
			return data
		}
		half := len(r.Slices) / 2
		r.More += len(r.Slices) - half
		r.Slices = r.Slices[:half]
	}
}

// String shows the timeline in characters: see [Timeline].
func (t *Timeline) String() string {
	if t == nil || t.t == nil {
		return "nil timeline"
	}
	return cmp.Or(t.t.String(), "no operation ran on a device")
}

// HTML shows the timeline in a notebook: a picture with zoom, tips and arrows, and the summary as
// tables. Without scripts, as in a notebook that is not trusted, the picture is a still one.
func (t *Timeline) HTML() string {
	if t == nil || t.t == nil {
		return html.EscapeString(t.String())
	}
	return cmp.Or(view.HTML(t.t), html.EscapeString(t.String()))
}

// Summary divides up the time: kernels, copies and waits, the critical path over the ranks, the
// overlap of each rank's streams, and the rank for which the others waited.
func (t *Timeline) Summary() string {
	t.exists("Timeline.Summary")
	return t.t.Summary().String()
}

// exists refuses a nil timeline.
func (t *Timeline) exists(op string) {
	if t == nil || t.t == nil {
		panic(nilArgument(op, "timeline"))
	}
}

// Save writes the timeline to a file that ui.perfetto.dev and trace_processor open. Its usual name
// ends with .pftrace.
//
// Errors: KindSystem if it cannot be written.
func (t *Timeline) Save(path string) {
	const op = "Timeline.Save"
	t.exists(op)
	if err := wholefile.Write(path, func(w io.Writer) error { return perfetto.Write(w, t.t) }); err != nil {
		failed := t.rt.failure(op, err)
		failed.Hint = cmp.Or(failed.Hint, "give the path of a file in a folder that exists and may be written")
		panic(failed)
	}
}
