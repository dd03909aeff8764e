package delays

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	const us = time.Microsecond
	for text, want := range map[string]struct {
		Setting
		says string
	}{
		"2 50us":                {Setting{[]int{2}, 50 * us, All, false, 0}, "the calls of rank 2 begin 50µs late"},
		"0,2,0 1ms puts":        {Setting{[]int{0, 2}, 1000 * us, Puts, false, 0}, "the puts of each of the ranks 0,2 begin 1ms late"},
		" 3  5us signals once ": {Setting{[]int{3}, 5 * us, Signals, true, 0}, "the next call among the signals of rank 3 begins 5µs late"},
		"1 10s once":            {Setting{[]int{1}, Most, All, true, 0}, "the next call of rank 1 begins 10s late"},
		"1 7us puts launches seed 9": {Setting{[]int{1}, 7 * us, Launches | Puts, false, 9},
			"the launches and puts of rank 1 begin up to 7µs late, by seed 9"},
	} {
		got, err := Parse(text, 4)
		if err != nil || !slices.Equal(got.Ranks, want.Ranks) || got.By != want.By || got.Of != want.Of || got.Once != want.Once || got.Seed != want.Seed {
			t.Errorf("%q is %+v, %v", text, got, err)
		} else if got.String() != want.says {
			t.Errorf("%q is described as %q, want %q", text, got, want.says)
		}
	}
	both, _ := Parse("0,2 1ms puts", 4)
	for want, ranks := range map[string][]int{
		"the puts of each of the ranks 0,2 begin 1ms late": {1}, "the puts of rank 2 begin 1ms late": {0, 1}, "no rank is slowed": {2, 0},
	} {
		if got := both.Without(ranks).String(); got != want {
			t.Errorf("without %v it is described as %q, want %q", ranks, got, want)
		}
	}
	if s := (*Setting)(nil).Without([]int{1}); s != nil {
		t.Errorf("no setting without a rank is %v", s)
	}
	if s, err := Parse("off", 4); s != nil || err != nil || s.String() != "no rank is slowed" || s.For(0) != nil {
		t.Errorf("off: %v, %v", s, err)
	}
	for text, want := range map[string]string{
		"": "ranks and a time", "2": "ranks and a time", "4 1us": "0 to 3", "-1 1us": "0 to 3", "0,x 1us": `"x"`, "0, 1us": `""`,
		"2 50": "such as 50us", "2 0s": "such as 50us", "2 -1us": "such as 50us", "2 11s": "at most 10s",
		"2 1us gets": "none of launches", "2 1us seed": "needs a number", "2 1us seed 0": "positive", "2 1us seed x": "positive", "off 2": "ranks are",
	} {
		if s, err := Parse(text, 4); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is %v, %v, want an error with %q", text, s, err, want)
		}
	}
}

func TestNext(t *testing.T) {
	delays := func(text string, rank int, ops ...string) (got []time.Duration) {
		s, err := Parse(text, 4)
		if err != nil {
			t.Fatal(err)
		}
		d := s.For(rank)
		if d == nil {
			return nil
		}
		for _, op := range ops {
			got = append(got, d.Next(Of(op, op == "mine")))
		}
		return got
	}
	ops := []string{"mine", "Replay", "put", "put_block", "put_with_signal", "put_signal", "signal_add", "all_reduce", "get"}
	for text, want := range map[string][]time.Duration{
		"1 2ns":           {2, 2, 2, 2, 2, 2, 2, 2, 2},
		"1 2ns launches":  {2, 2, 0, 0, 0, 0, 0, 0, 0},
		"1 2ns puts":      {0, 0, 2, 2, 2, 0, 0, 0, 0},
		"1 2ns signals":   {0, 0, 0, 0, 2, 2, 2, 0, 0},
		"1 2ns puts once": {0, 0, 2, 0, 0, 0, 0, 0, 0},
		"2 2ns":           nil,
	} {
		if got := delays(text, 1, ops...); !slices.Equal(got, want) {
			t.Errorf("%q delays by %v, want %v", text, got, want)
		}
	}
	seven := delays("1,2 1s seed 7", 1, ops...)
	if again := delays("1,2 1s seed 7", 1, ops...); !slices.Equal(again, seven) {
		t.Errorf("the same seed delays by %v and %v", seven, again)
	}
	for what, other := range map[string][]time.Duration{"seed": delays("1,2 1s seed 8", 1, ops...), "rank": delays("1,2 1s seed 7", 2, ops...)} {
		if slices.Equal(other, seven) {
			t.Errorf("another %s delays by the same times", what)
		}
	}
	for _, d := range seven {
		if d < 0 || d > time.Second {
			t.Errorf("a delay of %v is not from 0 to 1s", d)
		}
	}
}

// Whatever is parsed is within its limits, and delays no rank that it does not name.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"off", "2 50us", "0,2 1ms puts signals", "1 3us once seed 5", "9 1h", "1,,2 -3us seed"} {
		f.Add(text, 4)
	}
	f.Fuzz(func(t *testing.T, text string, size int) {
		s, err := Parse(text, size)
		if err != nil || s == nil {
			return
		}
		for _, rank := range s.Ranks {
			if rank < 0 || rank >= size {
				t.Errorf("%q names rank %d of %d", text, rank, size)
			}
			if d := s.For(rank).Next(s.Of); d < 0 || d > s.By || s.By > Most {
				t.Errorf("%q delays by %v", text, d)
			}
		}
	})
}
