package console

import (
	"context"

	"github.com/symmrepl/symmrepl/session"
)

// Request is an entry of a user, and how its front end runs it.
type Request struct {
	Source  string
	Printer Printer

	Name     string // name in the positions of its cells; "cell[ID]" when empty
	Line     int    // line on which Source begins in the text that the user sees; 1 when zero
	Silent   bool   // its cells are not recorded in the history
	By       string // the program that has made the request; see session.Cell
	Stop     string // key or button that interrupts its cells, for notes; "Ctrl-C" when empty
	Notebook bool   // it is a cell of a notebook, which has buttons in place of the prompt's keys
	// Again and Gone become the fields of the same names of its cells: see session.Cell.
	Again   string
	Gone    <-chan struct{}
	Columns int // of the screen, for prose; 0 when lines may have any length
	// Input, unless nil, asks the user for a line of standard input; see session.Cell.
	Input func(context.Context) (string, error)
	// Ask, unless nil, asks the user for a line at another prompt, while a cell stands at a
	// breakpoint.
	Ask func(ctx context.Context, prompt string) (string, error)
	// Edit, unless nil, lets the user edit a text in an editor and returns the saved text.
	Edit func(ctx context.Context, source string) (string, error)
	// Late, unless nil, shows output of cells that have ended; see session.Cell.
	Late func(session.Output)
	// Leave, unless nil, reports whether to leave when the user asks to. It may first warn about
	// tensors and variables that are lost.
	Leave func(context.Context) bool
}

// Printer shows the outcome of entries: render.Printer as text, a notebook in its own form. Its
// methods may be called from several goroutines.
type Printer interface {
	// Output shows output of ranks as it comes.
	Output(o session.Output)
	// Reply shows the values, the errors and the findings of a cell.
	Reply(r session.Reply)
	// Print shows text of the console itself, such as a command's table.
	Print(text string)
	// Note shows a remark about ranks (nil: about none in particular).
	Note(ranks []int, format string, args ...any)
	// Fail shows one sentence about why something is refused.
	Fail(format string, args ...any)
	// CloseLine ends a line that output left open, and reports whether it did.
	CloseLine() bool
}

// InPlacePrinter is a Printer that may replace the previous remark of the same topic.
type InPlacePrinter interface {
	Printer
	// ShowsNotesInPlace reports whether it does: session.Cell.InPlace.
	ShowsNotesInPlace() bool
}

// FormPrinter is a Printer that shows text of the console in the forms of a notebook as well.
type FormPrinter interface {
	Printer
	// PrintForms shows data by MIME type, and text where no other form can be shown.
	PrintForms(text string, data map[string]any)
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
