package controller

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// The sanitizer's state is the state that the ranks report, whether a cell or a front end has
// switched it. The session calls Sanitize only on a change of state, or after ranks were replaced.
func TestSanitizerState(t *testing.T) {
	ctx := context.Background()
	c := launch(t, 3)
	off, on := &session.Sanitizing{}, func(seed int64) *session.Sanitizing { return &session.Sanitizing{On: true, Seed: seed} }
	for i, step := range []struct {
		cell  session.Cell
		state string // afterwards
		told  string // calls in this cell and in the next one, which asks; without the ranks if they are the same on all
	}{
		{session.Cell{Source: "nothing"}, "{false 0}", "[]"},
		{session.Cell{Source: "sanitize 7"}, "{true 7}", "[]"},
		{session.Cell{Source: "nothing"}, "{true 7}", "[]"},
		{session.Cell{Source: "sanitize"}, "{false 0}", "[]"},
		{session.Cell{Sanitize: on(3), Silent: true}, "{true 3}", "[{true 3}]"},
		{session.Cell{Sanitize: on(3), Silent: true}, "{true 3}", "[]"},
		{session.Cell{Source: "1:exit 1"}, "{true 3}", "[{true 3}]"}, // the next cell calls Sanitize on all ranks, since it is collective
		{session.Cell{Source: "sanitize 4\n2:exit 1"}, "{true 4}", "[{true 4}]"},
		{session.Cell{Source: "1:sanitize 9"}, "{true 4}", "[{true 4}]"}, // the ranks have no common state
		{session.Cell{Source: "nothing", Sanitize: off}, "{false 0}", "[{false 0}]"},
		{session.Cell{Source: "1:exit 1"}, "{false 0}", "[]"},
		{session.Cell{Source: "print must not run", Sanitize: on(-1)}, "{false 0}: no such seed", "[{true -1}]"},
		{session.Cell{Source: "nothing", Sanitize: on(1), Ranks: []int{0, 2}},
			"{false 0}: the sanitizer is for all ranks: it cannot be switched on or off by a cell for some", "[]"},
		{session.Cell{Source: "0:sanitize 5", Ranks: []int{0}}, "{false 0}", "[{false 0}]"},
		{session.Cell{Source: "nothing", Sanitize: on(2)}, "{true 2}", "[{true 2}]"},
	} {
		step.cell.Output = func(o session.Output) {
			if strings.Contains(o.Text, "must not") {
				t.Error(o.Text)
			}
		}
		reply := c.Eval(ctx, step.cell)
		s, err := c.Sanitizer(ctx)
		if err != nil {
			t.Fatal(err)
		}
		state := fmt.Sprint(s.Sanitizing)
		if len(reply.Errors) > 0 && reply.Errors[0].Kind != session.KindDied {
			state += ": " + reply.Errors[0].Msg
		}
		told := ""
		for _, v := range c.Eval(ctx, session.Cell{Source: "told"}).Values {
			told += v.Text
		}
		if state != step.state || told != step.told {
			t.Errorf("after step %d, %q: %s, the ranks were told %s, want %s and %s", i, step.cell.Source, state, told, step.state, step.told)
		}
	}
	if err := c.Restart(ctx, nil, false, nil); err != nil {
		t.Fatal(err)
	}
	if reply := c.Eval(ctx, session.Cell{Source: "told"}); len(reply.Values) != 1 || reply.Values[0].Text != "[{true 2}]" {
		t.Errorf("after a restart the ranks were told %v", reply.Values)
	}
}

// All front ends of a session know the findings of all its cells, each finding once, with the name
// of the first cell.
func TestSanitizerFindings(t *testing.T) {
	ctx := context.Background()
	c := launch(t, 2)
	for _, cell := range []session.Cell{
		{Source: `find race in a block: 3 7 "a"`},
		{Source: `find race in a block: 7 3 "a"`, Name: "In[2]"},
		{Source: `find race in a block: 3 7 "b"`, Name: "In[3]", Line: 1},
		{Source: `1:find out of bounds: 3 3 "a"`, Name: "file.go", Line: 40},
		{Source: "sanitize 5"},
	} {
		if reply := c.Eval(ctx, cell); len(reply.Errors) > 0 {
			t.Fatal(reply.Errors[0])
		}
	}
	s, err := c.Sanitizer(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range s.Findings {
		got = append(got, fmt.Sprint(f.Kind, " ", f.Ranks, " in ", f.Name, " ", f.Cell))
	}
	if want := []string{"race in a block [0 1] in cell[1] 1", "race in a block [0 1] in In[3] 3",
		"out of bounds [1] in file.go 4"}; !reflect.DeepEqual(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	other, err := Attach(ctx, c.c.dir.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if told, err := other.Sanitizer(ctx); err != nil || !reflect.DeepEqual(told, s) {
		t.Errorf("an attached front end is told %+v, %v, want %+v", told, err, s)
	}
	if reply := other.Eval(ctx, session.Cell{Sanitize: &session.Sanitizing{}, Silent: true}); len(reply.Errors) > 0 {
		t.Fatal(reply.Errors[0])
	}
	if s, _ := c.Sanitizer(ctx); s.On {
		t.Error("an attached front end has not switched it off")
	}
}
