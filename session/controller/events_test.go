package controller

import (
	"fmt"
	"testing"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/wire"
)

// The end of a rank without an error is told with the next event that cannot wait, or when it is the
// last.
func TestRunEvents(t *testing.T) {
	done := func(ranks ...int) runEvent { return runEvent{ranks, answer{Event: wire.Event{Done: &wire.Done{}}}} }
	failed := func(ranks ...int) runEvent {
		return runEvent{ranks, answer{Event: wire.Event{Done: &wire.Done{Err: &session.Error{}}}}}
	}
	status := func(ranks ...int) runEvent { return runEvent{ranks, answer{Event: wire.Event{Status: &wire.Status{}}}} }
	for _, c := range []struct {
		add  []runEvent
		want string // per event, whether it is told
	}{
		{[]runEvent{done(0), done(1), done(2), done(3)}, "[false false false true]"},
		{[]runEvent{done(0, 1), done(2, 3)}, "[false true]"},
		{[]runEvent{done(0), status(1), done(1), done(2, 3)}, "[false true false true]"},
		{[]runEvent{failed(0), done(1), done(2), done(3)}, "[true false false true]"},
	} {
		q, left := newRunEvents(4), 4
		var told []bool
		for _, e := range c.add {
			said := q.add(e)
			select {
			case <-q.some:
				told = append(told, true)
				for _, e := range q.take(left) {
					if e.Done != nil {
						left -= len(e.ranks)
					}
				}
				if more := q.take(left); more != nil {
					t.Fatalf("%+v were taken twice", more)
				}
			default:
				told = append(told, false)
			}
			if said != told[len(told)-1] {
				t.Errorf("add of event %d says that the event is told: %v", len(told)-1, said)
			}
		}
		if fmt.Sprint(told) != c.want || left != 0 {
			t.Errorf("told %v, want %s; %d ranks have not ended", told, c.want, left)
		}
	}
}
