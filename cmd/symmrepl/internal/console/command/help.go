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
		Name: "help", Args: "[COMMAND]", Group: program, Where: console.Here,
		Help: `show the commands, or all about one of them`,
		Complete: func(_ context.Context, c *console.Console, arg string) ([]session.Candidate, string) {
			return c.CompleteCommand(strings.TrimLeft(arg, ":%"))
		},
		Run: runHelp,
	}
}

// entries describes what can be entered beside commands. Help and the page of commands begin with it.
const entries = `Enter Go: declarations, statements and expressions in any order. Every rank runs it, and the value of a last
expression is shown. symm, fmt, math, time and strings are imported; others are when they are used. A line that is not
complete goes on in the next one; an empty line ends it all the same, but within a raw string it is part of that. Tab
completes, Ctrl-C interrupts what runs, Ctrl-D leaves.

  %%rank [0,2]   as a cell's first line: only these ranks run it
  $ COMMAND      run a line by the shell of this machine
  :COMMAND       one of those below; % may be written for :, and a beginning of the name will do`

func runHelp(_ context.Context, c *console.Call) console.Outcome {
	if c.Arg != "" {
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
	c.Print(entries + "\n" + render.Table(rows) + "\n:help COMMAND says more about one of them.")
	return console.Done
}

// describe prints all about the command of a name, which may begin with ':' or '%'.
func describe(c *console.Call, name string) console.Outcome {
	cmd, err := c.Console.Find(strings.TrimLeft(name, ":%"))
	if err != nil {
		c.Request.Printer.Fail(":help: %v", err)
		return console.Failed
	}
	c.Print(cmd.Describe())
	return console.Done
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
