package command

import (
	"context"
	"os"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
)

func load() console.Command {
	return console.Command{
		Name: "load", Args: "FILE", Group: cells, Where: console.TargetRanks,
		Help:     `run the cells of a file, up to the first that fails`,
		Complete: completeFile,
		Run: func(ctx context.Context, c *console.Call) console.Outcome {
			text, err := os.ReadFile(c.Console.Path(c.Arg))
			if err != nil {
				return c.Fail(err)
			}
			return c.File(ctx, c.Arg, string(text))
		},
	}
}
