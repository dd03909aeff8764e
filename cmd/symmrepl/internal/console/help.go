package console

import (
	"context"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
)

// entries says what can be entered beside commands; help and the page of commands begin with it.
const entries = `Enter Go: declarations, statements and expressions in any order. Every rank runs it, and the value of a last
expression is shown. symm, fmt, math, time and strings are imported; others are when they are used. A line that is not
complete goes on in the next one; an empty line ends it all the same, but within a raw string it is part of that. Tab
completes, Ctrl-C interrupts what runs, Ctrl-D leaves.

  %%rank [0,2]   as a cell's first line: only these ranks run it
  $ COMMAND      run a line by the shell of this machine
  :COMMAND       one of those below; % may be written for :, and a beginning of the name will do`

func (c *Console) help(_ context.Context, name string) Outcome {
	if name != "" {
		cmd, err := lookup(strings.TrimLeft(name, ":%"))
		if err != nil {
			return c.fail("help", err)
		}
		c.Printer.Print(cmd.long())
		return Done
	}
	var rows [][]string
	group := ""
	for _, cmd := range Commands() {
		if cmd.Group != group {
			group = cmd.Group
			rows = append(rows, []string{""}, []string{capital(group)})
		}
		rows = append(rows, []string{"  " + cmd.usage(), cmd.summary()})
	}
	c.Printer.Print(entries + "\n" + render.Table(rows) + "\n:help COMMAND says more about one of them.")
	return Done
}

// usage is how the command is entered.
func (cmd Command) usage() string {
	return strings.TrimSpace(":" + cmd.Name + " " + cmd.Args)
}

// long is all that is said of the command.
func (cmd Command) long() string {
	return cmd.usage() + "  " + cmd.Help + "\nRuns on: " + cmd.Where
}

func (cmd Command) summary() string {
	summary, _, _ := strings.Cut(cmd.Help, "\n")
	return summary
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// Page returns docs/commands.md.
func Page() string {
	var b strings.Builder
	b.WriteString("# Commands\n\n<!-- Made from the table of commands by `go generate ./cmd/symmrepl/internal/console`. -->\n\n")
	b.WriteString(entriesMarkdown() + "\n")
	group := ""
	for _, cmd := range Commands() {
		if cmd.Group != group {
			group = cmd.Group
			b.WriteString("\n## " + capital(group) + "\n")
		}
		summary, more, _ := strings.Cut(cmd.Help, "\n")
		b.WriteString("\n### `" + cmd.usage() + "`\n\n" + capital(summary) + ".")
		if more != "" {
			b.WriteString("\n" + more)
		}
		b.WriteString("\n\nRuns on: " + cmd.Where + ".\n")
	}
	return b.String()
}

// entriesMarkdown is entries with its examples as a code block.
func entriesMarkdown() string {
	text, examples, _ := strings.Cut(entries, "\n\n")
	return text + "\n\n```\n" + examples + "\n```"
}
