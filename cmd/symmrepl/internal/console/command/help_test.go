package command

import (
	"context"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

func TestHelpShowsEveryCommand(t *testing.T) {
	c, _, out := newConsole()
	c.Run(context.Background(), ":help")
	for _, cmd := range All(Programs{}) {
		if !strings.Contains(out.String(), cmd.Usage()) || !strings.Contains(out.String(), cmd.Summary()) {
			t.Errorf(":help does not show :%s", cmd.Name)
		}
	}
	out.Reset()
	c.Run(context.Background(), ":help :on")
	if !strings.HasPrefix(out.String(), ":on [RANKS [CODE]]  choose the ranks") {
		t.Errorf(":help :on printed %q", out)
	}
}

// In a notebook, :help speaks of its buttons and not of the prompt's keys.
func TestHelpInNotebook(t *testing.T) {
	c, _, out := newConsole()
	for notebook, want := range map[bool]string{false: "Ctrl-C interrupts", true: "■ interrupts"} {
		out.Reset()
		r := c.Request(":help")
		r.Notebook = notebook
		c.Console.Run(context.Background(), r)
		text := out.String()
		for _, word := range []string{"Ctrl-C interrupts", "Ctrl-D", "Alt-Enter", "■ interrupts", "Shift-Tab"} {
			in := word == want || !notebook && (word == "Ctrl-D" || word == "Alt-Enter") || notebook && word == "Shift-Tab"
			if strings.Contains(text, word) != in {
				t.Errorf("in a notebook %v: %q is there: %v", notebook, word, !in)
			}
		}
		if !strings.Contains(text, "%%cuda") {
			t.Errorf("in a notebook %v: %%%%cuda is not there", notebook)
		}
	}
}

// If no command has the name, :help looks it up as :doc does.
func TestHelpOfNames(t *testing.T) {
	c, fake, out := newConsole()
	fake.OnInspect = func(ranks []int, q session.Query) []session.Answer {
		if q.Topic == session.TopicDoc && q.Arg == "AllGather" {
			return []session.Answer{{Rank: ranks[0], Text: "func AllGather"}}
		}
		return []session.Answer{{Rank: ranks[0], Err: &session.Error{Msg: "unknown"}}}
	}
	for entry, want := range map[string]string{
		":help AllGather":  "func AllGather\n",
		":help time":       ":time CODE  run a cell and show how long it took\n",
		":help :AllGather": ":help: no command is called \"AllGather\"; :help lists them\n",
		":help nope":       ":help: no command is called \"nope\"; :help lists them\n",
	} {
		out.Reset()
		c.Run(context.Background(), entry)
		if !strings.HasPrefix(out.String(), want) {
			t.Errorf("%s printed %q, want %q", entry, out, want)
		}
	}
}
