package controller

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

func TestCellTitle(t *testing.T) {
	for want, c := range map[string]session.Cell{"cell 3": {ID: 3, Name: "cell[3]", Line: 1}, "In[7]": {ID: 3, Name: "In[7]", Line: 1},
		"f.go:12": {ID: 3, Name: "f.go", Line: 12}} {
		if got := c.Title(); got != want {
			t.Errorf("%+v is called %q, want %q", c, got, want)
		}
	}
}

func TestFormatSize(t *testing.T) {
	for size, want := range map[int]string{1: "1 rank", 2: "2 ranks", 16: "16 ranks"} {
		if got := session.FormatSize(size); got != want {
			t.Errorf("%d: %q, want %q", size, got, want)
		}
	}
}

func TestRanks(t *testing.T) {
	for _, c := range []struct {
		text  string
		ranks []int
		again string
	}{
		{"0", []int{0}, "0"},
		{"0,2", []int{0, 2}, "0,2"},
		{"[0-3]", []int{0, 1, 2, 3}, "0-3"},
		{" [ 4 , 0 - 2 ,1 ] ", []int{0, 1, 2, 4}, "0-2,4"},
		{"3,2", []int{2, 3}, "2,3"},
		{"all", []int{0, 1, 2, 3, 4}, "0-4"},
		{"[all]", []int{0, 1, 2, 3, 4}, "0-4"},
	} {
		got, err := session.ParseRanks(c.text, 5)
		if err != nil || !slices.Equal(got, c.ranks) || session.FormatRanks(got) != c.again {
			t.Errorf("%q: %v %q, %v", c.text, got, session.FormatRanks(got), err)
		}
	}
	for text, want := range map[string]string{
		"":      `ranks "": "" is not a rank; write 0,2 or 0-3 or all`,
		"x":     `ranks "x": "x" is not a rank; write 0,2 or 0-3 or all`,
		"0,":    `ranks "0,": "" is not a rank; write 0,2 or 0-3 or all`,
		"-1":    `ranks "-1": "-1" is not a rank; write 0,2 or 0-3 or all`,
		"3-1":   `ranks "3-1": the range 3-1 is backwards`,
		"5":     `ranks "5": rank 5 does not exist, ranks are 0 to 4`,
		"0-9e9": `ranks "0-9e9": "0-9e9" is not a rank; write 0,2 or 0-3 or all`,
		"[1":    `ranks "[1": the bracket is not closed`,
	} {
		if got, err := session.ParseRanks(text, 5); err == nil || err.Error() != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, c := range []struct {
		ranks []int
		size  int
		want  string
	}{{[]int{0}, 1, ""}, {[]int{0}, 2, "[0] "}, {nil, 4, ""}, {[]int{0, 1, 2, 3}, 4, "[0-3] "}, {[]int{1, 3}, 4, "[1,3] "}} {
		if got := session.Prefix(c.ranks, c.size); got != c.want {
			t.Errorf("%v of %d: %q", c.ranks, c.size, got)
		}
	}
}

func FuzzParseRanks(f *testing.F) {
	f.Add("[0-3, 5]")
	f.Add("all")
	f.Fuzz(func(t *testing.T, text string) {
		ranks, err := session.ParseRanks(text, 8)
		if err != nil {
			return
		}
		again, err := session.ParseRanks(session.FormatRanks(ranks), 8)
		if err != nil || !slices.Equal(ranks, again) || len(ranks) == 0 {
			t.Fatalf("%q: %v, again %v, %v", text, ranks, again, err)
		}
	})
}

func TestFoldError(t *testing.T) {
	var errs foldedErrors
	for r, e := range []*session.Error{
		{Kind: session.KindPanic, Msg: "a", Line: 1, Detail: "stack 0"},
		{Kind: session.KindPanic, Msg: "b", Line: 1},
		{Kind: session.KindPanic, Msg: "a", Line: 1, Detail: "stack 2"},
		{Kind: session.KindPanic, Msg: "a", Line: 2},
	} {
		errs.add(r, e)
	}
	var got []string
	for _, e := range errs.list {
		got = append(got, fmt.Sprint(e.Ranks, e.Msg, e.Line, e.Detail))
	}
	if want := []string{"[0 2]a1stack 0", "[1]b1", "[3]a2"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
