package delays

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
)

// Most is the longest delay of one call.
const Most = 10 * time.Second

// Sort is a set of sorts of calls.
type Sort uint8

// The sorts that settings name.
const (
	Launches Sort = 1 << iota // of kernels, and replays of graphs
	Puts
	Signals
	Others // collectives, gets, waits, arithmetic and copies

	All = Launches | Puts | Signals | Others
)

var sorts = []struct {
	name string
	sort Sort
}{{"launches", Launches}, {"puts", Puts}, {"signals", Signals}}

// Of returns the sorts of a call by the name of its operation. A put with a signal is of two sorts.
func Of(op string, launch bool) Sort {
	switch {
	case launch || op == operators.Replay.Name:
		return Launches
	case op == operators.PutWithSignal.Name:
		return Puts | Signals
	case op == operators.Put.Name || op == operators.PutBlock.Name:
		return Puts
	case op == operators.PutSignal.Name || op == operators.SignalAdd.Name:
		return Signals
	}
	return Others
}

// Setting selects calls of some ranks, and the delay with which they begin.
type Setting struct {
	Ranks []int
	By    time.Duration
	Of    Sort
	Once  bool   // only the next call
	Seed  uint64 // unless 0 it chooses a delay from 0 to By for each call
}

// Parse reads a setting: "2 50us", "0,2 1ms puts", "2 50us signals once", "2 50us seed 7". The result
// is nil for "off".
func Parse(text string, size int) (*Setting, error) {
	words := strings.Fields(text)
	if slices.Equal(words, []string{"off"}) {
		return nil, nil
	}
	if len(words) < 2 {
		return nil, fmt.Errorf("ranks and a time are needed, not %q", text)
	}
	s := &Setting{}
	for word := range strings.SplitSeq(words[0], ",") {
		rank, err := strconv.Atoi(word)
		if err != nil || rank < 0 || rank >= size {
			return nil, fmt.Errorf("ranks are numbers from 0 to %d, not %q", size-1, word)
		}
		if !slices.Contains(s.Ranks, rank) {
			s.Ranks = append(s.Ranks, rank)
		}
	}
	var err error
	if s.By, err = time.ParseDuration(words[1]); err != nil || s.By <= 0 || s.By > Most {
		return nil, fmt.Errorf("the delay of a call is a time such as 50us, at most %v, not %q", Most, words[1])
	}
	for words = words[2:]; len(words) > 0; words = words[1:] {
		i := slices.IndexFunc(sorts, func(row struct {
			name string
			sort Sort
		}) bool {
			return row.name == words[0]
		})
		switch {
		case i >= 0:
			s.Of |= sorts[i].sort
		case words[0] == "once":
			s.Once = true
		case words[0] == "seed" && len(words) > 1:
			if s.Seed, err = strconv.ParseUint(words[1], 10, 64); err != nil || s.Seed == 0 {
				return nil, fmt.Errorf("a seed is a positive number, not %q", words[1])
			}
			words = words[1:]
		case words[0] == "seed":
			return nil, fmt.Errorf("a seed needs a number")
		default:
			return nil, fmt.Errorf("%q is none of launches, puts, signals, once and seed 7", words[0])
		}
	}
	if s.Of == 0 {
		s.Of = All
	}
	return s, nil
}

// String is "the launches and puts of ranks 0,2 begin up to 50µs late, by seed 7".
func (s *Setting) String() string {
	if s == nil {
		return "no rank is slowed"
	}
	var what []string
	for _, row := range sorts {
		if s.Of != All && s.Of&row.sort != 0 {
			what = append(what, row.name)
		}
	}
	which, verb := strings.Join(what, " and "), "begin"
	switch {
	case s.Once && which == "":
		which, verb = "next call", "begins"
	case s.Once:
		which, verb = "next call among the "+which, "begins"
	case which == "":
		which = "calls"
	}
	ranks := "rank"
	if len(s.Ranks) > 1 {
		ranks = "each of the ranks"
	}
	numbers := strings.ReplaceAll(strings.Trim(fmt.Sprint(s.Ranks), "[]"), " ", ",")
	text := fmt.Sprintf("the %s of %s %s %s", which, ranks, numbers, verb)
	if s.Seed != 0 {
		return fmt.Sprintf("%s up to %v late, by seed %d", text, s.By, s.Seed)
	}
	return fmt.Sprintf("%s %v late", text, s.By)
}

// Delayer delays the calls of one rank. Its user locks.
type Delayer struct {
	*Setting
	random *rand.Rand
	over   bool
}

// For returns the delayer of a rank, nil if the setting leaves the rank alone.
func (s *Setting) For(rank int) *Delayer {
	if s == nil || !slices.Contains(s.Ranks, rank) {
		return nil
	}
	return &Delayer{Setting: s, random: rand.New(rand.NewPCG(s.Seed, uint64(rank)))}
}

// Without returns the setting without some ranks: nil if no rank remains.
func (s *Setting) Without(ranks []int) *Setting {
	if s == nil {
		return nil
	}
	rest := *s
	rest.Ranks = slices.DeleteFunc(slices.Clone(s.Ranks), func(rank int) bool { return slices.Contains(ranks, rank) })
	if len(rest.Ranks) == 0 {
		return nil
	}
	return &rest
}

// Next returns the delay of the rank's next call, which is of these sorts.
func (d *Delayer) Next(of Sort) time.Duration {
	if d.Of&of == 0 || d.over {
		return 0
	}
	d.over = d.Once
	if d.Seed != 0 {
		return time.Duration(d.random.Int64N(int64(d.By) + 1))
	}
	return d.By
}
