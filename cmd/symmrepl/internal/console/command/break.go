package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

func breakAt() console.Command {
	return console.Command{
		Name: "break", Args: "[LINE|CELL:LINE|off]", Group: cells, Where: console.TheSession, WhileStopped: true, YieldsToAll: true,
		Help: `stop all ranks before a line of the next cells, or of the cell CELL
Without an argument, the breakpoints are listed. From the first ":break" on until ":break off", cells and the functions that
they define are run so that they can be stopped, which is slower; functions of earlier cells cannot be stopped. A breakpoint
on a line where no statement begins is on the next line with one. While ranks stand, the prompt shows where, and takes
commands, such as ":step" and ":vars", and expressions and assignments, which see the local variables. Other goroutines of
the ranks go on. Ctrl-C ends the cell.`,
		Run: runBreak,
	}
}

func runBreak(ctx context.Context, c *console.Call) console.Outcome {
	switch {
	case c.Request.Ask == nil:
		return c.Fail(errors.New("this front end cannot show where a cell stands; the prompt can"))
	case c.Arg == "off":
		if err := c.Console.CloseDebugger(); err != nil {
			return c.Fail(err)
		}
		c.Print("no breakpoints; cells run at full speed")
		return console.Done
	case c.Arg == "" && c.Console.OpenDebugger() == nil:
		c.Print("no breakpoints")
		return console.Done
	}
	source, line, err := breakpoint(c.Arg)
	if err != nil {
		return c.Fail(err)
	}
	d, err := c.Console.Debugger(ctx)
	if err != nil {
		return c.Fail(err)
	}
	all, err := d.Breakpoints(ctx)
	if err == nil && line > 0 {
		lines := []int{line}
		for _, b := range all {
			if b.Source == source && b.Asked != line {
				lines = append(lines, b.Asked)
			}
		}
		slices.Sort(lines)
		if _, err = d.SetBreakpoints(ctx, source, lines); err == nil {
			all, err = d.Breakpoints(ctx)
		}
	}
	if err != nil {
		return c.Fail(err)
	}
	if len(all) == 0 {
		c.Print("no breakpoints")
	} else {
		c.PrintTable(breakpoints(all))
	}
	return console.Done
}

// breakpoint reads LINE or CELL:LINE; line is 0 for an empty text.
func breakpoint(text string) (source session.BreakpointSource, line int, err error) {
	if text == "" {
		return source, 0, nil
	}
	of, rest, inCell := strings.Cut(text, ":")
	if !inCell {
		of, rest = "", text
	}
	if inCell {
		source.Cell, err = strconv.Atoi(of)
	}
	if err == nil {
		line, err = strconv.Atoi(rest)
	}
	if err != nil || line < 1 || inCell && source.Cell < 1 {
		return source, 0, fmt.Errorf("%q is neither LINE nor CELL:LINE nor off", text)
	}
	return source, line, nil
}

// breakpoints returns the rows of the table of breakpoints.
func breakpoints(all []session.Breakpoint) [][]string {
	rows := [][]string{{"cell", "line", ""}}
	for _, b := range all {
		cell := "each next"
		switch s := b.Source; {
		case s.Cell != 0:
			cell = strconv.Itoa(s.Cell)
		case s.File != "":
			cell = s.File
		case s.Text != "":
			cell, _, _ = strings.Cut(s.Text, "\n")
		}
		reason := b.Reason
		if b.Source == (session.BreakpointSource{}) { // of course, it is for cells to come
			reason = ""
		}
		rows = append(rows, []string{cell, strconv.Itoa(b.Line), reason})
	}
	return rows
}
