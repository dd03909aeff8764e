package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/symmrepl/symmrepl/internal/count"
	"github.com/symmrepl/symmrepl/internal/timeline"
)

// most is the maximum number of marks in a scene: the longest ones are kept.
const most = 20000

// scene is the content of a picture: rows from top to bottom, marks on them by begin, and arrows.
type scene struct {
	ranks  int
	hosts  bool // there are several
	took   int64
	rows   []row
	marks  []mark
	arrows []arrow
	names  []string // that have a colour, by first appearance
	more   int      // marks that were left out
}

// row is a track of a rank. It has several lanes where slices overlap.
type row struct {
	label string
	first bool // of its rank
	lanes int
	parts bool // below the bars stand their kernels, copies and waits
}

// shape is the shape of a mark.
type shape int

const (
	bar  shape = iota // in the upper part of its lane
	part              // a kernel or a copy, below
	wait              // below, in the colour of waits
)

// mark is a slice in the picture.
type mark struct {
	row, lane   int
	shape       shape
	begin, took int64
	name        string
	kind        timeline.Kind
	detail      string // "grid 8 × 1 × 1, block 256 × 1 × 1"
	at          string
}

func (m *mark) end() int64 { return m.begin + m.took }

// arrow leads from a mark to another, by index.
type arrow struct {
	from, to int
	likely   bool
}

// sceneOf lays out a timeline.
func sceneOf(t *timeline.Timeline) *scene {
	sc := &scene{ranks: len(t.Ranks), took: max(t.Took, 1)}
	index := map[timeline.End]int{}
	least := sc.threshold(t)
	sc.hosts = slices.ContainsFunc(t.Ranks, func(r timeline.Rank) bool { return r.Host > 0 })
	for i := range t.Ranks {
		sc.rank(&t.Ranks[i], i, least, index)
	}
	for _, f := range t.Flows {
		from, known := index[f.From]
		to, also := index[f.To]
		if known && also {
			sc.arrows = append(sc.arrows, arrow{from, to, f.Likely})
		}
	}
	for _, m := range sc.marks {
		if m.shape != wait && !slices.Contains(sc.names, m.name) {
			sc.names = append(sc.names, m.name)
		}
	}
	return sc
}

// threshold returns the least length of a slice that has room.
func (sc *scene) threshold(t *timeline.Timeline) int64 {
	var took []int64
	for i := range t.Ranks {
		for j := range t.Ranks[i].Slices {
			if s := &t.Ranks[i].Slices[j]; drawn(s) {
				took = append(took, s.Took)
			}
		}
	}
	if len(took) <= most {
		return 0
	}
	slices.SortFunc(took, func(a, b int64) int { return cmp.Compare(b, a) })
	return took[most] + 1
}

// drawn reports whether pictures show a slice: cells are as long as all within them.
func drawn(s *timeline.Slice) bool { return s.Kind != timeline.Cell }

// rank lays out the tracks of a rank: its calls, its streams, and the network.
func (sc *scene) rank(r *timeline.Rank, at int, least int64, index map[timeline.End]int) {
	tracks := map[timeline.Track][]int{}
	for j := range r.Slices {
		switch s := &r.Slices[j]; {
		case !drawn(s):
		case s.Took < least:
			sc.more++
		default:
			tracks[s.Track] = append(tracks[s.Track], j)
		}
	}
	order := make([]timeline.Track, 0, len(tracks))
	for t := range tracks {
		order = append(order, t)
	}
	place := func(t timeline.Track) int { // calls first, the network last
		switch t {
		case timeline.Host:
			return -1
		case timeline.Network:
			return int(^uint(0) >> 1)
		}
		return int(t)
	}
	slices.SortFunc(order, func(a, b timeline.Track) int { return cmp.Compare(place(a), place(b)) })
	for n, t := range order {
		label := fmt.Sprintf("rank %d  %v", r.Rank, t)
		if sc.hosts {
			label = fmt.Sprintf("rank %d (host %d)  %v", r.Rank, r.Host, t)
		}
		sc.rows = append(sc.rows, row{label: label, first: n == 0})
		sc.track(r, at, tracks[t], index)
	}
}

// track gives the slices of a track lanes: bars that overlap have a lane each, and parts are in the
// lane of their bar.
func (sc *scene) track(r *timeline.Rank, at int, list []int, index map[timeline.End]int) {
	on := &sc.rows[len(sc.rows)-1]
	var ends []int64       // of the lanes
	lanes := map[int]int{} // of calls
	for _, j := range list {
		s := &r.Slices[j]
		m := mark{row: len(sc.rows) - 1, begin: s.Begin, took: s.Took, name: clean(s.Name), kind: s.Kind,
			detail: clean(detail(s)), at: clean(s.At)}
		switch s.Kind {
		case timeline.Kernel, timeline.Copy:
			m.shape, m.lane, on.parts = part, lanes[s.Call], true
		case timeline.Wait:
			m.shape, m.lane, on.parts = wait, lanes[s.Call], true
		default:
			for m.lane < len(ends) && ends[m.lane] > s.Begin {
				m.lane++
			}
			if m.lane == len(ends) {
				ends = append(ends, 0)
			}
			ends[m.lane] = s.End()
			if s.Call > 0 {
				lanes[s.Call] = m.lane
			}
		}
		index[timeline.End{Rank: at, Slice: j}] = len(sc.marks)
		sc.marks = append(sc.marks, m)
	}
	on.lanes = max(len(ends), 1)
}

// clean replaces in a text of ranks the characters that XML cannot have.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == 0xfffe || r == 0xffff {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// detail returns the text of a slice's tip beside its name, its line and its times.
func detail(s *timeline.Slice) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if s.Replay {
		add("a replay of a graph")
	}
	if len(s.Grid) > 0 {
		add("grid %s, block %s", times(s.Grid), times(s.Block))
	}
	if s.Bytes > 0 {
		add("%s", count.Of(s.Bytes, "byte"))
	}
	if s.Over != "" {
		add("over %s", s.Over)
	}
	if len(s.Peers) > 0 {
		switch s.Kind {
		case timeline.Wait, timeline.Call:
			add("waits for rank %s", timeline.Ranks(s.Peers))
		case timeline.Arrival:
			add("from rank %s", timeline.Ranks(s.Peers))
		default:
			add("to rank %s", timeline.Ranks(s.Peers))
		}
	}
	if len(s.Ended) > 0 {
		add("ended by rank %s", timeline.Ranks(s.Ended))
	}
	if s.For != "" {
		add("for %s", s.For)
	}
	return strings.Join(parts, ", ")
}

// times writes the sizes of a grid: "8 × 1 × 1".
func times(sizes []int) string {
	var parts []string
	for _, n := range sizes {
		parts = append(parts, fmt.Sprint(n))
	}
	return strings.Join(parts, " × ")
}

// tip describes a mark in lines.
func (m *mark) tip() string {
	lines := []string{m.name}
	if m.name != string(m.kind) {
		lines[0] += " (" + string(m.kind) + ")"
	}
	if m.detail != "" {
		lines = append(lines, m.detail)
	}
	if m.at != "" {
		lines = append(lines, "at "+m.at)
	}
	return strings.Join(append(lines, fmt.Sprintf("%s from %s to %s", timeline.Short(m.took), timeline.Short(m.begin),
		timeline.Short(m.end()))), "\n")
}
