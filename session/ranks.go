package session

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// FormatRanks writes an ascending list of ranks with runs shortened: "0-3", "0,2", "0-2,5".
func FormatRanks(ranks []int) string {
	var b strings.Builder
	for i := 0; i < len(ranks); {
		j := i
		for j+1 < len(ranks) && ranks[j+1] == ranks[j]+1 {
			j++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		switch {
		case j == i:
			fmt.Fprintf(&b, "%d", ranks[i])
		case j == i+1:
			fmt.Fprintf(&b, "%d,%d", ranks[i], ranks[j])
		default:
			fmt.Fprintf(&b, "%d-%d", ranks[i], ranks[j])
		}
		i = j + 1
	}
	return b.String()
}

// FormatSize writes how many ranks there are: "1 rank", "4 ranks".
func FormatSize(size int) string {
	if size == 1 {
		return "1 rank"
	}
	return fmt.Sprintf("%d ranks", size)
}

// Prefix is what front ends put before each line that came from ranks in a world of size: "[0-3] ", or
// nothing in a world of one.
func Prefix(ranks []int, size int) string {
	if size == 1 || len(ranks) == 0 {
		return ""
	}
	return "[" + FormatRanks(ranks) + "] "
}

// ParseRanks reads what FormatRanks writes, also with brackets and spaces, and "all". The result is
// ascending, without repetitions, and below size.
func ParseRanks(text string, size int) ([]int, error) {
	s := strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(s, "["); ok {
		if s, ok = strings.CutSuffix(inner, "]"); !ok {
			return nil, fmt.Errorf("ranks %q: the bracket is not closed", text)
		}
	}
	if strings.TrimSpace(s) == "all" {
		return allRanks(size), nil
	}
	var ranks []int
	for _, part := range strings.Split(s, ",") {
		low, high, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			high = low
		}
		a, errA := strconv.Atoi(strings.TrimSpace(low))
		b, errB := strconv.Atoi(strings.TrimSpace(high))
		switch {
		case errA != nil || errB != nil || a < 0:
			return nil, fmt.Errorf("ranks %q: %q is not a rank; write 0,2 or 0-3 or all", text, strings.TrimSpace(part))
		case b < a:
			return nil, fmt.Errorf("ranks %q: the range %d-%d is backwards", text, a, b)
		case b >= size:
			return nil, fmt.Errorf("ranks %q: rank %d does not exist, ranks are 0 to %d", text, b, size-1)
		}
		for r := a; r <= b; r++ {
			ranks = append(ranks, r)
		}
	}
	slices.Sort(ranks)
	return slices.Compact(ranks), nil
}

func allRanks(size int) []int {
	ranks := make([]int, size)
	for r := range ranks {
		ranks[r] = r
	}
	return ranks
}

// union merges two ascending lists.
func union(a, b []int) []int {
	all := append(slices.Clone(a), b...)
	slices.Sort(all)
	return slices.Compact(all)
}

// intersection returns the elements of a, which is ascending, that b has too.
func intersection(a, b []int) []int {
	var both []int
	for _, r := range a {
		if slices.Contains(b, r) {
			both = append(both, r)
		}
	}
	return both
}

// difference returns the elements of a that b has not.
func difference(a, b []int) []int {
	return slices.DeleteFunc(slices.Clone(a), func(r int) bool { return slices.Contains(b, r) })
}
