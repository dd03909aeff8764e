package command

import (
	"context"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
	"github.com/symmrepl/symmrepl/session"
)

func help() console.Command {
	return console.Command{
		Name: "help", Args: "[COMMAND]", Group: program, Where: console.Here, WhileStopped: true,
		Help: `list the commands, or describe one of them
For a name that no command has, such as AllGather, the command shows the documentation, as :doc does.`,
		Complete: func(_ context.Context, c *console.Console, arg string) ([]session.Candidate, string) {
			return c.CompleteCommand(strings.TrimLeft(arg, ":%"))
		},
		Run: runHelp,
	}
}

// Help and the page of commands begin with the other kinds of entries.
const (
	goText = `Enter Go: declarations, statements and expressions in any order. Every rank runs it, and the value of a last
expression is shown, unless a semicolon ends the cell. symm, fmt, math, time and strings are imported; other packages are
imported when a cell uses them.
`
	promptKeys = `An incomplete line continues on the next one; an empty line ends the entry, except within a raw string. Tab completes,
Ctrl-C interrupts the cell that runs, Ctrl-D leaves. Up recalls an entry, all its lines, also of earlier sessions, and
Ctrl-R searches for one; the arrow keys move in it, and Alt-Enter breaks a line.
Pasted text is one entry, all its lines, and runs when Enter is typed. If the terminal does not mark pasted text (bracketed
paste), each complete line is an entry, as if it were typed: :edit takes such text whole.
`
	notebookKeys = `Tab completes, and Shift-Tab explains a name, both also inside of a kernel's text. ■ interrupts the cell that runs, and
variables stay; ■ again replaces ranks that do not stop. Restart starts a new session. A cell may begin with commands and
lines for the shell; its Go follows below them.
`
	otherForms = `
  NAME?          show the documentation of a name; NAME?? also the source
  %%rank [0,2]   as a cell's first line: only these ranks run it
  %%cuda [NAME] [-g GRID -b BLOCK ARGUMENT…]
                 as a cell's first line: the lines below are CUDA C++, compiled to a kernel, and launched if a size is given
  %%COMMAND      as a cell's first line: run the lines below by a command that takes code, as %%time and %%sanitize
  $ COMMAND      run a line with the shell of this machine
  :COMMAND       run a command; % may replace :, and a beginning of the name is enough: :e is :export, :s is :save`
	entries = goText + promptKeys + otherForms
)

func runHelp(ctx context.Context, c *console.Call) console.Outcome {
	if c.Arg != "" {
		if _, err := c.Console.Find(strings.TrimLeft(c.Arg, ":%")); err != nil && !console.IsCommand(c.Arg) {
			if text := c.Console.Explain(ctx, c.Arg, len(c.Arg)); text != "" {
				c.Print(console.FitText(text, c.Request.Columns))
				return console.Done
			}
		}
		return describe(c, c.Arg)
	}
	var rows [][]string
	group := ""
	for _, cmd := range c.Console.Commands {
		if cmd.Group != group {
			group = cmd.Group
			rows = append(rows, []string{""}, []string{capital(group)})
		}
		rows = append(rows, []string{"  " + cmd.Usage(), cmd.Summary()})
	}
	begin := entries
	if c.Request.Notebook {
		begin = goText + notebookKeys + otherForms
	}
	c.Print(console.FitText(begin+"\n"+render.Table(rows)+"\n:help COMMAND says more about one of them.", c.Request.Columns))
	return console.Done
}

// describe prints all about the command of a name, which may begin with ':' or '%'.
func describe(c *console.Call, name string) console.Outcome {
	cmd, err := c.Console.Find(strings.TrimLeft(name, ":%"))
	if err != nil {
		c.Request.Printer.Fail(":help: %v", err)
		return console.Failed
	}
	text := cmd.Describe()
	if short := c.Console.Shortest(cmd); short != cmd.Name {
		text += "\nShort form: :" + short
	}
	c.Print(console.FitText(text, c.Request.Columns))
	return console.Done
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
