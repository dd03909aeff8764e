package console

import (
	"cmp"
	"context"
	"strings"
	"sync"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/shadow"
	"github.com/symmrepl/symmrepl/session"
)

// Console runs entries on a session. The methods that take a Request must not be called
// concurrently; the others may be called at any time.
type Console struct {
	Session  session.Session
	Size     int       // ranks of the session
	Commands []Command // in the order in which help shows them
	// Incomplete reports whether more lines may follow a cell's source, as `func f() {` asks for.
	Incomplete func(source string) bool
	// Invalid reports whether no further lines can make a cell's source valid Go.
	Invalid func(source string) bool
	// Unwatched is a sentence about the accesses that the sanitizer does not watch on the session's
	// devices; "" if it watches all accesses.
	Unwatched string
	// Borrows reports whether this front end switches the sanitizer for a time: if it is attached
	// and disconnects, the sanitizer is as before.
	Borrows bool
	// Succeeded, unless nil, is called with the source of each cell that all ranks have run without
	// an error.
	Succeeded func(source string)
	// Told, unless nil, returns the form in which the errors of a cell with a source are shown.
	Told func(source string, errs []*session.Error) []*session.Error
	// Shadow runs code on the cpu device too, for `:compare`; nil if nothing does.
	Shadow *shadow.Shadow

	mu         sync.Mutex // guards the fields below; the elements of target never change
	exited     bool       // a program that runs as this console's cells has called os.Exit
	status     int        // the exit status of that program
	target     []int      // set by `:on 0,2`; nil means all ranks
	folder     string     // set by `:cd`; "" is the folder of this process
	sanitizing sanitizing
	debug      debugging
}

// Run runs one entry and prints its outcome. Cancelling ctx interrupts it.
func (c *Console) Run(ctx context.Context, r Request) Outcome {
	outcome := c.runEntry(ctx, r)
	if c.debug.takeQuit() {
		return Quit
	}
	return outcome
}

func (c *Console) runEntry(ctx context.Context, r Request) Outcome {
	r.Source = strings.TrimRight(r.Source, " \t\r\n")
	trimmed := strings.TrimSpace(r.Source)
	switch {
	case trimmed == "":
		return Done
	case strings.HasPrefix(trimmed, "$"):
		return c.shell(ctx, r.Printer, strings.TrimSpace(trimmed[1:]))
	case isCommand(trimmed):
		return c.command(ctx, r, trimmed)
	case strings.HasPrefix(trimmed, magic):
		return c.magic(ctx, r, trimmed)
	case IsQuestion(trimmed):
		return c.answer(ctx, r, trimmed)
	}
	return c.Cell(ctx, r)
}

// Cell evaluates the source as one cell, even if it begins like a command, and prints its output,
// values and errors.
func (c *Console) Cell(ctx context.Context, r Request) Outcome {
	return OutcomeOf(c.cell(ctx, r, session.Cell{Source: r.Source, Line: cmp.Or(r.Line, 1)}))
}

// cell evaluates a cell of a request, on the ranks of `:on` unless it names its own, and then the
// functions of widgets that the cell has shown or changed. It prints their output, values and errors.
func (c *Console) cell(ctx context.Context, r Request, cell session.Cell) session.Reply {
	var next following
	reply := c.once(ctx, r, cell, next.note(r.Printer.Output))
	if len(reply.Errors) == 0 {
		reply.Errors = c.follow(ctx, r, next)
	}
	return reply
}

// once evaluates a cell of a request, on the ranks of `:on` unless it names its own. Its output goes
// to output, and its values and errors to the printer of the request.
func (c *Console) once(ctx context.Context, r Request, cell session.Cell, output func(session.Output)) session.Reply {
	if cell.Ranks == nil {
		cell.Ranks = c.Target()
	}
	cell.Output, cell.Input, cell.Late = output, r.Input, r.Late
	if p, ok := r.Printer.(InPlacePrinter); ok {
		cell.InPlace = p.ShowsNotesInPlace()
	}
	if r.Columns > valueIndent {
		cell.Columns = min(c.ColumnsOfRanks(r.Columns), r.Columns-valueIndent)
	}
	ctx, attended := c.attend(ctx, r)
	reply := c.watched(ctx, r, cell)
	attended()
	shown := reply
	shown.Errors = c.hinted(ctx, cell.Source, c.noteExits(reply.Errors))
	r.Printer.Reply(shown)
	if c.Succeeded != nil && len(reply.Errors) == 0 && cell.Ranks == nil {
		c.Succeeded(cell.Source)
	}
	return reply
}

// valueIndent is the number of columns by which a tab may be wider than the layout of values
// counts.
const valueIndent = 4

// ColumnsOfRanks returns the width that is left beside the prefix of output that all ranks print; 0
// if the width of the screen is not known.
func (c *Console) ColumnsOfRanks(columns int) int {
	if columns <= 0 {
		return 0
	}
	var ranks []int
	for r := range c.Size {
		ranks = append(ranks, r)
	}
	return max(1, columns-len(session.Prefix(ranks, c.Size)))
}

// noteExits returns errs without the errors that only say that the program ended itself. It keeps
// the highest exit status.
func (c *Console) noteExits(errs []*session.Error) (rest []*session.Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range errs {
		if !e.Exited {
			rest = append(rest, e)
			continue
		}
		c.exited, c.status = true, max(c.status, e.Status)
	}
	if c.exited && len(rest) > 0 {
		c.status = max(c.status, 1)
	}
	return rest
}

// Exited returns the status with which the program ended itself, if it did; see session.Program.
func (c *Console) Exited() (status int, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.status, c.exited
}

// eval evaluates a cell of a request. It prints nothing itself.
func (c *Console) eval(ctx context.Context, r Request, cell session.Cell) session.Reply {
	cell.Name, cell.Stop, cell.Again, cell.Gone = cmp.Or(cell.Name, r.Name), r.Stop, r.Again, r.Gone
	cell.Silent, cell.By = cell.Silent || r.Silent, r.By
	return c.Session.Eval(ctx, cell)
}

// Ranks parses a list of ranks such as "[0,2]", "0-2" or "all".
func (c *Console) Ranks(list string) ([]int, error) { return session.ParseRanks(list, c.Size) }

// Target returns the ranks that cells run on now; nil means all. The caller must not change the slice.
func (c *Console) Target() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.target
}

// SetTarget sets the ranks that the next cells run on; nil means all. The caller gives up the slice.
func (c *Console) SetTarget(ranks []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.target = ranks
}

// firstTarget returns one rank, for questions that any target rank can answer.
func (c *Console) firstTarget() []int {
	if ranks := c.Target(); ranks != nil {
		return ranks[:1]
	}
	return []int{0}
}
