package controller

import (
	"context"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/wire"
)

// TestLines checks that ranks share typed lines, whenever each of them reads, and that the user is
// asked once for a line.
func TestLines(t *testing.T) {
	typed := []string{"one", "two"}
	asked, given := make(chan int, 10), make(chan string, 10)
	l := &typedLines{ctx: context.Background(), wanted: map[int]int{}}
	l.ask = func(context.Context) (string, error) {
		asked <- 1
		if len(typed) == 0 {
			return "", io.EOF
		}
		text := typed[0]
		typed = typed[1:]
		return text, nil
	}
	l.give = func(ranks []int, c wire.Input, text string) {
		given <- fmt.Sprintf("%s %q %v", session.FormatRanks(ranks), text, c.End)
	}
	expect := func(want ...string) {
		t.Helper()
		var got []string
		for range want {
			got = append(got, receive(t, "a line is given", given))
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("given %q, want %q", got, want)
		}
	}
	l.want([]int{0, 1})
	expect(`0,1 "one\n" false`)
	l.want([]int{1})
	expect(`1 "two\n" false`)
	l.want([]int{0})
	expect(`0 "two\n" false`)
	l.want([]int{0})
	expect(`0 "" true`)
	l.want([]int{1})
	expect(`1 "" true`)
	if len(asked) != 3 {
		t.Errorf("asked %d times", len(asked))
	}
}

// The question for input goes to the front end whose cell reads, whether it is the first one or
// attached. If it cannot ask the user, the input is empty.
func TestInputOfFronts(t *testing.T) {
	c := launch(t, 2)
	s, err := Attach(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	said := func(text string, err error) func(context.Context) (string, error) {
		return func(context.Context) (string, error) { return text, err }
	}
	read := func(front session.Session, input func(context.Context) (string, error)) string {
		reply := front.Eval(t.Context(), session.Cell{Source: "read", Input: input})
		if len(reply.Errors) > 0 || len(reply.Values) != 1 || !slices.Equal(reply.Values[0].Ranks, []int{0, 1}) {
			t.Fatalf("%+v", reply)
		}
		return reply.Values[0].Text
	}
	for _, test := range []struct {
		front session.Session
		input func(context.Context) (string, error)
		want  string
	}{
		{s, said("attached", nil), `"attached\n" <nil>`},
		{c, said("first", nil), `"first\n" <nil>`},
		{s, said("", nil), `"\n" <nil>`},
		{s, said("", io.EOF), `"" EOF`},
		{s, nil, `"" EOF`},
	} {
		if got := read(test.front, test.input); got != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
	}

	// The question ends with the cell.
	ctx, interrupt := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	reply := s.Eval(ctx, session.Cell{Source: "read", Input: func(ctx context.Context) (string, error) {
		interrupt()
		<-ctx.Done()
		ended <- ctx.Err()
		return "too late", nil
	}})
	if len(reply.Errors) != 1 || reply.Errors[0].Kind != session.KindInterrupted || receive(t, "the question ends", ended) != context.Canceled {
		t.Errorf("%+v", reply)
	}
	if got := read(s, said("next", nil)); got != `"next\n" <nil>` {
		t.Error(got)
	}
}
