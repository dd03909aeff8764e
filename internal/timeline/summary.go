package timeline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/internal/count"
)

// Summary divides up the time of a timeline. All times are in nanoseconds.
type Summary struct {
	Kernels  []Share // by time, without the waits in them; operations where no kernels were recorded
	Copies   Share
	Waits    Share
	Overlap  []Overlap // of each rank, by rank
	Critical []Segment // the critical path, in order of time
	Slowest  *Slowest  // nil if no rank waited for another
}

// Share is the time of all ranks together in something.
type Share struct {
	Name  string
	Times int
	Took  int64
}

// Overlap describes the overlap of a rank's streams and of its messages to other hosts.
type Overlap struct {
	Rank         int
	Busy, Beside int64 // in which at least one did something but wait, and at least two
}

// Percent is the share of the busy time.
func (o Overlap) Percent() float64 { return 100 * float64(o.Beside) / float64(max(o.Busy, 1)) }

// Segment is a part of the critical path: without it the end would have come earlier.
type Segment struct {
	Rank  int
	Name  string // the operation, or Idle
	At    string
	Begin int64
	Took  int64
}

// Idle names a time in which a rank's streams had nothing to do.
const Idle = "nothing on its streams"

// Slowest is the rank for which the others waited most.
type Slowest struct {
	Rank   int
	Waited int64  // by all others together
	Wait   *Slice // the longest of these waits
	By     int    // the rank that waited
	In     *Slice // the operation that waited
	Doing  string // the activity of the slowest rank meanwhile
}

// Summary returns the summary of the timeline.
func (t *Timeline) Summary() *Summary {
	s := &Summary{Copies: Share{Name: "copies"}, Waits: Share{Name: "waits"}}
	t.shares(s)
	for i := range t.Ranks {
		s.Overlap = append(s.Overlap, t.overlap(&t.Ranks[i]))
	}
	s.Critical = t.critical()
	s.Slowest = t.slowest()
	return s
}

// shares sums up kernels, copies and waits.
func (t *Timeline) shares(sum *Summary) {
	kernels := map[string]*Share{}
	for i := range t.Ranks {
		r := &t.Ranks[i]
		waits, parted := map[int][]span{}, map[int]bool{}
		for j := range r.Slices {
			switch s := &r.Slices[j]; s.Kind {
			case Wait:
				sum.Waits.Times++
				sum.Waits.Took += s.Took
				if s.Track >= 0 {
					waits[s.Call] = append(waits[s.Call], span{s.Begin, s.End()})
				}
			case Kernel, Copy:
				parted[s.Call] = true
			}
		}
		for j := range r.Slices {
			s := &r.Slices[j]
			took := total(without([]span{{s.Begin, s.End()}}, union(waits[s.Call])))
			switch {
			case s.Kind == Copy:
				sum.Copies.Times++
				sum.Copies.Took += took
			case s.Kind == Kernel, s.Kind == Operation && !parted[s.Call] && took > 0:
				if kernels[s.Name] == nil {
					kernels[s.Name] = &Share{Name: s.Name}
				}
				kernels[s.Name].Times++
				kernels[s.Name].Took += took
			}
		}
	}
	for _, k := range slices.Sorted(maps.Keys(kernels)) {
		sum.Kernels = append(sum.Kernels, *kernels[k])
	}
	slices.SortStableFunc(sum.Kernels, func(a, b Share) int { return cmp.Compare(b.Took, a.Took) })
}

// overlap measures how a rank's streams and messages ran beside each other.
func (t *Timeline) overlap(r *Rank) Overlap {
	work, waits := map[Track][]span{}, map[Track][]span{}
	for i := range r.Slices {
		switch s := &r.Slices[i]; s.Kind {
		case Operation, Message:
			work[s.Track] = append(work[s.Track], span{s.Begin, s.End()})
		case Wait:
			waits[s.Track] = append(waits[s.Track], span{s.Begin, s.End()})
		}
	}
	var tracks [][]span
	var all []span
	for track, spans := range work {
		busy := without(union(spans), union(waits[track]))
		tracks, all = append(tracks, busy), append(all, busy...)
	}
	return Overlap{r.Rank, total(union(all)), shared(tracks)}
}

// slowest finds the rank for which the others waited most.
func (t *Timeline) slowest() *Slowest {
	totals := map[int]int64{}
	type waited struct {
		by   int // index
		wait *Slice
		from *Slice // the slice that ended it, or nil
	}
	longest := map[int]waited{}
	sources := map[End]Flow{}
	for _, f := range t.Flows {
		sources[f.To] = f
	}
	for i := range t.Ranks {
		for j := range t.Ranks[i].Slices {
			s := &t.Ranks[i].Slices[j]
			if s.Kind != Wait || s.Took == 0 {
				continue
			}
			at, w := -1, waited{i, s, nil}
			if f, known := sources[End{i, j}]; known {
				at, w.from = t.Ranks[f.From.Rank].Rank, t.At(f.From)
			} else if peers := cmp.Or(len(s.Ended), len(s.Peers)); peers == 1 {
				at = append(slices.Clone(s.Ended), s.Peers...)[0]
			}
			if at < 0 || at == t.Ranks[i].Rank {
				continue
			}
			if totals[at] += s.Took; longest[at].wait == nil || s.Took > longest[at].wait.Took {
				longest[at] = w
			}
		}
	}
	slow := -1
	for _, r := range slices.Sorted(maps.Keys(totals)) {
		if slow < 0 || totals[r] > totals[slow] {
			slow = r
		}
	}
	if slow < 0 {
		return nil
	}
	w := longest[slow]
	out := &Slowest{Rank: slow, Waited: totals[slow], Wait: w.wait, By: t.Ranks[w.by].Rank, In: t.parent(w.by, w.wait)}
	until := w.wait.End()
	if w.from != nil {
		until = min(until, max(w.from.Begin, w.wait.Begin))
	}
	if out.Doing = t.doing(slow, span{w.wait.Begin, until}); w.from != nil && until-w.wait.Begin < w.wait.Took/2 {
		out.Doing = "was in " + w.from.Title()
	}
	return out
}

// parent is the operation that a wait is of.
func (t *Timeline) parent(rank int, w *Slice) *Slice {
	r := &t.Ranks[rank]
	for i := range r.Slices {
		s := &r.Slices[i]
		if s.Track == w.Track && (s.Kind == Operation && s.Call == w.Call || s.Kind == Call && s.Begin == w.Begin && s.Meets == w.Meets) {
			return s
		}
	}
	return w
}

// doing describes the activity of a rank that took half of a time or more.
func (t *Timeline) doing(rank int, during span) string {
	i := slices.IndexFunc(t.Ranks, func(r Rank) bool { return r.Rank == rank })
	if i < 0 {
		return "is not in the timeline"
	}
	r := &t.Ranks[i]
	overlap := func(s *Slice) int64 { return min(s.End(), during.end) - max(s.Begin, during.begin) }
	var work, wait, call *Slice
	for j := range r.Slices {
		s := &r.Slices[j]
		most := map[Kind]**Slice{Operation: &work, Wait: &wait, Call: &call}[s.Kind]
		if most != nil && overlap(s) > 0 && (*most == nil || overlap(s) > overlap(*most)) {
			*most = s
		}
	}
	half := (during.end - during.begin) / 2
	switch {
	case wait != nil && overlap(wait) >= half && len(wait.Peers) > 0:
		return fmt.Sprintf("waited for rank %s itself, in %s", Ranks(wait.Peers), t.parent(i, wait).Title())
	case work != nil && overlap(work) >= half:
		return "was in " + work.Title()
	case call != nil && overlap(call) >= half:
		return "was on the host in " + call.Title()
	}
	return "had nothing on its streams: its cell had issued nothing yet"
}

// String describes the summary in some lines.
func (s *Summary) String() string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-9s %s\n", name, fmt.Sprintf(format, args...))
	}
	const most = 6
	var parts []string
	for i, k := range s.Kernels {
		if i == most {
			parts = append(parts, count.Of(len(s.Kernels)-most, "other"))
			break
		}
		parts = append(parts, k.String())
	}
	if len(parts) > 0 {
		line("kernels", "%s", strings.Join(parts, ", "))
	}
	line("the rest", "%v, %v; all ranks together", s.Copies, s.Waits)
	if len(s.Critical) > 0 {
		line("critical", "%s", s.path(most))
	}
	line("overlap", "%s", s.overlaps())
	if w := s.Slowest; w != nil {
		line("slowest", "rank %d: the others waited %s for it, rank %d longest, %s in %s, when rank %d %s", w.Rank,
			Short(w.Waited), w.By, Short(w.Wait.Took), w.In.Title(), w.Rank, w.Doing)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// String is "12 × fill 1.20 ms".
func (s Share) String() string {
	if s.Times == 0 {
		return "no " + s.Name
	}
	return fmt.Sprintf("%d × %s %s", s.Times, s.Name, Short(s.Took))
}

// path describes the longest segments of the critical path, in order.
func (s *Summary) path(most int) string {
	took := s.Critical[len(s.Critical)-1].Begin + s.Critical[len(s.Critical)-1].Took - s.Critical[0].Begin
	long := slices.SortedStableFunc(slices.Values(s.Critical), func(a, b Segment) int { return cmp.Compare(b.Took, a.Took) })
	long = long[:min(most, len(long))]
	slices.SortStableFunc(long, func(a, b Segment) int { return cmp.Compare(a.Begin, b.Begin) })
	var parts []string
	for _, g := range long {
		at := ""
		if g.At != "" {
			at = " at " + g.At
		}
		parts = append(parts, fmt.Sprintf("rank %d %s%s %s", g.Rank, g.Name, at, Short(g.Took)))
	}
	text := Short(took) + ": " + strings.Join(parts, " → ")
	if n := len(s.Critical) - len(long); n > 0 {
		text += fmt.Sprintf("; %d shorter parts", n)
	}
	return text
}

// overlaps describes the overlap of ranks; those with equal numbers together.
func (s *Summary) overlaps() string {
	same := map[string][]int{}
	var order []string
	for _, o := range s.Overlap {
		text := fmt.Sprintf("%.0f %%", o.Percent())
		if same[text] == nil {
			order = append(order, text)
		}
		same[text] = append(same[text], o.Rank)
	}
	var parts []string
	for _, text := range order {
		parts = append(parts, fmt.Sprintf("rank %s %s", Ranks(same[text]), text))
	}
	return strings.Join(parts, ", ") + " of the time in which it works, on two tracks at once"
}
