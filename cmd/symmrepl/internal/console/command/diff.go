package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

func diff() console.Command {
	return console.Command{
		Name: "diff", Args: "X [Y]", Group: looking, Where: console.TargetRanks,
		Help: `show how a tensor differs between ranks, or two tensors from each other
The tensor X of each rank is compared with rank 0's X, for which all ranks must take part, or with the tensor Y
of the same rank. X and Y are expressions, with a comma or a space between. The table has the number of elements that
differ, the largest difference and the first element that differs. The devices compare; NaN counts as equal to NaN.`,
		Yields:   true,
		Complete: completeGo,
		Run:      runDiff,
	}
}

func runDiff(ctx context.Context, c *console.Call) console.Outcome {
	x, y, err := console.Expressions(c.Arg)
	if err != nil {
		return c.Fail(err)
	}
	target, first := c.Console.Target(), 0
	if y == "" && target != nil {
		return c.Fail(fmt.Errorf("only ranks %s take part, "+
			"and %s of all ranks is compared with rank %d's: `:on all` before", session.FormatRanks(target), x, first))
	}
	found, errs := c.Console.Diff(ctx, c.Request, target, x, y)
	if len(found) > 0 {
		c.PrintTable(diffTable(found, x, y, c.Console.Size))
	}
	return c.Reply(session.Reply{Errors: errs})
}

// diffTable returns the rows of the table of differences between x and y, or x of the ranks if y is empty.
func diffTable(found []console.Difference, x, y string, size int) [][]string {
	other := y
	if y == "" {
		other = "rank 0"
	}
	rows := [][]string{{"ranks", "tensor", "differ", "largest", "first at", x, other}}
	for _, d := range found {
		row := []string{session.FormatRanks(d.Ranks), d.Tensor, "none", "", "", "", ""}
		if d.Differ > 0 {
			row = []string{row[0], d.Tensor, fmt.Sprintf("%d of %d", d.Differ, d.Numel), d.Max,
				strings.ReplaceAll(fmt.Sprint(d.First), " ", ", "), d.X, d.Y}
		}
		rows = append(rows, row)
	}
	if size == 1 {
		for i := range rows {
			rows[i] = rows[i][1:]
		}
	}
	return rows
}
