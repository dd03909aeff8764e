package command

import (
	"context"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

func exportTo(programs Programs) console.Command {
	return console.Command{
		Name: "export", Args: "[CELLS] PATH [--cpp]", Group: cells, Where: console.Here,
		Help: `write the session as a program
"go build" in the folder makes a program that runs without symmrepl, one process for each rank, and prints on each rank the
session's output there: start it with torchrun --no-python, mpirun or srun, or set RANK, WORLD_SIZE and MASTER_PORT.
The folder has the sources of all packages of the program, so that the build needs no network; a name that ends in .go
makes the program's own file only. Each cell becomes a function, the variables of its top level become the program's;
cells that failed become comments. A name that ends in .py makes a Python module with the kernels for PyTorch's symmetric
memory, and symm_torch.py and symm_include beside it: "torchrun --nproc-per-node 4 FILE.py --test". "FOLDER --cpp" makes a
C++ program with the kernels, which g++ alone builds. docs/export.md has more. Existing files are overwritten by
":export! PATH" only. ":export 8-11 PATH" writes the cells 8 to 11, ":export 1,3 PATH" the cells 1 and 3.`,
		Complete: completeFile,
		Run: func(ctx context.Context, c *console.Call) console.Outcome {
			arg, cpp := strings.CutSuffix(strings.TrimSpace(c.Arg), " --cpp")
			c.Arg = arg
			return writeCells(ctx, c, func(name string, cells []session.Cell) (Output, error) {
				return programs.Make(name, cpp, cells, c.Console.Size)
			})
		},
	}
}
