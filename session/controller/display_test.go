package controller

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/fold"
	"github.com/symmrepl/symmrepl/session/supervisor"
	"github.com/symmrepl/symmrepl/session/wire"
)

// shown describes outputs: ranks, text and displays.
func shown(list []session.Output) (out []string) {
	for _, o := range list {
		s := fmt.Sprintf("%s %q", session.FormatRanks(o.Ranks), o.Text)
		if o.Display != nil {
			s += fmt.Sprintf(" %v", o.Display.Data["text/html"])
		}
		out = append(out, s)
	}
	return out
}

func TestDisplays(t *testing.T) {
	c := launch(t, 3)
	big := strings.Repeat("x", 60_000) // in two lines, and more than a pipe holds
	for source, want := range map[string][]string{
		"print a\ndisplay T <b>\nprint b":                    {`0-2 "a\n"`, `0-2 "T\n" <b>`, `0-2 "b\n"`},
		"write a\ndisplay T <b>":                             {`0-2 "a"`, `0-2 "T\n" <b>`},
		"display T <RANK>":                                   {`0 "T\n" <0>`, `1 "T\n" <1>`, `2 "T\n" <2>`},
		"display T " + big:                                   {`0-2 "T\n" ` + big},
		"1:display T <b>\ndisplay U <c>":                     {`0,2 "U\n" <c>`, `1 "T\n" <b>`, `1 "U\n" <c>`},
		"display T " + big + "\n2:display V " + big + "RANK": {`0-2 "T\n" ` + big, `2 "V\n" ` + big + "2"},
	} {
		c.eval(strings.ReplaceAll(source, "display", "encode"))
		var got []session.Output
		reply := c.Eval(context.Background(), session.Cell{Source: source, Output: func(o session.Output) { got = append(got, o) }})
		if len(reply.Errors) > 0 || !reflect.DeepEqual(shown(got), want) {
			t.Errorf("%.40q shows %.200q, want %.200q (%v)", source, shown(got), want, reply.Errors)
		}
	}
}

// A running rank may have printed a line that was not read yet: the line is then not shown apart
// from the others' lines.
func TestLineStillInItsPipe(t *testing.T) {
	c := launch(t, 3)
	unread := c.c.keeper(1).(*supervisor.Supervisor).Reading()
	unread.Lock()
	shown := make(chan string, 1)
	go func() { shown <- c.eval("print a\n1:read") }()
	soon(t, "rank 1 is asked whether it goes on", func() bool {
		c.c.mu.Lock()
		defer c.c.mu.Unlock()
		if c.c.run != nil {
			c.c.run.fold.SetMost(waitAtMost) // so that a busy machine does not decide
		}
		return c.c.questions > 0
	})
	if c.c.ask(t.Context(), []int{1}, waitAtMost, func(id uint64) wire.Command { return wire.Command{Status: id} })[1] == nil {
		t.Error("rank 1 has not answered")
	}
	time.Sleep(4 * fold.Tick) // time to handle the rank's answers
	unread.Unlock()
	c.want(receive(t, "the cell ends", shown), "[0-2] a\n= [1] \"\" EOF\n")
}

func TestRichValues(t *testing.T) {
	c := launch(t, 2)
	for source, want := range map[string][]session.Value{
		"rich 5 <b>": {{Ranks: []int{0, 1}, Text: "5", Data: map[string]any{"text/html": "<b>"}}},
		"rich 5 <RANK>": {{Ranks: []int{0}, Text: "5", Data: map[string]any{"text/html": "<0>"}},
			{Ranks: []int{1}, Text: "5", Data: map[string]any{"text/html": "<1>"}}},
		"value 5": {{Ranks: []int{0, 1}, Text: "5"}},
	} {
		if got := c.Eval(context.Background(), session.Cell{Source: source}).Values; !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %v, want %v", source, got, want)
		}
	}
}
