package console

import (
	"context"
	"strings"
	"sync"

	"github.com/symmrepl/symmrepl/session"
)

// Console runs entries on a session. Run must not be called concurrently; Complete, Explain, NeedsMore and Malformed may be called while it runs.
type Console struct {
	Session session.Session
	Size    int // ranks of the session
	Printer Printer
	// Input, unless nil, asks the user for a line of standard input when cells read that; see session.Cell.
	Input func(context.Context) (string, error)
	// Incomplete reports whether more lines may follow a cell's source, as `func f() {` asks for.
	Incomplete func(source string) bool
	// Invalid reports whether no lines that follow make Go of a cell's source.
	Invalid func(source string) bool
	// Export makes a Go program of the cells of a session of size ranks.
	Export func(cells []session.Cell, size int) ([]byte, error)

	tour *tour // of the tutorial that is open, or nil

	mu     sync.Mutex
	target []int  // set by `:on 0,2`; nil means all ranks
	folder string // set by `:cd`; "" is that of this process
}

// Printer shows what comes of entries: a render.Printer as text, a notebook's in a form of its own. Its methods may be called from several
// goroutines.
type Printer interface {
	// Output shows what ranks printed, as it comes.
	Output(o session.Output)
	// Reply shows the values and the errors of a cell.
	Reply(r session.Reply)
	// Print shows text of the console itself, such as a command's table.
	Print(text string)
	// Note shows a remark about ranks (nil: about none in particular).
	Note(ranks []int, format string, args ...any)
	// Fail shows one sentence about something that is refused.
	Fail(format string, args ...any)
	// CloseLine ends a line that output left open, and reports whether there was one.
	CloseLine() bool
}

// Outcome tells a front end how an entry ended.
type Outcome int

const (
	Done   Outcome = iota // nothing went wrong
	Failed                // a cell or a command failed, and what went wrong has been printed
	Quit                  // the user wants to leave
)

// Run runs one entry and prints what comes of it. Cancelling ctx interrupts it.
func (c *Console) Run(ctx context.Context, entry string) Outcome { return c.run(ctx, entry, 1) }

// run runs an entry that begins on a line of what the user sees.
func (c *Console) run(ctx context.Context, entry string, line int) Outcome {
	entry = strings.TrimRight(entry, " \t\r\n")
	trimmed := strings.TrimSpace(entry)
	switch {
	case trimmed == "":
		return Done
	case strings.HasPrefix(trimmed, "$"):
		return c.shell(ctx, strings.TrimSpace(trimmed[1:]))
	case strings.HasPrefix(trimmed, magic):
		return c.magic(ctx, trimmed, line)
	case isCommand(trimmed):
		return c.command(ctx, trimmed[1:])
	}
	return c.Cell(ctx, session.Cell{Source: entry, Line: line})
}

// Cell evaluates a cell, on the ranks of `:on` unless it names its own, and prints its output, values and
// errors.
func (c *Console) Cell(ctx context.Context, cell session.Cell) Outcome {
	_, result := c.eval(ctx, cell)
	return result
}

func (c *Console) eval(ctx context.Context, cell session.Cell) (session.Reply, Outcome) {
	if cell.Ranks == nil {
		cell.Ranks = c.Target()
	}
	cell.Output, cell.Input = c.Printer.Output, c.Input
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
func (c *Console) Target() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.target
}

func (c *Console) setTarget(ranks []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.target = ranks
}

// asked returns the rank that is asked where one will do.
func (c *Console) asked() []int {
	if ranks := c.Target(); ranks != nil {
		return ranks[:1]
	}
	return []int{0}
}

// NeedsMore reports whether more lines are expected after these.
func (c *Console) NeedsMore(entry string) bool {
	source, isCell := code(entry)
	return isCell && c.Incomplete(source)
}

// Malformed reports whether an entry can only be refused, whatever follows it.
func (c *Console) Malformed(entry string) bool {
	source, isCell := code(entry)
	return isCell && c.Invalid(source)
}

// magic is what the first line of a cell for some ranks begins with.
const magic = "%%"

// magic runs a cell whose first line is `%%rank [0,2]`.
func (c *Console) magic(ctx context.Context, entry string, line int) Outcome {
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
	return c.Cell(ctx, session.Cell{Source: source, Line: line + 1, Ranks: ranks})
}

// Ranks parses a list of ranks such as "[0,2]", "0-2" or "all".
func (c *Console) Ranks(list string) ([]int, error) { return session.ParseRanks(list, c.Size) }

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
		case "time", "trace":
			return arg, true
		case "on":
			_, source, hasCode := strings.Cut(strings.TrimSpace(arg), " ")
			return source, hasCode
		}
		return "", false
	}
	return entry, true
}
