package command

import (
	"context"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

func exportTo(program Program) console.Command {
	return console.Command{
		Name: "export", Args: "[CELLS] FILE", Group: cells, Where: console.Here,
		Help: `write the session as a Go program
"go build" makes it a program that runs without symmrepl, one process for each rank, and prints on each what the session
printed there: start it with torchrun --no-python, mpirun or srun, or set RANK and WORLD_SIZE. Each cell becomes a
function, the variables of its top level become the program's; cells that failed become comments. A file that exists
already is overwritten by ":export! FILE" only. ":export 8-11 FILE" writes the cells 8 to 11.`,
		Complete: completeFile,
		Run: func(ctx context.Context, c *console.Call) console.Outcome {
			return writeCells(ctx, c, func(cells []session.Cell) ([]byte, error) { return program(cells, c.Console.Size) })
		},
	}
}
