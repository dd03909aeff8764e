package session

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
	"github.com/symmrepl/symmrepl/internal/count"
	"github.com/symmrepl/symmrepl/session/rankset"
)

// FormatRanks writes an ascending list of ranks with runs shortened: "0-3", "0,2", "0-2,5".
func FormatRanks(ranks []int) string { return bootstrap.FormatRanks(ranks) }

// FormatSize writes a number of ranks: "1 rank", "4 ranks".
func FormatSize(size int) string {
	return count.Of(size, "rank")
}

// Prefix returns the prefix that front ends put before each line of ranks in a world of size:
// "[0-3] ", or "" in a world of one.
func Prefix(ranks []int, size int) string {
	if size == 1 || len(ranks) == 0 {
		return ""
	}
	return "[" + FormatRanks(ranks) + "] "
}

// ParseRanks reads the format of FormatRanks, also with brackets and spaces, and "all". The result
// is ascending, without repetitions, and below size.
func ParseRanks(text string, size int) ([]int, error) {
	s := strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(s, "["); ok {
		if s, ok = strings.CutSuffix(inner, "]"); !ok {
			return nil, fmt.Errorf("ranks %q: the bracket is not closed", text)
		}
	}
	if strings.TrimSpace(s) == "all" {
		return rankset.All(size), nil
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

// RankList is an ascending list of ranks. Between processes it travels as text, written by
// FormatRanks: most lists, even long ones, are one or two ranges.
type RankList []int

// maxWorld bounds the ranks that a list from another process may name.
const maxWorld = 1 << 16

// MarshalText implements encoding.TextMarshaler.
func (l RankList) MarshalText() ([]byte, error) { return []byte(FormatRanks(l)), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (l *RankList) UnmarshalText(text []byte) (err error) {
	*l = nil
	if len(text) > 0 {
		*l, err = ParseRanks(string(text), maxWorld)
	}
	return err
}
