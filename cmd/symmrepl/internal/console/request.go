package console

import (
	"context"

	"github.com/symmrepl/symmrepl/session"
)

// Request is something that a user entered, and how its front end wants it run.
type Request struct {
	Source  string
	Printer Printer

	Name   string // what positions in its cells cite; "cell[ID]" when empty
	Line   int    // of what the user sees, on which Source begins; 1 when zero
	Silent bool   // its cells are not recorded in the history
	Stop   string // how the user interrupts its cells, as notes say it; "Ctrl-C" when empty
	// Again and Gone are those of session.Cell: how the user has ranks replaced that an interrupt does not stop, and when nobody can any more.
	Again   string
	Gone    <-chan struct{}
	Columns int // of the screen, for prose; 0 when lines may have any length
	// Input, unless nil, asks the user for a line of standard input when cells read that; see session.Cell.
	Input func(context.Context) (string, error)
	// Edit, unless nil, lets the user edit a text in an editor, and returns what was saved.
	Edit func(ctx context.Context, source string) (string, error)
	// Late, unless nil, shows what cells print after they have ended; see session.Cell.
	Late func(session.Output)
	// Leave, unless nil, reports whether to leave when the user asks for that; it may tell first what is lost.
	Leave func(context.Context) bool
}

// Printer shows the outcome of entries: a render.Printer as text, a notebook's in a form of its own. Its methods may be
// called from several goroutines.
type Printer interface {
	// Output shows what ranks printed, as it comes.
	Output(o session.Output)
	// Reply shows the values, the errors and the findings of a cell.
	Reply(r session.Reply)
	// Print shows text of the console itself, such as a command's table.
	Print(text string)
	// Note shows a remark about ranks (nil: about none in particular).
	Note(ranks []int, format string, args ...any)
	// Fail shows one sentence that says why something is refused.
	Fail(format string, args ...any)
	// CloseLine ends a line that output left open, and reports whether there was one.
	CloseLine() bool
}

// InPlacePrinter is a Printer that may show a remark in place of the one before that has the same topic.
type InPlacePrinter interface {
	Printer
	// ShowsNotesInPlace reports whether it does: session.Cell.InPlace.
	ShowsNotesInPlace() bool
}

// Outcome tells a front end how an entry ended.
type Outcome int

const (
	Done   Outcome = iota // nothing went wrong
	Failed                // a cell or a command failed, and the reason has been printed
	Quit                  // the user wants to leave
)

// OutcomeOf returns Failed for a reply that has errors, else Done.
func OutcomeOf(reply session.Reply) Outcome {
	if len(reply.Errors) > 0 {
		return Failed
	}
	return Done
}
