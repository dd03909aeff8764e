package console

import (
	"cmp"
	"context"
	"fmt"
	"html"
	"slices"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
	"github.com/symmrepl/symmrepl/session"
)

const (
	traceWidth = 60 // characters of a bar
	traceRows  = 40 // of the table
	pageWidth  = 80 // characters of a line of the legend
)

const traceHelp = `run a cell and show what each rank's operations did meanwhile
A bar for each rank shows its operations one after the other, and in them the waits for other ranks. The table below says when each began, how
long it took on the device, how much of that it waited, for whom, and where in the cell it was called. Equal operations in a row are one. Waits
are looked at several times in a millisecond, so that shorter ones may be missed; operations within a graph are one; tracing costs each
operation a few microseconds. On several hosts the bars are as far apart as the hosts' clocks.`

// trace runs a cell and shows its timeline.
func (c *Console) trace(ctx context.Context, code string) Outcome {
	if _, err := c.Session.Inspect(ctx, c.Target(), session.Query{Topic: session.TopicStartTrace}); err != nil {
		return c.fail("trace", err)
	}
	_, result := c.eval(ctx, session.Cell{Source: code})
	traces, err := c.stopTraces(context.WithoutCancel(ctx))
	if err != nil {
		return c.fail("trace", err)
	}
	t := newTimeline(traces)
	if t.took == 0 {
		c.Printer.Print("the cell called no operation on a device")
		return result
	}
	c.Printer.Reply(session.Reply{Values: []session.Value{{Text: t.text(), Data: map[string]any{"image/svg+xml": t.picture()}}}})
	return result
}

// stopTraces returns the traces of the target ranks by rank. That of a rank that has none, as one that was replaced, is empty.
func (c *Console) stopTraces(ctx context.Context) (map[int]session.Trace, error) {
	answers, err := c.Session.Inspect(ctx, c.Target(), session.Query{Topic: session.TopicStopTrace})
	traces := map[int]session.Trace{}
	for _, a := range answers {
		if a.Trace == nil {
			a.Trace = &session.Trace{}
		}
		traces[a.Rank] = *a.Trace
	}
	return traces, err
}

// timeline is what the operations of some ranks did.
type timeline struct {
	ranks []int
	ops   map[int][]span // by rank
	more  int            // operations that are left out
	took  time.Duration  // from the first operation's begin to the last one's end
}

// span is an operation, or several equal ones in a row, or a wait. It begins some time after the first operation of all ranks.
type span struct {
	name, at    string
	times       int
	begin, took time.Duration
	waits       []span // the name is the ranks that were waited for
}

func newTimeline(traces map[int]session.Trace) *timeline {
	t := &timeline{ops: map[int][]span{}}
	var zero time.Time
	for rank, trace := range traces {
		t.ranks = append(t.ranks, rank)
		t.more += trace.More
		if len(trace.Ops) > 0 && (zero.IsZero() || trace.Ops[0].Begin.Before(zero)) {
			zero = trace.Ops[0].Begin
		}
	}
	slices.Sort(t.ranks)
	for rank, trace := range traces {
		for _, op := range trace.Ops {
			s := span{name: op.Op, at: op.At, times: 1, begin: op.Begin.Sub(zero), took: op.Took}
			t.took = max(t.took, s.begin+s.took)
			for _, w := range op.Waits {
				s.waits = append(s.waits, span{name: session.FormatRanks(w.Peers), begin: w.Begin.Sub(zero), took: w.Took})
			}
			t.ops[rank] = append(t.ops[rank], s)
		}
	}
	return t
}

// waited is how long the operation waited for any rank, and for which.
func (s span) waited() (took time.Duration, ranks []string) {
	var until time.Duration
	waits := slices.Clone(s.waits)
	slices.SortFunc(waits, func(a, b span) int { return cmp.Compare(a.begin, b.begin) })
	for _, w := range waits {
		end := w.begin + w.took
		took += max(end-max(w.begin, until), 0)
		until = max(until, end)
		if w.name != "" && !slices.Contains(ranks, w.name) {
			ranks = append(ranks, w.name)
		}
	}
	return took, ranks
}

// names lists the operations in the order of the ranks' first calls.
func (t *timeline) names() []string {
	var names []string
	for _, rank := range t.ranks {
		for _, s := range t.ops[rank] {
			if !slices.Contains(names, s.name) {
				names = append(names, s.name)
			}
		}
	}
	return names
}

// waiting is how the bars in text show a wait, and marks the operations, by their place among the names.
const (
	waiting = '░'
	marks   = "█▓▒abcdefghijklmnopqrstuvwxyz"
)

// text is a bar of characters for each rank, what they stand for, and a table.
func (t *timeline) text() string {
	names, letters := t.names(), []rune(marks)
	letter := func(name string) rune { return letters[min(slices.Index(names, name), len(letters)-1)] }
	var b strings.Builder
	for _, rank := range t.ranks {
		bar := []rune(strings.Repeat(" ", traceWidth))
		draw := func(s span, mark rune) {
			from := min(t.column(s.begin), traceWidth-1)
			for i := from; i < min(max(t.column(s.begin+s.took), from+1), traceWidth); i++ {
				bar[i] = mark
			}
		}
		for _, s := range t.ops[rank] {
			draw(s, letter(s.name))
			for _, w := range s.waits {
				draw(w, waiting)
			}
		}
		fmt.Fprintf(&b, "rank %-2d |%s|\n", rank, string(bar))
	}
	line := fmt.Sprintf("%s in all: %c waits", short(t.took), waiting)
	for _, name := range names {
		entry := fmt.Sprintf("  %c %s", letter(name), name)
		if len([]rune(line+entry)) > pageWidth {
			b.WriteString(line + "\n")
			line = ""
		}
		line += entry
	}
	b.WriteString(line + "\n\n" + t.table())
	return strings.TrimSuffix(b.String(), "\n")
}

func (t *timeline) column(at time.Duration) int { return int(int64(at) * traceWidth / int64(t.took)) }

// table has a row for each operation, or for several equal ones in a row.
func (t *timeline) table() string {
	rows := [][]string{{"rank", "begin", "took", "waited", "operation"}}
	more := t.more
	for _, rank := range t.ranks {
		for _, s := range joined(t.ops[rank]) {
			if len(rows) > traceRows {
				more += s.times
				continue
			}
			what := s.name
			if s.times > 1 {
				what = fmt.Sprintf("%d × %s", s.times, what)
			}
			if s.at != "" {
				what += " at " + s.at
			}
			waits := ""
			if took, ranks := s.waited(); took > 0 {
				waits = short(took)
				if len(ranks) > 0 {
					waits += " for " + strings.Join(ranks, ";")
				}
			}
			rows = append(rows, []string{fmt.Sprint(rank), short(s.begin), short(s.took), waits, what})
		}
	}
	text := render.Table(rows)
	if more > 0 {
		text += fmt.Sprintf("… %d more operations\n", more)
	}
	return text
}

// joined makes one of operations in a row that were called at one place.
func joined(ops []span) []span {
	var out []span
	for _, s := range ops {
		if n := len(out) - 1; n >= 0 && out[n].name == s.name && out[n].at == s.at {
			out[n].times++
			out[n].took += s.took
			out[n].waits = append(slices.Clip(out[n].waits), s.waits...)
			continue
		}
		out = append(out, s)
	}
	return out
}

// short writes a time with three digits.
func short(d time.Duration) string {
	unit, name := time.Microsecond, "µs"
	switch {
	case d >= time.Second:
		unit, name = time.Second, "s"
	case d >= time.Millisecond:
		unit, name = time.Millisecond, "ms"
	}
	v := float64(d) / float64(unit)
	switch {
	case d == 0:
		return "0"
	case v < 9.995:
		return fmt.Sprintf("%.2f %s", v, name)
	case v < 99.95:
		return fmt.Sprintf("%.1f %s", v, name)
	}
	return fmt.Sprintf("%.0f %s", v, name)
}

// picture is an SVG of the bars; what an operation was is said where the pointer rests.
func (t *timeline) picture() string {
	const width, row, left = 600.0, 22.0, 60.0
	const waits = "#bbbbbb"
	names := t.names()
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" font-family="sans-serif" font-size="12">`,
		width+left+10, row*float64(len(t.ranks)+2+len(names)))
	x := func(at time.Duration) float64 { return left + width*float64(at)/float64(t.took) }
	box := func(s span, y, height float64, colour, title string) {
		fmt.Fprintf(&b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%g" fill="%s"><title>%s</title></rect>`,
			x(s.begin), y, max(x(s.begin+s.took)-x(s.begin), 0.5), height, colour, html.EscapeString(title))
	}
	for i, rank := range t.ranks {
		y := row * float64(i)
		fmt.Fprintf(&b, `<text x="4" y="%.1f" fill="#888888">rank %d</text>`, y+15, rank)
		for _, s := range t.ops[rank] {
			title := s.name
			if s.at != "" {
				title += " at " + s.at
			}
			title += fmt.Sprintf(", %s from %s on", short(s.took), short(s.begin))
			box(s, y+3, 16, colours[slices.Index(names, s.name)%len(colours)], title)
			for _, w := range s.waits {
				title := "waits " + short(w.took)
				if w.name != "" {
					title += " for rank " + w.name
				}
				box(w, y+7, 8, waits, s.name+" "+title)
			}
		}
	}
	y := row * float64(len(t.ranks))
	fmt.Fprintf(&b, `<text x="%g" y="%.1f" fill="#888888">0</text><text x="%g" y="%.1f" text-anchor="end" fill="#888888">%s</text>`,
		left, y+15, left+width, y+15, short(t.took))
	for i, name := range append([]string{"waits for another rank"}, names...) {
		y, colour := row*float64(len(t.ranks)+1+i), waits
		if i > 0 {
			colour = colours[(i-1)%len(colours)]
		}
		fmt.Fprintf(&b, `<rect x="%g" y="%.1f" width="14" height="14" fill="%s"/><text x="%g" y="%.1f" fill="#888888">%s</text>`,
			left, y+2, colour, left+20, y+14, html.EscapeString(name))
	}
	b.WriteString("</svg>")
	return b.String()
}
