package command

import (
	"context"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/internal/wholefile"
	"github.com/symmrepl/symmrepl/session"
)

func load() console.Command {
	return console.Command{
		Name: "load", Args: "FILE", Group: cells, Where: console.TargetRanks,
		Help:     `run the cells of a file, up to the first that fails`,
		Complete: completeFile,
		Run: func(ctx context.Context, c *console.Call) console.Outcome {
			text, err := wholefile.Read(c.Console.Path(c.Arg), "a file of cells", session.MaxSource)
			if err != nil {
				return c.Fail(err)
			}
			return c.File(ctx, c.Arg, string(text))
		},
	}
}
