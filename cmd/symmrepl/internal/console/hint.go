package console

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/symmrepl/symmrepl/session"
)

// hinted returns the errors of a cell with the hints that ranks cannot make, which know the cell's names
// and neither the restarts of other ranks, nor the lines of the console, nor the step of a tutorial. A
// later hint replaces an earlier one.
func (c *Console) hinted(ctx context.Context, source string, errs []*session.Error) []*session.Error {
	c.explainLost(ctx, errs)
	hintAtOther(errs)
	if c.Told != nil && len(errs) > 0 {
		return c.Told(source, errs)
	}
	return errs
}

// hintAtOther adds hints to syntax errors in lines that are valid elsewhere: `!ls` in other
// kernels, or `:time f()` as the first line.
func hintAtOther(errs []*session.Error) {
	for _, e := range errs {
		line := strings.TrimSpace(e.Source)
		if len(line) < 2 || e.Kind != session.KindSyntax && e.Kind != session.KindType {
			continue
		}
		if leave := left(line); leave != "" && e.Kind == session.KindType {
			e.Hint = leave
			continue
		}
		word := strings.IndexFunc(line[1:], unicode.IsSpace) != 0
		switch {
		case line[0] == '!' && word && !strings.ContainsAny(line, "={}"):
			e.Hint = "$ " + strings.TrimSpace(line[1:]) + " runs a command of the shell, on a line of its own"
		case strings.HasPrefix(line, magic+"cuda") && e.Kind == session.KindSyntax:
			e.Hint = "the name is a word of Go, and so are the sizes and arguments: expressions, with blanks between them"
		case strings.HasPrefix(line, magic) && e.Kind == session.KindSyntax:
			e.Hint = "a line with %% is the first of a cell: put this into a cell of its own"
		case strings.ContainsRune(":%$", rune(line[0])) && e.Kind == session.KindSyntax:
			e.Hint = "commands and $ lines stand outside of brackets, also of functions and loops, and have no blank before their name"
		case IsQuestion(line) && e.Kind == session.KindSyntax:
			e.Hint = "a question such as " + Asked(line) + "? is a cell of its own"
		}
	}
}

// left returns the counterpart of a line that leaves, clears or asks for help at other prompts:
// "exit", "quit()", "clear".
func left(line string) string {
	switch strings.TrimSuffix(line, "()") {
	case "exit", "quit":
		return ":quit leaves"
	case "help":
		return ":help lists the commands"
	case "clear", "cls":
		return "Ctrl-L clears the screen of a terminal"
	}
	return ""
}

// instead returns the counterpart of a cell magic of other kernels.
func (c *Console) instead(name string) string {
	switch {
	case slices.Contains([]string{"bash", "sh", "script", "system", "sx", "!"}, name):
		return "; lines that begin with $ run in the shell"
	case name == "timeit":
		return "; %%time -n 20 on the first line says how long a cell takes"
	}
	if cmd, err := c.Find(name); err == nil {
		return "; %" + cmd.Name + " is a command"
	}
	return ""
}
