package hosts

import (
	"fmt"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/wire"
)

// The beginning of a run is merged with the first output, if that has the same ranks.
func TestJoinBegins(t *testing.T) {
	begins := func(stream session.Stream, ranks ...int) *hostEvent {
		return &hostEvent{ranks: ranks, event: wire.Event{Incarnation: 1, Output: stream, Begins: 9}}
	}
	output := func(stream session.Stream, text string, ranks ...int) *hostEvent {
		return &hostEvent{ranks: ranks, event: wire.Event{Incarnation: 1, Output: stream}, payload: []byte(text)}
	}
	done := &hostEvent{ranks: []int{0, 1}, event: wire.Event{Incarnation: 1, Done: &wire.Done{Run: 9}}}
	for _, c := range []struct {
		list []*hostEvent
		want string
	}{
		{[]*hostEvent{begins(session.Stdout, 0, 1), output(session.Stdout, "a", 0, 1), output(session.Stdout, "b", 0, 1), done},
			`9 1 "a" [0 1]; 0 1 "b" [0 1]; 0 0 "" [0 1]`},
		{[]*hostEvent{begins(session.Stdout, 0, 1), begins(session.Stderr, 0, 1), output(session.Stderr, "e", 0, 1), output(session.Stdout, "a", 0, 1)},
			`9 2 "e" [0 1]; 9 1 "a" [0 1]`},
		{[]*hostEvent{begins(session.Stdout, 0, 1), output(session.Stdout, "a", 0), output(session.Stdout, "b", 0, 1)}, `9 1 "" [0 1]; 0 1 "a" [0]; 0 1 "b" [0 1]`},
		{[]*hostEvent{output(session.Stdout, "before", 0, 1), begins(session.Stdout, 0, 1), done}, `0 1 "before" [0 1]; 9 1 "" [0 1]; 0 0 "" [0 1]`},
		{[]*hostEvent{begins(session.Stdout, 0), begins(session.Stdout, 1), output(session.Stdout, "a", 1)}, `9 1 "" [0]; 9 1 "a" [1]`},
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
