package timeline

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/symmrepl/symmrepl/internal/count"
)

const (
	barWidth  = 60 // characters of a bar
	tableRows = 40
	lineWidth = 80 // characters of a line of the legend
)

// waiting marks waits in the bars; marks marks the operations, by their index in Names.
const (
	waiting = '░'
	marks   = "█▓▒abcdefghijklmnopqrstuvwxyz"
)

// Bar is the content of a rank's track in a picture: operations by begin, and their waits.
type Bar struct {
	Rank       int
	Track      Track
	Operations []*Slice
	Waits      []*Slice
}

// Bars returns the bars of all streams on which something ran, and one for the calls on the host by
// which ranks met; by rank and track.
func (t *Timeline) Bars() (bars []Bar) {
	for i := range t.Ranks {
		byTrack := map[Track]*Bar{}
		for j := range t.Ranks[i].Slices {
			s := &t.Ranks[i].Slices[j]
			wait := s.Kind == Wait
			if !wait && s.Kind != Operation && (s.Kind != Call || s.Meets == "") {
				continue
			}
			b := byTrack[s.Track]
			if b == nil {
				b = &Bar{Rank: t.Ranks[i].Rank, Track: s.Track}
				byTrack[s.Track] = b
			}
			if wait {
				b.Waits = append(b.Waits, s)
			} else {
				b.Operations = append(b.Operations, s)
			}
		}
		from := len(bars)
		for _, b := range byTrack {
			bars = append(bars, *b)
		}
		slices.SortFunc(bars[from:], func(a, b Bar) int { return int(a.Track - b.Track) })
	}
	return bars
}

// Span returns the time at which the first operation of the bars begins and the time at which the
// last one ends.
func Span(bars []Bar) (begin, end int64) {
	first := true
	for _, b := range bars {
		for _, s := range b.Operations {
			if first || s.Begin < begin {
				begin, first = s.Begin, false
			}
			end = max(end, s.End())
		}
	}
	return begin, end
}

// begin returns the time at which the first operation of the timeline's bars begins.
func (t *Timeline) begin() int64 {
	begin, _ := Span(t.Bars())
	return begin
}

// Names lists the operations in the order of the ranks' first calls.
func Names(bars []Bar) (names []string) {
	for _, b := range bars {
		for _, s := range b.Operations {
			if !slices.Contains(names, s.Name) {
				names = append(names, s.Name)
			}
		}
	}
	return names
}

// Text returns a bar of characters for each stream of each rank, a legend, and a table with a row
// for each operation, or for several equal ones in a row. It is empty if no operation ran.
func (t *Timeline) Text() string {
	bars := t.Bars()
	begin, end := Span(bars)
	if end == begin {
		return ""
	}
	names, letters := Names(bars), []rune(marks)
	letter := func(name string) rune { return letters[min(slices.Index(names, name), len(letters)-1)] }
	column := func(at int64) int { return int((at - begin) * barWidth / (end - begin)) }
	labels, width := t.labels(bars)
	var b strings.Builder
	for i, bar := range bars {
		cells := []rune(strings.Repeat(" ", barWidth))
		draw := func(s *Slice, mark rune) {
			from := min(max(column(s.Begin), 0), barWidth-1)
			for i := from; i < min(max(column(s.End()), from+1), barWidth); i++ {
				cells[i] = mark
			}
		}
		for _, s := range bar.Operations {
			draw(s, letter(s.Name))
		}
		for _, s := range bar.Waits {
			draw(s, waiting)
		}
		fmt.Fprintf(&b, "%-*s |%s|\n", width, labels[i], string(cells))
	}
	line := fmt.Sprintf("%s in all: %c waits", Short(end-begin), waiting)
	for _, name := range names {
		entry := fmt.Sprintf("  %c %s", letter(name), name)
		if len([]rune(line+entry)) > lineWidth {
			b.WriteString(line + "\n")
			line = ""
		}
		line += entry
	}
	b.WriteString(line + "\n\n" + t.table(bars, begin))
	return strings.TrimSuffix(b.String(), "\n")
}

// labels name the bars: "rank 0", or "rank 0  stream 0" if any rank has several.
func (t *Timeline) labels(bars []Bar) (labels []string, width int) {
	several := len(bars) > len(t.Ranks)
	last := -1
	for _, b := range bars {
		label := fmt.Sprintf("rank %-2d", b.Rank)
		if b.Rank == last {
			label = strings.Repeat(" ", len(label))
		}
		if several {
			label += " " + b.Track.String()
		}
		last = b.Rank
		labels, width = append(labels, label), max(width, len(label))
	}
	return labels, width
}

// row is a line of the table: several equal operations in a row.
type row struct {
	*Slice
	times        int
	took, waited int64
	peers        []int
}

// table lists the operations by rank and begin.
func (t *Timeline) table(bars []Bar, begin int64) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	several := len(bars) > len(t.Ranks)
	heads := "rank\t"
	if several {
		heads += "track\t"
	}
	fmt.Fprintln(w, heads+"begin\ttook\twaited\toperation")
	rows, more := 0, 0
	for i := range t.Ranks {
		for _, r := range joined(&t.Ranks[i]) {
			if rows == tableRows {
				more += r.times
				continue
			}
			rows++
			what := r.Title()
			if r.times > 1 {
				what = fmt.Sprintf("%d × %s", r.times, what)
			}
			waits := ""
			if r.waited > 0 {
				waits = Short(r.waited)
				if len(r.peers) > 0 {
					waits += " for " + Ranks(r.peers)
				}
			}
			line := fmt.Sprintf("%d\t", t.Ranks[i].Rank)
			if several {
				line += strings.TrimSuffix(r.Track.String(), " calls") + "\t"
			}
			fmt.Fprintf(w, "%s%s\t%s\t%s\t%s\n", line, Short(r.Begin-begin), Short(r.took), waits, what)
		}
		more += t.Ranks[i].More
	}
	w.Flush()
	if more > 0 {
		fmt.Fprintf(&b, "… %d more operations\n", more)
	}
	return b.String()
}

// joined merges consecutive operations of a rank with equal titles on one track.
func joined(r *Rank) (rows []row) {
	waits := map[int][]*Slice{}
	for i := range r.Slices {
		if s := &r.Slices[i]; s.Kind == Wait && s.Track >= 0 {
			waits[s.Call] = append(waits[s.Call], s)
		}
	}
	for i := range r.Slices {
		s := &r.Slices[i]
		if s.Kind != Operation && (s.Kind != Call || s.Meets == "") {
			continue
		}
		one := row{Slice: s, times: 1, took: s.Took}
		for _, w := range waits[s.Call] {
			if s.Track >= 0 {
				one.waited += w.Took
				one.peers = append(one.peers, w.Peers...)
			}
		}
		if n := len(rows) - 1; n >= 0 && rows[n].Title() == s.Title() && rows[n].Track == s.Track {
			rows[n].times++
			rows[n].took += one.took
			rows[n].waited += one.waited
			rows[n].peers = append(rows[n].peers, one.peers...)
			continue
		}
		rows = append(rows, one)
	}
	for i := range rows {
		slices.Sort(rows[i].peers)
		rows[i].peers = slices.Compact(rows[i].peers)
	}
	return rows
}

// Title names an operation, its call and its traffic: "put at cell[3]:1, 4096 bytes over UCX 1.22.0
// to rank 3 on host 1".
func (s *Slice) Title() string {
	title := s.Name
	if s.At != "" {
		title += " at " + s.At
	}
	switch {
	case s.Over != "" && s.Bytes > 0:
		title += fmt.Sprintf(", %s over %s", count.Of(s.Bytes, "byte"), s.Over)
	case s.Over != "":
		title += ", over " + s.Over
	}
	return title
}

// Short writes nanoseconds as a time with three digits.
func Short(ns int64) string {
	d := time.Duration(ns)
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

// String is Text, the summary and the header; empty if no operation ran.
func (t *Timeline) String() string {
	text := t.Text()
	if text == "" {
		return ""
	}
	return text + "\n\n" + t.Summary().String() + "\n\n" + strings.Join(t.Header(), "\n")
}
