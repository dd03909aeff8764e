package command

import (
	"context"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

func documentation() console.Command {
	return console.Command{
		Name: "doc", Args: "NAME", Group: looking, Where: console.TargetRanks, WhileStopped: true,
		Help: `show the documentation of a package, of a name that it exports, or of a name that a cell defined
NAME is a package (symm, math/rand/v2), a name in a package (symm.Empty, strings.Builder.Len), a variable or a member of it
(x, x.Fill), a name for kernels (symm::put, ncclGin, __shfl_sync; symm:: lists a namespace), a command (:on), or a name of another library
(one_shot_all_reduce, torch.distributed.all_gather_into_tensor, ncclBcast). Packages need not be imported. The documentation of a cell's name is the comment above it.`,
		Complete: completeGo,
		Run: func(ctx context.Context, c *console.Call) console.Outcome {
			if console.IsCommand(c.Arg) {
				return describe(c, c.Arg)
			}
			return showText(ctx, c, session.Query{Topic: session.TopicDoc, Arg: c.Arg})
		},
	}
}
