package command

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/cellfile"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

func history() console.Command {
	return console.Command{
		Name: "history", Args: "[N]", Group: cells, Where: console.TheSession, WhileStopped: true,
		Help: `show the cells of this session
":history 10" shows the last ten. Cells that failed are shown too.`,
		Run: runHistory,
	}
}

func runHistory(ctx context.Context, c *console.Call) console.Outcome {
	cells, err := c.Console.Session.History(ctx)
	if err != nil {
		return c.Fail(err)
	}
	if c.Arg != "" {
		n, err := strconv.Atoi(c.Arg)
		if err != nil || n < 1 {
			return c.Fail(fmt.Errorf("a number of cells is expected, not %q", c.Arg))
		}
		cells = cells[max(0, len(cells)-n):]
	}
	var b strings.Builder
	for _, cell := range cells {
		head := fmt.Sprintf("cell[%d] ", cell.ID)
		if cell.Ranks != nil {
			head += "on " + session.FormatRanks(cell.Ranks) + " "
		}
		source := strings.TrimRight(cellfile.Source(cell), "\n")
		b.WriteString(head + strings.ReplaceAll(source, "\n", "\n"+strings.Repeat(" ", len(head))) + "\n")
	}
	if b.Len() > 0 {
		c.Print(b.String())
	}
	return console.Done
}
