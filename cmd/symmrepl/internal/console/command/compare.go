package command

import (
	"context"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

func compare() console.Command {
	return console.Command{
		Name: "compare", Args: "CODE", Yields: true, Group: cells, Where: console.AllRanks,
		Help: `run code by every way that its calls can take, and compare the results
All-reduces go by each of their ways within a host, collectives over hosts flat and hierarchical, by NCCL where it is found, by copy engines, and calls
of handles by NVSHMEM where it is the back end. Each way
begins with the values that the tensors of the calls had before. The command shows each way's device time and whether its results are equal, or the first element that differs with both
values and the units in the last place between them. After a line "%%" may follow other codes, which are compared with the first. The code is the body of
a function: the names that it declares end with it.`,
		TakesCode: true,
		CodeIn: func(arg string) (code string, ok bool) {
			codes := parted(arg)
			return codes[len(codes)-1], true
		},
		Run: func(ctx context.Context, c *console.Call) console.Outcome {
			codes := parted(c.Arg)
			if err := needCode(codes); err != nil {
				return c.Fail(err)
			}
			return console.OutcomeOf(c.Cell(ctx, session.Cell{Source: calling(codes, "Compare")}))
		},
	}
}
