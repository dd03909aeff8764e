package session

import (
	"context"
	"fmt"
	"io"
	"slices"
	"testing"
)

// TestLines holds that ranks share what is typed, whenever each of them reads, and that the user is asked once for a line.
func TestLines(t *testing.T) {
	typed := []string{"one", "two"}
	asked, given := make(chan int, 10), make(chan string, 10)
	l := &lines{ctx: context.Background(), wanted: map[int]int{}}
	l.ask = func(context.Context) (string, error) {
		asked <- 1
		if len(typed) == 0 {
			return "", io.EOF
		}
		text := typed[0]
		typed = typed[1:]
		return text, nil
	}
	l.give = func(rank int, c inputCommand, text string) { given <- fmt.Sprintf("%d %q %v", rank, text, c.End) }
	expect := func(want ...string) {
		t.Helper()
		var got []string
		for range want {
			got = append(got, <-given)
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("given %q, want %q", got, want)
		}
	}
	l.want([]int{0, 1})
	expect(`0 "one\n" false`, `1 "one\n" false`)
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
