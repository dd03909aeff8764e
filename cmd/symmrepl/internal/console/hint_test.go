package console

import (
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// TestHintAtOther checks the hints for lines that are commands at other prompts.
func TestHintAtOther(t *testing.T) {
	for _, c := range []struct {
		line string
		kind session.Kind
		hint string
	}{
		{"exit", session.KindType, ":quit leaves"},
		{"quit()", session.KindType, ":quit leaves"},
		{"  help()", session.KindType, ":help lists the commands"},
		{"clear", session.KindType, "Ctrl-L clears the screen of a terminal"},
		{"clear()", session.KindType, "Ctrl-L clears the screen of a terminal"},
		{"clear(m)", session.KindType, "own"},
		{"exit(1)", session.KindType, "own"},
		{"exit", session.KindPanic, "own"},
		{"!ls", session.KindType, "$ ls runs a command of the shell, on a line of its own"},
		{":time f()", session.KindSyntax, "commands and $ lines stand outside of brackets, also of functions and loops, and have no blank before their name"},
		{"%%time", session.KindSyntax, "a line with %% is the first of a cell: put this into a cell of its own"},
		{"%%cuda -g 1 f(", session.KindSyntax, "the name is a word of Go, and so are the sizes and arguments: expressions, with blanks between them"},
		{"x = y", session.KindType, "own"},
	} {
		e := &session.Error{Kind: c.kind, Source: c.line, Hint: "own"}
		hintAtOther([]*session.Error{e})
		if e.Hint != c.hint {
			t.Errorf("%q: %q, want %q", c.line, e.Hint, c.hint)
		}
	}
}
