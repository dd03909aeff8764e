package timeline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Timeline is the work of several ranks, by one clock.
type Timeline struct {
	Ranks []Rank // by rank; their times count from Zero
	// Within holds, for each of Ranks, the maximum error of its times against the times of the
	// first rank, in nanoseconds.
	Within []int64
	Apart  map[int]string // ranks whose clocks could not be compared, and why: they are not in Ranks
	Flows  []Flow         // by the begin of their source
	Zero   int64          // the first slice's begin, by the clock of the first rank
	Took   int64          // from there to the last slice's end
}

// Merge puts the records of ranks on one clock, the clock of the lowest rank. Ranks of one machine
// read the same clock; their error is the clock's resolution. Other machines are compared over the
// reference.
func Merge(records []Rank) *Timeline {
	t := &Timeline{Apart: map[int]string{}}
	records = slices.SortedFunc(slices.Values(records), func(a, b Rank) int { return cmp.Compare(a.Rank, b.Rank) })
	machines := compared(records, t.Apart)
	for _, r := range records {
		if _, apart := t.Apart[r.Rank]; apart {
			continue
		}
		first := cmp.Or(t.first(), &r)
		r = r.clone()
		within := r.Clock.Device
		if r.Rank != first.Rank {
			within += first.Clock.Device
		}
		if r.Clock.Machine == first.Clock.Machine && r.Clock.Machine != "" || r.Rank == first.Rank {
			within += max(r.Clock.Resolution, first.Clock.Resolution)
		} else {
			mine, base := machines[key(&r)], machines[key(first)]
			if why := cmp.Or(r.Clock.Why, first.Clock.Why); mine == nil || base == nil {
				t.Apart[r.Rank] = cmp.Or(why, "its clock was not compared with another")
				continue
			}
			within += r.shift(mine, base)
		}
		t.Ranks, t.Within = append(t.Ranks, r), append(t.Within, within)
	}
	t.fromZero()
	t.connect()
	return t
}

func (t *Timeline) first() *Rank {
	if len(t.Ranks) == 0 {
		return nil
	}
	return &t.Ranks[0]
}

// machine bounds a machine's clock by the comparisons of all its ranks.
type machine struct{ before, after Comparison }

// key identifies the clock of a rank: one whose machine is not known has its own.
func key(r *Rank) string { return cmp.Or(r.Clock.Machine, fmt.Sprint("rank ", r.Rank)) }

// compared returns the machines whose clocks were compared. A rank that contradicts the others of
// its machine is apart.
func compared(records []Rank, apart map[int]string) map[string]*machine {
	machines := map[string]*machine{}
	for _, r := range records {
		mine := &machine{r.Clock.Before, r.Clock.After}
		if mine.before == (Comparison{}) || mine.after == (Comparison{}) {
			continue
		}
		known := machines[key(&r)]
		if known == nil {
			machines[key(&r)] = mine
			continue
		}
		before, agree := known.before.and(mine.before)
		after, agreed := known.after.and(mine.after)
		if !agree || !agreed {
			apart[r.Rank] = "its clock differs from that of the other ranks of its machine"
			continue
		}
		known.before, known.after = before, after
	}
	return machines
}

func (r Rank) clone() Rank {
	r.Slices = slices.Clone(r.Slices)
	return r
}

// shift moves the times of a rank from its machine's clock to the clock of another machine, and
// returns the maximum error. Between the two comparisons the clocks drift evenly.
func (r *Rank) shift(from, to *machine) (within int64) {
	ahead := func(a, b Comparison) int64 { return a.middle() - b.middle() }
	at, until := from.before.At, from.after.At
	first, last := ahead(from.before, to.before), ahead(from.after, to.after)
	for i := range r.Slices {
		s := &r.Slices[i]
		by := first
		if until > at {
			by += int64(float64(last-first) * float64(s.Begin-at) / float64(until-at))
		}
		s.Begin += by
	}
	return max(from.before.within()+to.before.within(), from.after.within()+to.after.within())
}

// fromZero makes all times count from the first slice's begin.
func (t *Timeline) fromZero() {
	first := true
	for _, r := range t.Ranks {
		for i := range r.Slices {
			if b := r.Slices[i].Begin; first || b < t.Zero {
				t.Zero, first = b, false
			}
		}
	}
	for _, r := range t.Ranks {
		for i := range r.Slices {
			r.Slices[i].Begin -= t.Zero
			t.Took = max(t.Took, r.Slices[i].End())
		}
		slices.SortStableFunc(r.Slices, func(a, b Slice) int {
			return cmp.Or(cmp.Compare(a.Begin, b.Begin), cmp.Compare(b.Took, a.Took), cmp.Compare(depth[a.Kind], depth[b.Kind]))
		})
	}
}

// depth orders slices that begin and end together: the outer one first.
var depth = map[Kind]int{Cell: 0, Call: 1, Operation: 2, Kernel: 3, Copy: 3, Wait: 4}

// Header describes the clock of the times, their precision, and the ranks that are apart.
func (t *Timeline) Header() []string {
	sources := map[string][]int{}
	worst, at := int64(-1), 0
	for i, r := range t.Ranks {
		sources[r.Source] = append(sources[r.Source], r.Rank)
		if t.Within[i] > worst {
			worst, at = t.Within[i], r.Rank
		}
	}
	var lines []string
	for _, source := range slices.Sorted(maps.Keys(sources)) {
		lines = append(lines, fmt.Sprintf("times on streams of rank %s: %s", Ranks(sources[source]), source))
	}
	if worst >= 0 {
		lines = append(lines, fmt.Sprintf("clock of rank %d; times of other ranks are exact to ± %v (rank %d)", t.Ranks[0].Rank,
			time.Duration(worst), at))
	}
	for _, r := range slices.Sorted(maps.Keys(t.Apart)) {
		lines = append(lines, fmt.Sprintf("rank %d is left out: %s", r, t.Apart[r]))
	}
	for _, r := range t.Ranks {
		if r.More > 0 {
			lines = append(lines, fmt.Sprintf("rank %d: %d more were not recorded", r.Rank, r.More))
		}
	}
	return lines
}

// Ranks writes ranks: "0-2,5".
func Ranks(list []int) string {
	text := ""
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		if text != "" {
			text += ","
		}
		if text += fmt.Sprint(list[i]); j > i {
			text += fmt.Sprint("-", list[j])
		}
		i = j + 1
	}
	return text
}
