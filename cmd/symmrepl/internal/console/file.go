package console

import (
	"context"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/cellfile"
	"github.com/symmrepl/symmrepl/session"
)

// Program runs a program of package main that has several files. The request's name is the file
// with the function main, on the given line.
func (c *Console) Program(ctx context.Context, r Request, files []string, line int) Outcome {
	return OutcomeOf(c.cell(ctx, r, session.Cell{Line: line, Source: "main()", Program: files}))
}

// File runs the cells of a file and stops at the first that fails. The request has the file's text
// and name. As in a notebook, lines of a cell may be commands and shell lines.
func (c *Console) File(ctx context.Context, r Request) Outcome {
	if c.sanitizing.run == nil {
		defer c.beginRun()()
	}
	for _, cell := range cellfile.Parse(r.Source) {
		r.Source, r.Line = cell.Source, cell.Line
		if outcome := c.fileCell(ctx, r, cell.Ranks); outcome != Done {
			return outcome
		}
	}
	return Done
}

// fileCell runs a cell of a file, on the ranks of list unless it is empty.
func (c *Console) fileCell(ctx context.Context, r Request, list string) Outcome {
	if list == "" {
		return c.Notebook(ctx, r)
	}
	ranks, err := c.Ranks(list)
	if err != nil {
		r.Printer.Fail("%s:%d: %v", r.Name, r.Line-1, err)
		return Failed
	}
	return OutcomeOf(c.cell(ctx, r, session.Cell{Line: r.Line, Source: r.Source, Ranks: ranks}))
}
