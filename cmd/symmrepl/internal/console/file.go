package console

import (
	"context"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/cellfile"
	"github.com/symmrepl/symmrepl/session"
)

// File runs the cells of a file, whose text is the request's source and whose name is the request's, and stops at the first that fails.
func (c *Console) File(ctx context.Context, r Request) Outcome {
	for _, cell := range cellfile.Parse(r.Source) {
		var ranks []int
		if cell.Ranks != "" {
			var err error
			if ranks, err = c.Ranks(cell.Ranks); err != nil {
				r.Printer.Fail("%s:%d: %v", r.Name, cell.Line-1, err)
				return Failed
			}
		}
		reply := c.cell(ctx, r, session.Cell{Line: cell.Line, Source: cell.Source, Ranks: ranks})
		if len(reply.Errors) > 0 {
			return Failed
		}
	}
	return Done
}
