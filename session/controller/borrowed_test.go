package controller

import (
	"context"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// attachGuest attaches a front end to a session.
func attachGuest(t *testing.T, c *console) session.Session {
	t.Helper()
	s, err := Attach(t.Context(), c.c.dir.Path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// The sanitizer that a front end has borrowed is as before when the front end has disconnected,
// while its cell runs too.
func TestBorrowedSanitizer(t *testing.T) {
	for _, running := range []bool{false, true} {
		c := launch(t, 2)
		c.want(c.eval("let x 7"), "")
		guest := attachGuest(t, c)
		if r := guest.Eval(t.Context(), session.Cell{Sanitize: &session.Sanitizing{On: true, Seed: 5}, Borrows: true, Silent: true}); len(r.Errors) > 0 {
			t.Fatal(r.Errors[0])
		}
		if running {
			program := &console{Session: guest, t: t, size: 2}
			program.start("sleep 60000", 0, 1)
		}
		guest.Close()
		soon(t, "the sanitizer is off", func() bool {
			s, err := c.Sanitizer(t.Context())
			return err == nil && !s.On
		})
		c.want(c.eval("get x"), "= [0,1] 7\n")
		c.want(c.eval("told"), "= [0,1] [{true 5} {false 0}]\n")
	}
}

// A front end that gives the sanitizer back itself, or switches it for good, leaves nothing to undo.
func TestReturnedSanitizer(t *testing.T) {
	c := launch(t, 1)
	guest := attachGuest(t, c)
	on, off := &session.Sanitizing{On: true, Seed: 5}, &session.Sanitizing{}
	for _, step := range []session.Cell{{Sanitize: on, Borrows: true}, {Sanitize: off, Borrows: true}, {Sanitize: on}} {
		if r := guest.Eval(t.Context(), step); len(r.Errors) > 0 {
			t.Fatal(r.Errors[0])
		}
	}
	guest.Close()
	soon(t, "the front end is gone", func() bool { return guest.Eval(context.Background(), session.Cell{}).Errors != nil })
	if s, err := c.Sanitizer(t.Context()); err != nil || !s.On {
		t.Errorf("%+v, %v", s, err)
	}
}

// Ranks on which a guest's cell does not stop are not killed, because they hold the variables of
// others. The users hear of it.
func TestDeafGuest(t *testing.T) {
	c := launch(t, 2)
	c.want(c.eval("let x 7"), "")
	guest := &console{Session: attachGuest(t, c), t: t, size: 2}
	guest.start("spin 1500", 0, 1)
	guest.Close()
	got := c.eval("get x")
	if !strings.Contains(got, "= [0,1] 7\n") {
		t.Error(got)
	}
}
