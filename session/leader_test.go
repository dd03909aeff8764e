package session

import (
	"fmt"
	"strings"
	"testing"
)

// The beginning of a run is merged with the first output, if that has the same ranks.
func TestJoinBegins(t *testing.T) {
	begins := func(stream Stream, ranks ...int) *hostEvent {
		return &hostEvent{ranks: ranks, event: event{Incarnation: 1, Output: stream, Begins: 9}}
	}
	output := func(stream Stream, text string, ranks ...int) *hostEvent {
		return &hostEvent{ranks: ranks, event: event{Incarnation: 1, Output: stream}, payload: []byte(text)}
	}
	done := &hostEvent{ranks: []int{0, 1}, event: event{Incarnation: 1, Done: &doneEvent{Run: 9}}}
	for _, c := range []struct {
		list []*hostEvent
		want string
	}{
		{[]*hostEvent{begins(Stdout, 0, 1), output(Stdout, "a", 0, 1), output(Stdout, "b", 0, 1), done},
			`9 1 "a" [0 1]; 0 1 "b" [0 1]; 0 0 "" [0 1]`},
		{[]*hostEvent{begins(Stdout, 0, 1), begins(Stderr, 0, 1), output(Stderr, "e", 0, 1), output(Stdout, "a", 0, 1)},
			`9 2 "e" [0 1]; 9 1 "a" [0 1]`},
		{[]*hostEvent{begins(Stdout, 0, 1), output(Stdout, "a", 0), output(Stdout, "b", 0, 1)}, `9 1 "" [0 1]; 0 1 "a" [0]; 0 1 "b" [0 1]`},
		{[]*hostEvent{output(Stdout, "before", 0, 1), begins(Stdout, 0, 1), done}, `0 1 "before" [0 1]; 9 1 "" [0 1]; 0 0 "" [0 1]`},
		{[]*hostEvent{begins(Stdout, 0), begins(Stdout, 1), output(Stdout, "a", 1)}, `9 1 "" [0]; 9 1 "a" [1]`},
	} {
		var got []string
		for _, h := range joinBegins(c.list) {
			got = append(got, fmt.Sprintf("%d %d %q %d", h.event.Begins, h.event.Output, h.payload, h.ranks))
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s, want %s", text, c.want)
		}
	}
}
