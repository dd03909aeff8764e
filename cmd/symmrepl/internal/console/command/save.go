package command

import (
	"context"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/cellfile"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

func save() console.Command {
	return console.Command{
		Name: "save", Args: "[CELLS] FILE", Group: cells, Where: console.Here,
		Help: `write the session's cells to a file
"symmrepl run FILE" and ":load FILE" run them again. The file is Go: a line "// %%" begins a cell, "// %%rank [0,2]" one
for those ranks; "// %%cd FOLDER" repeats a ":cd". Cells that failed become comments; other commands are not saved. A file
that exists already is overwritten by ":save! FILE" only. ":save 8-11 FILE" writes the cells 8 to 11, ":save 1,3 FILE" 1
and 3.`,
		Complete: completeFile,
		Run: func(ctx context.Context, c *console.Call) console.Outcome {
			return writeCells(ctx, c, func(_ string, cells []session.Cell) (Output, error) {
				return Output{file: []byte(cellfile.Format(cells))}, nil
			})
		},
	}
}
