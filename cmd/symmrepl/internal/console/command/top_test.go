package command

import (
	"context"
	"fmt"
	"testing"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

func TestTop(t *testing.T) {
	c, fake, out := newConsole()
	fake.OnInspect = func(ranks []int, q session.Query) []session.Answer {
		if ranks != nil || q != (session.Query{Topic: session.TopicTop}) {
			t.Errorf("asked %v %+v", ranks, q)
		}
		return []session.Answer{{Rank: 0, Text: "a"}, {Rank: 1, Text: "b"}, {Rank: 2, Text: "a"},
			{Rank: 3, Err: &session.Error{Msg: "dead"}}}
	}
	if c.Run(context.Background(), ":top") != console.Failed || out.String() != "[0,2] a\n[1] b\n[3] dead\n" {
		t.Errorf("%s", out)
	}
}

func TestTopArguments(t *testing.T) {
	for arg, want := range map[string]string{
		"": "0s 0 <nil>", "-n 3": "1s 3 <nil>", "-d 0.5": "500ms 0 <nil>", "-d 2 -n 1": "2s 1 <nil>", "-n 1 -d 2": "2s 1 <nil>",
		"-n":       "0s 0 -n is neither -d SECONDS nor -n TIMES",
		"-n 0":     `0s 0 -n needs a positive number, not "0"`,
		"-d 0":     `0s 0 -d needs 0.1 to 3600 seconds, not "0"`,
		"-d NaN":   `0s 0 -d needs 0.1 to 3600 seconds, not "NaN"`,
		"live now": "0s 0 live now is neither -d SECONDS nor -n TIMES",
	} {
		every, times, err := topArguments(arg)
		if got := fmt.Sprint(every, times, err); got != want {
			t.Errorf("%q: %s, want %s", arg, got, want)
		}
	}
}

// Again and again, the text is replaced: where nothing can be replaced, the last is shown.
func TestTopAgain(t *testing.T) {
	c, fake, out := newConsole()
	asked := 0
	fake.OnInspect = func([]int, session.Query) []session.Answer {
		asked++
		return []session.Answer{{Rank: 0, Text: fmt.Sprint(asked)}, {Rank: 1, Text: "b"}, {Rank: 2, Text: fmt.Sprint(asked)}, {Rank: 3, Text: "b"}}
	}
	if c.Run(context.Background(), ":top -d 0.1 -n 3") != console.Done || c.Request("").Printer.CloseLine() {
		t.Error("it fails")
	}
	if want := "[0,2] 1\n[1,3] b\n(1 of 3, every 100ms; Ctrl-C ends it)\n[0,2] 3\n[1,3] b\n"; asked != 3 || out.String() != want {
		t.Errorf("asked %d times, shown %q, want %q", asked, out, want)
	}
}
