package console

import (
	"context"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
	"github.com/symmrepl/symmrepl/session"
)

// Console runs entries on a session. Run must not be called concurrently; Complete may be called while
// nothing runs.
type Console struct {
	Session session.Session
	Printer *render.Printer
	// Incomplete reports whether more lines may follow a cell's source, as `func f() {` asks for.
	Incomplete func(source string) bool

	target []int // set by `:on 0,2`; nil means all ranks
}

// Outcome tells a front end how an entry ended.
type Outcome int

const (
	Done   Outcome = iota // nothing went wrong
	Failed                // a cell or a command failed, and what went wrong has been printed
	Quit                  // the user wants to leave
)

// Run runs one entry and prints what comes of it. Cancelling ctx interrupts it.
func (c *Console) Run(ctx context.Context, entry string) Outcome {
	entry = strings.TrimRight(entry, " \t\r\n")
	trimmed := strings.TrimSpace(entry)
	switch {
	case trimmed == "":
		return Done
	case strings.HasPrefix(trimmed, "$"):
		return c.shell(ctx, strings.TrimSpace(trimmed[1:]))
	case strings.HasPrefix(trimmed, magic):
		return c.magic(ctx, trimmed)
	case isCommand(trimmed):
		return c.command(ctx, trimmed[1:])
	}
	return c.Cell(ctx, session.Cell{Source: entry})
}

// Cell evaluates a cell, on the ranks of `:on` unless it names its own, and prints its output, values and
// errors.
func (c *Console) Cell(ctx context.Context, cell session.Cell) Outcome {
	_, result := c.eval(ctx, cell)
	return result
}

func (c *Console) eval(ctx context.Context, cell session.Cell) (session.Reply, Outcome) {
	if cell.Ranks == nil {
		cell.Ranks = c.target
	}
	cell.Output = c.Printer.Output
	reply := c.Session.Eval(ctx, cell)
	c.Printer.Reply(reply)
	return reply, outcome(reply)
}

// outcome tells whether a reply has errors.
func outcome(reply session.Reply) Outcome {
	if len(reply.Errors) > 0 {
		return Failed
	}
	return Done
}

// Target returns the ranks that cells run on now; nil means all.
func (c *Console) Target() []int { return c.target }

// NeedsMore reports whether more lines are expected after these.
func (c *Console) NeedsMore(entry string) bool {
	source, isCell := code(entry)
	return isCell && c.Incomplete(source)
}

// magic is what the first line of a cell for some ranks begins with.
const magic = "%%"

// magic runs a cell whose first line is `%%rank [0,2]`.
func (c *Console) magic(ctx context.Context, entry string) Outcome {
	head, source, _ := strings.Cut(entry, "\n")
	name, list, _ := strings.Cut(strings.TrimSpace(head[len(magic):]), " ")
	if rest, ok := strings.CutPrefix(name, "rank["); ok {
		name, list = "rank", "["+rest+list
	}
	if name != "rank" {
		c.Printer.Fail("%%%%%s is unknown: the only cell magic is %%%%rank [0,2]", name)
		return Failed
	}
	ranks, err := c.Ranks(list)
	if err != nil {
		c.Printer.Fail("%%%%rank: %v", err)
		return Failed
	}
	if strings.TrimSpace(source) == "" {
		c.Printer.Fail("%%%%rank %s: the cell's code is expected on the lines below", list)
		return Failed
	}
	return c.Cell(ctx, session.Cell{Source: source, Line: 2, Ranks: ranks})
}

// Ranks parses a list of ranks such as "[0,2]", "0-2" or "all".
func (c *Console) Ranks(list string) ([]int, error) { return session.ParseRanks(list, c.Printer.Size) }

// isCommand reports whether an entry is a command; no Go begins like one.
func isCommand(entry string) bool {
	return strings.HasPrefix(entry, ":") || strings.HasPrefix(entry, "%")
}

// code returns the Go in an entry: all of it, or what follows `%%rank [0,2]`, `:on 0,2` or `:time`. isCell is
// false when the entry has none.
func code(entry string) (source string, isCell bool) {
	trimmed := strings.TrimSpace(entry)
	switch {
	case strings.HasPrefix(trimmed, "$"):
		return "", false
	case strings.HasPrefix(trimmed, magic):
		_, source, hasCode := strings.Cut(entry, "\n")
		if !hasCode {
			// Only the magic line so far: the code is still to come.
			return "{", true
		}
		return source, true
	case isCommand(trimmed):
		name, arg, _ := strings.Cut(trimmed[1:], " ")
		switch name {
		case "time":
			return arg, true
		case "on":
			_, source, hasCode := strings.Cut(strings.TrimSpace(arg), " ")
			return source, hasCode
		}
		return "", false
	}
	return entry, true
}
