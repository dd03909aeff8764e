package command

import (
	"context"
	"fmt"
	"time"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

func timeCell() console.Command {
	return console.Command{
		Name: "time", Args: "CODE", Group: cells, Where: console.TargetRanks,
		Help: `run a cell and show how long it took
The time is that of the slowest rank as the session sees it, from sending the cell to the last answer; device work
that the cell started is part of it.`,
		TakesCode: true,
		Run:       runTime,
	}
}

func runTime(ctx context.Context, c *console.Call) console.Outcome {
	reply := c.Cell(ctx, session.Cell{Source: c.Arg})
	c.Print("elapsed " + formatSeconds(reply.Elapsed))
	return console.OutcomeOf(reply)
}

// formatSeconds shows a duration with three or four digits and a fitting unit.
func formatSeconds(s float64) string {
	d := time.Duration(s * float64(time.Second))
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%.1f µs", s*1e6)
	case d < time.Second:
		return fmt.Sprintf("%.2f ms", s*1e3)
	case d < time.Minute:
		return fmt.Sprintf("%.2f s", s)
	}
	return d.Round(100 * time.Millisecond).String()
}
