package console

import (
	"context"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
	"github.com/symmrepl/symmrepl/session"
)

// Call is one call of a command: its argument, the request that contains it, and the console.
type Call struct {
	Console *Console
	Request Request
	Command Command
	Arg     string
}

// Code returns the code at the end of the argument; see Command.Code.
func (c *Call) Code() (source string, ok bool) { return c.Command.Code(c.Arg) }

// Print prints text, such as a table.
func (c *Call) Print(text string) { c.Request.Printer.Print(text) }

// PrintForms prints text, or its other forms, by MIME type, where the printer has them.
func (c *Call) PrintForms(text string, data map[string]any) {
	if p, ok := c.Request.Printer.(FormPrinter); ok {
		p.PrintForms(text, data)
		return
	}
	c.Print(text)
}

// PrintTable prints rows as a table, of which the first row is the header. A cell may have several
// lines.
func (c *Call) PrintTable(rows [][]string) {
	text := strings.TrimSuffix(render.Table(rows), "\n")
	c.PrintForms(render.Cut(text, c.Request.Columns), map[string]any{"text/html": render.TableHTML(rows)})
}

// Note prints a remark.
func (c *Call) Note(format string, args ...any) { c.Request.Printer.Note(nil, format, args...) }

// Reply prints values and errors, and returns Failed if there are errors.
func (c *Call) Reply(reply session.Reply) Outcome {
	c.Request.Printer.Reply(reply)
	return OutcomeOf(reply)
}

// Fail prints why the command failed, after its name.
func (c *Call) Fail(err error) Outcome {
	c.Request.Printer.Fail(":%s: %v", c.Command.Name, err)
	return Failed
}

// Cell evaluates a cell, on the ranks of `:on` unless it names its own, and prints its output,
// values and errors. Positions in the cell count the lines of the entry.
func (c *Call) Cell(ctx context.Context, cell session.Cell) session.Reply {
	cell.Line = c.Request.Line
	if before, ok := strings.CutSuffix(c.Arg, cell.Text()); ok {
		cell.Line += strings.Count(before, "\n")
	}
	return c.Console.cell(ctx, c.Request, cell)
}

// Eval evaluates a cell on its ranks (nil: all). It prints nothing; output goes to cell.Output.
func (c *Call) Eval(ctx context.Context, cell session.Cell) session.Reply {
	return c.Console.eval(ctx, c.Request, cell)
}

// File runs the cells of a text, whose positions cite name, up to the first that fails.
func (c *Call) File(ctx context.Context, name, text string) Outcome {
	r := c.Request
	r.Name, r.Source = name, text
	return c.Console.File(ctx, r)
}

// Inspect puts a query to the ranks of `:on`.
func (c *Call) Inspect(ctx context.Context, q session.Query) ([]session.Answer, error) {
	return c.Console.Session.Inspect(ctx, c.Console.Target(), q)
}
