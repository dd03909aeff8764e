package command

import (
	"cmp"
	"fmt"
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

// timeline holds the operations of some ranks over time.
type timeline struct {
	ranks []int
	ops   map[int][]span // by rank
	more  int            // number of operations that are left out
	took  time.Duration  // from the first operation's begin to the last one's end
}

// span is an operation, several equal operations in a row, or a wait. Its begin counts from the
// first operation of all ranks.
type span struct {
	name, at    string
	over        string // the network that carries it between hosts, and its destination
	bytes       int    // that each operation sends there
	times       int
	begin, took time.Duration
	waits       []span // the name of a wait is the ranks that it waited for
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
			s := span{name: op.Op, at: op.At, over: op.Over, bytes: op.Bytes, times: 1, begin: op.Begin.Sub(zero), took: op.Took}
			t.took = max(t.took, s.begin+s.took)
			for _, w := range op.Waits {
				s.waits = append(s.waits, span{name: session.FormatRanks(w.Peers), begin: w.Begin.Sub(zero), took: w.Took})
			}
			t.ops[rank] = append(t.ops[rank], s)
		}
	}
	return t
}

// waited returns how long the operation waited, and for which ranks.
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

// waiting marks waits in the bars of text; marks marks the operations, by their index in names.
const (
	waiting = '░'
	marks   = "█▓▒abcdefghijklmnopqrstuvwxyz"
)

// text returns a bar of characters for each rank, a legend and a table.
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

// table returns a table with a row for each operation, or for several equal ones in a row.
func (t *timeline) table() string {
	rows := [][]string{{"rank", "begin", "took", "waited", "operation"}}
	more := t.more
	for _, rank := range t.ranks {
		for _, s := range joined(t.ops[rank]) {
			if len(rows) > traceRows {
				more += s.times
				continue
			}
			what := s.title()
			if s.times > 1 {
				what = fmt.Sprintf("%d × %s", s.times, what)
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

// title names the operation, its call and its traffic: "put at cell[3]:1, 4096 bytes over UCX
// 1.22.0 to rank 3 on host 1".
func (s span) title() string {
	title := s.name
	if s.at != "" {
		title += " at " + s.at
	}
	switch {
	case s.over != "" && s.bytes > 0:
		title += fmt.Sprintf(", %d bytes over %s", s.bytes, s.over)
	case s.over != "":
		title += ", over " + s.over
	}
	return title
}

// joined merges consecutive operations with equal titles.
func joined(ops []span) []span {
	var out []span
	for _, s := range ops {
		if n := len(out) - 1; n >= 0 && out[n].title() == s.title() {
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
